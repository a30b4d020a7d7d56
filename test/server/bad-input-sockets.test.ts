/** Bad input on a real socket: what is read, what is answered, and what becomes of the connection. */

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { RunningServer } from '../../src/index.js'
import { findingLog } from '../fuzz/judge.js'
import { openRaw, type RawAnswer, type RawConnection, rawRequest } from '../fuzz/raw-http.js'
import { scriptAgent } from '../harness/script-agent.js'
import { openSocket, result, userMessage } from '../harness/server.js'

const log = findingLog()
const limit = 4096
let server: RunningServer
const connections: RawConnection[] = []

beforeAll(async () => {
  server = await openSocket(scriptAgent, { log, limits: { bodyBytes: limit, shutdownMs: 0 } })
})
afterAll(() => server.close())
afterEach(() => {
  for (const connection of connections.splice(0)) connection.destroy()
  // Whatever a client does, it is no error of the server.
  expect(log.findings.splice(0)).toEqual([])
})

async function open(): Promise<RawConnection> {
  const connection = await openRaw(server.url)
  connections.push(connection)
  return connection
}

const doors = [
  { binding: 'JSONRPC', target: '/a2a/v1' },
  { binding: 'HTTP+JSON', target: '/rest/message:send' },
]
const headers = { 'a2a-version': '1.0', authorization: 'Bearer alice', 'content-type': 'application/json' }
const listBody = '{"jsonrpc":"2.0","id":"after","method":"ListTasks"}'
const list = () => rawRequest('POST', '/a2a/v1', headers, listBody)
const reasonOf = (answer: RawAnswer | undefined) => {
  const { error } = JSON.parse(answer?.text || '{}')
  return (error?.data ?? error?.details)?.[0].reason
}
/** One more call on the same connection, which must still be in order. */
async function works(connection: RawConnection): Promise<void> {
  await connection.write(list())
  expect(await connection.next()).toMatchObject({ status: 200 })
}
const totalOf = async (as: string) => (await result(fetch, 'JSONRPC', 'ListTasks', {}, { url: server.url, as })).totalSize

describe.each(doors)('too much over $binding', ({ target }) => {
  test('an announced body is refused with 413 before a byte of it is read', async () => {
    const connection = await open()
    await connection.write(rawRequest('POST', target, { ...headers, 'content-length': String(limit + 1) }))
    const answer = await connection.next()
    expect(answer).toMatchObject({ status: 413, headers: { connection: 'close' } })
    expect(reasonOf(answer)).toBe('RESOURCE_EXHAUSTED')
  })

  test('an announced body is refused before the caller is asked who they are', async () => {
    const connection = await open()
    await connection.write(rawRequest('POST', target, { 'content-length': '9007199254740991' }))
    expect((await connection.next())?.status).toBe(413)
  })

  test('a client that waits for 100 Continue gets 413 in its place', async () => {
    const connection = await open()
    await connection.write(rawRequest('POST', target, { ...headers, expect: '100-continue', 'content-length': String(limit + 1) }))
    expect((await connection.next())?.status).toBe(413)
  })

  test('a body of unknown length is refused with 413 as soon as it is too long', async () => {
    const connection = await open()
    await connection.write(rawRequest('POST', target, { ...headers, 'transfer-encoding': 'chunked' }))
    // It never ends, so an answer means that nobody waited for the end.
    for (let i = 0; i < 5; i++) await connection.write(`400\r\n${' '.repeat(1024)}\r\n`)
    const answer = await connection.next()
    expect(answer).toMatchObject({ status: 413, headers: { connection: 'close' } })
    expect(reasonOf(answer)).toBe('RESOURCE_EXHAUSTED')
  })

  test('a client that sends all of it first reads the refusal all the same', async () => {
    const connection = await open()
    await connection.write(rawRequest('POST', target, headers, Buffer.alloc(8 << 20, 0x20)))
    expect((await connection.next())?.status).toBe(413)
    await connection.closed
  })

  test('what stands behind a refused body is never taken for a request', async () => {
    const before = await totalOf('bob')
    const connection = await open()
    const send = rawRequest(
      'POST',
      '/rest/message:send',
      { ...headers, authorization: 'Bearer bob' },
      JSON.stringify({ message: userMessage('smuggled') }),
    )
    await connection.write(
      Buffer.concat([rawRequest('POST', target, { ...headers, 'content-length': String(limit + 1) }, Buffer.alloc(limit + 1, 0x20)), send]),
    )
    expect((await connection.next())?.status).toBe(413)
    expect(await connection.next()).toBeUndefined()
    expect(await totalOf('bob')).toBe(before)
  })

  test('a body of exactly the limit is read', async () => {
    const connection = await open()
    await connection.write(rawRequest('POST', target, headers, ' '.repeat(limit)))
    expect(reasonOf(await connection.next())).toBe('PARSE_ERROR')
    await works(connection)
  })
})

