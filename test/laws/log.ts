/** Laws of the log: numbers, commits and who is told of them. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  canceled,
  completed,
  create,
  finalStates,
  freshCaller,
  headerOf,
  logOf,
  moved,
  newTask,
  note,
  type Open,
  put,
  said,
  seenOf,
  upTo,
  working,
} from './kit.js'

export function logLaws(open: Open): void {
  test('a task begins with event 1 and the header of a task that nothing happened to', async () => {
    const { store } = await open()
    const task = newTask({ at: 5_000 })
    const header = await create(store, task)
    const { caller, id, contextId } = task
    const start = {
      caller,
      id,
      contextId,
      state: 'TASK_STATE_SUBMITTED',
      statusTimestamp: 5_000,
      lastSeq: 1,
      epoch: 0,
      attempt: 0,
      turn: 1,
      inboxSeq: 0,
    }
    expect(header).toMatchObject(start)
    expect([header.holder, header.waiting]).toEqual([undefined, undefined])
    expect(await headerOf(store, task)).toEqual(header)
    expect(await logOf(store, header)).toEqual([{ seq: 1, kind: 'created', state: 'TASK_STATE_SUBMITTED', body: task.created.body }])
  })

  test('events are numbered 1, 2, 3 … without gaps, however they are written', async () => {
    const { store } = await open()
    const write = fc.record({
      by: fc.constantFrom('append', 'update'),
      size: fc.integer({ min: 0, max: 4 }),
      waits: fc.boolean(),
      fails: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(write, { maxLength: 20 }), async (writes) => {
        const task = newTask({ holder: 'here' })
        const { ref } = await create(store, task)
        const expected: string[] = [task.created.body]
        const underWay: Promise<unknown>[] = []
        for (const { by, size, waits, fails } of writes) {
          const events = upTo(size).map((n) => note(task, `${n}`))
          if (by === 'append') {
            // One append of a run is under way at a time.
            await Promise.all(underWay)
            await store.append(ref, { epoch: fails ? 7 : 1, holder: 'here' }, () => ({ events }))
          } else {
            const refuse = () => {
              throw new Error('no')
            }
            const updating = store.update(ref, () => (fails ? refuse() : { write: { events }, result: 0 }))
            underWay.push(fails ? expect(updating).rejects.toThrow('no') : updating)
          }
          if (!fails) expected.push(...events.map(({ body }) => body))
          if (waits) await Promise.all(underWay)
        }
        await Promise.all(underWay)
        const log = await logOf(store, await headerOf(store, task))
        expect(log.map(({ seq }) => seq)).toEqual(upTo(expected.length))
        expect(log.map(({ body }) => body)).toEqual(expected)
        expect((await headerOf(store, task)).lastSeq).toBe(expected.length)
      }),
      { numRuns: 60 },
    )
  })

  test('an event comes back as it was put in, with its state where it has one', async () => {
    const { store } = await open()
    const task = newTask()
    const events = [
      moved(task, working, 2_000),
      note(task, 'x'),
      said(task, 'message', 'm'),
      said(task, 'answer', 'a'),
      said(task, 'turn', 't'),
    ]
    const header = await put(store, await create(store, task), ...events)
    expect(header).toMatchObject({ lastSeq: 6, state: working, statusTimestamp: 2_000 })
    const log = await logOf(store, header)
    expect(log.slice(1).map(({ kind, state, body }) => ({ kind, state, body }))).toEqual(
      events.map(({ kind, body, ...rest }) => ({ kind, state: 'state' in rest ? rest.state : undefined, body })),
    )
  })

  test('an append tells the number of its last event', async () => {
    const { store } = await open()
    const task = newTask({ holder: 'here' })
    const { ref } = await create(store, task)
    const write = { events: [moved(task, working, 2_000), note(task, 'x')] }
    expect(await store.append(ref, { epoch: 1, holder: 'here' }, () => write)).toEqual({ outcome: 'committed', lastSeq: 3 })
    expect(await store.append(ref, { epoch: 1, holder: 'here' }, () => undefined)).toEqual({ outcome: 'committed', lastSeq: 3 })
    expect((await headerOf(store, task)).lastSeq).toBe(3)
  })

  test.each(finalStates)('nothing comes after %s', async (state) => {
    const { store } = await open()
    const task = newTask({ holder: 'here' })
    const header = await create(store, task)
    await put(store, header, moved(task, state, 2_000))
    const before = await seenOf(store, task)
    expect(await store.append(header.ref, { epoch: 1, holder: 'here' }, () => ({ events: [note(task, 'late')] }))).toEqual({
      outcome: 'fenced',
    })
    await expect(put(store, header, note(task, 'late'))).rejects.toThrow()
    await expect(put(store, header, moved(task, working, 3_000))).rejects.toThrow()
    expect(await seenOf(store, task)).toEqual(before)
  })

  test('of twenty endings in one turn of the event loop one is written', async () => {
    const { store } = await open()
    const task = newTask({ holder: 'here' })
    const header = await create(store, task)
    const endings: Promise<unknown>[] = upTo(20).map((n) => put(store, header, moved(task, finalStates[n % 4] ?? canceled, 2_000 + n)))
    const run = store.append(header.ref, { epoch: 1, holder: 'here' }, () => ({ events: [moved(task, completed, 2_000)] }))
    const settled = await Promise.allSettled(endings)
    const written = settled.filter((ending) => ending.status === 'fulfilled').length + ((await run).outcome === 'committed' ? 1 : 0)
    expect(written).toBe(1)
    expect(await logOf(store, header)).toHaveLength(2)
  })

  test('a run puts nothing after a cancel that was answered', async () => {
    const { store } = await open()
    const task = newTask({ holder: 'here' })
    const header = await create(store, task)
    let answered = false
    const cancel = put(store, header, moved(task, canceled, 2_000)).then(() => {
      answered = true
    })
    for (let outcome = 'committed'; outcome === 'committed'; ) {
      const wasAnswered = answered
      outcome = (await store.append(header.ref, { epoch: 1, holder: 'here' }, () => ({ events: [note(task, 'more')] }))).outcome
      expect(outcome === 'committed' && wasAnswered).toBe(false)
    }
    await cancel
    const log = await logOf(store, header)
    expect(log.findIndex(({ state }) => state === canceled)).toBe(log.length - 1)
  })

  test('what produce throws rejects the append, and nothing is written', async () => {
    const { store } = await open()
    const task = newTask({ holder: 'here' })
    const header = await create(store, task)
    const other = newTask()
    const otherWrite = create(store, other)
    const refused = store.append(header.ref, { epoch: 1, holder: 'here' }, () => {
      throw new Error('no output')
    })
    await expect(refused).rejects.toThrow('no output')
    expect(await headerOf(store, task)).toEqual(header)
    expect((await otherWrite).lastSeq).toBe(1)
  })

  test('the second task of one id is refused and touches neither the first nor its neighbours', async () => {
    const { store } = await open()
    const task = newTask()
    const header = await create(store, task)
    const neighbours = upTo(3).map(() => newTask({ caller: task.caller }))
    const [first, second, third] = neighbours
    if (!first || !second || !third) throw new Error('three were made')
    const twin = newTask({ caller: task.caller, id: task.id, inbound: { messageId: 'twin', contentHash: 'ab'.repeat(16) } })
    const settled = await Promise.allSettled([create(store, first), store.create(twin), create(store, second), create(store, third)])
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
    expect(await headerOf(store, task)).toEqual(header)
    for (const neighbour of neighbours) expect((await headerOf(store, neighbour)).contextId).toBe(neighbour.contextId)
    // The refused task has not used up its message either.
    const again = newTask({ caller: task.caller, inbound: { messageId: 'twin', contentHash: 'ab'.repeat(16) } })
    expect((await store.create(again)).outcome).toBe('created')
  })

  test('two hundred tasks made in one turn are all there', async () => {
    const { store } = await open()
    const caller = freshCaller()
    const tasks = upTo(200).map(() => newTask({ caller }))
    const headers = await Promise.all(tasks.map((task) => create(store, task)))
    expect(new Set(headers.map(({ ref }) => ref)).size).toBe(200)
    for (const [i, task] of tasks.entries()) expect(await headerOf(store, task)).toEqual(headers[i])
  })
}
