/** Laws of pushes: where each configuration begins, how far it is, and what was tried. */

import { expect, test } from 'vitest'
import type { PushProgress, PushRef, Store, StoredPushConfig, TaskHeader, TaskRef } from '../../src/store/store.js'
import { completed, create, headerOf, moved, newTask, nextTurn, note, type Open, put, said, upTo, working } from './kit.js'

const config = (id: string): StoredPushConfig => ({ id, url: `https://receiver.example/${id}` })
const start: PushProgress = { after: 1, opens: false, attempts: 0, drops: 0, state: 'active' }
const delivered = { number: 1, attempt: 1, at: 1_000, outcome: 'delivered', status: 204 } as const

export function pushLaws(open: Open): void {
  test('one of a new task begins after its creation', async () => {
    const { store } = await open()
    const task = newTask({ pushConfig: config('a') })
    const { ref } = await create(store, task)
    expect(await store.push(await onlyPush(store, ref))).toEqual({
      task: { ref, id: task.id, state: 'TASK_STATE_SUBMITTED', lastSeq: 1 },
      config: config('a'),
      progress: start,
    })
  })

  test('one that comes with a message begins after that message, whatever else is in the write', async () => {
    const { store } = await open()
    const { header, send } = await openTask(store)
    await put(store, header, note(header, 'before'))
    await send(config('a'))
    expect(await progressOf(store, header.ref)).toEqual({ ...start, after: 3 })
    expect((await headerOf(store, header)).lastSeq).toBe(4)
  })

  test('one made by itself begins with the Task as it is in that moment', async () => {
    const { store } = await open()
    const { header } = await openTask(store)
    // All in one turn: what comes before it is in the Task, what comes after it is not.
    await Promise.all([
      put(store, header, note(header, 'before')),
      store.putPushConfig(header.ref, config('a')),
      put(store, header, note(header, 'after')),
    ])
    expect(await progressOf(store, header.ref)).toEqual({ ...start, after: 2, opens: true })
    expect(await store.openPushes({ limit: 10 })).toMatchObject([{ ref: header.ref, isBehind: true }])
  })

  test('one that takes the place of another within a send goes on where that one was, with its attempts forgotten', async () => {
    const { store } = await open()
    const { header, send } = await openTask(store)
    await store.putPushConfig(header.ref, config('a'))
    const first = await onlyPush(store, header.ref)
    await store.advancePush(first, { after: 1, opens: true, until: 7, attempts: 2, due: 9_000, drops: 4, state: 'resting' })
    await send({ ...config('a'), url: 'https://other.example/' })
    const second = await onlyPush(store, header.ref)
    expect(second).not.toBe(first)
    expect(await store.push(first)).toBeUndefined()
    expect(await store.push(second)).toMatchObject({ config: { url: 'https://other.example/' } })
    expect((await store.push(second))?.progress).toEqual({ after: 1, opens: true, until: 7, attempts: 0, drops: 0, state: 'active' })
  })

  test('one that takes the place of another that has ended begins after its message', async () => {
    const { store } = await open()
    const { header, send } = await openTask(store)
    await send(config('a'))
    await store.advancePush(await onlyPush(store, header.ref), { ...start, after: 2, opens: true, state: 'ended' })
    expect(await store.pushes(header.ref)).toEqual([])
    expect(await store.openPushes({ limit: 10 })).toEqual([])
    await send(config('a'))
    expect(await progressOf(store, header.ref)).toEqual({ ...start, after: 4 })
  })

  test('one that takes the place of another by itself begins anew', async () => {
    const { store } = await open()
    const { header, send } = await openTask(store)
    await send(config('a'))
    await store.advancePush(await onlyPush(store, header.ref), {
      ...start,
      after: 2,
      until: 3,
      attempts: 1,
      due: 9,
      drops: 5,
      state: 'resting',
    })
    await store.putPushConfig(header.ref, config('a'))
    expect(await progressOf(store, header.ref)).toEqual({ ...start, after: 3, opens: true })
  })

  test('progress comes back as it was set', async () => {
    const { store } = await open()
    const { header, send } = await openTask(store)
    await send(config('a'))
    const push = await onlyPush(store, header.ref)
    const all: readonly PushProgress[] = [
      { after: 2, opens: true, until: 3, attempts: 1, due: 1_234_567_890_123, drops: 1, state: 'active' },
      { after: 3, opens: false, attempts: 0, drops: 5, state: 'resting' },
      { after: 3, opens: false, attempts: 0, drops: 0, state: 'ended' },
    ]
    for (const progress of all) {
      await store.advancePush(push, progress)
      expect((await store.push(push))?.progress).toEqual(progress)
    }
    expect(await store.deliveries(header.ref)).toEqual([])
  })

  test('a configuration that was replaced or deleted is advanced no more, and nothing is kept of it', async () => {
    const { store } = await open()
    const { header, send } = await openTask(store)
    for (const id of ['a', 'b']) await send(config(id))
    const [a, b] = await store.pushes(header.ref)
    if (a === undefined || b === undefined) throw new Error('both are open')
    await send(config('a'))
    await store.deletePushConfig(header.ref, 'b')
    const before = await progressOf(store, header.ref)
    for (const gone of [a, b]) {
      await store.advancePush(gone, { ...start, after: 99 }, delivered)
      expect(await store.push(gone)).toBeUndefined()
    }
    expect(await progressOf(store, header.ref)).toEqual(before)
    expect(await store.deliveries(header.ref)).toEqual([])
  })

  test('what was advanced in the turn in which another one takes its place is its successor’s', async () => {
    const { store } = await open()
    const { header, send } = await openTask(store)
    await send(config('a'))
    const push = await onlyPush(store, header.ref)
    await Promise.all([store.advancePush(push, { ...start, after: 3 }, delivered), send(config('a'))])
    expect(await progressOf(store, header.ref)).toEqual({ ...start, after: 3 })
    expect(await store.deliveries(header.ref)).toEqual([{ configId: 'a', ...delivered }])
  })

  test('deliveries are told by their task, the last hundred of each configuration, and go with it', async () => {
    const { store } = await open()
    const { header, send } = await openTask(store)
    for (const id of ['a', 'b']) await send(config(id))
    const [a, b] = await store.pushes(header.ref)
    if (a === undefined || b === undefined) throw new Error('both are open')
    const failed = { number: 5, attempt: 2, outcome: 'dropped', failure: 'address' } as const
    await store.advancePush(b, start, { ...failed, at: 50 })
    for (const n of upTo(105)) await store.advancePush(a, start, { ...delivered, at: 1_000 + n })
    const other = await openTask(store)
    expect(await store.deliveries(other.header.ref)).toEqual([])
    const kept = await store.deliveries(header.ref)
    expect(kept[0]).toEqual({ configId: 'b', ...failed, at: 50 })
    expect(kept.slice(1).map(({ at }) => at)).toEqual(upTo(100).map((n) => 1_005 + n))
    await send(config('a'))
    expect(await store.deliveries(header.ref)).toEqual(kept)
    await store.deletePushConfig(header.ref, 'a')
    await send(config('a'))
    expect(await store.deliveries(header.ref)).toEqual(kept.slice(0, 1))
  })

  test('a walk through the open ones finds each, and which are behind', async () => {
    const { store } = await open()
    const expected: { push: PushRef; ref: TaskRef; isBehind: boolean }[] = []
    for (const n of upTo(7)) {
      const task = newTask({ pushConfig: config(`c${n}`) })
      const header = await create(store, task)
      const push = await onlyPush(store, header.ref)
      if (n % 3 === 0) await store.advancePush(push, { ...start, state: 'ended' })
      else expected.push({ push, ref: header.ref, isBehind: n % 2 === 0 })
      if (n % 2 === 0) await put(store, header, moved(header, completed, 2_000))
    }
    for (const limit of [1, 2, 100]) {
      const found: (typeof expected)[number][] = []
      for (;;) {
        const last = found.at(-1)
        const page = await store.openPushes({ limit, ...(last && { after: last.push }) })
        if (page.length === 0) break
        expect(page.length).toBeLessThanOrEqual(limit)
        found.push(...page)
      }
      expect(found).toEqual(expected)
    }
  })

  test('whoever listens hears of each commit that makes, replaces or deletes one, and of no other', async () => {
    const { store, world } = await open()
    const heard: TaskRef[] = []
    const stop = store.onPushConfig((ref) => heard.push(ref))
    const { ref } = await create(store, newTask({ pushConfig: config('a') }))
    expect(heard.splice(0)).toEqual([ref])
    await store.putPushConfig(ref, config('a'))
    expect(heard.splice(0)).toEqual([ref])
    await store.deletePushConfig(ref, 'a')
    expect(heard.splice(0)).toEqual([ref])
    const { header, send } = await openTask(store)
    expect(heard).toEqual([])
    await send(config('b'))
    expect(heard.splice(0)).toEqual([header.ref])
    await store.advancePush(await onlyPush(store, header.ref), start, delivered)
    await put(store, header, note(header, 'x'))
    const refused = store.update(header.ref, () => {
      throw new Error('no')
    })
    await expect(refused).rejects.toThrow('no')
    await nextTurn(world)
    expect(heard).toEqual([])
    stop()
    await store.putPushConfig(ref, config('a'))
    expect(heard).toEqual([])
  })
}

interface OpenTask {
  readonly header: TaskHeader
  /** A message with a configuration in it, and the status that follows. */
  readonly send: (pushConfig: StoredPushConfig) => Promise<unknown>
}

async function openTask(store: Store): Promise<OpenTask> {
  const header = await create(store, newTask())
  let at = 2_000
  const send = (pushConfig: StoredPushConfig) =>
    store.update(header.ref, () => ({
      result: undefined,
      write: { events: [said(header, 'message', 'hello'), moved(header, working, at++)], pushConfig },
    }))
  return { header, send }
}

async function onlyPush(store: Store, ref: TaskRef): Promise<PushRef> {
  const [push, ...more] = await store.pushes(ref)
  if (push === undefined || more.length > 0) throw new Error('the task has one open configuration')
  return push
}

async function progressOf(store: Store, ref: TaskRef): Promise<PushProgress | undefined> {
  return (await store.push(await onlyPush(store, ref)))?.progress
}
