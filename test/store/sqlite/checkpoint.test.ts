/** Checkpoints happen beside the writer and leave nothing behind. */

import { existsSync, statSync } from 'node:fs'
import { expect, test } from 'vitest'
import { checkpointAt, createCheckpoints } from '../../../src/store/sqlite/checkpoint.js'
import { loadSqlite } from '../../../src/store/sqlite/driver.js'
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
