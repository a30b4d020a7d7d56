/** A snapshot keeps reading cheap without copying what was copied before. */

import { expect, test } from 'vitest'
import type { Store, TaskHeader } from '../../../src/store/store.js'
import {
  agentMessage,
  artifact,
  completed,
  create,
  inputRequired,
  moved,
  type Named,
  newTask,
  note,
  put,
  said,
  upTo,
  working,
} from '../../laws/kit.js'
import { openWatched, type Watched } from './watched.js'

function copied({ ran }: Watched): readonly number[] {
  return ran.filter(({ sql }) => sql.includes('into snapshot')).map(({ values }) => String(values[2]).length)
}

async function chunk(store: Store, task: Named, header: TaskHeader, text: string): Promise<void> {
  await put(store, header, artifact(task, { artifactId: 'long', parts: [{ text }], append: true }))
}

test('a long artifact is copied a few times in all: neither never nor with each chunk', async () => {
  const watched = await openWatched()
  const task = newTask()
  const header = await create(watched.store, task)
  const text = 'x'.repeat(1_000)
  for (const _ of upTo(2_000)) await chunk(watched.store, task, header, text)
  const sizes = copied(watched)
  expect(sizes.length).toBeGreaterThan(3)
  expect(sizes.length).toBeLessThan(12)
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(2 * 2_000 * 1_100)
})

test('a task of few events has no snapshot before it rests', async () => {
  const watched = await openWatched()
  const task = newTask()
  const header = await create(watched.store, task)
  await put(watched.store, header, moved(task, working, 2_000), note(task, 'x'.repeat(10_000)))
  expect(copied(watched)).toEqual([])
  await put(watched.store, header, moved(task, completed, 3_000))
  expect(copied(watched).length).toBe(1)
})

test('a finished task is read as it is stored, without its events', async () => {
  const { store, ran } = await openWatched()
  const task = newTask()
  const header = await create(store, task)
  await put(store, header, moved(task, working, 2_000), note(task, 'x'), moved(task, completed, 3_000))
  ran.length = 0
  await store.read(header.ref)
  expect(ran.length).toBe(1)
})

test('a conversation on a large artifact does not copy it with each question', async () => {
  const watched = await openWatched()
  const task = newTask()
  const header = await create(watched.store, task)
  await put(watched.store, header, note(task, 'x'.repeat(200_000)))
  for (const n of upTo(100)) {
    await put(watched.store, header, moved(task, inputRequired, 2_000 + 2 * n, agentMessage(task, `question ${n}`)))
    await put(watched.store, header, said(task, 'turn', `answer ${n}`), moved(task, working, 2_001 + 2 * n))
  }
  expect(copied(watched).length).toBeLessThan(6)
})
