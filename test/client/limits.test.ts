/** What the client does not wait for, does not hold, and gives up when it is told to. */

import { describe, expect, test } from 'vitest'
import { type Client, type ConnectOptions, connect, InvalidAgentResponseError } from '../../src/client.js'
import { virtualWorld } from '../../src/testing/virtual-world.js'
import { until } from '../runtime/kit.js'
import { bytesAgent, cardOf, chunkFrame, collect, frame, json, sse, statusFrame, taskFrame } from './kit.js'

const never = () => new Promise<Response>(() => {})
const limits = { connectMs: 1_000, firstByteMs: 2_000, idleMs: 3_000, retries: 0 }

/** Whether the promise has come to its end by now. */
async function isOver(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending')
  return (await Promise.race([promise.catch(() => undefined), new Promise((resolve) => setImmediate(() => resolve(pending)))])) !== pending
}

describe('time that passes without a sign', () => {
  const plain = cardOf({ capabilities: {} })

  test.each<[string, number, (options: ConnectOptions) => Promise<unknown>]>([
    ['before the card is answered', 1_000, (options) => connect('http://bytes.test', { ...options, fetch: never })],
    ['before a call is answered', 1_000, async (options) => (await bytesAgent(never, options)).task('t1').get()],
    ['before a stream is answered', 2_000, async (options) => (await bytesAgent(never, options)).send('go').outcome],
    [
      'within a stream',
      3_000,
      async (options) => (await bytesAgent(() => sse([frame(taskFrame())], 'silence'), options)).send('go').outcome,
    ],
    ['within an answer', 3_000, async (options) => (await bytesAgent(() => sse(['{'], 'silence'), options, plain)).send('go').outcome],
  ])('%s has a limit of its own: %d ms', async (_, ms, run) => {
    const world = virtualWorld()
    const running = run({ world, limits })
    running.catch(() => {})
    await world.advance(ms - 1)
    expect(await isOver(running)).toBe(false)
    await world.advance(1)
    await expect(running).rejects.toMatchObject({ name: 'ConnectionError', fault: 'timeout', message: expect.stringContaining(`${ms} ms`) })
  })
})

describe('an abort', () => {
  const gone = new Error('not needed any more')

  test.each<[string, (client: Client, signal: AbortSignal) => Promise<unknown>]>([
    ['a reading', (client, signal) => client.task('t1').get({ signal })],
    ['a cancel', (client, signal) => client.task('t1').cancel({ signal })],
    ['a send', (client, signal) => client.send('go', { signal }).outcome],
    ['following', (client, signal) => client.task('t1').follow({ signal }).outcome],
    ['a loop over events', (client, signal) => collect(client.send('go', { signal }))],
    [
      'a list',
      async (client, signal) => {
        for await (const task of client.tasks({ signal })) throw new Error(task.id)
      },
    ],
  ])('ends %s at once, whether the agent is silent, between two tries or while a credential is fetched', async (_, run) => {
    const signs: AbortSignal[] = []
    const hanging: ConnectOptions['auth'] = ({ url, signal }) => {
      if (url.endsWith('.json')) return 'secret'
      if (signal) signs.push(signal)
      return new Promise(() => {})
    }
    const busy = () => new Response('busy', { status: 503 })
    const agents = [bytesAgent(never), bytesAgent(busy, { world: virtualWorld() }), bytesAgent(never, { auth: hanging })]
    for (const client of await Promise.all(agents)) {
      const controller = new AbortController()
      const running = run(client, controller.signal)
      running.catch(() => {})
      expect(await isOver(running)).toBe(false)
      controller.abort(gone)
      await expect(running).rejects.toBe(gone)
      await expect(run(client, controller.signal)).rejects.toBe(gone)
    }
    expect(signs.map(({ reason }) => reason)).toContain(gone)
  })

  test('ends connect() at once', async () => {
    const controller = new AbortController()
    const connecting = connect('http://bytes.test', { fetch: never, signal: controller.signal })
    controller.abort(gone)
    await expect(connecting).rejects.toBe(gone)
  })

  test('ends the wait for a task that is read again and again', async () => {
    let reads = 0
    const world = virtualWorld()
    const working = () => {
      reads++
      return json({ jsonrpc: '2.0', id: 1, result: taskFrame().task })
    }
    const client = await bytesAgent(working, { world }, cardOf({ capabilities: {} }))
    const controller = new AbortController()
    const { outcome } = client.task('t1').follow({ signal: controller.signal })
    await until(() => reads === 1)
    await world.advance(2_000)
    await until(() => reads === 2)
    controller.abort(gone)
    await expect(outcome).rejects.toBe(gone)
    await world.advance(60_000)
    expect(reads).toBe(2)
  })
})

describe('artifacts', () => {
  const endless = (piece: object) =>
    sse(
      (function* () {
        yield frame(taskFrame())
        for (;;) yield frame(piece)
      })(),
    )

  test.each([
    ['without end', chunkFrame('x'.repeat(1000))],
    ['without end or content', chunkFrame('')],
  ])('%s are an error that says who sent them', async (_, piece) => {
    const client = await bytesAgent(() => endless(piece), { limits: { artifactsLength: 50_000 } })
    const { outcome } = client.send('go')
    await expect(outcome).rejects.toThrow(InvalidAgentResponseError)
    await expect(outcome).rejects.toThrow('http://bytes.test/rpc sent more than 50000 characters of artifacts for task t1')
  })

  test('that are replaced count once', async () => {
    const whole = frame(chunkFrame('x'.repeat(1000), { append: false }))
    const pieces = [frame(taskFrame()), ...Array.from({ length: 100 }, () => whole), frame(statusFrame('COMPLETED'))]
    const client = await bytesAgent(() => sse(pieces), { limits: { artifactsLength: 2_000 } })
    expect(await client.send('go').outcome).toMatchObject({ state: 'completed', text: 'x'.repeat(1000) })
  })
})

describe('a refused credential', () => {
  test.each([401, 403])('with %d is asked for once more in each call: that of the call, where it has one', async (status) => {
    const asked: string[] = []
    const hook = (name: string) => (about: { readonly refused: number | undefined }) => {
      asked.push(`${name} ${about.refused}`)
      return name
    }
    const client = await bytesAgent(() => json({}, { status }), { auth: hook('client') })
    asked.length = 0
    const failed = { httpStatus: status }
    await expect(client.task('t1').get()).rejects.toMatchObject(failed)
    await expect(client.send('go', { auth: hook('user') }).outcome).rejects.toMatchObject(failed)
    await expect(client.task('t1').follow({ auth: hook('other') }).outcome).rejects.toMatchObject(failed)
    await expect(client.task('t1').get({ auth: 'fixed' })).rejects.toMatchObject(failed)
    const twice = (name: string) => [`${name} undefined`, `${name} ${status}`]
    expect(asked).toEqual(['client', 'user', 'other'].flatMap(twice))
  })

  test('a hook that fails is what the call fails with', async () => {
    const broken = new Error('the vault is sealed')
    const auth = () => Promise.reject(broken)
    const client = await bytesAgent(() => json({}))
    await expect(client.task('t1').get({ auth })).rejects.toBe(broken)
  })
})
