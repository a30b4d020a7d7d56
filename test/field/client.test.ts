/** Field cases of clients: what reaches them from agents that nobody here wrote, and what they leave behind. */

import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Client, ConnectionError, connect, InvalidAgentResponseError } from '../../src/client.js'
import { virtualWorld } from '../../src/testing/virtual-world.js'
import {
  bytesAgent,
  cardOf,
  chunkFrame,
  collect,
  frame,
  json,
  openScript,
  rpc,
  shown,
  sse,
  statesOf,
  statusFrame,
  taskFrame,
} from '../client/kit.js'
import { until } from '../runtime/kit.js'

const utf8 = (text: string) => new TextEncoder().encode(text)
const done = frame(statusFrame('COMPLETED'))

/** What a client shows of an agent that streams these bytes. */
async function showOf(...pieces: readonly (string | Uint8Array)[]) {
  const client = await bytesAgent(() => sse(pieces))
  const events = await collect(client.send('go'))
  return { shown: shown(events), states: statesOf(events) }
}
const hello = { shown: { a: 'hello' }, states: ['COMPLETED'] }

describe('whatever an event stream may hold', () => {
  test.each([
    ['a comment', ': ping\n\n:\n\n'],
    ['a retry line', 'retry: 100\n\n'],
    ['an id alone', 'id: 7\n\n'],
    ['an event with empty data', 'data:\n\ndata: \n\n'],
    ['an unknown field', 'colour: red\n\nnothing\n\n'],
    ['a name of an event', 'event: message\n'],
  ])('F040 %s: is passed over and the stream goes on', async (_, extra) => {
    expect(await showOf(extra, frame(taskFrame()), extra, frame(chunkFrame('hello')), extra, done, extra)).toEqual(hello)
  })

  test('F040 a byte order mark, and lines that end as on Windows: change nothing', async () => {
    const text = `\ufeff${frame(taskFrame())}: ping\n\n${frame(chunkFrame('hello'))}${done}`
    expect(await showOf(text)).toEqual(hello)
    expect(await showOf(text.replaceAll('\n', '\r\n'))).toEqual(hello)
    expect(await showOf(...[...utf8(text.replaceAll('\n', '\r\n'))].map((byte) => Uint8Array.of(byte)))).toEqual(hello)
  })
})

describe('events however they are wrapped', () => {
  test('F041 data over two lines: is one event', async () => {
    const split = `data: ${rpc(chunkFrame('hello')).replace('"artifactUpdate":', '"artifactUpdate":\ndata: ')}\n\n`
    expect(split.match(/data: /g)).toHaveLength(2)
    expect(await showOf(frame(taskFrame()), split, done)).toEqual(hello)
  })

  test('F041 data without a space: is the same event', async () => {
    expect(await showOf(...[frame(taskFrame()), frame(chunkFrame('hello')), done].map((text) => text.replace('data: ', 'data:')))).toEqual(
      hello,
    )
  })

  test('F041 bytes cut inside an emoji: come out whole', async () => {
    const bytes = utf8(frame(chunkFrame('a 🚀 b')))
    for (let at = 1; at < bytes.length; at += 1) {
      if (((bytes[at] ?? 0) & 0xc0) !== 0x80) continue
      expect((await showOf(frame(taskFrame()), bytes.slice(0, at), bytes.slice(at), done)).shown).toEqual({ a: 'a 🚀 b' })
    }
  })

  test('F041 five megabytes in one line: are one event', async () => {
    const long = 'x'.repeat(5 << 20)
    const bytes = utf8(frame(chunkFrame(long)))
    const pieces = Array.from({ length: Math.ceil(bytes.length / 65_536) }, (_, i) => bytes.slice(i * 65_536, (i + 1) * 65_536))
    expect((await showOf(frame(taskFrame()), ...pieces, done)).shown['a']?.length).toBe(long.length)
  })

  test('F041 a gigabyte without a line break: ends at the cap with a typed error', async () => {
    let sent = 0
    const piece = utf8('x'.repeat(1 << 20))
    function* endless() {
      yield frame(taskFrame())
      for (let i = 0; i < 1024; i++) {
        sent++
        yield piece
      }
    }
    const client = await bytesAgent(() => sse(endless()), { limits: { eventLength: 4 << 20 } })
    await expect(client.send('go').outcome).rejects.toThrow(InvalidAgentResponseError)
    expect(sent).toBeLessThan(10)
  })
})

