/** Streams that are cut: the client takes them up again, and each part of the log comes once, or an error is told. */

import { describe, expect, onTestFinished, test } from 'vitest'
import {
  A2AError,
  ConnectionError,
  type ConnectOptions,
  connect,
  type Fetching,
  TaskNotFoundError,
  UnavailableError,
  type World,
} from '../../src/client.js'
import { agent, chunk, completed, inputRequired, type Server } from '../../src/index.js'
import { virtualWorld } from '../../src/testing/virtual-world.js'
import { bindingNames, openServer } from '../harness/server.js'
import { until } from '../runtime/kit.js'
import { openFaultyProxy } from './faulty-proxy.js'
import { bytesAgent, cardOf, chunkFrame, collect, frame, hasty, json, shown, sse, statesOf, statusFrame, taskFrame } from './kit.js'

/** Is at work for a while: long enough to be left and found again. */
const unhurried = agent({ name: 'Unhurried', description: 'Says twelve words, or asks.' }, async function* (task) {
  if (task.text === 'ask') return inputRequired('Which words?')
  for (let i = 0; i < 12; i++) {
    yield chunk('a', `word ${i};`, { last: i === 11 })
    for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve))
  }
  return completed()
})

/** Pauses take a turn of the event loop; limits pass when the test says so. */
function impatientWorld() {
  const waiting = new Set<() => void>()
  const timer: World['timer'] = (ms, fire) => {
    if (ms <= 25_000) return hasty.timer(ms, fire)
    waiting.add(fire)
    return () => waiting.delete(fire)
  }
  return {
    world: { ...hasty, timer },
    passLimits() {
      for (const fire of [...waiting]) fire()
    },
  }
}

describe.each(bindingNames)('a network that fails in every way it can, over %s', (binding) => {
  test.each([
    ['with ids', true],
    ['without ids', false],
  ])(
    '%s: 125 seeds show the log exactly once, or a typed error',
    async (_, keepsIds) => {
      const { world, passLimits } = impatientWorld()
      let server: Server | undefined
      const upstream: Fetching = (request) => server?.fetch(request) ?? Promise.reject(new Error('it is not there yet'))
      const proxy = await openFaultyProxy({ upstream, onSilence: passLimits })
      onTestFinished(() => proxy.close())
      server = await openServer(unhurried, { url: proxy.url })
      onTestFinished(() => server?.close())
      const direct = await connect(proxy.url, { fetch: server.fetch, auth: 'alice', prefer: [binding] })
      let whole = 0
      for (let seed = 1; seed <= 125; seed++) {
        proxy.begin({ seed, keepsIds })
        const fetch = (request: Request) => globalThis.fetch(request)
        const options: ConnectOptions = { fetch, auth: 'alice', prefer: [binding], world, resend: seed % 2 === 0 }
        const [connected] = await Promise.allSettled([connect(proxy.url, options)])
        if (connected.status === 'rejected') {
          expect(connected.reason).toSatisfy(isTyped)
          continue
        }
        const sending = connected.value.send(seed % 4 === 0 ? 'ask' : 'words')
        const [events] = await Promise.allSettled([collect(sending)])
        if (events.status === 'rejected') {
          expect(events.reason).toSatisfy(isTyped)
          continue
        }
        whole++
        const task = await direct.task((await sending.taskId) ?? '').get()
        const texts = Object.fromEntries(
          (task.artifacts ?? []).map(({ artifactId, parts }) => [artifactId, parts.map(({ text }) => text).join('')]),
        )
        expect(shown(events.value)).toEqual(texts)
        expect(events.value.some((event) => event.kind === 'artifact' && event.replaced)).toBe(false)
        const states = statesOf(events.value)
        expect(states).toEqual([...new Set(states)])
        expect(states.at(-1)).toBe(task.status.state.slice('TASK_STATE_'.length))
        expect(await sending.outcome).toMatchObject({ task: { status: task.status } })
      }
      expect(whole).toBeGreaterThan(60)
      expect(proxy.count.size).toBe(8)
      for (const times of proxy.count.values()) expect(times).toBeGreaterThan(5)
    },
    120_000,
  )
})