describe('the connection', () => {
  test.each([
    ['no JSON', rawRequest('POST', '/a2a/v1', headers, '{')],
    ['no UTF-8', rawRequest('POST', '/a2a/v1', headers, Buffer.from([0x22, 0xff, 0x22]))],
    ['no credentials', rawRequest('POST', '/rest/message:send', { 'content-type': 'application/json' }, '{}')],
    ['an unknown path', rawRequest('POST', '/nowhere', headers, '{}')],
    ['a verb that is not taken', rawRequest('PUT', '/a2a/v1', headers, '{}')],
    ['OPTIONS', rawRequest('OPTIONS', '/a2a/v1')],
    ['a GET with a body', rawRequest('GET', '/rest/tasks/nothing', { ...headers, 'content-length': '2' }, '{}')],
  ])('is used again after %s', async (_, request) => {
    const connection = await open()
    await connection.write(request)
    const answer = await connection.next()
    expect(answer?.status).not.toBe(500)
    expect(answer?.headers['content-type']).toMatch(/^application\/(?:a2a\+)?json$/)
    await works(connection)
  })

  test('HEAD has the headers of GET, no body, and leaves the connection in order', async () => {
    const connection = await open()
    await connection.write(rawRequest('HEAD', '/.well-known/agent-card.json'))
    expect(await connection.next({ hasBody: false })).toMatchObject({ status: 200, headers: { 'content-type': 'application/json' } })
    await connection.write(rawRequest('HEAD', '/rest/tasks', headers))
    expect(await connection.next({ hasBody: false })).toMatchObject({ status: 405, headers: { allow: 'GET' } })
    await works(connection)
  })

  test('several requests at once are answered in their order', async () => {
    const connection = await open()
    const ask = (id: number) => rawRequest('POST', '/a2a/v1', headers, `{"jsonrpc":"2.0","id":${id},"method":"ListTasks"}`)
    await connection.write(Buffer.concat([ask(1), rawRequest('POST', '/a2a/v1', headers, '{'), ask(3)]))
    const ids = [await connection.next(), await connection.next(), await connection.next()].map(
      (answer) => JSON.parse(answer?.text ?? '').id,
    )
    expect(ids).toEqual([1, null, 3])
  })

  test('a client that waits for 100 Continue is told to go on', async () => {
    const connection = await open()
    const request = rawRequest('POST', '/a2a/v1', { ...headers, expect: '100-continue' }, listBody)
    await connection.write(request.subarray(0, -listBody.length))
    expect((await connection.next())?.status).toBe(100)
    await connection.write(listBody)
    expect((await connection.next())?.status).toBe(200)
    await works(connection)
  })

  test('a client that waits for 100 Continue without credentials is refused in its place', async () => {
    const connection = await open()
    await connection.write(
      rawRequest('POST', '/a2a/v1', { 'content-type': 'application/json', expect: '100-continue', 'content-length': '10' }),
    )
    expect((await connection.next())?.status).toBe(401)
  })

  test('a body may come byte by byte', async () => {
    const connection = await open()
    await connection.write(rawRequest('POST', '/a2a/v1', { ...headers, 'transfer-encoding': 'chunked' }))
    for (const character of listBody) await connection.write(`1\r\n${character}\r\n`)
    await connection.write('0\r\n\r\n')
    expect(JSON.parse((await connection.next())?.text ?? '')).toMatchObject({ id: 'after', result: { pageSize: 50 } })
    await works(connection)
  })

  test('HTTP/1.0 is answered and closed', async () => {
    const connection = await open()
    await connection.write(
      `POST /a2a/v1 HTTP/1.0\r\nA2A-Version: 1.0\r\nAuthorization: Bearer alice\r\nContent-Type: application/json\r\nContent-Length: ${listBody.length}\r\n\r\n${listBody}`,
    )
    expect((await connection.next())?.status).toBe(200)
    await connection.closed
  })
})

