/** The checker's own reading of the wire: event streams, shapes, answers, and the connection under them. */

import { describe, expect, test } from 'vitest'
import { curlOf, headerOf } from '../../src/check/exchange.js'
import { put, same } from '../../src/check/json.js'
import { faultsOf } from '../../src/check/shape.js'
import { createSseReader } from '../../src/check/sse.js'
import { encode, isError, readAnswer } from '../../src/check/wire.js'
import { checkByHand } from './kit.js'

describe('an event stream', () => {
  const text =
    '\u{feff}: a comment\r\nid: 7\r\ndata: {"a":\rdata: "🐎"}\r\n\r\nretry: 100\n\ndata\n\ndata:two\nevent: error\n\nhalf: yes\ndata: never'
  const events = [{ id: '7', data: '{"a":\n"🐎"}' }, { data: '' }, { data: 'two', event: 'error' }]

  test.each([1, 2, 3, 5, 1000])('is read alike in pieces of %i bytes', (size) => {
    const bytes = new TextEncoder().encode(text)
    const reader = createSseReader()
    const read = []
    for (let i = 0; i < bytes.length; i += size) read.push(...reader.push(bytes.slice(i, i + size)))
    expect(read).toEqual(events)
  })
})

describe('a shape', () => {
  const task = {
    id: 't',
    contextId: 'c',
    status: { state: 'TASK_STATE_WORKING', timestamp: '2026-01-01T00:00:00.000Z' },
    artifacts: [{ artifactId: 'a', parts: [{ raw: 'AP8=' }] }],
  }

  test('that is right has no fault, whatever else it holds', () => {
    expect(faultsOf('Task', { ...task, someDay: null })).toEqual([])
  })

  test.each<[string, unknown, string]>([
    ['id', undefined, 'id is missing'],
    ['id', 7, 'id is 7, no text'],
    ['status.state', 'working', 'status.state is "working", no state'],
    ['status.state', 'TASK_STATE_UNSPECIFIED', 'status.state is "TASK_STATE_UNSPECIFIED", no state'],
    ['status.timestamp', '2026-01-01T00:00:00+01:00', 'no time in UTC'],
    ['artifacts', {}, 'artifacts is {}, no list'],
    ['artifacts.0.parts.0.text', 'x', 'artifacts[0].parts[0] has text and raw, not exactly one of its kinds'],
    ['artifacts.0.parts.0.raw', '-_8', 'no base64'],
    ['artifacts.0.parts.0', {}, 'has no content'],
    ['status', null, 'status is null, no object'],
  ])('%s = %j is a fault', (path, value, fault) => {
    expect(faultsOf('Task', put(task, path, value)).join()).toContain(fault)
  })
})

describe('an answer', () => {
  const exchange = (status: number, body: string) => ({
    sent: { method: 'GET', url: 'http://a', headers: [] },
    startedAt: 0,
    durationMs: 0,
    headers: [],
    status,
    body,
  })
  const error = (code: number, reason: string) => ({
    error: { code, message: 'm', status: 'S', details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason }] },
  })

  test('on HTTP+JSON is told by its reason, not by its status', () => {
    const answer = readAnswer('HTTP+JSON', exchange(404, JSON.stringify(error(404, 'TASK_NOT_CANCELABLE'))))
    expect(
      answer.kind === 'error' && [
        isError('HTTP+JSON', answer, 'TaskNotCancelableError'),
        isError('HTTP+JSON', answer, 'TaskNotFoundError'),
      ],
    ).toEqual([true, false])
  })

  test('on JSON-RPC is told by its code, not by its text', () => {
    const answer = readAnswer('JSONRPC', exchange(200, '{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"InvalidParams"}}'))
    expect(answer.kind === 'error' && isError('JSONRPC', answer, 'TaskNotFoundError')).toBe(true)
  })

  test.each([
    ['JSONRPC', 200, '<html>'],
    ['JSONRPC', 200, '{"jsonrpc":"2.0","id":1}'],
    ['HTTP+JSON', 502, 'Bad Gateway'],
    ['HTTP+JSON', 200, '<html>'],
  ] as const)('on %s with HTTP %i and %s is none', (binding, status, body) => {
    expect(readAnswer(binding, exchange(status, body)).kind).toBe('unreadable')
  })
})

test('ids go into paths, and the rest of a GET into the query', () => {
  const sent = encode(
    { binding: 'HTTP+JSON', url: 'http://a/', tenant: 'red' },
    'GetTask',
    { id: 'a/b:c', historyLength: 0 },
    { 'A2A-Version': undefined },
  )
  expect(sent).toMatchObject({ method: 'GET', url: 'http://a/red/tasks/a%2Fb%3Ac?historyLength=0' })
  expect(sent.headers.map(([name]) => name)).toEqual(['Accept'])
})

test('headers are kept in their spelling and number', async () => {
  const run = await checkByHand((_, response) => {
    response
      .writeHead(
        200,
        [
          ['X-One', 'a'],
          ['x-one', 'b'],
          ['Content-Type', 'text/plain'],
        ].flat(),
      )
      .end('no card')
  })
  expect(run.found.exchange.headers.slice(0, 2)).toEqual([
    ['X-One', 'a'],
    ['x-one', 'b'],
  ])
  expect(headerOf(run.found.exchange, 'x-one')).toBe('a, b')
})

test('a command for the shell quotes what was sent', () => {
  const sent = {
    method: 'POST',
    url: "http://a/it's",
    headers: [
      ['Host', 'a'],
      ['X', '1'],
    ] as const,
    body: "{'}",
  }
  expect(curlOf({ sent, startedAt: 0, durationMs: 0, headers: [], body: '' })).toBe(
    `curl -i -X POST 'http://a/it'\\''s' -H 'X: 1' --data-binary '{'\\''}'`,
  )
})

test('the order of members makes no difference, that of lists does', () => {
  expect(same({ a: 1, b: [1, 2] }, { b: [1, 2], a: 1 })).toBe(true)
  expect(same([1, 2], [2, 1])).toBe(false)
})
