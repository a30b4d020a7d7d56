/** Laws of reading: a task is the fold of its events, and its log comes in pages. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Store, TaskHeader } from '../../src/store/store.js'
import type { NewEvent } from '../../src/task/event.js'
import { fold } from './fold.js'
import { eventsOf, histories } from './histories.js'
import {
  agentMessage,
  artifact,
  completed,
  create,
  headerOf,
  inputRequired,
  logOf,
  moved,
  newTask,
  note,
  type Open,
  parsed,
  put,
  said,
  upTo,
  working,
} from './kit.js'

export function readingLaws(open: Open): void {
  test('a task is the fold of its events at every length', async () => {
    const { store } = await open()
    await fc.assert(
      fc.asyncProperty(histories(25), async (history) => {
        const task = newTask({ at: 1_000 })
        let header = await create(store, task)
        const bodies = [task.created.body]
        await expectFold(store, header, bodies)
        for (const events of eventsOf(task, history, 1_000)) {
          header = await put(store, header, ...events)
          bodies.push(...events.map(({ body }) => body))
          await expectFold(store, header, bodies)
        }
      }),
      { numRuns: 60 },
    )
  })

  test('a task of many events is their fold, also where reading is kept cheap', async () => {
    const { store } = await open()
    await fc.assert(
      fc.asyncProperty(histories(400), fc.integer({ min: 1, max: 40 }), async (history, step) => {
        const task = newTask({ at: 1_000 })
        let header = await create(store, task)
        const bodies = [task.created.body]
        const writes = eventsOf(task, history, 1_000)
        for (let i = 0; i < writes.length; i += step) {
          const events = writes.slice(i, i + step).flat()
          header = await put(store, header, ...events)
          bodies.push(...events.map(({ body }) => body))
          if (i % (3 * step) === 0) await expectFold(store, header, bodies)
        }
        await expectFold(store, header, bodies)
      }),
      { numRuns: 15 },
    )
  })

  test('an artifact of a thousand chunks is whole at every hundredth', async () => {
    const { store } = await open()
    const task = newTask({ holder: 'here' })
    const header = await create(store, task)
    const bodies = [task.created.body]
    for (const n of upTo(1_000)) {
      const chunk = artifact(task, {
        artifactId: 'long',
        parts: [{ text: `${n} ${'x'.repeat(n % 90)}` }],
        append: n > 1,
        lastChunk: n === 1_000,
      })
      bodies.push(chunk.body)
      if (n % 100 !== 0) continue
      const events: NewEvent[] = bodies.slice(n - 99).map((body) => ({ kind: 'artifact', body }))
      await store.append(header.ref, { epoch: 1, holder: 'here' }, () => ({ events }))
      await expectFold(store, await headerOf(store, task), bodies)
    }
  })

  test('what a reader sees while others write is the task at one number', async () => {
    const { store } = await open()
    const task = newTask()
    const header = await create(store, task)
    const reads: ReturnType<Store['read']>[] = []
    const writes = upTo(150).map((n) => {
      if (n % 3 === 0) reads.push(store.read(header.ref))
      return put(
        store,
        header,
        artifact(task, { artifactId: 'a', parts: [{ text: `${n}` }], append: n > 1 }),
        moved(task, working, 1_000 + n),
      )
    })
    for (const write of writes) {
      await write
      reads.push(store.read(header.ref))
    }
    const bodies = (await logOf(store, header)).map(({ body }) => body)
    for (const read of await Promise.all(reads)) expect(parsed(read.text)).toEqual(fold(bodies.slice(0, read.seq)))
  })

  test('history holds what the user said, what was asked and the last words, no progress notes (D5)', async () => {
    const { store } = await open()
    const task = newTask({ text: 'book a room' })
    const header = await create(store, task)
    const word = (text: string) => agentMessage(task, text)
    await put(store, header, moved(task, working, 2_000, word('looking')), moved(task, inputRequired, 3_000, word('which day?')))
    await put(store, header, said(task, 'turn', 'Monday'), moved(task, working, 4_000), said(task, 'message', 'or Tuesday'))
    await put(
      store,
      header,
      moved(task, 'TASK_STATE_AUTH_REQUIRED', 5_000, word('may I pay?')),
      moved(task, completed, 6_000, word('booked')),
    )
    const { text, state } = await store.read(header.ref)
    expect(state).toBe(completed)
    expect(parsed(text)).toMatchObject({ status: { state: completed, message: { parts: [{ text: 'booked' }] } } })
    const words = ['book a room', 'which day?', 'Monday', 'or Tuesday', 'may I pay?', 'booked']
    expect(parsed(text)).toMatchObject({ history: words.map((text) => ({ parts: [{ text }] })) })
  })

  test('an artifact is replaced in its place, appended to in its order, and its parts are never merged', async () => {
    const { store } = await open()
    const task = newTask()
    const header = await create(store, task)
    const chunk = (artifactId: string, text: string, append: boolean) => artifact(task, { artifactId, parts: [{ text }], append })
    await put(
      store,
      header,
      chunk('a', '1', false),
      chunk('b', '2', false),
      chunk('a', '3', true),
      chunk('b', '4', false),
      chunk('b', '4', true),
    )
    const artifacts = [
      { artifactId: 'a', parts: [{ text: '1' }, { text: '3' }] },
      { artifactId: 'b', parts: [{ text: '4' }, { text: '4' }] },
    ]
    expect(parsed((await store.read(header.ref)).text)).toHaveProperty('artifacts', artifacts)
  })

  test('a body of ten mebibytes comes back to the byte', async () => {
    const { store } = await open()
    // Characters of one to four bytes, so that a length counted in the wrong unit shows.
    const text = 'aé€😀'.repeat((10 << 20) / 10)
    expect(Buffer.byteLength(text)).toBe(10 << 20)
    const task = newTask({ text })
    const large = note(task, text)
    const header = await put(store, await create(store, task), large, note(task, 'small'))
    const log = await logOf(store, header)
    // Compared as claims: a message that shows the difference would be as long.
    expect(log.map(({ seq }) => seq)).toEqual([1, 2, 3])
    expect(log[0]?.body === task.created.body).toBe(true)
    expect(log[1]?.body === large.body).toBe(true)
    const bodies = log.map(({ body }) => body)
    expect(JSON.stringify(sorted(parsed((await store.read(header.ref)).text))) === JSON.stringify(sorted(fold(bodies)))).toBe(true)
    const { tasks } = await store.list({ caller: task.caller, pageSize: 1 })
    expect(JSON.stringify(sorted(parsed(tasks[0]?.text ?? '{}'))) === JSON.stringify(sorted(fold(bodies)))).toBe(true)
  })
}

async function expectFold(store: Store, header: TaskHeader, bodies: readonly string[]): Promise<void> {
  const read = await store.read(header.ref)
  expect([read.seq, read.state]).toEqual([bodies.length, header.state])
  expect(parsed(read.text)).toEqual(fold(bodies))
}

/** The same value with its members in one order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  )
}
