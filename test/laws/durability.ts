/** Laws of a store that outlives its process: closed and opened again it goes on as if nothing had been. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { TaskRef } from '../../src/store/store.js'
import { fold } from './fold.js'
import { eventsOf, histories } from './histories.js'
import {
  artifact,
  completed,
  create,
  dayMs,
  freshCaller,
  headerOf,
  inputRequired,
  logOf,
  moved,
  newTask,
  note,
  type Open,
  type Opened,
  parsed,
  put,
  type Reopen,
  recordsOf,
  seenOf,
  upTo,
  waitsFor,
  working,
} from './kit.js'
import { Walks, walkSteps } from './walk-model.js'

export function durabilityLaws(open: Open, reopen: Reopen): void {
  test('everything that was acknowledged is there after the next start', async () => {
    let opened = await open()
    const task = newTask({ holder: 'here', at: 1_000 })
    const { ref } = await create(opened.store, {
      ...task,
      pushConfig: { id: 'p', url: 'https://receiver.example/', sealed: 'geheim' },
    })
    const write = {
      events: [moved(task, inputRequired, 2_000), note(task, 'x')],
      waiting: waitsFor('q'),
      sealed: true as const,
      records: [{ kind: 'step' as const, key: 'k', n: 1, body: '{}' }],
      turn: 2,
      attempt: 1,
      inboxSeq: 1,
      memory: { city: 'Bern' },
    }
    await opened.store.append(ref, { epoch: 1, holder: 'here' }, () => write)
    const before = withoutRef(await seenOf(opened.store, task))
    const unfinished = newTask()
    await create(opened.store, unfinished)
    const secret = await opened.store.secret('s')
    opened = await reopen(opened)
    expect(withoutRef(await seenOf(opened.store, task))).toEqual(before)
    expect([...(await opened.store.secret('s'))]).toEqual([...secret])
    expect((await opened.store.unfinished({ limit: 10 })).map(({ id }) => id)).toEqual([task.id, unfinished.id])
    const sibling = await opened.store.create(newTask({ caller: task.caller, contextId: task.contextId }))
    expect(sibling).toMatchObject({ outcome: 'created', memory: { city: 'Bern' } })
  })

  test('records, jobs, times and the sealing key are there after the next start', async () => {
    let opened = await open()
    const { store } = opened
    const [free, held, asleep, over] = [newTask(), newTask({ holder: 'dead' }), newTask({ holder: 'dead' }), newTask()]
    const records = [
      { kind: 'step', key: 'a', n: 1, body: '{"value":"é"}' },
      { kind: 'ask', key: 'b', body: '{}' },
    ] as const
    const sleeping = await create(store, { ...asleep, records })
    await store.append(sleeping.ref, { epoch: 1, holder: 'dead' }, () => ({
      events: [],
      holder: null,
      waiting: { kind: 'sleep', key: 'b', due: 500 },
      records: [{ kind: 'signal', key: 'paid', body: '[1]', turn: 0 }],
    }))
    const [second, first] = [await create(store, free), await create(store, { ...over, records })]
    await create(store, held)
    await store.claim(second.ref, 'here')
    await put(store, first, moved(over, completed, 2_000))
    const third = await create(store, newTask())
    await store.update(second.ref, () => ({ write: { events: [], holder: null }, result: 0 }))
    const key = await store.sealingKey()
    await store.keepSealingCheck(Uint8Array.of(7, 8))
    opened = await reopen(opened)
    const again = opened.store
    const names = async (refs: readonly TaskRef[]) => Promise.all(refs.map(async (ref) => (await again.header(ref))?.id))
    expect(await names(await again.runnable(10))).toEqual([third.id, free.id])
    expect(await names(await again.due(500, 10))).toEqual([asleep.id])
    expect(await again.nextDue()).toBe(500)
    const { ref } = await headerOf(again, asleep)
    expect(await recordsOf(again, { ref }, 1)).toEqual(records)
    expect(await recordsOf(again, { ref }, 0)).toEqual([{ kind: 'signal', key: 'paid', body: '[1]' }])
    expect(await again.records((await headerOf(again, over)).ref, 1)).toEqual([])
    expect([...(await again.sealingKey({ make: false }))]).toEqual([...key])
    expect(await again.sealingCheck()).toEqual(Uint8Array.of(7, 8))
    const settling = { events: [], records: [{ kind: 'step', key: 'a', n: 2, body: '{}' } as const] }
    await expect(again.update(ref, () => ({ write: settling, result: 0 }))).rejects.toThrow(/settled/)
  })

  test('what was under way when the store was closed is there', async () => {
    let opened = await open()
    const task = newTask()
    const header = await create(opened.store, task)
    const writes = upTo(50).map((n) => put(opened.store, header, note(task, `${n}`)))
    opened = await reopen(opened)
    await Promise.all(writes)
    expect((await logOf(opened.store, await headerOf(opened.store, task))).map(({ seq }) => seq)).toEqual(upTo(51))
  })

  test('epochs go on: a holder of before is still the holder, and the next claim is above it', async () => {
    let opened = await open()
    const task = newTask({ holder: 'dead' })
    await create(opened.store, task)
    opened = await reopen(opened)
    const { store } = opened
    const { ref } = await headerOf(store, task)
    expect(await store.claim(ref, 'next')).toBeUndefined()
    await store.update(ref, ({ attempt }) => ({ write: { events: [], holder: null, attempt: attempt + 1 }, result: 0 }))
    expect((await store.claim(ref, 'next'))?.header).toMatchObject({ epoch: 2, holder: 'next', attempt: 1 })
    expect(await store.append(ref, { epoch: 1, holder: 'dead' }, () => ({ events: [note(task, 'late')] }))).toEqual({ outcome: 'fenced' })
    const write = { events: [moved(task, working, 2_000)] }
    expect(await store.append(ref, { epoch: 2, holder: 'next' }, () => write)).toEqual({ outcome: 'committed', lastSeq: 2 })
  })

  test('a message of before the start is known after it, for 24 hours in all', async () => {
    let opened = await open()
    const caller = freshCaller()
    const inbound = { messageId: 'm', contentHash: '12'.repeat(16) }
    const first = newTask({ caller, inbound })
    await create(opened.store, first)
    const send = () => opened.store.create(newTask({ caller, inbound }))
    for (const hours of [1, 12]) {
      await opened.world.advance((hours * dayMs) / 24)
      opened = await reopen(opened)
      expect(await send()).toMatchObject({ outcome: 'duplicate', header: { id: first.id }, seq: 1 })
    }
    await opened.world.advance((11 * dayMs) / 24 - 1)
    opened = await reopen(opened)
    expect((await send()).outcome).toBe('duplicate')
    await opened.world.advance(2)
    opened = await reopen(opened)
    expect((await send()).outcome).toBe('created')
  })

  test('a task is the fold of its events over any number of starts', async () => {
    let opened = await open()
    await fc.assert(
      fc.asyncProperty(histories(150), fc.integer({ min: 5, max: 60 }), async (history, every) => {
        const task = newTask({ at: 1_000 })
        await create(opened.store, task)
        const bodies = [task.created.body]
        for (const [i, events] of eventsOf(task, history, 1_000).entries()) {
          if (i % every === 0) opened = await reopen(opened)
          await put(opened.store, await headerOf(opened.store, task), ...events)
          bodies.push(...events.map(({ body }) => body))
        }
        opened = await reopen(opened)
        const header = await headerOf(opened.store, task)
        const read = await opened.store.read(header.ref)
        expect(parsed(read.text)).toEqual(fold(bodies))
        expect((await logOf(opened.store, header)).map(({ body }) => body)).toEqual(bodies)
      }),
      { numRuns: 15 },
    )
  })

  test('walks go on over a start, and later changes stay out of them', async () => {
    let opened = await open()
    await fc.assert(
      fc.asyncProperty(walkSteps, fc.integer({ min: 2, max: 12 }), async (steps, every) => {
        const walks = new Walks(() => opened.store, freshCaller())
        for (const [i, step] of steps.entries()) {
          if (i % every === every - 1) opened = await reopen(opened)
          await walks.take(step)
        }
        await walks.finish()
      }),
      { numRuns: 40 },
    )
  })

  test('push configurations keep their order over a start', async () => {
    let opened = await open()
    const task = newTask()
    const { ref } = await create(opened.store, task)
    const config = (id: string) => ({ id, url: `https://receiver.example/${id}` })
    for (const id of ['c', 'a', 'b']) await opened.store.putPushConfig(ref, config(id))
    await opened.store.deletePushConfig(ref, 'b')
    opened = await reopen(opened)
    const again = (await headerOf(opened.store, task)).ref
    for (const id of ['0', 'c']) await opened.store.putPushConfig(again, config(id))
    expect((await opened.store.listPushConfigs(again, { limit: 10 })).map(({ id }) => id)).toEqual(['c', 'a', '0'])
  })

  test('how far a receiver has been told, and the attempts to tell it, outlive a start', async () => {
    let opened = await open()
    const task = newTask({ pushConfig: { id: 'p', url: 'https://receiver.example/' } })
    const { ref } = await create(opened.store, task)
    const [push] = await opened.store.pushes(ref)
    if (push === undefined) throw new Error('the configuration is not open')
    const progress = { after: 1, opens: false, until: 4, attempts: 2, due: 99, drops: 3, state: 'resting' } as const
    const delivery = { number: 4, attempt: 2, at: 7, outcome: 'failed', failure: 'timeout' } as const
    await opened.store.advancePush(push, progress, delivery)
    opened = await reopen(opened)
    const again = (await headerOf(opened.store, task)).ref
    const [same] = await opened.store.pushes(again)
    expect(same && (await opened.store.push(same))).toMatchObject({ config: { id: 'p' }, progress })
    expect(await opened.store.deliveries(again)).toEqual([{ configId: 'p', ...delivery }])
    // Whatever is made from here on is no other one's successor.
    await opened.store.putPushConfig(again, { id: 'q', url: 'https://receiver.example/q' })
    expect(new Set(await opened.store.pushes(again)).size).toBe(2)
  })

  test('ten mebibytes and names of any characters survive a start', async () => {
    let opened: Opened = await open()
    const task = newTask({ caller: { tenant: '😀', owner: 'שלום\u0301' }, id: 'é/%_\'"', contextId: '名前 \u{10FFFF}' })
    const large = artifact(task, { artifactId: '大', parts: [{ text: '€'.repeat((10 << 20) / 3) }] })
    await put(opened.store, await create(opened.store, task), large)
    opened = await reopen(opened)
    const header = await headerOf(opened.store, task)
    expect(header).toMatchObject({ caller: task.caller, id: task.id, contextId: task.contextId, lastSeq: 2 })
    const log = await logOf(opened.store, header)
    // Compared as a claim: a message that shows the difference would be as long.
    expect(log[1]?.body === large.body).toBe(true)
    expect((await opened.store.read(header.ref)).text.includes('€'.repeat((10 << 20) / 3))).toBe(true)
  })

  test('a store of before its last start tells nobody', async () => {
    const before = await open()
    const told: number[] = []
    before.store.onCommit((_, lastSeq) => told.push(lastSeq))
    const { store } = await reopen(before)
    await create(store, newTask())
    expect(told).toEqual([])
  })
}

/** References are good for one opening of the store only. */
function withoutRef(seen: unknown): unknown {
  return JSON.parse(JSON.stringify(seen), (name, value: unknown) => (name === 'ref' ? undefined : value))
}
