/** One turn of the event loop is one transaction, whatever happens in it. */

import { expect, test } from 'vitest'
import { UnavailableError } from '../../../src/protocol/errors.js'
import type { Created } from '../../../src/store/store.js'
import { virtualWorld } from '../../../src/testing/virtual-world.js'
import { completed, create, freshCaller, headerOf, logOf, moved, newTask, note, put, upTo, working } from '../../laws/kit.js'
import { freshFile, openWatched } from './watched.js'

test('twenty creations in one turn are one commit', async () => {
  const { store, count } = await openWatched()
  await Promise.all(upTo(20).map(() => create(store, newTask())))
  expect(count(/^begin/)).toBe(1)
  expect(count(/^commit/)).toBe(1)
})

test('a task that begins and ends in one turn is one commit, one row, an event row each and one snapshot', async () => {
  const { store, ran, count } = await openWatched()
  const caller = freshCaller()
  await create(store, newTask({ caller }))
  ran.length = 0
  const task = newTask({ caller, holder: 'h' })
  let ended: Promise<unknown> | undefined
  await store.create(task, (created) => {
    if (created.outcome !== 'created') throw new Error('the task is new')
    const events = [moved(task, working, 2_000), note(task, 'done'), moved(task, completed, 2_001)]
    ended = store.append(created.header.ref, { epoch: 1, holder: 'h' }, () => ({ events, holder: null }))
  })
  await ended
  expect(count(/^commit/)).toBe(1)
  expect(count(/(insert into|update) task[ (]/)).toBe(1)
  expect(count(/into task_event/)).toBe(4)
  expect(count(/into snapshot/)).toBe(1)
  // Beside those: the count by state and the revision.
  expect(count(/^(insert|update|delete)/)).toBe(8)
})

test('an append writes its header and its events, and nothing else', async () => {
  const { store, ran, count } = await openWatched()
  const task = newTask({ holder: 'h' })
  const { ref } = await create(store, task)
  ran.length = 0
  await store.append(ref, { epoch: 1, holder: 'h' }, () => ({ events: [note(task, 'a'), note(task, 'b')] }))
  expect(count(/^update task set/)).toBe(1)
  expect(count(/^(insert|update|delete)/)).toBe(3)
  expect(ran.length).toBe(6) // begin, the header read, three writes, commit
})

test('a record without an event is one row, and one look whether it is settled', async () => {
  const { store, ran, count } = await openWatched()
  const { ref } = await create(store, newTask({ holder: 'h' }))
  ran.length = 0
  await store.append(ref, { epoch: 1, holder: 'h' }, () => ({ events: [], records: [{ kind: 'step', key: 'k', n: 1, body: '1' }] }))
  expect(count(/^(insert|update|delete)/)).toBe(1)
  expect(ran.length).toBe(5) // begin, the header and the record read, one write, commit
})

test('a question that may take until a time costs one write more than one that may take for ever', async () => {
  const { store, ran, count } = await openWatched()
  const task = newTask({ holder: 'h' })
  const { ref } = await create(store, task)
  const fence = { epoch: 1, holder: 'h' }
  const writes: number[] = []
  for (const waiting of [{ kind: 'ask', key: 'k' } as const, { kind: 'ask', key: 'k', due: 9 } as const, null]) {
    ran.length = 0
    await store.append(ref, fence, () => ({ events: [], waiting }))
    writes.push(count(/^(insert|update|delete)/))
  }
  expect(writes).toEqual([1, 2, 2])
})

test('a task costs a job row only where a commit leaves it to anybody, and a claim takes that away', async () => {
  const { store, ran, count } = await openWatched()
  await create(store, newTask({ holder: 'h' }))
  expect(count(/ job/)).toBe(0)
  const begun = newTask()
  await store.create(begun, (created) => {
    if (created.outcome === 'created') void store.claim(created.header.ref, 'h')
  })
  expect(count(/ job/)).toBe(0)
  const { ref } = await create(store, newTask())
  await put(store, { ...(await headerOf(store, begun)), ref }, note(begun, 'x'))
  expect(count(/into job/)).toBe(1)
  ran.length = 0
  await store.claim(ref, 'h')
  expect(count(/^(insert|update|delete)/)).toBe(2)
  expect(count(/from job/)).toBe(1)
})

test('an update of the header rewrites no index, one of the time alone rewrites one', async () => {
  const { driver, prepared } = await openWatched()
  const trees = (sql: string | undefined) => {
    const unbound = Array.from({ length: (sql ?? '').split('?').length - 1 }, () => null)
    const codes = driver.prepare(`explain ${sql}`).all(...unbound)
    return codes.filter(({ opcode }) => opcode === 'OpenWrite').length
  }
  const updates = prepared.filter((sql) => sql.startsWith('update task set'))
  expect(updates).toHaveLength(3)
  expect(trees(updates.find((sql) => sql.includes('last_seq') && !sql.includes('status_ts')))).toBe(1)
  expect(trees(updates.find((sql) => sql.includes('due_at')))).toBe(2)
})

test('what writes nothing changes nothing', async () => {
  const { store, ran, count } = await openWatched()
  const { ref } = await create(store, newTask({ holder: 'h' }))
  ran.length = 0
  expect(await store.append(ref, { epoch: 1, holder: 'h' }, () => undefined)).toEqual({ outcome: 'committed', lastSeq: 1 })
  await store.update(ref, () => ({ result: 1 }))
  expect(count(/^(insert|update|delete)/)).toBe(0)
})

test('a failed commit rejects all that was in it, with the cause, and leaves the store as it was', async () => {
  const { store, failNext } = await openWatched(freshFile())
  const caller = freshCaller()
  const kept = newTask({ caller, holder: 'h' })
  const header = await create(store, kept)
  const told: unknown[] = []
  store.onCommit((...commit) => told.push(commit))
  failNext(/^commit/)
  const lost = newTask({ caller })
  const settled = await Promise.allSettled([
    store.create(lost),
    store.update(header.ref, () => ({ write: { events: [note(kept, 'lost')], memory: { lost: true } }, result: 0 })),
    store.append(header.ref, { epoch: 1, holder: 'h' }, () => ({ events: [moved(kept, completed, 5_000)] })),
    store.update(header.ref, () => {
      throw new TypeError('refused')
    }),
    store.putPushConfig(header.ref, { id: 'p', url: 'https://example.com' }),
    store.secret('key'),
  ])
  for (const outcome of settled) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: { cause: { message: 'the disk is full' } } })
    expect(outcome.status === 'rejected' && outcome.reason).toBeInstanceOf(UnavailableError)
  }
  // Nobody knows yet what became of it: who follows the task looks for himself.
  expect(told).toEqual([[header.ref, header.lastSeq]])
  expect(await headerOf(store, kept)).toEqual(header)
  expect(await store.find(caller, lost.id)).toBeUndefined()
  expect(await store.listPushConfigs(header.ref, { limit: 9 })).toEqual([])
  expect((await store.list({ caller, pageSize: 9 })).total).toBe(1)

  const after = await put(store, header, note(kept, 'kept'))
  expect(after.lastSeq).toBe(2)
  const again = await store.create(newTask({ caller, contextId: kept.contextId }))
  expect(again).toMatchObject({ outcome: 'created', memory: {} })
})

