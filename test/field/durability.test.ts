/** Field cases of what is stored: no client, no limit and no failure on the way may leave a task without its end. */

import { channel } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { agent, chunk, completed, type Run, working } from '../../src/index.js'
import { UnavailableError } from '../../src/protocol/errors.js'
import type { World } from '../../src/support/world.js'
import type { NewEvent } from '../../src/task/event.js'
import { virtualWorld } from '../../src/testing/virtual-world.js'
import { scriptAgent } from '../harness/script-agent.js'
import { bindingNames, call, frames, openServer, openSocket, requestFor, result, userMessage } from '../harness/server.js'
import {
  begin,
  closeStill,
  foldFrames,
  gate,
  getTask,
  openStill,
  statesOf,
  subscribe,
  take,
  takeAll,
  until,
  withStore,
} from '../runtime/kit.js'
import { startVictim } from '../torture/victim.js'

/** The server's side of the newest exchange. */
function newestResponse(): () => ServerResponse | undefined {
  let newest: ServerResponse | undefined
  const started = channel('http.server.request.start')
  const keep = (message: unknown) => {
    // The channel's messages have these members.
    newest = (message as { readonly request: IncomingMessage; readonly response: ServerResponse }).response
  }
  started.subscribe(keep)
  onTestFinished(() => void started.unsubscribe(keep))
  return () => newest
}

const isFinalWrite = (events: readonly NewEvent[]) => events.some((event) => 'state' in event && event.state === 'TASK_STATE_COMPLETED')

interface Trouble {
  readonly run?: Run
  readonly answer?: () => never
  readonly failing?: 'claim' | 'read' | 'append' | 'create'
  readonly times?: number
}

/**
 * A clock whose timers come late, at the next multiple of `gridMs`, as those of a machine that sleeps do. Months go by
 * without what a server does every few seconds.
 */
function withLateTimers(world: World, gridMs: number): World {
  return { ...world, timer: (ms, fire) => world.timer(Math.ceil((world.now() + ms) / gridMs) * gridMs - world.now(), fire) }
}

const noModel = (): never => {
  throw new Error('no model')
}

const waitIfFirst: Run = async (task) => {
  if (task.text === 'first') await task.inbox.next()
}

/** A store that cannot do one thing, so many times, while `isNow`. */
function unable(method: NonNullable<Trouble['failing']>, times: number, isNow: () => boolean) {
  let left = times
  return withStore((store) => {
    // Every method of these takes what it takes and gives a promise.
    const work = store[method] as (...given: unknown[]) => Promise<unknown>
    return { [method]: (...given: unknown[]) => (isNow() && left-- > 0 ? Promise.reject(new UnavailableError()) : work(...given)) }
  })
}

