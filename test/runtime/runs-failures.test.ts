/** What becomes of runs when the store or the process fails them. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { agent, chunk, completed, type Run, sqlite, working } from '../../src/index.js'
import { UnavailableError } from '../../src/protocol/errors.js'
import type { StoreSource } from '../../src/store/store.js'
import { virtualWorld } from '../../src/testing/virtual-world.js'
import { scriptAgent } from '../harness/script-agent.js'
import { bindingNames, call, openServer, refusal, result, userMessage } from '../harness/server.js'
import { begin, closeStill, gate, getTask, openStill, statesOf, subscribe, take, takeAll, withStore } from './kit.js'

const of = (run: Run) => agent({ name: 'Test', description: 'Does what the test says.' }, run)

const stateOf = async (fetch: (request: Request) => Promise<Response>, id: string | undefined) =>
  (await getTask(fetch, id ?? '')).status.state.replace('TASK_STATE_', '')

/** A store in memory whose commits fail while `isBroken` says so. */
function breakable(): { readonly store: StoreSource; isBroken: boolean } {
  const refused = () => Promise.reject(new UnavailableError())
  const store = withStore((inner) => ({
    append: (...given) => (state.isBroken ? refused() : inner.append(...given)),
    update: (ref, decide, inbound) => (state.isBroken ? refused() : inner.update(ref, decide, inbound)),
    create: (...given) => (state.isBroken ? refused() : inner.create(...given)),
  }))
  const state = { isBroken: false, store }
  return state
}