test('a key that was given out in a failed commit is never given to another task', async () => {
  const { store, failNext } = await openWatched()
  const accepted: Created[] = []
  failNext(/^commit/)
  await expect(store.create(newTask({ holder: 'h' }), (created) => accepted.push(created))).rejects.toThrow(UnavailableError)
  const { ref } = await create(store, newTask({ holder: 'h' }))
  const [lost] = accepted
  if (lost?.outcome !== 'created') throw new Error('it was accepted')
  expect(lost.header.ref).not.toBe(ref)
  expect(await store.append(lost.header.ref, { epoch: 1, holder: 'h' }, () => ({ events: [] }))).toEqual({ outcome: 'fenced' })
  expect(await store.claim(lost.header.ref, 'h')).toBeUndefined()
})

test.each([/^begin/, /into task_event/, /into task\(/, /into inbound/])('a turn in which %s fails is rejected whole', async (pattern) => {
  const { store, failNext } = await openWatched(freshFile())
  const caller = freshCaller()
  const tasks = upTo(3).map((n) => newTask({ caller, inbound: { messageId: `m${n}`, contentHash: 'ab'.repeat(16) } }))
  failNext(pattern)
  const settled = await Promise.allSettled(tasks.map((task) => store.create(task)))
  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  for (const task of tasks) expect((await store.create(task)).outcome).toBe('created')
})

test('a refusal is given out after the commit of its turn and touches nobody else', async () => {
  const { store, ran } = await openWatched()
  const task = newTask()
  const { ref } = await create(store, task)
  ran.length = 0
  const order: string[] = []
  const refused = store.update(ref, () => {
    throw new RangeError('not today')
  })
  const thrown = refused.catch(() => order.push(`refused after ${ran.at(-1)?.sql}`))
  const written = store.update(ref, () => ({ write: { events: [note(task, 'x')] }, result: 'ok' }))
  await expect(written).resolves.toMatchObject({ outcome: 'updated', result: 'ok' })
  await thrown
  expect(order).toEqual(['refused after commit'])
  expect((await logOf(store, await headerOf(store, task))).length).toBe(2)
})

test('events that cannot be folded are refused by themselves', async () => {
  const { store } = await openWatched()
  const task = newTask()
  const { ref } = await create(store, task)
  const broken = store.update(ref, () => ({
    write: { events: [{ kind: 'status', state: completed, timestamp: 2_000, body: '{' }] },
    result: 0,
  }))
  const neighbour = create(store, newTask())
  await expect(broken).rejects.toThrow(SyntaxError)
  await expect(neighbour).resolves.toBeDefined()
  expect((await headerOf(store, task)).lastSeq).toBe(1)
})

test('produce is called at the end of the turn, and what it starts joins the same commit', async () => {
  const { store, ran, count } = await openWatched()
  const [first, second] = [newTask({ holder: 'h' }), newTask({ holder: 'h' })]
  const [a, b] = [await create(store, first), await create(store, second)]
  ran.length = 0
  const order: string[] = []
  const fence = { epoch: 1, holder: 'h' }
  let inner: Promise<unknown> | undefined
  const outer = store.append(a.ref, fence, () => {
    order.push('produced')
    inner = store.append(b.ref, fence, () => ({ events: [note(second, 'inner')] }))
    return { events: [note(first, 'outer')] }
  })
  order.push('asked')
  await Promise.resolve()
  order.push('settled')
  await outer
  await inner
  expect(order).toEqual(['asked', 'settled', 'produced'])
  expect(count(/^commit/)).toBe(1)
  expect((await headerOf(store, second)).lastSeq).toBe(2)
})

test('a run whose task is ended while it is asked for its output writes nothing', async () => {
  const { store } = await openWatched()
  const task = newTask({ holder: 'h' })
  const header = await create(store, task)
  let ended: Promise<unknown> | undefined
  const appending = store.append(header.ref, { epoch: 1, holder: 'h' }, () => {
    ended = put(store, header, moved(task, completed, 2_000))
    return { events: [note(task, 'late')] }
  })
  expect(await appending).toEqual({ outcome: 'fenced' })
  await ended
  expect((await logOf(store, await headerOf(store, task))).length).toBe(2)
})

test('a listener that throws takes nothing from the others, and does not go unseen', async () => {
  const thrown: unknown[] = []
  const defer = (run: () => void) =>
    void setImmediate(() => {
      try {
        run()
      } catch (cause) {
        thrown.push(cause)
      }
    })
  const { store } = await openWatched(':memory:', virtualWorld({ defer }))
  const mistakes = [new Error('of a commit'), new Error('of a job')]
  const heard: string[] = []
  store.onCommit(() => {
    throw mistakes[0]
  })
  store.onCommit(() => heard.push('commit'))
  store.onRunnable(() => {
    throw mistakes[1]
  })
  store.onRunnable(() => heard.push('job'))
  const { ref } = await create(store, newTask())
  expect([heard, thrown]).toEqual([['commit', 'job'], [mistakes[0]]])
  await store.claim(ref, 'h')
  await store.update(ref, () => ({ write: { events: [], holder: null }, result: 0 }))
  expect([heard, thrown]).toEqual([['commit', 'job', 'job'], mistakes])
})

test('listeners are told before any promise of the commit settles', async () => {
  const { store } = await openWatched()
  const order: string[] = []
  store.onCommit(() => order.push('told'))
  await Promise.all(upTo(2).map(() => create(store, newTask()).then(() => order.push('settled'))))
  expect(order).toEqual(['told', 'told', 'settled', 'settled'])
})

test('closing commits what is under way and refuses what comes later', async () => {
  const { store, ran } = await openWatched(freshFile())
  const made = create(store, newTask())
  const closed = store.close()
  expect(ran.at(-1)?.sql).toBe('commit')
  await expect(made).resolves.toBeDefined()
  await closed
  await store.close()
  await expect(store.create(newTask())).rejects.toThrow(UnavailableError)
  await expect(store.find(freshCaller(), 'x')).rejects.toThrow(UnavailableError)
})