const isTyped = (error: unknown) => error instanceof ConnectionError || error instanceof A2AError

/** An agent that answers its streams one after the other; later ones as the last. */
async function inTurn(
  answers: readonly ((request: Request) => Response)[],
  options: Parameters<typeof bytesAgent>[1] = {},
  card = cardOf(),
) {
  const asked: string[] = []
  const client = await bytesAgent(
    (request, { method }) => {
      asked.push([method, request.headers.get('last-event-id')].filter(Boolean).join(' after '))
      return (answers[asked.length - 1] ?? answers.at(-1) ?? (() => json({})))(request)
    },
    { world: hasty, ...options },
    card,
  )
  return { client, asked }
}
const error = (code: number, message: string) => json({ jsonrpc: '2.0', id: 1, error: { code, message } })
const result = (value: unknown) => json({ jsonrpc: '2.0', id: 1, result: value })
const withA = (state: string, text: string) => taskFrame(state, { artifacts: [{ artifactId: 'a', parts: [{ text }] }] }).task

describe('a cut stream', () => {
  test('goes on after the last id, and what the agent repeats is not shown again', async () => {
    const { client, asked } = await inTurn([
      () => sse([frame(taskFrame(), 1), frame(chunkFrame('one '), 2)], 'break'),
      () => sse([frame(chunkFrame('one '), 2), frame(chunkFrame('two'), 3), frame(statusFrame('COMPLETED'), 4)]),
    ])
    const events = await collect(client.send('go'))
    expect(shown(events)).toEqual({ a: 'one two' })
    expect(asked).toEqual(['SendStreamingMessage', 'SubscribeToTask after 2'])
  })

  test('without ids is subscribed to, and of the task only the news is shown', async () => {
    const { client, asked } = await inTurn([
      () => sse([frame(taskFrame()), frame(chunkFrame('one '))]),
      () => sse([frame({ task: withA('WORKING', 'one two ') }), frame(chunkFrame('three')), frame(statusFrame('COMPLETED'))]),
    ])
    const events = await collect(client.send('go'))
    expect(shown(events)).toEqual({ a: 'one two three' })
    expect(events.filter(({ kind }) => kind === 'task')).toHaveLength(1)
    expect(asked).toEqual(['SendStreamingMessage', 'SubscribeToTask'])
  })

  test('whose artifact has become another meanwhile says that it is replaced', async () => {
    const { client } = await inTurn([
      () => sse([frame(taskFrame()), frame(chunkFrame('old'))], 'break'),
      () => sse([frame({ task: withA('COMPLETED', 'new') })]),
    ])
    const events = await collect(client.send('go'))
    expect(events.findLast((event) => event.kind === 'artifact')).toMatchObject({ replaced: true, text: 'new', last: true })
    expect(shown(events)).toEqual({ a: 'new' })
  })

  test('of a task that has ended meanwhile is read by GetTask', async () => {
    const { client, asked } = await inTurn([
      () => sse([frame(taskFrame(), 1)], 'break'),
      () => error(-32004, 'ended'),
      () => result(withA('COMPLETED', 'all of it')),
    ])
    expect(await client.send('go').outcome).toMatchObject({ state: 'completed', text: 'all of it' })
    expect(asked).toEqual(['SendStreamingMessage', 'SubscribeToTask after 1', 'GetTask'])
  })

  test('whose id the agent does not know any more begins with the task as it is', async () => {
    const { client, asked } = await inTurn([
      () => sse([frame(taskFrame(), 9)], 'break'),
      () => error(-32602, 'no such event'),
      () => sse([frame(taskFrame('COMPLETED'))]),
    ])
    expect(await client.send('go').outcome).toMatchObject({ state: 'completed' })
    expect(asked).toEqual(['SendStreamingMessage', 'SubscribeToTask after 9', 'SubscribeToTask'])
  })

  test('that its agent ended as UNAVAILABLE is taken up again', async () => {
    const frameOfError = `data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32000, message: 'stopping', data: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'UNAVAILABLE', domain: 'a2a-protocol.org' }] } })}\n\n`
    const { client, asked } = await inTurn([
      () => sse([frame(taskFrame(), 1), frameOfError]),
      () => sse([frame(statusFrame('COMPLETED'), 2)]),
    ])
    expect(await client.send('go').outcome).toMatchObject({ state: 'completed' })
    expect(asked).toHaveLength(2)
  })

  test('that is cut again and again with nothing new is an error in the end, never a success', async () => {
    const { client, asked } = await inTurn([() => sse([frame(taskFrame(), 1)]), () => sse([])], { limits: { retries: 3 } })
    await expect(client.send('go').outcome).rejects.toMatchObject({
      name: 'ConnectionError',
      fault: 'cut',
      address: 'http://bytes.test/rpc',
    })
    expect(asked).toHaveLength(4)
  })

  test('that a gateway cuts every minute is taken up for as long as the task is at work', async () => {
    let now = 0
    const aMinute = () => {
      now += 60_000
      return sse([frame(taskFrame(), 1)])
    }
    const quiet = Array.from({ length: 20 }, () => aMinute)
    const { client, asked } = await inTurn([...quiet, () => sse([frame(statusFrame('COMPLETED'), 2)])], {
      world: { ...hasty, now: () => now },
      limits: { retries: 3 },
    })
    expect(await client.send('go').outcome).toMatchObject({ state: 'completed' })
    expect(asked).toHaveLength(21)
  })

  test('is the end where resuming was declined', async () => {
    const { client, asked } = await inTurn([() => sse([frame(taskFrame(), 1)])])
    await expect(client.send('go', { resume: false }).outcome).rejects.toThrow(ConnectionError)
    expect(asked).toHaveLength(1)
  })

  test('whose task is gone tells so', async () => {
    const { client } = await inTurn([() => sse([frame(taskFrame(), 1)]), () => error(-32001, 'gone')])
    await expect(client.send('go').outcome).rejects.toThrow(TaskNotFoundError)
  })
})

