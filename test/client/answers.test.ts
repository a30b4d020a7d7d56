/** What an agent may answer instead of what was asked for: a typed error that says which address answered what. */

import { describe, expect, test } from 'vitest'
import {
  A2AError,
  ConnectionError,
  ExtensionSupportRequiredError,
  InvalidAgentResponseError,
  UnsupportedOperationError,
} from '../../src/client.js'
import { virtualWorld } from '../../src/testing/virtual-world.js'
import { bytesAgent, cardOf, chunkFrame, collect, frame, json, rpc, shown, sse, statesOf, statusFrame, taskFrame } from './kit.js'

const html = (status: number) => new Response('<html>no</html>', { status, headers: { 'content-type': 'text/html' } })
const rest = cardOf({ supportedInterfaces: [{ url: 'http://bytes.test/rest', protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' }] })
const cards = { JSONRPC: cardOf(), 'HTTP+JSON': rest }
const bindings = ['JSONRPC', 'HTTP+JSON'] as const

describe.each(bindings)('over %s', (binding) => {
  const inFrame = (value: unknown) => (binding === 'JSONRPC' ? frame(value) : `data: ${JSON.stringify(value)}\n\n`)

  test.each<[string, () => Response, RegExp]>([
    ['HTML', () => html(200), /answered 200 with text\/html where JSON was expected/],
    ['HTML of an error', () => html(500), /answered 500 with text\/html/],
    ['nothing at all', () => new Response(null, { status: 204 }), /answered 204 with no content type where JSON/],
    ['an error without a body', () => new Response(null, { status: 418 }), /answered 418/],
    ['plain text in place of JSON', () => new Response('ok'), /where JSON was expected/],
    ['a redirect', () => new Response(null, { status: 301, headers: { location: '/login' } }), /a redirect to \/login/],
    ['a body beyond the limit', () => new Response('x'.repeat(2000)), /more than 1000 bytes/],
    ['bytes that are no text', () => sse([Uint8Array.of(0x64, 0xff, 0xfe)]), /not UTF-8/],
    ['an event that is no JSON', () => sse(['data: {\n\n']), /where JSON was expected/],
    [
      'an event with an unknown member',
      () => sse([inFrame({ surprise: {} })]),
      /has not exactly one of task, message, statusUpdate, artifactUpdate/,
    ],
    ['an event with two members', () => sse([inFrame({ ...taskFrame(), ...statusFrame('WORKING') })]), /has not exactly one/],
    ['a task without a state', () => sse([inFrame({ task: { id: 't1', status: {} } })]), /task.status.state is missing/],
    ['a state that is unknown', () => sse([inFrame(taskFrame('LOST'))]), /task.status.state is no state/],
    ['a task without an id', () => sse([inFrame({ task: { id: '', status: { state: 'TASK_STATE_WORKING' } } })]), /task.id is empty/],
    [
      'an event of another task',
      () => sse([inFrame({ task: { ...taskFrame().task, id: 'other' } }), inFrame(statusFrame('COMPLETED'))]),
      /of task t1 in the stream of task other/,
    ],
  ])('%s: is told', async (_, answer, words) => {
    const client = await bytesAgent(answer, { limits: { answerBytes: 1000, retries: 0 } }, cards[binding])
    const { outcome } = client.send('go')
    await expect(outcome).rejects.toThrow(words)
    await expect(outcome).rejects.toSatisfy((error) => error instanceof A2AError || error instanceof ConnectionError)
    await expect(outcome).rejects.toThrow('http://bytes.test/')
  })

  test('members that are null, unknown or empty where nothing depends on them: are passed over', async () => {
    const odd = { task: { ...taskFrame().task, history: null, kind: 'task', contextId: '' } }
    const empty = { artifactUpdate: { ...chunkFrame('').artifactUpdate, artifact: { artifactId: 'a', parts: [] }, lastChunk: true } }
    const client = await bytesAgent(
      () => sse([inFrame(odd), inFrame(chunkFrame('hi')), inFrame(empty), inFrame(statusFrame('COMPLETED'))]),
      {},
      cards[binding],
    )
    const events = await collect(client.send('go'))
    expect(shown(events)).toEqual({ a: 'hi' })
    expect(events.filter((event) => event.kind === 'artifact').at(-1)).toMatchObject({ delta: [], last: true })
  })

  test('a stream that begins with an update: has a task all the same', async () => {
    const client = await bytesAgent(() => sse([inFrame(statusFrame('WORKING')), inFrame(statusFrame('FAILED'))]), {}, cards[binding])
    const sending = client.send('go')
    expect(statesOf(await collect(sending))).toEqual(['WORKING', 'FAILED'])
    expect(await sending.outcome).toMatchObject({ state: 'failed', reason: '', task: { id: 't1' } })
  })

  test('a stream that ends without a final state: is no success', async () => {
    const client = await bytesAgent(
      () => sse([inFrame(taskFrame()), inFrame(chunkFrame('half'))]),
      { limits: { retries: 0 } },
      cards[binding],
    )
    await expect(client.send('go').outcome).rejects.toMatchObject({
      fault: 'cut',
      message: expect.stringContaining('before the task came to rest'),
    })
  })

  test('a plain answer to a streaming send: is what it says', async () => {
    const answer = { message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'hi' }] } }
    const client = await bytesAgent(() => json(binding === 'JSONRPC' ? JSON.parse(rpc(answer)) : answer), {}, cards[binding])
    expect(await client.send('go').outcome).toMatchObject({ state: 'message', text: 'hi' })
  })
})

describe('an error of the agent', () => {
  const info = (reason: string) => ({
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    domain: 'a2a-protocol.org',
    reason,
    metadata: { extension: 'urn:x' },
  })

  test('is told apart by its code, and by its reason before that', async () => {
    const errors = [
      { code: -32004, message: 'by code' },
      { code: -32004, message: 'by reason', data: [info('EXTENSION_SUPPORT_REQUIRED')] },
      { code: -32004, message: 'own words', data: [info('SOMETHING_NEW')] },
    ]
    const client = await bytesAgent(() => json({ jsonrpc: '2.0', id: 1, error: errors.shift() }))
    await expect(client.task('x').get()).rejects.toMatchObject({ constructor: UnsupportedOperationError, message: 'by code' })
    await expect(client.task('x').get()).rejects.toMatchObject({
      constructor: ExtensionSupportRequiredError,
      metadata: { extension: 'urn:x' },
    })
    await expect(client.task('x').get()).rejects.toMatchObject({ message: 'own words' })
  })

  test('inside a stream is thrown in its own class, over both bindings', async () => {
    const error = { code: 400, status: 'FAILED_PRECONDITION', message: 'not so', details: [info('EXTENSION_SUPPORT_REQUIRED')] }
    const overRest = await bytesAgent(
      () => sse([`data: ${JSON.stringify(taskFrame())}\n\n`, `event: error\ndata: ${JSON.stringify({ error })}\n\n`]),
      {},
      rest,
    )
    await expect(collect(overRest.send('go'))).rejects.toMatchObject({ constructor: ExtensionSupportRequiredError, message: 'not so' })
    const overRpc = await bytesAgent(() =>
      sse([frame(taskFrame()), `data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32008, message: 'not so' } })}\n\n`]),
    )
    await expect(collect(overRpc.send('go'))).rejects.toThrow(ExtensionSupportRequiredError)
  })

  test('an answer to another request is none', async () => {
    const client = await bytesAgent(() => json({ jsonrpc: '2.0', id: 'other', result: taskFrame().task }))
    await expect(client.task('x').get()).rejects.toThrow(InvalidAgentResponseError)
  })
})

describe('lists', () => {
  const page = (tasks: readonly unknown[], nextPageToken: string) => json({ jsonrpc: '2.0', id: 1, result: { tasks, nextPageToken } })

  test('a walk whose next page is always the same ends in an error', async () => {
    const client = await bytesAgent(() => page([taskFrame().task], 'again'))
    const seen: string[] = []
    const walk = async () => {
      for await (const { id } of client.tasks()) seen.push(id)
    }
    await expect(walk()).rejects.toThrow(/the next page is the same one/)
    expect(seen).toEqual(['t1', 't1'])
  })

  test('a loop that is left asks for no further page', async () => {
    let asked = 0
    const client = await bytesAgent(() => page([taskFrame().task], `p${++asked}`))
    for await (const _ of client.tasks()) break
    expect(asked).toBe(1)
  })
})

describe('many events', () => {
  const many = () =>
    sse(
      (function* () {
        yield frame(taskFrame())
        for (let i = 0; i < 5000; i++) yield frame(chunkFrame('.'))
        yield frame(statusFrame('COMPLETED'))
      })(),
    )

  test('that nobody reads are kept in few, and a late loop shows the same', async () => {
    const client = await bytesAgent(many)
    const sending = client.send('go')
    expect(await sending.outcome).toMatchObject({ text: '.'.repeat(5000) })
    const events = await collect(sending)
    expect(events.length).toBeLessThan(300)
    expect(shown(events)).toEqual({ a: '.'.repeat(5000) })
  })

  test('a loop that is slow lets the agent wait', async () => {
    let sent = 0
    const source = (function* () {
      yield frame(taskFrame())
      for (; sent < 5000; sent++) yield frame(chunkFrame('.'))
      yield frame(statusFrame('COMPLETED'))
    })()
    const client = await bytesAgent(() => sse(source), { world: virtualWorld() })
    let most = 0
    let had = 0
    for await (const _ of client.send('go')) {
      had++
      most = Math.max(most, sent - had)
      if (had < 3) for (let turns = 0; turns < 2000; turns++) await Promise.resolve()
    }
    expect(had).toBe(5002)
    expect(most).toBeLessThan(400)
  })

  test('a loop that is slow and awaits the outcome inside gets it', async () => {
    const sending = (await bytesAgent(many)).send('go')
    for await (const { kind } of sending) {
      if (kind !== 'task') continue
      expect(await sending.outcome).toMatchObject({ state: 'completed' })
    }
  })
})
