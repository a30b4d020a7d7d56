/** Bad input on both bindings through both doors: one answer each, by the table of errors, and no task is made or changed. */

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { RunningServer } from '../../src/index.js'
import { findingLog, judge } from '../fuzz/judge.js'
import { scriptAgent } from '../harness/script-agent.js'
import { type BindingName, bindingNames, frames, openSocket, result, userMessage } from '../harness/server.js'

const log = findingLog()
const limit = 1 << 20
let server: RunningServer
let before: readonly string[]

beforeAll(async () => {
  server = await openSocket(scriptAgent, { log, push: true, limits: { bodyBytes: limit, shutdownMs: 0 } })
  for await (const { data } of frames(server.fetch, 'JSONRPC', 'SendStreamingMessage', { message: userMessage('hold') })) {
    if (data.statusUpdate?.status.message) break
  }
  before = await all()
})
afterAll(() => server.close())
afterEach(async () => {
  expect(await all(), 'no task is made or changed').toEqual(before)
  expect(log.findings, 'nothing is logged as an error').toEqual([])
})

/** Everything that Alice has. */
const all = async () =>
  (await result(server.fetch, 'JSONRPC', 'ListTasks', { includeArtifacts: true })).tasks.map((task: unknown) => JSON.stringify(task))

const doors = ['fetch', 'socket'] as const
type Door = (typeof doors)[number]
const places = bindingNames.flatMap((binding) => doors.map((door) => ({ binding, door })))

interface Ask {
  readonly method?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string | undefined>>
  readonly body?: string | Uint8Array | ReadableStream<Uint8Array>
}

const standard = { 'a2a-version': '1.0', authorization: 'Bearer alice', 'content-type': 'application/json' }

async function ask(door: Door, binding: BindingName, { method = 'POST', path, headers, body }: Ask) {
  const url = (door === 'fetch' ? 'http://agent.test' : server.url) + (path ?? (binding === 'JSONRPC' ? '/a2a/v1' : '/rest/message:send'))
  const sent = new Headers()
  for (const [name, value] of Object.entries({ ...standard, ...headers })) if (value !== undefined) sent.set(name, value)
  // A text body would bring a Content-Type of its own. The DOM's types do not know duplex, which a stream needs.
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  const init = {
    method,
    headers: sent,
    ...(bytes !== undefined && { body: bytes as BodyInit }),
    ...(bytes instanceof ReadableStream && { duplex: 'half' }),
  }
  const response = await (door === 'fetch' ? server.fetch : fetch)(new Request(url, init))
  const answer = { status: response.status, contentType: response.headers.get('content-type') ?? '', text: await response.text() }
  expect(judge(binding, answer).faults).toEqual([])
  const parsed = JSON.parse(answer.text)
  const details = parsed.error?.data ?? parsed.error?.details
  return {
    ...answer,
    headers: response.headers,
    parsed,
    reason: details?.[0].reason,
    fields: details?.[1]?.fieldViolations.map((one: any) => one.field),
  }
}

const message = { messageId: 'bad', role: 'ROLE_USER', parts: [{ text: 'never done' }] }
const nested = (depth: number, [open, close]: readonly [string, string] = ['[', ']']) => open.repeat(depth) + close.repeat(depth)
/** A body of either binding around the text of SendMessage's parameters. */
const around = (binding: BindingName, params: string) =>
  binding === 'JSONRPC' ? `{"jsonrpc":"2.0","id":7,"method":"SendMessage","params":${params}}` : params