describe('a send', () => {
  const refuse =
    (headers: Record<string, string> = {}) =>
    () =>
      new Response('busy', { status: 503, headers })

  test('that was refused with 503 is sent again when the agent said, under the same messageId', async () => {
    const world = virtualWorld()
    const ids: string[] = []
    const client = await bytesAgent(
      (_, { params }) => {
        ids.push(params.message.messageId)
        return ids.length === 1 ? refuse({ 'retry-after': '20' })() : sse([frame(taskFrame('COMPLETED'))])
      },
      { world },
    )
    const { outcome } = client.send('go')
    await until(() => ids.length === 1)
    await world.advance(19_000)
    expect(ids).toHaveLength(1)
    await world.advance(2_000)
    expect(await outcome).toMatchObject({ state: 'completed' })
    expect(ids[1]).toBe(ids[0])
  })

  test('is not kept waiting by an agent that says an hour', async () => {
    const { client, asked } = await inTurn([refuse({ 'retry-after': '3600' })])
    await expect(client.send('go').outcome).rejects.toMatchObject({ constructor: UnavailableError, retryAfterSeconds: 3600 })
    expect(asked).toHaveLength(1)
  })

  test('of which nothing is known is sent once, and again where the agent keeps messages apart', async () => {
    const cut = () => sse([], 'break')
    const once = await inTurn([cut])
    await expect(once.client.send('go').outcome).rejects.toThrow(ConnectionError)
    expect(once.asked).toHaveLength(1)
    const again = await inTurn([cut, () => sse([frame(taskFrame('COMPLETED'))])], { resend: true })
    expect(await again.client.send('go').outcome).toMatchObject({ state: 'completed' })
  })

  test('that never arrived is sent again', async () => {
    let tries = 0
    const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
    const client = await bytesAgent(
      () => {
        if (++tries < 3) throw new TypeError('fetch failed', { cause: refused })
        return sse([frame(taskFrame('COMPLETED'))])
      },
      { world: hasty },
    )
    expect(await client.send('go').outcome).toMatchObject({ state: 'completed' })
    expect(tries).toBe(3)
  })

  test('a reading of a task is tried again whatever cut it; a cancel is not', async () => {
    const gateway = () => new Response('<html>', { status: 502, headers: { 'content-type': 'text/html' } })
    const reading = await inTurn([gateway, gateway, () => result(withA('COMPLETED', 'x'))])
    expect(await reading.client.task('t1').get()).toMatchObject({ id: 't1' })
    const canceling = await inTurn([gateway])
    await expect(canceling.client.task('t1').cancel()).rejects.toThrow(/POST http:\/\/bytes.test\/rpc answered 502 with text\/html/)
    expect(canceling.asked).toHaveLength(1)
  })
})

