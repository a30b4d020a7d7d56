/** Checkpoints happen beside the writer and leave nothing behind. */

import { existsSync, statSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { checkpointAt, createCheckpoints } from '../../../src/store/sqlite/checkpoint.js'
import { createStore } from '../../../src/store/sqlite/create-store.js'
import { loadSqlite } from '../../../src/store/sqlite/driver.js'
import { migrate } from '../../../src/store/sqlite/schema.js'
import { virtualWorld } from '../../../src/testing/virtual-world.js'
import { create, newTask } from '../../laws/kit.js'
import { freshFile, openWatched } from './watched.js'

const fail = () => {
  throw new Error('the thread works')
}

test('the log is copied into the file while the writer has it open', async () => {
  const file = freshFile()
  const { driver } = await openWatched(file)
  driver.exec(`create table filler(t); insert into filler values (zeroblob(1000000))`)
  const before = statSync(file).size
  const { source } = await loadSqlite()
  const checkpoints = createCheckpoints({ file, source, fallBack: fail })
  checkpoints.written(checkpointAt - 1)
  await checkpoints.close()
  expect(statSync(file).size).toBe(before)
  checkpoints.written(1)
  await checkpoints.close()
  expect(statSync(file).size).toBeGreaterThan(before + 1_000_000)
})

test('where the thread cannot run the writer is told to do it itself', async () => {
  const file = freshFile()
  await openWatched(file)
  await new Promise<void>((resolve) => {
    const source = `(() => { throw new Error('no thread today') })`
    const checkpoints = createCheckpoints({ file, source, fallBack: resolve })
    checkpoints.written(checkpointAt)
  })
})

test('whatever is written counts for the next checkpoint: events, records, and headers alone', async () => {
  const written: number[] = []
  const driver = (await loadSqlite()).open(':memory:')
  migrate(driver, ':memory:')
  const world = virtualWorld()
  const needs = { driver, world, sealingKey: () => new Uint8Array(32), release: async () => driver.close() }
  const store = createStore({ ...needs, onWritten: (bytes) => written.push(bytes) })
  onTestFinished(() => store.close())
  const { ref } = await create(store, newTask())
  const [before = 0] = written
  const body = 'x'.repeat(1 << 20)
  const fence = { epoch: 1, holder: 'h' }
  await store.claim(ref, 'h')
  await store.append(ref, fence, () => ({ events: [], records: [{ kind: 'step', key: 'k', n: 1, body }] }))
  await store.append(ref, fence, () => undefined)
  expect(written).toHaveLength(3)
  expect(written[1]).toBeLessThanOrEqual(before)
  expect(written[2]).toBeGreaterThan(1 << 20)
})

test('a store that wrote a lot is whole after close, and its log is gone', async () => {
  const file = freshFile()
  const { store } = await openWatched(file)
  const tasks = Array.from({ length: 12 }, () => newTask({ text: 'x'.repeat(1 << 20) }))
  for (const task of tasks) await create(store, task)
  await store.close()
  expect(existsSync(`${file}-wal`)).toBe(false)
  const again = await openWatched(file)
  for (const task of tasks) expect(await again.store.find(task.caller, task.id)).toBeDefined()
})