describe('a commit that fails', () => {
  test.each(bindingNames)(
    'once: the run is told to stop, the task is run again within a second and ends as it would have, and whoever waits over %s is answered',
    async (binding) => {
      const reasons: unknown[] = []
      const attempts: number[] = []
      const goOn = gate()
      const broken = breakable()
      const { fetch, world, lines } = await openStill(
        of(async function* (task) {
          attempts.push(task.attempt)
          task.signal.addEventListener('abort', () => reasons.push(task.signal.reason.why))
          yield chunk('a', 'first;')
          await goOn.opened
          yield chunk('a', 'second;')
          yield chunk('a', 'third;')
          return completed('done')
        }),
        { store: broken.store },
      )
      const waiting = result(fetch, binding, 'SendMessage', { message: userMessage('go') })
      await world.advance(0)
      broken.isBroken = true
      goOn.open()
      await world.advance(0)
      broken.isBroken = false
      expect(reasons).toEqual(['lost'])
      await world.advance(1_000)
      const { task } = await waiting
      expect(task.status.state).toBe('TASK_STATE_COMPLETED')
      expect(task.status.message.parts[0].text).toBe('done')
      expect(task.artifacts.map(({ parts }: any) => parts.map(({ text }: any) => text).join(''))).toEqual(['first;second;third;'])
      // What the store could not do is no fault of the agent's.
      expect(attempts).toEqual([1, 1])
      expect(reasons).toEqual(['lost'])
      expect(lines.filter(({ level }) => level === 'error')).toHaveLength(1)
    },
  )

  test.each(bindingNames)(
    'that goes on failing: whoever waits over %s is told to come back, and the task goes on once the store can',
    async (binding) => {
      const goOn = gate()
      const broken = breakable()
      const { fetch, world } = await openStill(
        of(async function* () {
          yield chunk('a', 'kept;')
          await goOn.opened
          yield chunk('a', 'made;')
        }),
        { store: broken.store },
      )
      const waiting = refusal(fetch, binding, 'SendMessage', { message: userMessage('go') })
      await world.advance(0)
      const { tasks } = await result(fetch, binding, 'ListTasks', {})
      const id = tasks[0].id
      broken.isBroken = true
      goOn.open()
      await world.advance(5_000)
      expect(await waiting).toMatchObject({ status: 503, reason: 'UNAVAILABLE' })
      expect((await result(fetch, binding, 'GetTask', { id })).artifacts[0].parts).toEqual([{ text: 'kept;' }])
      broken.isBroken = false
      await world.advance(30_000)
      const task = await result(fetch, binding, 'GetTask', { id })
      expect(task.status.state).toBe('TASK_STATE_COMPLETED')
      expect(task.artifacts[0].parts.map(({ text }: any) => text).join('')).toBe('kept;made;')
    },
  )

  test('of an agent that never settles: its place is free after 10 s, and the task goes on all the same', async () => {
    const goOn = gate()
    const broken = breakable()
    let runs = 0
    const { fetch, world } = await openStill(
      of(async function* (task) {
        if (task.text === 'next') return 'next'
        if (runs++ > 0) return 'made it'
        yield chunk('a', 'kept')
        await goOn.opened
        yield chunk('a', 'lost')
        return new Promise<never>(() => {})
      }),
      { store: broken.store, concurrency: 1 },
    )
    const id = await begin(fetch, 'go')
    const next = await begin(fetch, 'next')
    await world.advance(0)
    broken.isBroken = true
    goOn.open()
    await world.advance(0)
    broken.isBroken = false
    await world.advance(9_000)
    expect([await stateOf(fetch, id), await stateOf(fetch, next)]).toEqual(['WORKING', 'SUBMITTED'])
    await world.advance(1_000)
    expect([await stateOf(fetch, id), await stateOf(fetch, next)]).toEqual(['COMPLETED', 'COMPLETED'])
    expect(runs).toBe(2)
  })

  test('again and again: it is tried until the store is able to take the task back', async () => {
    const goOn = gate()
    const broken = breakable()
    const { fetch, world } = await openStill(
      of(async function* () {
        yield working()
        await goOn.opened
        return 'made it'
      }),
      { store: broken.store },
    )
    const id = await begin(fetch, 'go')
    await world.advance(0)
    broken.isBroken = true
    goOn.open()
    await world.advance(100_000)
    expect(await stateOf(fetch, id)).toBe('WORKING')
    broken.isBroken = false
    await world.advance(30_000)
    expect(await stateOf(fetch, id)).toBe('COMPLETED')
  })

  test('when a task is made: the caller is told, there is no task, and nothing is left to be tried again', async () => {
    const broken = breakable()
    const { fetch, world, lines } = await openStill(scriptAgent, { store: broken.store })
    broken.isBroken = true
    const answer = await call(fetch, 'JSONRPC', 'SendMessage', { message: userMessage('echo') })
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
    broken.isBroken = false
    await world.advance(60_000)
    expect(await result(fetch, 'JSONRPC', 'ListTasks', {})).toMatchObject({ totalSize: 0 })
    expect(lines).toEqual([])
    const { task } = await result(fetch, 'JSONRPC', 'SendMessage', { message: userMessage('echo') })
    expect(task.status.state).toBe('TASK_STATE_COMPLETED')
  })

  test('when a task was made and its run begun in the same commit: the run is given up and nobody looks for the task for ever', async () => {
    const store = withStore((inner) => {
      let isFirst = true
      return {
        // The task is accepted and begun, and then the commit fails: nothing of it is in the store.
        create(task, onAccepted) {
          if (!isFirst) return inner.create(task, onAccepted)
          isFirst = false
          // A key that no task has.
          const ref = 4_711 as Parameters<typeof inner.read>[0]
          const { caller, id, contextId } = task
          const header = {
            ref,
            caller,
            id,
            contextId,
            state: 'TASK_STATE_SUBMITTED' as const,
            statusTimestamp: 0,
            lastSeq: 1,
            epoch: 1,
            holder: task.holder,
            attempt: 0,
            turn: 1,
            waiting: undefined,
            inboxSeq: 0,
            sealed: false,
          }
          onAccepted?.({ outcome: 'created', header, memory: {} })
          return Promise.reject(new UnavailableError())
        },
        append: (ref, ...rest) => (Number(ref) === 4_711 ? Promise.reject(new UnavailableError()) : inner.append(ref, ...rest)),
      }
    })
    const { fetch, world, lines } = await openStill(scriptAgent, { store, concurrency: 1 })
    expect((await call(fetch, 'JSONRPC', 'SendMessage', { message: userMessage('echo') })).status).toBe(503)
    await world.advance(120_000)
    expect(lines.filter(({ level }) => level === 'warn')).toEqual([])
    const { task } = await result(fetch, 'JSONRPC', 'SendMessage', { message: userMessage('echo') })
    expect(task.status.state).toBe('TASK_STATE_COMPLETED')
  })
})

