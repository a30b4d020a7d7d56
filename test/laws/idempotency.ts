/** Laws of messages that come twice (D7): the same caller, id and content within 24 h mean the same send. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Caller, Inbound, Store, TaskHeader } from '../../src/store/store.js'
import {
  completed,
  create,
  dayMs,
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

const content = (n: number) => n.toString(16).padStart(2, '0').repeat(16)

function inbound(messageId = 'm', n = 1, strict?: boolean): Inbound {
  return { messageId, contentHash: content(n), ...(strict === undefined ? {} : { strict }) }
}

export function idempotencyLaws(open: Open): void {
  test('a message sent again is the task it made, and makes none', async () => {
    const { store } = await open()
    const first = newTask({ inbound: inbound() })
    const header = await create(store, first)
    const newest = await put(store, header, note(first, 'meanwhile'))
    const second = newTask({ caller: first.caller, contextId: first.contextId, inbound: inbound() })
    expect(await store.create(second)).toEqual({ outcome: 'duplicate', header: newest, seq: 1 })
    expect(await store.find(first.caller, second.id)).toBeUndefined()
    expect((await store.list({ caller: first.caller, pageSize: 10 })).total).toBe(1)
    expect(await headerOf(store, first)).toEqual(newest)
  })

  test('a message is remembered for 24 hours and not a millisecond longer', async () => {
    const { store, world } = await open()
    const caller = freshCaller()
    const send = () => store.create(newTask({ caller, inbound: inbound() }))
    expect((await send()).outcome).toBe('created')
    await world.advance(dayMs - 1)
    // Being sent again does not make it younger.
    expect((await send()).outcome).toBe('duplicate')
    await world.advance(2)
    expect((await send()).outcome).toBe('created')
    await world.advance(dayMs - 1)
    expect((await send()).outcome).toBe('duplicate')
    await world.advance(2)
    expect((await send()).outcome).toBe('created')
  })

  test('another content under the same id is a new message, and both are remembered', async () => {
    const { store } = await open()
    const caller = freshCaller()
    const [one, two] = [newTask({ caller, inbound: inbound('m', 1) }), newTask({ caller, inbound: inbound('m', 2) })]
    const headers = [await create(store, one), await create(store, two)]
    for (const n of [1, 2, 1]) {
      const again = await store.create(newTask({ caller, inbound: inbound('m', n) }))
      expect(again).toEqual({ outcome: 'duplicate', header: headers[n - 1], seq: 1 })
    }
  })

  test('strict refuses another content under the same id for 24 hours', async () => {
    const { store, world } = await open()
    const caller = freshCaller()
    const send = (n: number) => store.create(newTask({ caller, inbound: inbound('m', n, true) }))
    const header = await create(store, newTask({ caller, inbound: inbound('m', 1, true) }))
    expect(await send(2)).toEqual({ outcome: 'conflict' })
    expect(await send(1)).toEqual({ outcome: 'duplicate', header, seq: 1 })
    expect((await store.list({ caller, pageSize: 10 })).total).toBe(1)
    await world.advance(dayMs - 1)
    expect(await send(2)).toEqual({ outcome: 'conflict' })
    await world.advance(2)
    expect((await send(2)).outcome).toBe('created')
    expect((await send(1)).outcome).toBe('conflict')
  })

  test('a message without an inbound is never taken for another', async () => {
    const { store } = await open()
    const caller = freshCaller()
    for (const _ of upTo(3)) expect((await store.create(newTask({ caller }))).outcome).toBe('created')
  })

  test('the same message of another owner or tenant is another message', async () => {
    const { store } = await open()
    const callers: Caller[] = [
      { tenant: 'a', owner: 'bc' },
      { tenant: 'ab', owner: 'c' },
      { tenant: '', owner: 'abc' },
      { tenant: 'a', owner: 'BC' },
    ]
    for (const caller of callers) expect((await store.create(newTask({ caller, inbound: inbound() }))).outcome).toBe('created')
    for (const caller of callers) expect((await store.create(newTask({ caller, inbound: inbound() }))).outcome).toBe('duplicate')
  })

  test('message ids that look alike are different ids', async () => {
    const { store } = await open()
    const caller = freshCaller()
    const ids = ['m', 'M', 'm ', ' m', 'm\u0000', 'm%', '\u00e9', 'e\u0301', '😀', `m${content(1)}`, '1', '1.0', '01']
    for (const id of ids) expect((await store.create(newTask({ caller, inbound: inbound(id) }))).outcome).toBe('created')
    for (const id of ids) expect((await store.create(newTask({ caller, inbound: inbound(id) }))).outcome).toBe('duplicate')
  })

  test('one message twenty times in one turn of the event loop makes one task', async () => {
    const { store } = await open()
    const caller = freshCaller()
    const tasks = upTo(20).map(() => newTask({ caller, inbound: inbound() }))
    const outcomes = await Promise.all(tasks.map((task) => store.create(task)))
    expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(['created', ...upTo(19).map(() => 'duplicate')])
    expect(new Set(outcomes.map((outcome) => (outcome.outcome === 'conflict' ? undefined : outcome.header.ref))).size).toBe(1)
    expect((await store.list({ caller, pageSize: 50 })).total).toBe(1)
    const found = await Promise.all(tasks.map(({ id }) => store.find(caller, id)))
    expect(found.filter((header) => header !== undefined)).toHaveLength(1)
  })

  test('a follow-up sent again is the event it became, and writes nothing', async () => {
    const { store } = await open()
    const task = newTask({ inbound: inbound('opening') })
    const header = await create(store, task)
    expect(await follow(store, header, inbound('f'))).toMatchObject({ outcome: 'updated', header: { lastSeq: 3 } })
    await put(store, header, note(task, 'meanwhile'))
    const before = await seenOf(store, task)
    const now = await headerOf(store, task)
    expect(await follow(store, header, inbound('f'))).toEqual({ outcome: 'duplicate', header: now, seq: 2 })
    expect(await follow(store, header, inbound('opening'))).toEqual({ outcome: 'duplicate', header: now, seq: 1 })
    expect(await follow(store, header, inbound('f', 2, true))).toEqual({ outcome: 'conflict' })
    expect(await seenOf(store, task)).toEqual(before)
    expect(await follow(store, header, inbound('f', 2))).toMatchObject({ outcome: 'updated', header: { lastSeq: 6 } })
  })

  test.each(['turn', 'answer', 'message'] as const)('a message of the kind %s sent again is the event it became', async (kind) => {
    const { store } = await open()
    const task = newTask()
    const header = await create(store, task)
    const events = [said(task, kind, 'Monday'), moved(task, working, 2_000), note(task, 'x')]
    const send = () => store.update(header.ref, () => ({ write: { events }, result: 0 }), inbound('f'))
    expect(await send()).toMatchObject({ outcome: 'updated', header: { lastSeq: 4 } })
    expect(await send()).toMatchObject({ outcome: 'duplicate', seq: 2 })
  })

  test('a follow-up is known again after its task is final', async () => {
    const { store } = await open()
    const task = newTask()
    const header = await create(store, task)
    await follow(store, header, inbound('f'))
    const last = await put(store, header, moved(task, completed, 9_000))
    expect(await follow(store, header, inbound('f'))).toEqual({ outcome: 'duplicate', header: last, seq: 2 })
  })

  test('a follow-up twenty times in one turn is one event', async () => {
    const { store } = await open()
    const task = newTask()
    const header = await create(store, task)
    const outcomes = await Promise.all(upTo(20).map(() => follow(store, header, inbound('f'))))
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['updated', ...upTo(19).map(() => 'duplicate')])
    expect(await logOf(store, header)).toHaveLength(3)
  })

  test('a follow-up is remembered for 24 hours', async () => {
    const { store, world } = await open()
    const header = await create(store, newTask())
    await follow(store, header, inbound('f'))
    await world.advance(dayMs - 1)
    expect((await follow(store, header, inbound('f'))).outcome).toBe('duplicate')
    await world.advance(2)
    expect((await follow(store, header, inbound('f'))).outcome).toBe('updated')
  })

  test('whether a message was accepted can be asked before anything is done with it', async () => {
    const { store, world } = await open()
    const task = newTask({ inbound: inbound() })
    expect(await store.accepted(task.caller, inbound())).toBeUndefined()
    const header = await create(store, task)
    expect(await store.accepted(task.caller, inbound())).toEqual({ outcome: 'duplicate', header, seq: 1 })
    expect(await store.accepted(task.caller, inbound('m', 2))).toBeUndefined()
    expect(await store.accepted(task.caller, inbound('m', 2, true))).toEqual({ outcome: 'conflict' })
    expect(await store.accepted(freshCaller(), inbound())).toBeUndefined()
    await world.advance(dayMs + 1)
    expect(await store.accepted(task.caller, inbound())).toBeUndefined()
  })

  test('a message that was refused may be sent again', async () => {
    const { store } = await open()
    const header = await create(store, newTask())
    const refuse = () => {
      throw new Error('not now')
    }
    await expect(store.update(header.ref, refuse, inbound('f'))).rejects.toThrow('not now')
    // A decision that writes nothing has not accepted the message either.
    expect((await store.update(header.ref, () => ({ result: 'final' }), inbound('f'))).outcome).toBe('updated')
    expect((await follow(store, header, inbound('f'))).outcome).toBe('updated')
    expect((await follow(store, header, inbound('f'))).outcome).toBe('duplicate')
  })

  test('whatever is sent whenever, a send is new exactly if it was not accepted in the 24 hours before', async () => {
    const { store, world } = await open()
    const hour = dayMs / 24
    const send = fc.record({
      wait: fc.oneof(
        fc.constantFrom(0, 1, dayMs - 1, dayMs + 1),
        fc.integer({ min: 0, max: 30 }).map((hours) => hours * hour),
      ),
      messageId: fc.constantFrom('a', 'b'),
      content: fc.integer({ min: 1, max: 2 }),
      strict: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(send, { maxLength: 25, size: 'max' }), async (sends) => {
        const caller = freshCaller()
        const accepted: { readonly messageId: string; readonly content: number; readonly at: number; readonly id: string }[] = []
        for (const { wait, messageId, content, strict } of sends) {
          await world.advance(wait)
          const now = world.now()
          const alive = accepted.filter((one) => one.messageId === messageId && now - one.at <= dayMs)
          // Exactly 24 h after is either side's to choose.
          if (alive.some(({ at }) => now - at === dayMs)) continue
          const same = alive.find((one) => one.content === content)
          const expected = same ? 'duplicate' : strict && alive.length > 0 ? 'conflict' : 'created'
          const task = newTask({ caller, inbound: inbound(messageId, content, strict) })
          const outcome = await store.create(task)
          expect(outcome.outcome).toBe(expected)
          if (outcome.outcome === 'duplicate') expect(outcome.header.id).toBe(same?.id)
          if (expected === 'created') accepted.push({ messageId, content, at: now, id: task.id })
        }
        expect((await store.list({ caller, pageSize: 1 })).total).toBe(accepted.length)
      }),
      { numRuns: 60 },
    )
  })
}

/** A user's message that begins a turn, as the runtime writes it. */
function follow(store: Store, header: TaskHeader, message: Inbound) {
  const decide = ({ statusTimestamp, turn }: TaskHeader) => {
    const events = [said(header, 'turn', 'and then'), moved(header, working, statusTimestamp + 1)]
    return { write: { events, turn: turn + 1 }, result: 'accepted' }
  }
  return store.update(header.ref, decide, message)
}