describe('what is no HTTP', () => {
  const head =
    'POST /a2a/v1 HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer alice\r\nA2A-Version: 1.0\r\nContent-Type: application/json\r\n'
  test.each([
    ['two lengths', `${head}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`],
    ['a length beside chunks', `${head}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`],
    ['a length that is no number', `${head}Content-Length: 2x\r\n\r\n{}`],
    ['a negative length', `${head}Content-Length: -2\r\n\r\n{}`],
    ['an encoding that ends in no chunks', `${head}Transfer-Encoding: gzip\r\n\r\n{}`],
    ['a chunk size that is no number', `${head}Transfer-Encoding: chunked\r\n\r\nxyz\r\n{}`],
    ['a space before a colon', 'GET /rest/tasks HTTP/1.1\r\nHost : 127.0.0.1\r\n\r\n'],
    ['a folded header', 'GET /rest/tasks HTTP/1.1\r\nHost: 127.0.0.1\r\n Authorization: x\r\nA\r\n\r\n'],
    ['no Host', 'GET /rest/tasks HTTP/1.1\r\n\r\n'],
    ['a line feed in the path', 'GET /rest/tasks/a\nb HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'],
    ['noise', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['headers without end', `${head}X: ${'x'.repeat(40_000)}`],
    ['an address without end', `GET /${'x'.repeat(40_000)}`],
  ])('%s is refused and the connection closed', async (_, bytes) => {
    const connection = await open()
    await connection.write(Buffer.from(bytes, 'latin1'))
    const answer = await connection.next()
    if (answer) {
      expect([400, 431]).toContain(answer.status)
      expect(answer.text).not.toContain('<')
    }
    await connection.closed
  })
})

describe('unread and unfinished', () => {
  const task = async (as: string) =>
    (
      await result(
        fetch,
        'JSONRPC',
        'SendMessage',
        { message: userMessage('hold'), configuration: { returnImmediately: true } },
        { url: server.url, as },
      )
    ).task

  test('a client that hangs up at any byte of a send leaves no task and no error behind', async () => {
    const before = await totalOf('bob')
    const whole = rawRequest(
      'POST',
      '/rest/message:send',
      { ...headers, authorization: 'Bearer bob' },
      JSON.stringify({ message: userMessage('cut off') }),
    )
    for (let at = 1; at < whole.length; at++) {
      const connection = await openRaw(server.url)
      await connection.write(whole.subarray(0, at))
      connection.destroy()
      await connection.closed
    }
    expect(await totalOf('bob')).toBe(before)
  })

  test.each(['destroy', 'reset', 'half-close'])('a client that leaves a waiting send (%s) changes nothing for the task', async (how) => {
    const held = await task('alice')
    const connection = await open()
    const message = userMessage('hold')
    await connection.write(rawRequest('POST', '/rest/message:send', headers, JSON.stringify({ message })))
    await connection.write(rawRequest('GET', `/rest/tasks/${held.id}:subscribe`, headers))
    if (how === 'destroy') connection.destroy()
    else if (how === 'reset') connection.socket.resetAndDestroy()
    else connection.socket.end()
    if (how !== 'half-close') await connection.closed
    const now = await result(fetch, 'JSONRPC', 'GetTask', { id: held.id }, { url: server.url })
    expect(now.status.state).toBe('TASK_STATE_WORKING')
    await result(fetch, 'JSONRPC', 'CancelTask', { id: held.id }, { url: server.url })
  })

  test('a client that stops reading many answers is served no further and hurts nobody', async () => {
    const connection = await open()
    connection.socket.pause()
    const ask = rawRequest('GET', '/rest/tasks', headers)
    for (let i = 0; i < 200; i++) void connection.write(ask)
    await works(await open())
    connection.destroy()
    await connection.closed
  })
})