describe.each(places)('over $binding through $door', ({ binding, door }) => {
  const refused = (status: number) => (binding === 'JSONRPC' ? 200 : status)

  test.each<[string, string | Uint8Array]>([
    ['nothing', ''],
    ['half an object', '{"message":'],
    ['words', 'hello'],
    ['two values', '{}{}'],
    ['a comment', '{/* */}'],
    ['NaN', 'NaN'],
    ['a control character in a string', '{"a":"\u0001"}'],
    ['a lone continuation byte', Uint8Array.of(0x7b, 0x22, 0x80, 0x22, 0x3a, 0x31, 0x7d)],
    ['a surrogate in UTF-8', Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22)],
    ['an overlong slash', Uint8Array.of(0x22, 0xc0, 0xaf, 0x22)],
    ['a character cut off', Uint8Array.of(0x22, 0xe2, 0x82)],
    ['UTF-16', Uint8Array.of(0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00)],
    ['100,000 open brackets', '['.repeat(100_000)],
  ])('%s is no JSON', async (_, body) => {
    const answer = await ask(door, binding, { body })
    expect(answer).toMatchObject({ status: refused(400), reason: 'PARSE_ERROR' })
    if (binding === 'JSONRPC') expect(answer.parsed).toMatchObject({ id: null, error: { code: -32700 } })
  })

  test.each([
    ...['null', '1', '"text"', 'true', '[]', '[{}]'].map((body) => [body, body] as const),
    ['a list 65 levels deep', nested(65)] as const,
    ['a list 100,000 levels deep', nested(100_000)] as const,
  ])('%s is no request', async (_, body) => {
    const answer = await ask(door, binding, { body })
    expect(answer).toMatchObject({ status: refused(400), reason: 'INVALID_REQUEST' })
    if (binding === 'JSONRPC') expect(answer.parsed).toMatchObject({ id: null, error: { code: -32600 } })
  })

  test.each<[string, string, readonly string[]]>([
    ['no message', '{}', ['message']],
    ['a message that is null', '{"message":null}', ['message']],
    ['a message that is a list', '{"message":[]}', ['message']],
    ['an empty message', '{"message":{}}', ['message.messageId', 'message.role', 'message.parts']],
    [
      'wrong types everywhere',
      '{"message":{"messageId":1,"role":{},"parts":"x","metadata":[],"extensions":{}},"configuration":7}',
      ['message.messageId', 'message.role', 'message.parts', 'message.metadata', 'message.extensions', 'configuration'],
    ],
    ['no part', JSON.stringify({ message: { ...message, parts: [] } }), ['message.parts']],
    ['a part of nothing', JSON.stringify({ message: { ...message, parts: [{}] } }), ['message.parts[0]']],
    [
      'two contents in a part',
      JSON.stringify({ message: { ...message, parts: [{ text: 'a' }, { text: 'a', url: 'https://a' }] } }),
      ['message.parts[1]'],
    ],
    ['bytes that are no base64', JSON.stringify({ message: { ...message, parts: [{ raw: '%%' }] } }), ['message.parts[0].raw']],
    ['the agent as its author', JSON.stringify({ message: { ...message, role: 'ROLE_AGENT' } }), ['message.role']],
    ['a lone surrogate', '{"message":{"messageId":"bad","role":"ROLE_USER","parts":[{"text":"\\ud800"}]}}', ['message.parts[0].text']],
    ['a number beyond doubles', '{"message":{"messageId":"bad","role":"ROLE_USER","parts":[{"data":1e999}]}}', ['message.parts[0].data']],
    ['a length that is no integer', JSON.stringify({ message, configuration: { historyLength: 1.5 } }), ['configuration.historyLength']],
    ['a negative length', JSON.stringify({ message, configuration: { historyLength: -1 } }), ['configuration.historyLength']],
    ['a member in two spellings', JSON.stringify({ message: { ...message, message_id: 'other' } }), ['message.messageId']],
    ['a tenant that is not the caller’s', JSON.stringify({ message, tenant: 'constructor' }), ['tenant']],
    [
      'a context name that every event would repeat',
      JSON.stringify({ message: { ...message, contextId: 'c'.repeat(100_000) } }),
      ['message.contextId'],
    ],
    [
      'an address that is none',
      JSON.stringify({ message, configuration: { taskPushNotificationConfig: { url: 'javascript:alert(1)' } } }),
      ['configuration.taskPushNotificationConfig.url'],
    ],
    [
      'data 65 levels deep',
      `{"message":{"messageId":"bad","role":"ROLE_USER","parts":[{"data":${nested(61)}}]}}`,
      ['message.parts[0].data'],
    ],
    [
      'data 100,000 levels deep',
      `{"message":{"messageId":"bad","role":"ROLE_USER","parts":[{"data":${nested(100_000)}}]}}`,
      ['message.parts[0].data'],
    ],
    [
      'metadata 100,000 levels deep',
      `{"message":{"messageId":"bad","role":"ROLE_USER","parts":[{"text":"a"}],"metadata":${nested(50_000, ['{"a":', '}']).replace('}', '1}')}}}`,
      ['message.metadata'],
    ],
  ])('a message with %s is named field by field', async (_, params, fields) => {
    const answer = await ask(door, binding, { body: around(binding, params) })
    expect(answer).toMatchObject({ status: refused(400), reason: 'INVALID_PARAMS', fields })
    if (binding === 'JSONRPC') expect(answer.parsed).toMatchObject({ id: 7, error: { code: -32602 } })
  })

  test('a wholly wrong list is answered in a few lines per field, up to a bound', async () => {
    const answer = await ask(door, binding, {
      body: around(binding, `{"message":{"messageId":"bad","role":"ROLE_USER","parts":[${'0,'.repeat(100_000)}0]}}`),
    })
    expect(answer.reason).toBe('INVALID_PARAMS')
    expect(answer.fields).toHaveLength(1000)
  })

  test.each([
    'nope',
    '../../etc/passwd',
    '__proto__',
    'constructor',
    '%',
    '%00',
    'a\r\nX-Injected: 1',
    'ünïcødé 🦆',
    "' or 1=1 --",
    'x'.repeat(800),
  ])('the task %j is not there, and the answer holds no more of it than 256 characters', async (taskId) => {
    const answer = await ask(door, binding, { body: around(binding, JSON.stringify({ message: { ...message, taskId } })) })
    expect(answer).toMatchObject({ status: refused(404), reason: 'TASK_NOT_FOUND' })
    expect(answer.headers.get('x-injected')).toBeNull()
    expect(answer.text.length).toBeLessThan(2500)
  })

  test.each([
    ['text/plain', 'text/plain'],
    ['a form', 'application/x-www-form-urlencoded'],
    ['a longer name', 'application/jsonp'],
    ['a list', 'application/json, text/plain'],
    ['nothing but a parameter', ';charset=utf-8'],
    ['a very long one', `x/${'y'.repeat(5000)}`],
  ])('a body that calls itself %s is refused before it is parsed', async (_, type) => {
    const answer = await ask(door, binding, { headers: { 'content-type': type }, body: '{' })
    expect(answer).toMatchObject({ status: refused(400), reason: 'CONTENT_TYPE_NOT_SUPPORTED' })
    expect(answer.text.length).toBeLessThan(1000)
  })

  test.each(['application/json', 'application/a2a+json', 'Application/JSON; charset=utf-8', undefined])(
    'a body of type %s is parsed',
    async (type) => {
      expect(await ask(door, binding, { headers: { 'content-type': type }, body: '{' })).toMatchObject({ reason: 'PARSE_ERROR' })
    },
  )

  test.each(['', '0.3', '1', '1.1', '2.0', 'x', '1.0, 1.0', '1.0; drop', `1.${'0'.repeat(500)}`])(
    'version %j is refused by name',
    async (version) => {
      const answer = await ask(door, binding, { headers: { 'a2a-version': version }, body: around(binding, JSON.stringify({ message })) })
      expect(answer).toMatchObject({ status: refused(400), reason: 'VERSION_NOT_SUPPORTED' })
      expect(answer.text.length).toBeLessThan(1500)
    },
  )

  test('an announced body beyond the limit is refused without being read', async () => {
    let pulled = 0
    const endless = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          pulled++
          controller.enqueue(new Uint8Array(1024).fill(0x20))
        },
      },
      { highWaterMark: 0 },
    )
    // A real client is not let to announce what it does not send: the sockets' own test does that.
    const length = door === 'fetch' ? { 'content-length': String(limit + 1) } : {}
    const answer = await ask(door, binding, { headers: length, body: door === 'fetch' ? endless : new Uint8Array(limit + 1).fill(0x20) })
    expect(answer).toMatchObject({ status: 413, reason: 'RESOURCE_EXHAUSTED' })
    expect(pulled).toBe(0)
  })

  test('a body of unknown length is refused as soon as it is beyond the limit, and let go of', async () => {
    let sent = 0
    let canceled = false
    const source = {
      pull(controller: ReadableStreamDefaultController<Uint8Array>) {
        sent += 65_536
        controller.enqueue(new Uint8Array(65_536).fill(0x20))
        // A client that sends for ever is not what a socket's fetch can be: it answers only after the last byte.
        if (door === 'socket' && sent > 2 * limit) controller.close()
      },
      cancel() {
        canceled = true
      },
    }
    const answer = await ask(door, binding, { body: new ReadableStream(source, { highWaterMark: 0 }) })
    expect(answer).toMatchObject({ status: 413, reason: 'RESOURCE_EXHAUSTED' })
    if (door === 'fetch') {
      expect(canceled).toBe(true)
      expect(sent).toBeLessThanOrEqual(limit + 2 * 65_536)
    }
  })

  test('who is not known is asked for credentials before anything is said of the body', async () => {
    for (const body of ['{', '', nested(70)]) {
      const answer = await ask(door, binding, { headers: { authorization: 'Bearer mallory', 'content-type': 'text/plain' }, body })
      expect(answer).toMatchObject({ status: 401, reason: 'UNAUTHENTICATED' })
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer /)
    }
  })
})

