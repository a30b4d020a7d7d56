/** A crash leaves what was committed, and nothing of the store that was there. */

import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { UnavailableError } from '../../../src/protocol/errors.js'
import { type CrashableMemory, createCrashableMemory } from '../../../src/store/sqlite/crashable.js'
import type { Store, TaskHeader } from '../../../src/store/store.js'
import { virtualWorld } from '../../../src/testing/virtual-world.js'
import {
  completed,
  create,
  freshCaller,
  headerOf,
  inputRequired,
  logOf,
  moved,
  newTask,
  nextTurn,
  note,
  put,
  upTo,
  working,
} from '../../laws/kit.js'

const fence = { epoch: 1, holder: 'h' }
const world = virtualWorld()

async function opened(memory: CrashableMemory): Promise<Store> {
  onTestFinished(() => memory.crash())
  return memory.open({ world })
}

/** Whether a promise has settled two turns of the event loop later. */
async function settles(promise: Promise<unknown>): Promise<boolean> {
  let isSettled = false
  const settle = () => {
    isSettled = true
  }
  promise.then(settle, settle)
  await nextTurn(world)
  await nextTurn(world)
  return isSettled
}

const bodiesOf = async (store: Store, header: TaskHeader) => (await logOf(store, header)).map(({ body }) => body)

test('what was acknowledged is there after a crash, what was under way is not', async () => {
  const memory = createCrashableMemory()
  const before = await opened(memory)
  const task = newTask({ holder: 'h', records: [{ kind: 'turn', key: 't', n: 1, body: '{}' }] })
  const header = await create(before, task)
  const kept = await put(before, header, note(task, 'kept'))
  const lost = [put(before, header, note(task, 'lost')), create(before, newTask())]
  memory.crash()
  const store = await memory.open({ world })
  expect(await headerOf(store, task)).toEqual(kept)
  expect(await store.records(header.ref, 1)).toHaveLength(1)
  expect(await store.runnable(10)).toEqual([])
  for (const promise of lost) expect(await settles(promise)).toBe(false)
})

test('a store that has crashed does nothing more, whatever is asked of it', async () => {
  const memory = createCrashableMemory()
  const before = await opened(memory)
  const task = newTask({ holder: 'h' })
  const header = await create(before, task)
  const told: unknown[] = []
  before.onCommit((...commit) => told.push(commit))
  before.onRunnable((ref) => told.push(ref))
  const asked: unknown[] = []
  const appending = before.append(header.ref, fence, () => {
    asked.push('append')
    return { events: [note(task, 'late')] }
  })
  memory.crash()
  const store = await memory.open({ world })
  const later = [
    appending,
    before.append(header.ref, fence, () => void asked.push('later')),
    before.update(header.ref, () => ({ result: asked.push('update') })),
    before.create(newTask(), () => asked.push('create')),
    before.find(task.caller, task.id),
    before.secret('s'),
    before.sealingKey(),
    before.close(),
  ]
  await create(store, newTask())
  for (const promise of later) expect(await settles(promise)).toBe(false)
  expect([asked, told]).toEqual([[], []])
  expect(await headerOf(store, task)).toEqual(header)
})

test('a crash within a commit keeps the appends after it from being asked', async () => {
  const memory = createCrashableMemory()
  const before = await opened(memory)
  const [a, b] = [await create(before, newTask({ holder: 'h' })), await create(before, newTask({ holder: 'h' }))]
  const asked: string[] = []
  // Known to the store by then, so that it need not be read for the append.
  void before.update(b.ref, () => ({ result: 0 }))
  void before.append(a.ref, fence, () => {
    asked.push('a')
    memory.crash()
    return { events: [note(a, 'x')] }
  })
  void before.append(b.ref, fence, () => void asked.push('b'))
  await nextTurn(world)
  expect(asked).toEqual(['a'])
  const store = await memory.open({ world })
  expect(await store.header(a.ref)).toEqual(a)
})

