/** The JSON-RPC envelope: what is one request, what is answered under which id and status. Spec §9, D18, D19. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Server } from '../../src/index.js'
import { scriptAgent } from '../harness/script-agent.js'
import { openServer, result } from '../harness/server.js'
import { envelope, type RawOptions, raw, rpcPath } from './raw.js'

let server: Server
beforeAll(async () => {
  server = await openServer(scriptAgent)
})
afterAll(() => server.close())

const post = (body: string | Uint8Array<ArrayBuffer>, options: RawOptions = {}) => raw(server, rpcPath, { ...options, body })

describe('what is no request', () => {
  test.each([
    ['bad JSON', '{"jsonrpc":"2.0",', -32700, 'PARSE_ERROR', null],
    ['no body', '', -32700, 'PARSE_ERROR', null],
    ['a batch', `[${envelope()}]`, -32600, 'INVALID_REQUEST', null],
    ['an empty batch', '[]', -32600, 'INVALID_REQUEST', null],
    ['a number', '7', -32600, 'INVALID_REQUEST', null],
    ['a text', '"ListTasks"', -32600, 'INVALID_REQUEST', null],
    ['true', 'true', -32600, 'INVALID_REQUEST', null],
    ['null', 'null', -32600, 'INVALID_REQUEST', null],
    ['an empty object', '{}', -32600, 'INVALID_REQUEST', null],
    ['no jsonrpc', envelope({ jsonrpc: undefined, id: 7 }), -32600, 'INVALID_REQUEST', 7],
    ['jsonrpc 1.0', envelope({ jsonrpc: '1.0', id: 'a' }), -32600, 'INVALID_REQUEST', 'a'],
    ['jsonrpc as a number', envelope({ jsonrpc: 2 }), -32600, 'INVALID_REQUEST', 1],
    ['no method', envelope({ method: undefined }), -32600, 'INVALID_REQUEST', 1],
    ['an empty method', envelope({ method: '' }), -32600, 'INVALID_REQUEST', 1],
    ['a method that is no text', envelope({ method: 7 }), -32600, 'INVALID_REQUEST', 1],
    ['an id that is an object', envelope({ id: {} }), -32600, 'INVALID_REQUEST', null],
    ['an id that is a list', envelope({ id: [1] }), -32600, 'INVALID_REQUEST', null],
    ['an id that is true', envelope({ id: true }), -32600, 'INVALID_REQUEST', null],
    ['a notification', envelope({ id: undefined }), -32600, 'INVALID_REQUEST', null],
    ['an unknown method', envelope({ method: 'tasks/get' }), -32601, 'METHOD_NOT_FOUND', 1],
    ['a method of another case', envelope({ method: 'listTasks' }), -32601, 'METHOD_NOT_FOUND', 1],
    ['a method that every object has', envelope({ method: 'constructor' }), -32601, 'METHOD_NOT_FOUND', 1],
    ['params that are a list', envelope({ params: [] }), -32602, 'INVALID_PARAMS', 1],
    ['params that are a text', envelope({ params: 'all' }), -32602, 'INVALID_PARAMS', 1],
  ])('%s', async (_, body, code, reason, id) => {
    const answer = await post(body)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json'])
    expect(answer.body).toMatchObject({ jsonrpc: '2.0', id, error: { code } })
    expect(answer.body.error.data[0]).toEqual({
      '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
      reason,
      domain: 'a2a-protocol.org',
      metadata: {},
    })
    expect(Object.keys(answer.body)).toEqual(['jsonrpc', 'id', 'error'])
  })

  test('bytes that are no UTF-8', async () => {
    const bytes = new Uint8Array([
      ...new TextEncoder().encode('{"jsonrpc":"2.0","id":"'),
      0xff,
      ...new TextEncoder().encode('","method":"ListTasks"}'),
    ])
    expect((await post(bytes)).body).toMatchObject({ id: null, error: { code: -32700 } })
  })

  test('a notification is not executed', async () => {
    const before = await result(server.fetch, 'JSONRPC', 'ListTasks', {})
    const params = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'echo' }] } }
    await post(envelope({ id: undefined, method: 'SendMessage', params }))
    expect(await result(server.fetch, 'JSONRPC', 'ListTasks', {})).toEqual(before)
  })
})

describe('what is one', () => {
  test.each([0, '', -1, 1.5, 'ä"\\', 9007199254740991, null])('the id %j is echoed as it is', async (id) => {
    const answer = await post(envelope({ id }))
    expect(Object.keys(answer.body)).toEqual(['jsonrpc', 'id', 'result'])
    expect(answer.body.id).toBe(id)
    expect((await post(envelope({ id, method: 'GetTask', params: { id: 'nope' } }))).body).toMatchObject({ id, error: { code: -32001 } })
  })

  test.each([undefined, null, {}])('params %j are those of an empty request', async (params) => {
    expect((await post(envelope({ params }))).body.result).toMatchObject({ tasks: [] })
  })

  test('members that JSON-RPC does not know are passed over', async () => {
    expect((await post(envelope({ extra: 1, result: 2 }))).body.result).toMatchObject({ tasks: [] })
  })

  test('a byte order mark is passed over', async () => {
    expect((await post(new Uint8Array([0xef, 0xbb, 0xbf, ...new TextEncoder().encode(envelope())]))).body.result).toMatchObject({
      tasks: [],
    })
  })
})

describe('statuses (D18)', () => {
  test('errors of operations and of the version travel in 200', async () => {
    expect((await post(envelope({ method: 'GetTask', params: { id: 'nope' } }))).status).toBe(200)
    const version = await post(envelope({ id: 3 }), { headers: { 'a2a-version': '0.3' } })
    expect([version.status, version.body.id, version.body.error.code]).toEqual([200, 3, -32009])
  })

  test('a caller who is nobody gets 401 with a challenge', async () => {
    for (const authorization of [undefined, 'Bearer mallory', 'Basic YWxpY2U6', 'Bearer', 'alice']) {
      const answer = await post(envelope(), { headers: { authorization } })
      expect([answer.status, answer.body.error.code, answer.reason]).toEqual([401, -32000, 'UNAUTHENTICATED'])
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer realm=/)
    }
  })

  test('a body beyond the limit gets 413, whether or not it says how long it is', async () => {
    const small = await openServer(scriptAgent, { limits: { bodyBytes: 100 } })
    const fits = envelope().padEnd(100)
    expect((await raw(small, rpcPath, { body: fits })).body.result).toMatchObject({ tasks: [] })
    for (const headers of [{}, { 'content-length': '101' }]) {
      const answer = await raw(small, rpcPath, { body: `${fits} `, headers })
      expect([answer.status, answer.body.error.code, answer.reason]).toEqual([413, -32000, 'RESOURCE_EXHAUSTED'])
    }
    await small.close()
  })

  test('another verb gets 405 with Allow, another path 404', async () => {
    for (const method of ['GET', 'PUT', 'DELETE', 'PATCH']) {
      const answer = await raw(server, rpcPath, { method })
      expect([answer.status, answer.headers.get('allow'), answer.body.error.code]).toEqual([405, 'POST', -32601])
    }
    expect((await post(envelope())).status).toBe(200)
    const below = await raw(server, `${rpcPath}/tasks`, { body: envelope() })
    expect([below.status, below.reason]).toEqual([404, 'METHOD_NOT_FOUND'])
  })

  test('a trailing slash is the same address', async () => {
    expect((await raw(server, `${rpcPath}/`, { body: envelope() })).body.result).toMatchObject({ tasks: [] })
  })

  test('a body of another type is ContentTypeNotSupported, unread; one without a type is taken from a known caller', async () => {
    const html = await post('{not even JSON', { headers: { 'content-type': 'text/html' } })
    expect([html.status, html.body.id, html.body.error.code]).toEqual([200, null, -32005])
    for (const type of ['application/json; charset=utf-8', 'Application/JSON', 'application/a2a+json', undefined]) {
      expect((await post(envelope(), { headers: { 'content-type': type } })).body.result).toMatchObject({ tasks: [] })
    }
  })
})

test.each(['12345678901234567890', '-9007199254740993', '1e400'])(
  'the id %s could not be echoed as it is, and is refused (D19)',
  async (id) => {
    const server = await openServer(scriptAgent)
    const body = `{"jsonrpc":"2.0","id":${id},"method":"ListTasks","params":{}}`
    const headers = { 'a2a-version': '1.0', authorization: 'Bearer alice', 'content-type': 'application/json' }
    const response = await server.fetch(new Request('http://agent.test/a2a/v1', { method: 'POST', headers, body }))
    expect(await response.json()).toMatchObject({ id: null, error: { code: -32600 } })
    await server.close()
  },
)