/** An agent on a socket that sends a task and then keeps its stream open. */
async function openStreams(): Promise<{ readonly client: Client; readonly open: Set<ServerResponse> }> {
  const open = new Set<ServerResponse>()
  const http = createServer((request, response) => {
    if (request.method === 'GET') {
      // Listening on a port, the address is one of host and port.
      const { port } = http.address() as AddressInfo
      const interfaces = [{ url: `http://127.0.0.1:${port}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }]
      response.setHeader('content-type', 'application/json')
      return void response.end(JSON.stringify(cardOf({ supportedInterfaces: interfaces })))
    }
    open.add(response)
    response.once('close', () => open.delete(response))
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(frame(taskFrame(), 1))
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  onTestFinished(() => {
    http.closeAllConnections()
    http.close()
  })
  const client = await connect(`http://127.0.0.1:${(http.address() as AddressInfo).port}`)
  return { client, open }
}

describe('a loop that is left', () => {
  test('F043 fifty loops left after their first event: no stream is open any more', async () => {
    const { client, open } = await openStreams()
    let most = 0
    for (let i = 0; i < 50; i++) {
      for await (const { kind } of client.send('go')) {
        most = Math.max(most, open.size)
        expect(kind).toBe('task')
        break
      }
    }
    await until(() => open.size === 0)
    expect(most).toBeGreaterThan(0)
  })

  test('F043 an abort: rejects at once with an AbortError and closes the stream', async () => {
    const { client, open } = await openStreams()
    const controller = new AbortController()
    const sending = client.send('go', { signal: controller.signal })
    await sending.taskId
    controller.abort()
    await expect(sending.outcome).rejects.toMatchObject({ name: 'AbortError' })
    await expect(collect(sending)).rejects.toMatchObject({ name: 'AbortError' })
    await until(() => open.size === 0)
    await expect(client.send('go', { signal: controller.signal }).outcome).rejects.toMatchObject({ name: 'AbortError' })
  })

  test('F043 a loop that is left at the end of the task: the outcome is there', async () => {
    for (const last of [statusFrame('COMPLETED'), statusFrame('INPUT_REQUIRED')]) {
      const client = await bytesAgent(() => sse([frame(taskFrame()), frame(last)], 'silence'))
      const sending = client.send('go')
      for await (const event of sending) if (event.kind === 'status') break
      expect(await sending.outcome).toMatchObject({ state: expect.stringMatching(/^(completed|input-required)$/) })
    }
  })

  test('F043 a loop that is left: the task goes on at the agent', async () => {
    const { fetch } = await openScript()
    const client = await connect('http://agent.test', { fetch, auth: 'alice' })
    const sending = client.send('hold')
    const id = (await sending.taskId) ?? ''
    for await (const _ of sending) break
    await expect(sending.outcome).rejects.toMatchObject({ name: 'AbortError' })
    expect((await client.task(id).get()).status.state).toMatch(/SUBMITTED|WORKING/)
    const following = client.task(id).follow()
    client.send('go', { taskId: id })
    expect(await following.outcome).toMatchObject({ state: 'completed' })
  })
})

describe('limits of time', () => {
  /** An agent whose stream says what the test tells it to say, on a clock that stands still. */
  async function told() {
    const world = virtualWorld()
    let say: (text: string) => void = () => {}
    const asked: string[] = []
    const client = await bytesAgent(
      (_, body) => {
        asked.push(body.method)
        const stream = new ReadableStream<Uint8Array>({
          start(controller) {
            say = (text) => controller.enqueue(utf8(text))
          },
        })
        return new Response(stream, { headers: { 'content-type': 'text/event-stream' } })
      },
      { world },
    )
    return { world, client, asked, say: (text: string) => say(text) }
  }

  test('F044 a task that streams for three minutes, and one that is silent for 90 seconds: end well', async () => {
    const { world, client, asked, say } = await told()
    const long = client.send('go')
    await until(() => asked.length === 1)
    say(frame(taskFrame()))
    for (let i = 0; i < 18; i++) {
      await world.advance(10_000)
      say(frame(chunkFrame('.')))
    }
    await world.advance(90_000)
    say(done)
    expect(await long.outcome).toMatchObject({ state: 'completed', text: '.'.repeat(18) })
    expect(asked).toEqual(['SendStreamingMessage'])
  })

  test('F044 an answer that does not come, a stream that stalls: a typed error that says which limit passed', async () => {
    const world = virtualWorld()
    const silent = await bytesAgent(() => new Promise(() => {}), { world, limits: { retries: 0 } })
    const get = silent.task('t1').get()
    const sent = silent.send('go').outcome
    const late = Promise.allSettled([get, sent])
    await world.advance(120_000)
    expect(await late).toMatchObject([
      { reason: { fault: 'timeout', message: expect.stringContaining('30000 ms') } },
      { reason: { fault: 'timeout' } },
    ])
    const stalls = await bytesAgent(() => sse([frame(taskFrame())], 'silence'), { world, limits: { retries: 0 } })
    const stalled = stalls.send('go').outcome
    const caught = expect(stalled).rejects.toThrow(ConnectionError)
    await world.advance(121_000)
    await caught
  })

  test('F044 a blocking send: waits as long as the agent works', async () => {
    const world = virtualWorld()
    let answer: (response: Response) => void = () => {}
    const answering = new Promise<Response>((resolve) => {
      answer = resolve
    })
    const client = await bytesAgent(() => answering, { world }, cardOf({ capabilities: {} }))
    const { outcome } = client.send('go')
    await world.advance(3_600_000)
    answer(json({ jsonrpc: '2.0', id: 1, result: taskFrame('COMPLETED') }))
    expect(await outcome).toMatchObject({ state: 'completed' })
  })
})

test('F071 three chunks and then the whole task: each part is shown once', async () => {
  const parts = ['one ', 'two ', 'three'].map((text) => ({ text }))
  const chunks = parts.map(({ text }) => frame(chunkFrame(text)))
  const snapshot = (list: readonly object[]) => frame(taskFrame('COMPLETED', { artifacts: [{ artifactId: 'a', parts: list }] }))
  for (const list of [parts, [{ text: 'one two three' }]]) {
    const client = await bytesAgent(() => sse([frame(taskFrame()), ...chunks, snapshot(list)]))
    const events = await collect(client.send('go'))
    expect(shown(events)).toEqual({ a: 'one two three' })
    const texts = events.flatMap((event) => (event.kind === 'artifact' ? [event.text] : []))
    expect(texts).toEqual(['one ', 'one two ', 'one two three'])
  }
})

test('F112 two users of one client, a card that needs credentials, a token that expires: each call has its own, and only one more try', async () => {
  const seen: string[] = []
  let valid = 'a1'
  const refused = () => json({ error: { code: 401, status: 'UNAUTHENTICATED', message: 'no' } }, { status: 401 })
  const fetch = async (request: Request) => {
    const token = request.headers.get('authorization') ?? 'none'
    seen.push(`${new URL(request.url).pathname} ${token}`)
    if (token !== `Bearer ${valid}` && token !== 'Bearer bob') return refused()
    if (request.method === 'GET') return json(cardOf())
    return sse([frame(taskFrame()), done])
  }
  const asked: (number | undefined)[] = []
  const client = await connect('http://bytes.test', {
    fetch,
    auth: ({ refused }) => {
      asked.push(refused)
      return refused === undefined ? 'a1' : valid
    },
  })
  expect(seen).toEqual(['/.well-known/agent-card.json Bearer a1'])
  await client.send('go', { auth: 'bob' }).outcome
  valid = 'a2'
  await client.send('go').outcome
  expect(seen.slice(1)).toEqual(['/rpc Bearer bob', '/rpc Bearer a1', '/rpc Bearer a2'])
  expect(asked).toEqual([undefined, undefined, 401])
  valid = 'never'
  await expect(client.send('go', { auth: () => 'old' }).outcome).rejects.toMatchObject({ name: 'UnauthenticatedError' })
  expect(seen.slice(4)).toEqual(['/rpc Bearer old', '/rpc Bearer old'])
})

test('F121 a message that is used again: is as it was, frozen or not', async () => {
  const { fetch } = await openScript()
  const client = await connect('http://agent.test', { fetch, auth: 'alice' })
  const parts = [{ text: 'ask' }, { data: { n: 1 } }] as const
  const options = { metadata: { mine: true }, acceptedOutputModes: ['text/plain'] }
  const before = structuredClone({ parts, options })
  for (const list of [parts, Object.freeze([...parts])]) {
    const outcome = await client.send(list, Object.freeze(options)).outcome
    if (outcome.state === 'input-required') await outcome.reply(list, Object.freeze(options)).outcome
  }
  expect({ parts, options }).toEqual(before)
})