test('a listener that plays a crash is the last one that is told, and the commit stays', async () => {
  const memory = createCrashableMemory()
  const before = await opened(memory)
  const told: string[] = []
  before.onCommit(() => {
    told.push('first')
    memory.crash()
  })
  before.onCommit(() => told.push('second'))
  before.onRunnable(() => told.push('runnable'))
  const task = newTask()
  expect(await settles(before.create(task))).toBe(false)
  expect(told).toEqual(['first'])
  expect((await headerOf(await memory.open({ world }), task)).lastSeq).toBe(1)
})

test('a crash right before a commit loses it, one right after it does not; either way nobody is told', async () => {
  for (const [hook, lastSeq] of [
    ['beforeCommit', 1],
    ['afterCommit', 2],
  ] as const) {
    const memory = createCrashableMemory()
    const before = await opened(memory)
    const task = newTask()
    const header = await create(before, task)
    const told: unknown[] = []
    before.onCommit((...commit) => told.push(commit))
    const numbers: number[] = []
    memory[hook] = (n) => {
      numbers.push(n)
      memory.crash()
      return undefined
    }
    const writing = put(before, header, note(task, 'x'))
    expect(await settles(writing)).toBe(false)
    expect([told, numbers]).toEqual([[], [2]])
    memory[hook] = undefined
    const store = await memory.open({ world })
    expect((await headerOf(store, task)).lastSeq).toBe(lastSeq)
    expect(memory.commits).toBe(lastSeq)
  }
})

test('a commit that fails is undone, and the store goes on', async () => {
  const memory = createCrashableMemory()
  const store = await opened(memory)
  const task = newTask()
  const header = await create(store, task)
  memory.beforeCommit = (n) => (n === 2 ? 'fail' : 'commit')
  await expect(put(store, header, note(task, 'lost'))).rejects.toThrow(UnavailableError)
  expect(await headerOf(store, task)).toEqual(header)
  memory.beforeCommit = undefined
  expect((await put(store, header, note(task, 'kept'))).lastSeq).toBe(2)
  expect(memory.commits).toBe(2)
})

test('a commit that fails although it took effect is there, and the store goes on from it', async () => {
  const memory = createCrashableMemory()
  const store = await opened(memory)
  const caller = freshCaller()
  const inbound = { messageId: 'm', contentHash: 'ab'.repeat(16) }
  const [a, b] = [newTask({ caller, holder: 'h', at: 1_000 }), newTask({ caller, inbound, at: 3_000 })]
  const header = await create(store, a)
  const told: unknown[] = []
  store.onCommit((...commit) => told.push(commit))
  memory.beforeCommit = () => 'commit and fail'
  const record = { kind: 'step', key: 'k', n: 1, body: '1' } as const
  const write = { events: [moved(a, inputRequired, 4_000)], holder: null, records: [record], memory: { x: 1 } }
  const settled = await Promise.allSettled([store.append(header.ref, fence, () => write), store.create(b)])
  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  memory.beforeCommit = undefined
  // Without events: the log has to be read.
  expect(told).toContainEqual([header.ref, 2])
  expect(await headerOf(store, a)).toMatchObject({ state: inputRequired, lastSeq: 2, holder: undefined })
  expect(await store.records(header.ref, 1)).toEqual([record])
  expect(await store.create(newTask({ caller, inbound }))).toMatchObject({ outcome: 'duplicate', header: { id: b.id } })
  // A walk counts the commit, whatever was said of it.
  const listed = async () => (await store.list({ caller, pageSize: 9 })).tasks.map(({ text }) => JSON.parse(text).id)
  expect(await listed()).toEqual([a.id, b.id])
  const first = await store.list({ caller, pageSize: 1 })
  await put(store, header, moved(a, completed, 5_000))
  const next = first.next
  if (next === undefined) throw new Error('there is a second page')
  expect((await store.list({ caller, pageSize: 1, from: next })).tasks.map(({ text }) => JSON.parse(text).id)).toEqual([b.id])
  expect(await store.create(newTask({ caller, contextId: a.contextId }))).toMatchObject({ memory: { x: 1 } })
})

