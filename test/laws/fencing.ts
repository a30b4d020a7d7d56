/** Laws of claims and fences: at most one run writes to a task. */

import { expect, test } from 'vitest'
import type { Store, TaskHeader } from '../../src/store/store.js'
import {
  create,
  finalStates,
  headerOf,
  inputRequired,
  logOf,
  moved,
  newTask,
  note,
  type Open,
  put,
  seenOf,
  upTo,
  waitsFor,
  working,
} from './kit.js'

export function fencingLaws(open: Open): void {
  test.each([
    ['an older epoch', { epoch: 1, holder: 'here' }],
    ['an epoch to come', { epoch: 3, holder: 'here' }],
    ['another holder', { epoch: 2, holder: 'there' }],
    ['nothing right', { epoch: 0, holder: '' }],
  ] as const)('an append with %s writes nothing', async (_, fence) => {
    const { store } = await open()
    const task = newTask({ holder: 'first' })
    const header = await create(store, task)
    await free(store, header)
    await store.claim(header.ref, 'here')
    const before = await seenOf(store, task)
    const write = { events: [moved(task, working, 2_000)], holder: null, attempt: 9, memory: { lost: true } }
    expect(await store.append(header.ref, fence, () => write)).toEqual({ outcome: 'fenced' })
    expect(await seenOf(store, task)).toEqual(before)
    const sibling = await store.create(newTask({ caller: task.caller, contextId: task.contextId }))
    expect(sibling).toMatchObject({ outcome: 'created', memory: {} })
    expect(await store.append(header.ref, { epoch: 2, holder: 'here' }, () => write)).toEqual({ outcome: 'committed', lastSeq: 2 })
  })

  test('a run is asked for its output with the task as it is then, and not at all where it is fenced', async () => {
    const { store } = await open()
    const task = newTask({ holder: 'here' })
    const header = await create(store, task)
    const asked: TaskHeader[] = []
    const out = (now: TaskHeader) => {
      asked.push(now)
      return undefined
    }
    const noting = put(store, header, note(task, 'before it in the same commit'))
    await Promise.all([noting, store.append(header.ref, { epoch: 1, holder: 'here' }, out)])
    expect(asked).toEqual([{ ...header, lastSeq: 2 }])
    const taken = free(store, header)
    expect(await store.append(header.ref, { epoch: 1, holder: 'here' }, out)).toEqual({ outcome: 'fenced' })
    await taken
    expect(asked).toHaveLength(1)
  })

  test('a run whose task was taken from it writes nothing more', async () => {
    const { store } = await open()
    const task = newTask({ holder: 'here' })
    const header = await create(store, task)
    await free(store, header)
    expect(await store.append(header.ref, { epoch: 1, holder: 'here' }, () => ({ events: [note(task, 'late')] }))).toEqual({
      outcome: 'fenced',
    })
    // The same process again is another run.
    await store.claim(header.ref, 'here')
    expect(await store.append(header.ref, { epoch: 1, holder: 'here' }, () => ({ events: [note(task, 'late')] }))).toEqual({
      outcome: 'fenced',
    })
    expect(await logOf(store, header)).toHaveLength(1)
  })

  test('a claim takes the task, raises its epoch by one and writes no event', async () => {
    const { store } = await open()
    const task = newTask()
    const header = await create(store, task)
    const claimed = await store.claim(header.ref, 'here')
    expect(claimed).toEqual({ header: { ...header, epoch: 1, holder: 'here' }, memory: {}, records: [] })
    expect(await headerOf(store, task)).toEqual(claimed?.header)
    expect(await logOf(store, header)).toHaveLength(1)
    await free(store, header)
    expect((await store.claim(header.ref, 'there'))?.header).toMatchObject({ epoch: 2, holder: 'there' })
  })

  test('a task that somebody holds is not claimed, not even by its holder', async () => {
    const { store } = await open()
    const task = newTask({ holder: 'here' })
    const header = await create(store, task)
    expect(await store.claim(header.ref, 'there')).toBeUndefined()
    expect(await store.claim(header.ref, 'here')).toBeUndefined()
    expect(await headerOf(store, task)).toEqual(header)
  })

  test.each(finalStates)('a task in %s is not claimed', async (state) => {
    const { store } = await open()
    const task = newTask()
    const header = await put(store, await create(store, task), moved(task, state, 2_000))
    expect(await store.claim(header.ref, 'here')).toBeUndefined()
    expect(await headerOf(store, task)).toEqual(header)
  })

  test('a task that waits for an answer is claimed once it has one', async () => {
    const { store } = await open()
    const task = newTask()
    const header = await create(store, task)
    await store.update(header.ref, () => ({ write: { events: [moved(task, inputRequired, 2_000)], waiting: waitsFor('q') }, result: 0 }))
    expect(await store.claim(header.ref, 'here')).toBeUndefined()
    await store.update(header.ref, () => ({ write: { events: [moved(task, working, 3_000)], waiting: null }, result: 0 }))
    expect((await store.claim(header.ref, 'here'))?.header).toMatchObject({ epoch: 1, holder: 'here', lastSeq: 3 })
  })

  test('twenty claims at once take a task once', async () => {
    const { store } = await open()
    const task = newTask()
    const { ref } = await create(store, task)
    const claims = await Promise.all(upTo(20).map((n) => store.claim(ref, `holder ${n}`)))
    const taken = claims.filter((claim) => claim !== undefined)
    expect(taken).toHaveLength(1)
    expect(await headerOf(store, task)).toEqual(taken[0]?.header)
    expect(taken[0]?.header.epoch).toBe(1)
  })

  test('twenty tasks claimed at once each have the holder that was told so', async () => {
    const { store } = await open()
    const tasks = upTo(20).map(() => newTask())
    const headers = await Promise.all(tasks.map((task) => create(store, task)))
    const claims = await Promise.all(['a', 'b'].flatMap((holder) => headers.map(({ ref }) => store.claim(ref, holder))))
    expect(claims.filter((claim) => claim !== undefined)).toHaveLength(20)
    for (const task of tasks) {
      const header = await headerOf(store, task)
      expect(claims.find((claim) => claim?.header.ref === header.ref)?.header).toEqual(header)
    }
  })

  test('a claim sees what was written before it in the same turn', async () => {
    const { store } = await open()
    const task = newTask()
    const { ref } = await create(store, task)
    const asking = store.update(ref, () => ({ write: { events: [moved(task, inputRequired, 2_000)], waiting: waitsFor('q') }, result: 0 }))
    const claiming = store.claim(ref, 'here')
    await asking
    expect(await claiming).toBeUndefined()
  })

  test('epochs never fall along takeovers, and each holder writes under its own', async () => {
    const { store } = await open()
    const task = newTask()
    const { ref } = await create(store, task)
    for (const epoch of upTo(10)) {
      const claimed = await store.claim(ref, `holder ${epoch}`)
      expect(claimed?.header).toMatchObject({ epoch, attempt: epoch - 1 })
      const write = { events: [note(task, `${epoch}`)] }
      expect(await store.append(ref, { epoch, holder: `holder ${epoch}` }, () => write)).toEqual({
        outcome: 'committed',
        lastSeq: epoch + 1,
      })
      expect(await store.append(ref, { epoch: epoch - 1, holder: `holder ${epoch - 1}` }, () => write)).toEqual({ outcome: 'fenced' })
      await store.update(ref, ({ attempt }) => ({ write: { events: [], holder: null, attempt: attempt + 1 }, result: 0 }))
    }
  })

  test('an update that raises the epoch fences the run that was there', async () => {
    const { store } = await open()
    const task = newTask({ holder: 'here' })
    const header = await create(store, task)
    await store.update(header.ref, ({ epoch }) => ({ write: { events: [], epoch: epoch + 1 }, result: 0 }))
    expect(await store.append(header.ref, { epoch: 1, holder: 'here' }, () => ({ events: [note(task, 'late')] }))).toEqual({
      outcome: 'fenced',
    })
  })
}

async function free(store: Store, { ref }: TaskHeader): Promise<void> {
  await store.update(ref, () => ({ write: { events: [], holder: null }, result: 0 }))
}