describe('a cancel of an agent that may be sent things again', () => {
  const gateway = () => new Response('<html>', { status: 502, headers: { 'content-type': 'text/html' } })
  const over = () => error(-32002, 'it has ended')

  test('is sent again, and one that was heard the first time has succeeded', async () => {
    const canceled = [gateway, over, () => result(withA('CANCELED', 'half'))]
    const { client, asked } = await inTurn(canceled, { resend: true })
    expect(await client.task('t1').cancel()).toMatchObject({ id: 't1', status: { state: 'TASK_STATE_CANCELED' } })
    expect(asked).toEqual(['CancelTask', 'CancelTask', 'GetTask'])
  })

  test('that came too late is refused', async () => {
    const { client } = await inTurn([over, () => result(withA('COMPLETED', 'whole'))], { resend: true })
    await expect(client.task('t1').cancel()).rejects.toMatchObject({ name: 'TaskNotCancelableError' })
  })
})

describe('consent that is given elsewhere', () => {
  const asks = {
    statusUpdate: {
      ...statusFrame('AUTH_REQUIRED').statusUpdate,
      status: {
        state: 'TASK_STATE_AUTH_REQUIRED',
        message: {
          messageId: 'q1',
          role: 'ROLE_AGENT',
          parts: [{ text: 'Agree at https://id.example/consent?x=1. Thank you, not at javascript:x' }],
        },
      },
    },
  }

  test('shows the link, and the task is followed to what comes after', async () => {
    const { client, asked } = await inTurn([
      () => sse([frame(taskFrame()), frame(asks)], 'silence'),
      () =>
        sse([
          frame({ task: { ...taskFrame().task, status: asks.statusUpdate.status } }),
          frame(statusFrame('WORKING')),
          frame(statusFrame('COMPLETED')),
        ]),
    ])
    const outcome = await client.send('go').outcome
    if (outcome.state !== 'auth-required') throw new Error(outcome.state)
    expect(outcome.links).toEqual(['https://id.example/consent?x=1'])
    expect(await outcome.follow().outcome).toMatchObject({ state: 'completed' })
    expect(asked).toEqual(['SendStreamingMessage', 'SubscribeToTask'])
  })

  test('may be declined in a message that names the question and holds nothing but what was written', async () => {
    let declined: any
    const client = await bytesAgent((_, { params }) => {
      if (!params.message.taskId) return sse([frame(taskFrame()), frame(asks)], 'silence')
      declined = params.message
      return sse([frame(taskFrame('CANCELED'))])
    })
    const outcome = await client.send('go').outcome
    if (outcome.state !== 'auth-required') throw new Error(outcome.state)
    expect(await outcome.reply('No.').outcome).toMatchObject({ state: 'canceled' })
    expect(declined).toMatchObject({ taskId: 't1', contextId: 'c1', parts: [{ text: 'No.' }], metadata: { 'urn:errand:question': 'q1' } })
  })
})

test('a task that cannot be streamed is read again and again until it rests', async () => {
  const { client, asked } = await inTurn(
    [() => result(taskFrame()), () => result(withA('WORKING', 'one ')), () => result(withA('COMPLETED', 'one two'))],
    {},
    cardOf({ capabilities: {} }),
  )
  expect(shown(await collect(client.send('go')))).toEqual({ a: 'one two' })
  expect(asked).toEqual(['SendMessage', 'GetTask', 'GetTask'])
})