describe.each(bindingNames)('over %s', (binding) => {
  test.each(['after the first frame', 'after an artifact', 'while the end is being saved'])(
    'F001 a reader who hangs up: a connection cut %s leaves the task its end and its artifacts',
    async (when) => {
      const [goOn, saving, save] = [gate(), gate(), gate()]
      const store = withStore((inner) => ({
        async append(ref, fence, produce) {
          let isEnd = false
          const appended = await inner.append(ref, fence, (header, find) => {
            const write = produce(header, find)
            isEnd = isFinalWrite(write?.events ?? [])
            return write
          })
          if (!isEnd) return appended
          saving.open()
          await save.opened
          return appended
        },
      }))
      const slow = agent({ name: 'Slow', description: 'Takes its time.' }, async function* () {
        yield chunk('a', 'first')
        await goOn.opened
        yield chunk('a', 'second', { last: true })
        return completed('done', { all: true })
      })
      const response = newestResponse()
      const server = await openSocket(slow, { store })
      onTestFinished(() => server.close())
      const client = new AbortController()
      const stream = frames(
        fetch,
        binding,
        'SendStreamingMessage',
        { message: userMessage('go') },
        { url: server.url, signal: client.signal },
      )
      const [first] = await take(stream, when === 'after the first frame' ? 1 : 3)
      const { id } = first?.data.task ?? {}
      if (when.startsWith('while')) {
        goOn.open()
        await saving.opened
      }
      const closed = once(response() ?? ({} as ServerResponse), 'close')
      client.abort()
      await closed
      goOn.open()
      save.open()
      const ended = () => result(server.fetch, binding, 'GetTask', { id })
      await until(async () => (await ended()).status.state === 'TASK_STATE_COMPLETED')
      expect((await ended()).artifacts).toMatchObject([
        { artifactId: 'a', parts: [{ text: 'first' }, { text: 'second' }] },
        { artifactId: 'result', parts: [{ data: { all: true } }] },
      ])
    },
  )

  test('F004 a server that dies: after kill -9 and a restart its task goes on to its end, for the reader and for the subscriber', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'errand-field-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const file = join(folder, 'tasks.db')
    const start = async () => {
      const victim = startVictim({ file })
      onTestFinished(() => victim.kill())
      return { victim, url: (await victim.open()) ?? '' }
    }
    const first = await start()
    const message = userMessage('hold')
    const stream = frames(fetch, binding, 'SendStreamingMessage', { message }, { url: first.url })
    const seen = await take(stream, 2)
    const { id } = seen[0]?.data.task ?? {}
    first.victim.kill()
    await first.victim.gone
    await expect(stream.next()).rejects.toThrow()
    const second = await start()
    expect((await result(fetch, binding, 'GetTask', { id }, { url: second.url })).status.state).toBe('TASK_STATE_WORKING')
    const headers = { 'last-event-id': String(seen[1]?.id) }
    const missed = takeAll(frames(fetch, binding, 'SubscribeToTask', { id }, { url: second.url, headers }))
    // The run that was killed waited for it in its inbox, and so does the one that took over.
    const go = userMessage('go', { taskId: id })
    const { task } = await result(fetch, binding, 'SendMessage', { message: go }, { url: second.url })
    expect(task).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' }, artifacts: [{ artifactId: 'result' }] })
    // Each run has a name, which its end tells: this one is not the one that was killed.
    const [name] = task.status.message.parts[0].text.split(' ')
    expect(name).toMatch(/^run-/)
    expect(JSON.stringify(seen)).toContain('run-')
    expect(JSON.stringify(seen)).not.toContain(name)
    expect(statesOf(await missed).at(-1)).toBe('COMPLETED')
    expect(foldFrames([...seen, ...(await missed)])).toMatchObject({ status: task.status, artifacts: task.artifacts })
    const { tasks } = await result(fetch, binding, 'ListTasks', {}, { url: second.url })
    expect(tasks.map(({ status }: any) => status.state)).toEqual(['TASK_STATE_COMPLETED'])
  })

  test.each([
    ['45 s', 45_000, true],
    ['an hour', 3_600_000, true],
    ['30 days', 30 * 86_400_000, false],
  ])('F007 a hidden limit: a run of %s is waited for to its end by whoever waits for it', async (_, ms, isStreamed) => {
    const world = virtualWorld()
    const server = await openServer(scriptAgent, { world: isStreamed ? world : withLateTimers(world, 3_600_000) })
    onTestFinished(() => closeStill(server, world))
    const { fetch } = server
    const blocking = result(fetch, binding, 'SendMessage', { message: userMessage(`slow ${ms}`) })
    // An idle stream wakes every few seconds; a month of that is no new proof.
    const streaming = isStreamed && takeAll(frames(fetch, binding, 'SendStreamingMessage', { message: userMessage(`slow ${ms}`) }))
    const id = await begin(fetch, `slow ${ms}`)
    let answered = false
    void blocking.finally(() => {
      answered = true
    })
    for (let left = ms - 1_000; left > 0; left -= ms / 50) await world.advance(Math.min(left, ms / 50))
    expect(answered).toBe(false)
    expect((await getTask(fetch, id)).status.state).toBe('TASK_STATE_WORKING')
    await world.advance(ms / 25 + 2_000)
    expect((await blocking).task.status.state).toBe('TASK_STATE_COMPLETED')
    if (streaming) expect(statesOf(await streaming).at(-1)).toBe('COMPLETED')
    expect((await getTask(fetch, id)).status.state).toBe('TASK_STATE_COMPLETED')
  })

  test.each(['stays', 'gives up'])(
    'F020 only the first event counts: a blocking send whose client %s ends with the whole task in the store',
    async (client) => {
      const go = gate()
      const run: Run = async function* () {
        yield working('one')
        yield chunk('a', 'x')
        await go.opened
        yield chunk('a', 'y', { last: true })
        return completed('done')
      }
      const { fetch } = await openStill(agent({ name: 'Steps', description: 'Goes step by step.' }, run))
      const leaving = new AbortController()
      const answer = fetch(requestFor(binding, 'SendMessage', { message: userMessage('go') }, { signal: leaving.signal }))
      let tasks: any[] = []
      const list = async () => (await result(fetch, binding, 'ListTasks', { includeArtifacts: true })).tasks
      await until(async () => {
        tasks = await list()
        return tasks[0]?.artifacts.length === 1
      })
      if (client === 'gives up') leaving.abort()
      go.open()
      await until(async () => (await list())[0].status.state === 'TASK_STATE_COMPLETED')
      const task = await getTask(fetch, tasks[0].id)
      expect(task.artifacts).toMatchObject([{ parts: [{ text: 'x' }, { text: 'y' }] }])
      if (client === 'gives up') return
      const body = (await (await answer).json()) as any
      expect((body.result ?? body).task).toEqual(task)
    },
  )

  test.each<[string, Trouble]>([
    ['its function throws at once', { run: noModel }],
    [
      'its generator throws at once',
      {
        run: async function* () {
          noModel()
        },
      },
    ],
    ['it cannot be claimed for a while', { failing: 'claim', times: 3 }],
    ['its history cannot be read when its turn comes', { failing: 'read', times: 3 }],
    ['nothing it puts out can be saved for a while', { failing: 'append', times: 3 }],
    ['it cannot be created', { failing: 'create', times: 1 }],
    ['the author is asked for a direct answer and fails', { answer: noModel }],
  ])(
    'F022 a start that fails: a task is gone, FAILED with a reason or tried again, and never left in SUBMITTED, when %s',
    async (_, trouble) => {
      const { run, answer, failing, times = 0 } = trouble
      const starter = agent({ name: 'Starter', description: 'Has trouble with its start.', ...(answer && { answer }) }, run ?? waitIfFirst)
      let failNow = false
      const store = failing && unable(failing, times, () => failNow)
      const { fetch, world } = await openStill(starter, { concurrency: 1, ...(store && { store }) })
      // The only place is taken, so that the task has to wait for its turn.
      const isQueued = failing === 'claim' || failing === 'read'
      const holder = isQueued ? await begin(fetch, 'first') : undefined
      failNow = !isQueued
      const sent = await call(fetch, binding, 'SendMessage', { message: userMessage('second'), configuration: { returnImmediately: true } })
      failNow = true
      if (holder)
        await call(fetch, 'HTTP+JSON', 'SendMessage', {
          message: userMessage('go', { taskId: holder }),
          configuration: { returnImmediately: true },
        })
      for (let i = 0; i < 10; i++) await world.advance(30_000)
      failNow = false
      const { tasks } = await result(fetch, binding, 'ListTasks', {})
      const states = tasks.filter(({ id }: any) => id !== holder).map(({ status }: any) => status.state)
      if (failing === 'create' || answer) {
        expect(sent.text).toMatch(/UNAVAILABLE|INTERNAL/)
        expect(states).toEqual([])
      } else if (failing) {
        // What the store could not do for a while is no end of a task.
        expect(states).toEqual(['TASK_STATE_COMPLETED'])
      } else {
        expect(states).toEqual(['TASK_STATE_FAILED'])
        expect(tasks.find(({ id }: any) => id !== holder).status.message.parts[0].text).toMatch(/^The (agent|server) /)
      }
      for (const status of ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING'])
        expect((await result(fetch, binding, 'ListTasks', { status })).totalSize).toBe(0)
      // Its place is free again.
      if (!run && !answer)
        expect((await result(fetch, binding, 'SendMessage', { message: userMessage('third') })).task.status.state).toBe(
          'TASK_STATE_COMPLETED',
        )
    },
  )

  test('F025 a task that is forgotten at work: after a year it is there, still at work, and so is one that has ended', async () => {
    const world = virtualWorld()
    const server = await openServer(scriptAgent, { world: withLateTimers(world, 86_400_000) })
    onTestFinished(() => closeStill(server, world))
    const { fetch } = server
    const working = await begin(fetch, 'hold')
    const { task: ended } = await result(fetch, binding, 'SendMessage', { message: userMessage('echo') })
    for (let month = 0; month < 12; month++) {
      await world.advance(31 * 86_400_000)
      expect((await result(fetch, binding, 'GetTask', { id: working })).status.state).toBe('TASK_STATE_WORKING')
    }
    expect(await result(fetch, binding, 'GetTask', { id: ended.id })).toEqual(ended)
    const stream = subscribe(fetch, binding === 'JSONRPC' ? 'JSONRPC' : 'GET', working)
    await take(stream, 1)
    await begin(fetch, 'go', { taskId: working })
    expect(statesOf(await takeAll(stream))).toEqual(['COMPLETED'])
  })
})
