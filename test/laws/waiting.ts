/** Laws of waiting: what a task waits for, when that is due, and who may claim it then. */

import { expect, test } from 'vitest'
import type { Store, TaskHeader, TaskRef, Waiting } from '../../src/store/store.js'
import { create, finalStates, freshCaller, headerOf, moved, newTask, note, type Open, put, upTo } from './kit.js'

const hour = 3_600_000

export function waitingLaws(open: Open): void {
  test.each<readonly [string, (now: number) => Waiting, boolean]>([
    ['the next turn', () => ({ kind: 'turn', question: 'q' }), false],
    ['an answer', () => ({ kind: 'ask', key: 'k', question: 'q' }), false],
    ['an answer that may take another hour', (now) => ({ kind: 'ask', key: 'k', question: 'q', due: now + hour }), false],
    ['an answer that did not come in time', (now) => ({ kind: 'ask', key: 'k', question: 'q', due: now - 1 }), true],
    ['consent that did not come in time', (now) => ({ kind: 'authorize', key: 'k', question: 'q', due: now - hour }), true],
    ['a signal', () => ({ kind: 'wait', key: 'k', name: 'paid' }), false],
    ['a signal that did not come in time', (now) => ({ kind: 'wait', key: 'k', name: 'paid', due: now }), true],
    ['a time to come', (now) => ({ kind: 'sleep', key: 'k', due: now + 1 }), false],
    ['this very moment', (now) => ({ kind: 'sleep', key: 'k', due: now }), true],
  ])('a task that waits for %s', async (_, waitingAt, isClaimed) => {
    const { store, world } = await open()
    const waiting = waitingAt(world.now())
    const task = newTask()
    const before = await wait(store, await create(store, task), waiting)
    expect(before.waiting).toEqual(waiting)
    expect(await headerOf(store, task)).toEqual(before)
    const claimed = await store.claim(before.ref, 'here')
    // The claim leaves it to the run to end the waiting.
    const after = isClaimed ? { ...before, holder: 'here', epoch: 1 } : before
    expect(claimed?.header).toEqual(isClaimed ? after : undefined)
    expect(await headerOf(store, task)).toEqual(after)
  })

  test('a task may be claimed from the moment on that its waiting is due', async () => {
    const { store, world } = await open()
    const header = await wait(store, await create(store, newTask()), { kind: 'sleep', key: 's', due: world.now() + hour })
    expect(await store.claim(header.ref, 'here')).toBeUndefined()
    await world.advance(hour - 1)
    expect(await store.claim(header.ref, 'here')).toBeUndefined()
    await world.advance(1)
    const claims = await Promise.all(upTo(5).map((n) => store.claim(header.ref, `${n}`)))
    expect(claims.map((claim) => claim?.header.holder)).toEqual(['1', undefined, undefined, undefined, undefined])
  })

  test('a task that is held is not claimed, however long it has been due', async () => {
    const { store, world } = await open()
    const header = await wait(store, await create(store, newTask({ holder: 'here' })), { kind: 'sleep', key: 's', due: world.now() - hour })
    expect(await store.claim(header.ref, 'there')).toBeUndefined()
    expect(await store.due(world.now(), 10)).toEqual([header.ref])
  })

  test('what is due comes earliest first, whoever holds it and whichever way it was written', async () => {
    const { store } = await open()
    expect([await store.nextDue(), await store.due(Number.MAX_SAFE_INTEGER, 10)]).toEqual([undefined, []])
    const dues = [500, 100, undefined, 300, 100, 0, 400]
    const refs = new Map<TaskRef, number>()
    for (const [n, due] of dues.entries()) {
      const task = newTask(n % 2 === 0 ? { holder: 'here' } : {})
      const header = await create(store, task)
      await wait(store, header, due === undefined ? { kind: 'turn' } : { kind: 'sleep', key: 's', due })
      if (due !== undefined) refs.set(header.ref, due)
    }
    const dueAt = async (now: number, limit = 10) => (await store.due(now, limit)).map((ref) => refs.get(ref))
    expect(await dueAt(-1)).toEqual([])
    expect(await dueAt(0)).toEqual([0])
    expect(await dueAt(100)).toEqual([0, 100, 100])
    expect(await dueAt(1_000)).toEqual([0, 100, 100, 300, 400, 500])
    expect(await dueAt(1_000, 2)).toEqual([0, 100])
    expect(await store.nextDue()).toBe(0)
  })

  test('a time that is put off, taken back or over is due no more', async () => {
    const { store } = await open()
    const [a, b, c] = [await create(store, newTask()), await create(store, newTask()), await create(store, newTask())]
    for (const [n, header] of [a, b, c].entries()) await wait(store, header, { kind: 'wait', key: 'w', due: 100 * (n + 1) })
    expect(await store.nextDue()).toBe(100)
    await wait(store, a, { kind: 'wait', key: 'w', due: 250 })
    expect([await store.nextDue(), await store.due(1_000, 10)]).toEqual([200, [b.ref, a.ref, c.ref]])
    await wait(store, b, null)
    expect([await store.nextDue(), await store.due(1_000, 10)]).toEqual([250, [a.ref, c.ref]])
    await wait(store, a, { kind: 'turn', question: 'q' })
    expect([await store.nextDue(), await store.due(1_000, 10)]).toEqual([300, [c.ref]])
    await put(store, c, note(c, 'still'))
    expect(await store.due(1_000, 10)).toEqual([c.ref])
    await store.claim(c.ref, 'here')
    expect(await store.due(1_000, 10)).toEqual([c.ref])
  })

  test.each(finalStates)('a task in %s is due no more, also where it ended with its waiting', async (state) => {
    const { store } = await open()
    const task = newTask()
    const header = await wait(store, await create(store, task), { kind: 'ask', key: 'k', due: 100 })
    await put(store, header, moved(task, state, 2_000))
    expect([await store.nextDue(), await store.due(1_000, 10)]).toEqual([undefined, []])
  })

  test('nobody reads a time before its commit, and what several writes of one turn make of it is one time', async () => {
    const { store } = await open()
    const header = await create(store, newTask())
    const writes = [100, 50, 300].map((due) => wait(store, header, { kind: 'sleep', key: 's', due }))
    expect(await store.nextDue()).toBeUndefined()
    await Promise.all(writes)
    expect([await store.nextDue(), await store.due(1_000, 10)]).toEqual([300, [header.ref]])
  })

  test('a task may begin to wait in the commit that makes it', async () => {
    const { store } = await open()
    const task = newTask({ caller: freshCaller(), holder: 'here' })
    let waiting: Promise<unknown> = Promise.resolve()
    await store.create(task, (created) => {
      if (created.outcome !== 'created') return
      const { ref } = created.header
      const sleeping = { kind: 'sleep', key: 's', due: 100 } as const
      waiting = store.append(ref, { epoch: 1, holder: 'here' }, () => ({ events: [], waiting: sleeping }))
    })
    await waiting
    const { ref } = await headerOf(store, task)
    expect(await store.due(100, 10)).toEqual([ref])
  })
}

async function wait(store: Store, { ref }: TaskHeader, waiting: Waiting | null): Promise<TaskHeader> {
  const updated = await store.update(ref, () => ({ write: { events: [], waiting }, result: 0 }))
  if (updated.outcome !== 'updated') throw new Error(`expected a write, not ${updated.outcome}`)
  return updated.header
}
