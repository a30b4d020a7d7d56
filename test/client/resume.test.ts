/** Streams that are cut: the client takes them up again, and each part of the log comes once, or an error is told. */

import { describe, expect, test } from 'vitest'
import { ConnectionError, connect, type Fetching, TaskNotFoundError, UnavailableError } from '../../src/client.js'
import { virtualWorld } from '../../src/testing/virtual-world.js'
import { bindingNames } from '../harness/server.js'
import { until } from '../runtime/kit.js'
import {
  bytesAgent,
  cardOf,
  chunkFrame,
  collect,
  frame,
  hasty,
  json,
  openScript,
  shown,
  sse,
  statesOf,
  statusFrame,
  taskFrame,
} from './kit.js'

function random(seed: number): () => number {
  const bytes = virtualWorld({ seed })
  return () => {
    const [a = 0, b = 0] = bytes.randomBytes(2)
    return (a * 256 + b) / 65_536
  }
}

/** A wire to `fetch` that cuts event streams, hands bytes on in odd pieces, closes early and loses ids, by chance. */
function faulty(fetch: Fetching, seed: number, keepsIds: boolean): { readonly fetch: Fetching; readonly cuts: () => number } {
  const chance = random(seed)
  let cuts = 0
  const cut = async (request: Request) => {
    const response = await fetch(request)
    if (!response.body || !response.headers.get('content-type')?.includes('event-stream')) return response
    const fate = chance()
    let left = fate < 0.7 ? Math.floor(chance() * 1500) : Number.POSITIVE_INFINITY
    const ends = fate < 0.35
    const pieces = response.body
      .pipeThrough(new TextDecoderStream())
      .pipeThrough(withoutIds(keepsIds))
      .pipeThrough(new TextEncoderStream())
      .pipeThrough(
        new TransformStream<Uint8Array, Uint8Array>({
          transform(bytes, controller) {
            for (let rest = bytes; rest.length > 0; ) {
              const size = Math.min(1 + Math.floor(chance() * 40), left)
              if (size > 0) controller.enqueue(rest.slice(0, size))
              rest = rest.slice(size)
              left -= size
              if (left > 0) continue
              cuts++
              return ends ? controller.terminate() : controller.error(new Error('reset'))
            }
          },
        }),
      )
    return new Response(pieces, response)
  }
  return { fetch: cut, cuts: () => cuts }
}

function withoutIds(keepsIds: boolean): TransformStream<string, string> {
  return new TransformStream({ transform: (text, controller) => controller.enqueue(keepsIds ? text : text.replace(/^id: .*\n/gm, '')) })
}

describe.each(bindingNames)('a wire that fails by chance, over %s', (binding) => {
  test.each([
    ['with ids', true],
    ['without ids', false],
  ])('%s: 125 seeds show the log exactly once, or a typed error', async (_, keepsIds) => {
    const server = await openScript()
    const direct = await connect('http://agent.test', { fetch: server.fetch, auth: 'alice', prefer: [binding] })
    let cuts = 0
    let whole = 0
    for (let seed = 1; seed <= 125; seed++) {
      const wire = faulty(server.fetch, seed, keepsIds)
      const client = await connect('http://agent.test', {
        fetch: wire.fetch,
        auth: 'alice',
        prefer: [binding],
        world: hasty,
        resend: seed % 2 === 0,
      })
      const sending = client.send(seed % 3 === 0 ? 'ask' : 'chunks 12')
      const [events] = await Promise.allSettled([collect(sending)])
      cuts += wire.cuts()
      if (events.status === 'rejected') {
        expect(events.reason).toBeInstanceOf(ConnectionError)
        continue
      }
      whole++
      const task = await direct.task((await sending.taskId) ?? '').get()
      const texts = Object.fromEntries(
        (task.artifacts ?? []).map(({ artifactId, parts }) => [artifactId, parts.map(({ text }) => text).join('')]),
      )
      expect(shown(events.value)).toEqual(texts)
      expect(events.value.some((event) => event.kind === 'artifact' && event.replaced)).toBe(false)
      expect(statesOf(events.value).filter((state) => state === 'COMPLETED' || state === 'INPUT_REQUIRED')).toHaveLength(1)
      expect(await sending.outcome).toMatchObject({ task: { status: task.status } })
    }
    expect(cuts).toBeGreaterThan(60)
    expect(whole).toBeGreaterThan(60)
  })
})

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