describe('at start', () => {
  const file = () => {
    const folder = mkdtempSync(join(tmpdir(), 'errand-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    return join(folder, 'tasks.db')
  }

  test('tasks that the last server left at work are run again to their end; questions stay answerable, ends stay ends', async () => {
    const path = file()
    const world = virtualWorld()
    const first = await openServer(scriptAgent, { world, store: sqlite(path), concurrency: 1, limits: { shutdownMs: 0 } })
    const { task: asked } = await result(first.fetch, 'JSONRPC', 'SendMessage', { message: userMessage('ask') })
    const { task: done } = await result(first.fetch, 'JSONRPC', 'SendMessage', { message: userMessage('echo') })
    const working = await begin(first.fetch, 'work')
    const submitted = await begin(first.fetch, 'work')
    await world.advance(0)
    expect([await stateOf(first.fetch, working), await stateOf(first.fetch, submitted)]).toEqual(['WORKING', 'SUBMITTED'])
    await closeStill(first, world)
    const { fetch, lines, world: later } = await openStill(scriptAgent, { store: sqlite(path), concurrency: 1 })
    for (const id of [working, submitted]) await begin(fetch, 'go', { taskId: id })
    await later.advance(0)
    expect([await stateOf(fetch, working), await stateOf(fetch, submitted)]).toEqual(['COMPLETED', 'COMPLETED'])
    expect(await getTask(fetch, done.id)).toEqual(done)
    expect(await getTask(fetch, asked.id)).toEqual(asked)
    const { task: answered } = await result(fetch, 'JSONRPC', 'SendMessage', { message: userMessage('forty-two', { taskId: asked.id }) })
    expect(answered.status.state).toBe('TASK_STATE_COMPLETED')
    expect(answered.artifacts[0].parts).toEqual([{ data: { answer: 'forty-two' } }])
    expect(lines.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([])
  })

  test('a stream that the last server ended goes on from its last number, to the end that the next one brings', async () => {
    const path = file()
    const world = virtualWorld()
    const first = await openServer(scriptAgent, { world, store: sqlite(path) })
    const id = await begin(first.fetch, 'hold')
    const stream = subscribe(first.fetch, 'GET', id)
    const [begun] = await take(stream, 1)
    const rest = takeAll(stream)
    await closeStill(first, world)
    expect((await rest).map(({ event }) => event)).toEqual(['error'])
    const { fetch } = await openStill(scriptAgent, { store: sqlite(path) })
    const missed = takeAll(subscribe(fetch, 'GET', id, { lastEventId: begun?.id }))
    await begin(fetch, 'go', { taskId: id })
    expect(statesOf(await missed).at(-1)).toBe('COMPLETED')
  })
})

test('at shutdown runs may go on for a while, and what they put out then is kept', async () => {
  const goOn = gate()
  const path = mkdtempSync(join(tmpdir(), 'errand-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  const world = virtualWorld()
  const first = await openServer(
    of(() => goOn.opened.then(() => 'made it')),
    { world, store: sqlite(join(path, 'tasks.db')) },
  )
  const id = await begin(first.fetch, 'go')
  const closed = first.close()
  await world.advance(9_000)
  goOn.open()
  await closed
  const { fetch } = await openStill(scriptAgent, { store: sqlite(join(path, 'tasks.db')) })
  expect((await getTask(fetch, id)).artifacts[0].parts).toEqual([{ text: 'made it' }])
})