describe.each(doors)('addresses through %s', (door) => {
  test.each([
    '/',
    '/nowhere',
    '/rest',
    '/rest/',
    '/rest/nowhere',
    '/rest/message:sendx',
    '/rest/tasks/a/b/c/d/e',
    '/rest//tasks',
    '/restless/tasks',
    '/a2a%2Fv1',
    '/rest/tasks/%3Cscript%3E/x',
    '/.well-known/agent.json',
    '/favicon.ico',
  ])('%s is not found, in JSON', async (path) => {
    const answer = await ask(door, 'HTTP+JSON', { method: 'GET', path })
    expect(answer).toMatchObject({ status: 404, reason: 'METHOD_NOT_FOUND' })
  })

  test('an address below the one of JSON-RPC is not found, in its form', async () => {
    expect(await ask(door, 'JSONRPC', { path: '/a2a/v1/x', body: '{}' })).toMatchObject({ status: 404, reason: 'METHOD_NOT_FOUND' })
  })

  test.each<[BindingName, string, string, string]>([
    ['JSONRPC', 'GET', '/a2a/v1', 'POST'],
    ['JSONRPC', 'PUT', '/a2a/v1', 'POST'],
    ['JSONRPC', 'OPTIONS', '/a2a/v1/', 'POST'],
    ['HTTP+JSON', 'GET', '/rest/message:send', 'POST'],
    ['HTTP+JSON', 'OPTIONS', '/rest/message:send', 'POST'],
    ['HTTP+JSON', 'PATCH', '/rest/tasks/x', 'GET'],
    ['HTTP+JSON', 'DELETE', '/rest/tasks', 'GET'],
    ['HTTP+JSON', 'PUT', '/rest/tasks/x:subscribe', 'GET, POST'],
    ['HTTP+JSON', 'PUT', '/rest/tasks/x/pushNotificationConfigs', 'POST, GET'],
    ['HTTP+JSON', 'POST', '/.well-known/agent-card.json', 'GET, HEAD'],
  ])('%s: %s %s is refused with what it does take', async (binding, method, path, allow) => {
    const answer = await ask(door, binding, { method, path, headers: { authorization: undefined } })
    expect(answer).toMatchObject({ status: 405, reason: 'METHOD_NOT_FOUND' })
    expect(answer.headers.get('allow')).toBe(allow)
    expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
  })

  test.each([
    'nope',
    '%',
    '%zz',
    '%00',
    '%ff%fe',
    '%0d%0aX-Injected:%201',
    '%F0%9F%A6%86',
    '__proto__',
    'constructor',
    '%2e%2e%2f',
    'a%2Fb',
    'a:b',
    'x'.repeat(700),
  ])('GET /tasks/%s finds nothing', async (id) => {
    const answer = await ask(door, 'HTTP+JSON', { method: 'GET', path: `/rest/tasks/${id}` })
    expect(answer).toMatchObject({ status: 404, reason: 'TASK_NOT_FOUND' })
    expect(answer.headers.get('x-injected')).toBeNull()
  })

  test.each([
    ['historyLength=x', 'historyLength'],
    ['historyLength=-1', 'historyLength'],
    ['historyLength=99999999999999999999', 'historyLength'],
    ['historyLength=1&historyLength=2', 'historyLength'],
    ['pageSize=0.5', 'pageSize'],
    ['pageSize=-0&pageSize=101', 'pageSize'],
    ['pageSize=101', 'pageSize'],
    ['status=NOPE', 'status'],
    ['includeArtifacts=1', 'includeArtifacts'],
    ['statusTimestampAfter=yesterday', 'statusTimestampAfter'],
    ['pageToken=x', 'pageToken'],
    ['pageToken=%00', 'pageToken'],
    [`pageToken=${'A'.repeat(600)}`, 'pageToken'],
    ['tenant=red', 'tenant'],
  ])('GET /tasks?%s is refused for that field alone', async (query, field) => {
    expect(await ask(door, 'HTTP+JSON', { method: 'GET', path: `/rest/tasks?${query}` })).toMatchObject({
      status: 400,
      reason: 'INVALID_PARAMS',
      fields: [field],
    })
  })

  test.each(['__proto__=x', 'constructor=1&toString=2', '%=%&&&=', 'unknown=%ff', 'pageToken=&status='])(
    'GET /tasks?%s is a list like any other',
    async (query) => {
      const answer = await ask(door, 'HTTP+JSON', { method: 'GET', path: `/rest/tasks?${query}` })
      expect(answer.parsed).toMatchObject({ totalSize: before.length, pageSize: 50 })
    },
  )
})