test('one store at a time is on the database', async () => {
  const memory = createCrashableMemory()
  const store = await opened(memory)
  await expect(memory.open({ world })).rejects.toThrow(/crash\(\) or close\(\) it first/)
  const task = newTask()
  const writing = create(store, task)
  await store.close()
  expect((await writing).lastSeq).toBe(1)
  expect((await headerOf(await memory.open({ world }), task)).lastSeq).toBe(1)
})

test('a crash while the store opens leaves a database that can be opened', async () => {
  const memory = createCrashableMemory()
  const opening = memory.open({ world })
  memory.crash()
  expect(await settles(opening)).toBe(false)
  memory.crash()
  await create(await opened(memory), newTask())
})

test('keys and secrets outlive a crash, once somebody has them', async () => {
  const memory = createCrashableMemory()
  const before = await opened(memory)
  const [key, secret] = [await before.sealingKey(), await before.secret('s')]
  memory.crash()
  const store = await memory.open({ world: virtualWorld({ seed: 9 }) })
  expect([...(await store.sealingKey())]).toEqual([...key])
  expect([...(await store.secret('s'))]).toEqual([...secret])
})

test('two databases do not meet', async () => {
  const [a, b] = [await opened(createCrashableMemory()), await opened(createCrashableMemory())]
  const task = newTask()
  await create(a, task)
  expect(await b.find(task.caller, task.id)).toBeUndefined()
})

test('wherever commits fail and crashes come: all that was acknowledged, each write whole, in the order of writing', async () => {
  const accident = fc.constantFrom('crash before', 'crash after', 'fail', 'commit and fail', 'commit', 'commit', 'commit')
  await fc.assert(
    fc.asyncProperty(fc.array(accident, { maxLength: 12, size: 'max' }), fc.integer({ min: 1, max: 3 }), async (accidents, perTurn) => {
      const memory = createCrashableMemory()
      let store = await memory.open({ world })
      const task = newTask()
      const header = await create(store, task)
      const acknowledged: string[] = []
      const tried: string[] = []
      for (const [turn, how] of accidents.entries()) {
        memory.beforeCommit = () => {
          if (how === 'crash before') memory.crash()
          return how === 'fail' || how === 'commit and fail' ? how : 'commit'
        }
        memory.afterCommit = () => how === 'crash after' && memory.crash()
        const writes = upTo(perTurn).map((n) => {
          const event = note(task, `${turn}.${n}`)
          tried.push(event.body)
          const record = { kind: 'step', key: event.body, n: tried.length, body: '' } as const
          const write = { events: [event, moved(task, working, 2_000 + tried.length)], records: [record] }
          return store.update(header.ref, () => ({ write, result: 0 })).then(() => acknowledged.push(event.body))
        })
        await settles(Promise.allSettled(writes))
        memory.beforeCommit = undefined
        memory.afterCommit = undefined
        if (how.startsWith('crash')) store = await memory.open({ world })
        const log = await bodiesOf(store, header)
        const there = tried.filter((body) => log.includes(body))
        expect(log.filter((body) => tried.includes(body))).toEqual(there)
        expect(acknowledged.filter((body) => !there.includes(body))).toEqual([])
        expect((await store.records(header.ref, 1)).map(({ key }) => key).sort()).toEqual([...there].sort())
        expect(log).toHaveLength(1 + 2 * there.length)
        const isIn = how !== 'crash before' && how !== 'fail'
        expect(tried.slice(-perTurn).every((body) => there.includes(body) === isIn)).toBe(true)
      }
      memory.crash()
    }),
    { numRuns: 40 },
  )
})
