/** Laws of writes that depend on what the task is by then. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { TaskHeader, TaskWrite } from '../../src/store/store.js'
import { create, headerOf, inputRequired, logOf, moved, newTask, note, type Open, seenOf, upTo, waitsFor, working } from './kit.js'

export function updateLaws(open: Open): void {
  test('decide sees the newest header, and the result carries the one after the write', async () => {
    const { store } = await open()
    const task = newTask()
    const { ref } = await create(store, task)
    const seen: TaskHeader[] = []
    const decide = (header: TaskHeader) => {
      seen.push(header)
      return {
        write: { events: [moved(task, inputRequired, 3_000), note(task, 'x')], waiting: waitsFor('q'), turn: 2, inboxSeq: 1 },
        result: 'done',
      }
    }
    const before = await headerOf(store, task)
    const updated = await store.update(ref, decide)
    expect(seen.at(-1)).toEqual(before)
    const after = { ...before, state: inputRequired, statusTimestamp: 3_000, lastSeq: 3, waiting: waitsFor('q'), turn: 2, inboxSeq: 1 }
    expect(updated).toEqual({ outcome: 'updated', header: after, result: 'done' })
    expect(await headerOf(store, task)).toEqual(after)
  })

  test('a decision without a write changes nothing and still answers', async () => {
    const { store } = await open()
    const task = newTask()
    const { ref } = await create(store, task)
    const before = await seenOf(store, task)
    const updated = await store.update(ref, (header) => ({ result: header.state }))
    expect(updated).toMatchObject({ outcome: 'updated', result: 'TASK_STATE_SUBMITTED' })
    expect(await seenOf(store, task)).toEqual(before)
  })

  test('what decide throws is what the caller gets, and nothing is written', async () => {
    const { store } = await open()
    const task = newTask()
    const { ref } = await create(store, task)
    const before = await seenOf(store, task)
    const reason = new RangeError('not now')
    const refuse = () => {
      throw reason
    }
    await expect(store.update(ref, refuse)).rejects.toBe(reason)
    expect(await seenOf(store, task)).toEqual(before)
  })

  test('a decision that throws takes nothing of its neighbours in the same turn along', async () => {
    const { store } = await open()
    const task = newTask()
    const { ref } = await create(store, task)
    const attempts = upTo(9).map((n) =>
      store.update(ref, ({ lastSeq }) => {
        if (n % 3 === 0) throw new Error(`refused ${n}`)
        return { write: { events: [note(task, `${n}`)] }, result: lastSeq }
      }),
    )
    const settled = await Promise.allSettled(attempts)
    expect(settled.map(({ status }) => status === 'fulfilled')).toEqual(upTo(9).map((n) => n % 3 !== 0))
    expect(await logOf(store, await headerOf(store, task))).toHaveLength(7)
  })

  test('updates made in one turn see each other, in the order of their making', async () => {
    const { store } = await open()
    const task = newTask()
    const { ref } = await create(store, task)
    const updates = upTo(20).map((n) =>
      store.update(ref, (header) => ({
        write: { events: [note(task, `${n}`)], turn: header.turn + 1 },
        result: [header.lastSeq, header.turn],
      })),
    )
    const results = (await Promise.all(updates)).map((updated) => (updated.outcome === 'updated' ? updated.result : undefined))
    expect(results).toEqual(upTo(20).map((n) => [n, n]))
    expect(await headerOf(store, task)).toMatchObject({ lastSeq: 21, turn: 21 })
  })

  test('of twenty messages that answer one question in one turn a single one answers it', async () => {
    const { store } = await open()
    const task = newTask()
    const { ref } = await create(store, task)
    await store.update(ref, () => ({ write: { events: [moved(task, inputRequired, 2_000)], waiting: waitsFor('q') }, result: 0 }))
    const answers = upTo(20).map((n) =>
      store.update(ref, ({ waiting }) => {
        if (waiting?.question !== 'q') return { result: false }
        return { write: { events: [moved(task, working, 3_000 + n)], waiting: null }, result: true }
      }),
    )
    const took = (await Promise.all(answers)).filter((updated) => updated.outcome === 'updated' && updated.result)
    expect(took).toHaveLength(1)
    expect((await headerOf(store, task)).lastSeq).toBe(3)
  })

  test('a write changes what it names and leaves the rest', async () => {
    const { store } = await open()
    const number = fc.integer({ min: 0, max: 1_000_000 })
    const name = fc.option(fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }), { nil: null })
    const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 12 })
    const kind = fc.constantFrom('turn' as const, 'ask' as const, 'authorize' as const, 'wait' as const, 'sleep' as const)
    const waiting = fc.record({ kind, key: text, question: text, name: text, due: number }, { requiredKeys: ['kind'] })
    const members = fc.record(
      {
        holder: name,
        waiting: fc.option(waiting, { nil: null }),
        turn: number,
        epoch: number,
        attempt: number,
        inboxSeq: number,
        sealed: fc.constant(true as const),
      },
      { requiredKeys: [] },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(members, { maxLength: 8 }), async (writes) => {
        const task = newTask({ holder: 'here' })
        let expected = await create(store, task)
        for (const write of writes) {
          const updated = await store.update(expected.ref, () => ({ write: { ...write, events: [] }, result: 0 }))
          expected = after(expected, write)
          expect(updated).toEqual({ outcome: 'updated', header: expected, result: 0 })
        }
        expect(await headerOf(store, task)).toEqual(expected)
      }),
      { numRuns: 50 },
    )
  })

  test('a run writes the same members under its fence', async () => {
    const { store } = await open()
    const task = newTask({ holder: 'here' })
    const header = await create(store, task)
    const fence = { epoch: 1, holder: 'here' }
    await store.append(header.ref, fence, () => ({
      events: [moved(task, inputRequired, 2_000)],
      waiting: waitsFor('q'),
      sealed: true,
      holder: null,
      inboxSeq: 4,
      attempt: 2,
      turn: 3,
    }))
    const numbers = { inboxSeq: 4, attempt: 2, turn: 3, epoch: 1 }
    const expected = { state: inputRequired, lastSeq: 2, waiting: waitsFor('q'), sealed: true, holder: undefined, ...numbers }
    expect(await headerOf(store, task)).toMatchObject(expected)
  })
}

function after(header: TaskHeader, { holder, waiting, ...numbers }: Omit<TaskWrite, 'events'>): TaskHeader {
  return {
    ...header,
    ...numbers,
    holder: holder === undefined ? header.holder : (holder ?? undefined),
    waiting: waiting === undefined ? header.waiting : (waiting ?? undefined),
  }
}