describe.each(doors)('the envelope of JSON-RPC through %s', (door) => {
  test.each<[string, string, unknown]>([
    ['no version', '{"id":1,"method":"ListTasks"}', 1],
    ['version 1.0', '{"jsonrpc":"1.0","id":"a","method":"ListTasks"}', 'a'],
    ['version 2', '{"jsonrpc":2.0,"id":0,"method":"ListTasks"}', 0],
    ['no method', '{"jsonrpc":"2.0","id":""}', ''],
    ['an empty method', '{"jsonrpc":"2.0","id":1,"method":""}', 1],
    ['a method that is an object', '{"jsonrpc":"2.0","id":1,"method":{}}', 1],
    ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"ListTasks"}', null],
    ['an id that is a list', '{"jsonrpc":"2.0","id":[1],"method":"ListTasks"}', null],
    ['an id that is true', '{"jsonrpc":"2.0","id":true,"method":"ListTasks"}', null],
    [
      'no id',
      '{"jsonrpc":"2.0","method":"SendMessage","params":{"message":{"messageId":"n","role":"ROLE_USER","parts":[{"text":"x"}]}}}',
      null,
    ],
    ['an id 100,000 levels deep', `{"jsonrpc":"2.0","id":${nested(100_000)},"method":"ListTasks"}`, null],
    ['an id that every frame would repeat', `{"jsonrpc":"2.0","id":"${'i'.repeat(100_000)}","method":"ListTasks"}`, null],
    ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"ListTasks"}]', null],
    ['an inherited method', '{"__proto__":{"jsonrpc":"2.0","id":1,"method":"ListTasks"}}', null],
  ])('%s is refused and nothing is done', async (_, body, id) => {
    const answer = await ask(door, 'JSONRPC', { body })
    expect(answer).toMatchObject({ status: 200, reason: 'INVALID_REQUEST' })
    expect(answer.parsed.id).toEqual(id)
  })

  test.each(['listTasks', 'ListTasks ', 'constructor', '__proto__', 'toString', 'hasOwnProperty', 'tasks/get', 'x'.repeat(700)])(
    'the method %j is not there',
    async (method) => {
      const answer = await ask(door, 'JSONRPC', { body: JSON.stringify({ jsonrpc: '2.0', id: 1, method }) })
      expect(answer.parsed).toMatchObject({ id: 1, error: { code: -32601 } })
      expect(answer.text.length).toBeLessThan(1000)
    },
  )

  test.each<[string, unknown]>([
    ['0', 0],
    ['""', ''],
    ['-1', -1],
    ['"\\ud800"', '\ud800'],
    ['"\\r\\n\\u2028"', '\r\n\u2028'],
    ['null', null],
  ])('the id %s comes back as it is', async (id, expected) => {
    expect((await ask(door, 'JSONRPC', { body: `{"jsonrpc":"2.0","id":${id},"method":"ListTasks"}` })).parsed).toMatchObject({
      id: expected,
      result: { pageSize: 50 },
    })
  })

  test.each(['[]', '"x"', '1', 'true'])('parameters that are %s are refused', async (params) => {
    expect((await ask(door, 'JSONRPC', { body: `{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":${params}}` })).parsed).toMatchObject(
      { error: { code: -32602 } },
    )
  })

  test('the last of two members of one name counts', async () => {
    const answer = await ask(door, 'JSONRPC', {
      body: '{"jsonrpc":"1.0","jsonrpc":"2.0","id":1,"id":2,"method":"nope","method":"ListTasks","params":{"pageSize":0,"pageSize":3}}',
    })
    expect(answer.parsed).toMatchObject({ id: 2, result: { pageSize: 3 } })
  })
})

test('members called __proto__ and constructor are data like any other', async () => {
  const own = await openSocket(scriptAgent, { log })
  const metadata = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"toString":1}'
  const body = `{"message":{"messageId":"p","role":"ROLE_USER","parts":[{"data":${metadata}}],"metadata":${metadata},"__proto__":{"taskId":"x"}},"__proto__":{"tenant":"red"}}`
  const response = await own.fetch(new Request('http://agent.test/rest/message:send', { method: 'POST', headers: standard, body }))
  const { task } = JSON.parse(await response.text())
  expect(JSON.stringify(task.history[0].metadata)).toBe(metadata)
  expect(JSON.stringify(task.history[0].parts[0].data)).toBe(metadata)
  expect(({} as any).polluted).toBeUndefined()
  await own.close()
})
