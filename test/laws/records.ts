/** Laws of the records of runs: written with their events or not at all, settled once, gone with their task. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RecordKind, RecordWrite, RunRecord, Store, TaskHeader, TaskWrite } from '../../src/store/store.js'
import {
  completed,
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
  recordsOf,
  seenOf,
  sorted,
  upTo,
  waitsFor,
  working,
} from './kit.js'

const fence = { epoch: 1, holder: 'here' }
const kinds = ['step', 'stream', 'ask', 'authorize', 'wait', 'sleep', 'take', 'context', 'turn', 'signal'] as const

function openRecord(key: string, body = '{}'): RunRecord {
  return { kind: 'step', key, body }
}

function settled(key: string, n: number, body = '{"value":1}'): RunRecord {
  return { kind: 'step', key, n, body }
}

export function recordLaws(open: Open): void {
  test('a record comes back as it was written, in the turn it belongs to', async () => {
    const { store } = await open()
    const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 12 })
    const record = fc.record(
      { kind: fc.constantFrom<RecordKind>(...kinds), key: text, n: fc.nat(), body: text },
      { requiredKeys: ['kind', 'key', 'body'] },
    )
    const writes = fc.uniqueArray(fc.record({ record, turn: fc.integer({ min: 0, max: 3 }) }), {
      selector: ({ record: { key }, turn }) => `${turn}:${key}`,
      maxLength: 12,
    })
    await fc.assert(
      fc.asyncProperty(writes, async (given) => {
        const header = await create(store, newTask())
        await write(store, header, { records: given.map(({ record: { ...members }, turn }) => ({ ...members, turn })) })
        for (const turn of [0, 1, 2, 3]) {
          const expected = given.filter((one) => one.turn === turn).map((one) => one.record)
          expect(await recordsOf(store, header, turn)).toEqual(sorted(expected))
        }
      }),
      { numRuns: 60 },
    )
  })

  test('a record belongs to the turn that the task is in after the write, unless it says otherwise', async () => {
    const { store } = await open()
    const header = await create(store, newTask({ records: [settled('first', 1)] }))
    await write(store, header, { turn: 2, records: [settled('second', 1), { ...settled('whole', 1), turn: 0 }] })
    await write(store, header, { records: [openRecord('also second')] })
    expect(await recordsOf(store, header, 0)).toEqual([settled('whole', 1)])
    expect(await recordsOf(store, header, 1)).toEqual([settled('first', 1)])
    expect(await recordsOf(store, header, 2)).toEqual([openRecord('also second'), settled('second', 1)])
  })

  test('one key in two turns or two tasks is two records', async () => {
    const { store } = await open()
    const [a, b] = [await create(store, newTask()), await create(store, newTask())]
    await write(store, a, { records: [settled('k', 1, '"a1"'), { ...settled('k', 1, '"a2"'), turn: 2 }] })
    await write(store, b, { records: [settled('k', 1, '"b1"')] })
    expect(await recordsOf(store, a, 1)).toEqual([settled('k', 1, '"a1"')])
    expect(await recordsOf(store, a, 2)).toEqual([settled('k', 1, '"a2"')])
    expect(await recordsOf(store, b, 1)).toEqual([settled('k', 1, '"b1"')])
  })

  test('an open record is replaced as often as it likes, until it is settled', async () => {
    const { store } = await open()
    const header = await create(store, newTask())
    for (const n of upTo(3)) {
      await write(store, header, { records: [openRecord('k', `${n}`)] })
      expect(await recordsOf(store, header, 1)).toEqual([openRecord('k', `${n}`)])
    }
    await write(store, header, { records: [openRecord('k', '4'), settled('k', 1)] })
    expect(await recordsOf(store, header, 1)).toEqual([settled('k', 1)])
  })

  test.each([
    ['the same again', [settled('k', 1)]],
    ['another end', [settled('k', 2, '"other"')]],
    ['opened again', [openRecord('k')]],
    ['with others beside it', [openRecord('beside'), { ...settled('k', 2), turn: 1 }]],
  ] as const)('a settled record is never written again: %s', async (_, records) => {
    const { store } = await open()
    const task = newTask({ holder: 'here' })
    const header = await create(store, task)
    await write(store, header, { records: [settled('k', 1)] })
    const before = await seenOf(store, task)
    const attempt = { events: [note(task, 'lost')], attempt: 7, memory: { lost: true }, records }
    await expect(store.update(header.ref, () => ({ write: attempt, result: 0 }))).rejects.toThrow(/settled/)
    await expect(store.append(header.ref, fence, () => attempt)).rejects.toThrow(/settled/)
    expect(await seenOf(store, task)).toEqual(before)
    const sibling = await store.create(newTask({ caller: task.caller, contextId: task.contextId }))
    expect(sibling).toMatchObject({ memory: {} })
  })

  test('a record is settled once also within one turn of the event loop, and within one write', async () => {
    const { store } = await open()
    const task = newTask()
    const header = await create(store, task)
    const ends = upTo(20).map((n) => write(store, header, { events: [note(task, `${n}`)], records: [settled('k', n)] }))
    const outcomes = await Promise.allSettled(ends)
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', ...upTo(19).map(() => 'rejected')])
    await expect(write(store, header, { records: [settled('j', 2), settled('j', 3)] })).rejects.toThrow(/settled/)
    expect(await recordsOf(store, header, 1)).toEqual([settled('k', 1)])
    expect(await logOf(store, header)).toHaveLength(2)
    await expect(store.create(newTask({ records: [settled('j', 1), settled('j', 2)] }))).rejects.toThrow(/settled/)
  })

  test('a decision finds the record as it is by then, writes of the same commit included', async () => {
    const { store } = await open()
    const header = await create(store, newTask({ holder: 'here', records: [openRecord('k', '0')] }))
    const seen: (string | undefined)[] = []
    const updates = upTo(3).map((n) =>
      store.update(header.ref, (_, find) => {
        seen.push(find(1, 'k')?.body, find(1, 'none')?.body, find(2, 'k')?.body)
        return { write: { events: [], records: [n < 3 ? openRecord('k', `${n}`) : settled('k', 1, '3')] }, result: 0 }
      }),
    )
    const appending = store.append(header.ref, fence, (_, find) => {
      expect(find(1, 'k')).toEqual(settled('k', 1, '3'))
      return undefined
    })
    await Promise.all([...updates, appending])
    expect(seen).toEqual(['0', undefined, undefined, '1', undefined, undefined, '2', undefined, undefined])
  })

  test('nobody reads a record before its commit', async () => {
    const { store } = await open()
    const header = await create(store, newTask())
    const writing = write(store, header, { records: [settled('k', 1)] })
    expect(await store.records(header.ref, 1)).toEqual([])
    await writing
    expect(await store.records(header.ref, 1)).toEqual([settled('k', 1)])
  })

  test('a run that is fenced writes no record, and a decision that throws none either', async () => {
    const { store } = await open()
    const header = await create(store, newTask({ holder: 'here' }))
    const stale = { epoch: 0, holder: 'here' }
    expect(await store.append(header.ref, stale, () => ({ events: [], records: [settled('k', 1)] }))).toEqual({ outcome: 'fenced' })
    const refuse = () => {
      throw new Error('no')
    }
    await expect(store.append(header.ref, fence, refuse)).rejects.toThrow('no')
    expect(await store.records(header.ref, 1)).toEqual([])
  })

  test('a claim brings the records of the turn that the task is in, those of its own commit included', async () => {
    const { store } = await open()
    const header = await create(store, newTask({ records: [settled('old', 1), { ...openRecord('whole'), turn: 0 }] }))
    await write(store, header, { turn: 2, records: [settled('a', 1), openRecord('b')] })
    const late = write(store, header, { records: [settled('b', 2), openRecord('c'), { ...settled('a', 2), turn: 3 }] })
    const claimed = await store.claim(header.ref, 'here')
    await late
    expect(sorted(claimed?.records ?? [])).toEqual([settled('a', 1), settled('b', 2), openRecord('c')])
  })

  test.each(finalStates)('the records of a task go with its end in %s', async (state) => {
    const { store } = await open()
    const task = newTask({ records: [settled('a', 1), { ...openRecord('whole'), turn: 0 }] })
    const header = await create(store, task)
    const other = await create(store, newTask({ records: [settled('a', 1)] }))
    await write(store, header, { turn: 2, records: [openRecord('b')] })
    const ending = write(store, header, { events: [moved(task, state, 2_000)], records: [settled('b', 1), openRecord('c')] })
    const late = store.update(header.ref, (_, find) => ({ result: find(1, 'a') ?? find(2, 'b') ?? find(0, 'whole') }))
    await ending
    expect(await late).toMatchObject({ outcome: 'updated', result: undefined })
    for (const turn of [0, 1, 2]) expect(await store.records(header.ref, turn)).toEqual([])
    expect(await recordsOf(store, other, 1)).toEqual([settled('a', 1)])
  })

  test('a task that is final takes no record', async () => {
    const { store } = await open()
    const task = newTask()
    const header = await put(store, await create(store, task), moved(task, completed, 2_000))
    await expect(write(store, header, { records: [openRecord('late')] })).rejects.toThrow(/final/)
    expect(await store.records(header.ref, 1)).toEqual([])
  })

  test('a task that begins and ends in one commit leaves no record', async () => {
    const { store } = await open()
    const task = newTask({ holder: 'here', records: [settled('begin', 1)] })
    let ended: Promise<unknown> = Promise.resolve()
    await store.create(task, (made) => {
      if (made.outcome !== 'created') return
      const { ref } = made.header
      ended = store.append(ref, fence, (_, find) => {
        expect(find(1, 'begin')).toEqual(settled('begin', 1))
        return { events: [moved(task, completed, 2_000)], holder: null, records: [settled('k', 2)] }
      })
    })
    await ended
    const header = await headerOf(store, task)
    expect(header.state).toBe(completed)
    expect(await store.records(header.ref, 1)).toEqual([])
  })

  test('a record commits once, and its events exactly when it does', async () => {
    const { store } = await open()
    const attempt = fc.record({
      by: fc.constantFrom<('run' | 'stale run' | 'caller')[]>('run', 'stale run', 'caller'),
      key: fc.constantFrom('a', 'b', 'c', 'd'),
      settles: fc.boolean(),
      events: fc.integer({ min: 0, max: 2 }),
      beside: fc.boolean(),
      fails: fc.boolean(),
    })
    // One append of a run is under way at a time.
    const turn = fc.uniqueArray(attempt, {
      comparator: (a, b) => a === b && a !== 'caller',
      selector: ({ by }) => by,
      minLength: 1,
      maxLength: 6,
      size: 'max',
    })
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { maxLength: 10, size: 'max' }), async (turns) => {
        const task = newTask({ holder: 'here' })
        const header = await create(store, task)
        const records = new Map<string, RunRecord>()
        const bodies = [task.created.body]
        let made = 0
        for (const attempts of turns) {
          /** What was tried, in the order in which the store came to it. */
          const tried: { readonly write: TaskWrite & { readonly records: readonly RecordWrite[] }; isIn: boolean }[] = []
          const outcomes = attempts.map(async ({ by, key, settles, events, beside, fails }) => {
            made++
            const beginning = beside ? [openRecord(`beside ${made}`)] : []
            const end = settles ? settled(key, made) : openRecord(key, `${made}`)
            const write = { events: upTo(events).map((n) => note(task, `${n}`)), records: [...beginning, end] }
            const one = { write, isIn: false }
            const decide = () => {
              tried.push(one)
              if (fails) throw new Error('refused')
              return write
            }
            if (by === 'caller') {
              await store.update(header.ref, () => ({ write: decide(), result: 0 }))
              one.isIn = true
            } else {
              const { outcome } = await store.append(header.ref, by === 'run' ? fence : { ...fence, epoch: 0 }, decide)
              one.isIn = outcome === 'committed'
            }
          })
          await Promise.allSettled(outcomes)
          for (const { write, isIn } of tried) {
            if (!isIn) continue
            for (const record of write.records) {
              expect(records.get(record.key)?.n).toBeUndefined()
              records.set(record.key, record)
            }
            bodies.push(...write.events.map(({ body }) => body))
          }
          expect(await recordsOf(store, header, 1)).toEqual(sorted([...records.values()]))
          expect((await logOf(store, header)).map(({ body }) => body)).toEqual(bodies)
        }
        // A refusal must have had a reason.
        expect(records.size > 0).toBe(turns.flat().some(({ by, fails }) => by !== 'stale run' && !fails))
      }),
      { numRuns: 80 },
    )
  })

  test('when a commit is told, its records and its events are both there', async () => {
    const { store } = await open()
    const task = newTask({ holder: 'here' })
    const header = await create(store, task)
    const seen: Promise<readonly [events: number, records: number]>[] = []
    const look = async () => [(await logOf(store, header)).length, (await store.records(header.ref, 1)).length] as const
    store.onCommit(() => seen.push(look()))
    for (const n of upTo(5)) await store.append(header.ref, fence, () => ({ events: [note(task, `${n}`)], records: [settled(`${n}`, n)] }))
    expect(await Promise.all(seen)).toEqual(upTo(5).map((n) => [n + 1, n]))
  })

  test('a question, its open record and what the task waits for are one write', async () => {
    const { store } = await open()
    const task = newTask({ holder: 'here' })
    const header = await create(store, task)
    const asking = { events: [moved(task, inputRequired, 2_000)], waiting: waitsFor('q'), records: [openRecord('ask')] }
    await store.append(header.ref, fence, () => asking)
    const answers = upTo(5).map((n) =>
      store.update(header.ref, ({ waiting }, find) => {
        const record = find(1, 'ask')
        if (waiting?.question !== 'q' || record === undefined || record.n !== undefined) return { result: 'late' }
        const answered = { ...settled('ask', 1, `${n}`) }
        return { write: { events: [moved(task, working, 3_000)], waiting: null, records: [answered] }, result: 'answered' }
      }),
    )
    const results = (await Promise.all(answers)).map((updated) => (updated.outcome === 'updated' ? updated.result : ''))
    expect(results).toEqual(['answered', 'late', 'late', 'late', 'late'])
    expect(await recordsOf(store, header, 1)).toEqual([settled('ask', 1, '1')])
  })
}

async function write(store: Store, { ref }: TaskHeader, members: Partial<TaskWrite>): Promise<void> {
  await store.update(ref, () => ({ write: { events: [], ...members }, result: 0 }))
}
