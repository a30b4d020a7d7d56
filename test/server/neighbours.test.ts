/** No web page may use a local agent through its visitor's browser: where nobody proves who they are, the neighbours are checked. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { anonymous, createServer, type RunningServer, serve, sqlite } from '../../src/index.js'
import { openRaw, rawRequest } from '../fuzz/raw-http.js'
import { scriptAgent } from '../harness/script-agent.js'
import { people, quiet } from '../harness/server.js'

const body = '{"jsonrpc":"2.0","id":1,"method":"ListTasks"}'
const requests = [
  { binding: 'JSONRPC', method: 'POST', target: '/a2a/v1', body },
  { binding: 'HTTP+JSON', method: 'GET', target: '/rest/tasks', body: '' },
  { binding: 'the card', method: 'GET', target: '/.well-known/agent-card.json', body: '' },
]

type Asked = (typeof requests)[number]
type Headers = Readonly<Record<string, string>>

async function ask(server: RunningServer, { method, target, body }: Asked, headers: Headers) {
  const connection = await openRaw(server.url)
  await connection.write(rawRequest(method, target, { 'a2a-version': '1.0', 'content-type': 'application/json', ...headers }, body))
  const answer = await connection.next()
  connection.destroy()
  const parsed = JSON.parse(answer?.text ?? '')
  return { status: answer?.status, reason: (parsed.error?.data ?? parsed.error?.details)?.[0].reason }
}

const open = (options = {}) => serve(scriptAgent, { store: sqlite(':memory:'), log: quiet, ...options })

describe.each(requests)('without auth, $binding', (asked) => {
  let server: RunningServer
  let port: string
  beforeAll(async () => {
    server = await open()
    port = new URL(server.url).port
  })
  afterAll(() => server.close())

  test.each(['localhost', 'LOCALHOST', '127.0.0.1', '127.0.0.1:65535', '127.9.9.9', '[::1]', '[::1]:80', 'localhost:8080'])(
    'answers the host %s',
    async (host) => {
      expect(await ask(server, asked, { host })).toEqual({ status: 200, reason: undefined })
    },
  )

  test.each([
    'agent.example',
    'localhost.agent.example',
    '127.0.0.1.agent.example',
    '127.0.0.1.nip.io:8080',
    'localhost.',
    'localhost@agent.example',
    'agent.example@localhost',
    'localhost/agent.example',
    'localhost#agent.example',
    'localhost?agent.example',
    'localhost\\agent.example',
    'localhost, agent.example',
    '0.0.0.0',
    '[::]',
    '[::ffff:10.0.0.1]',
    '10.0.0.1',
    '169.254.169.254',
    '128.0.0.1',
    'localhost:99999',
    'localhost:x',
    '',
  ])('refuses the host %j', async (host) => {
    expect(await ask(server, asked, { host })).toEqual({ status: 403, reason: 'PERMISSION_DENIED' })
  })

  test('refuses a request of HTTP/1.0 without a host', async () => {
    const connection = await openRaw(server.url)
    await connection.write(`${asked.method} ${asked.target} HTTP/1.0\r\nOrigin: http://undefined\r\nContent-Length: 0\r\n\r\n`)
    expect(await connection.next()).toMatchObject({ status: 403 })
    connection.destroy()
  })

  test('answers a page of its own origin', async () => {
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`]) {
      expect(await ask(server, asked, { host, origin: `http://${host}`, 'sec-fetch-site': 'same-origin' })).toMatchObject({ status: 200 })
    }
  })

  test.each([
    'https://agent.example',
    'null',
    '',
    'http://localhost:1',
    'http://127.0.0.1',
    'http://localhost',
    'file://',
    'http://127.0.0.1.agent.example',
    'http://127.0.0.1:80, http://agent.example',
  ])('refuses the origin %j', async (origin) => {
    expect(await ask(server, asked, { host: `127.0.0.1:${port}`, origin })).toEqual({ status: 403, reason: 'PERMISSION_DENIED' })
  })

  test.each(['cross-site', 'same-site', 'CROSS-SITE', '', 'none, cross-site'])('refuses Sec-Fetch-Site %j', async (site) => {
    expect(await ask(server, asked, { 'sec-fetch-site': site })).toEqual({ status: 403, reason: 'PERMISSION_DENIED' })
  })

  test('answers what the user typed into the address bar', async () => {
    expect(await ask(server, asked, { 'sec-fetch-site': 'none' })).toMatchObject({ status: 200 })
  })

  test('checks the neighbours through fetch as well', async () => {
    const init = {
      method: asked.method,
      headers: { 'a2a-version': '1.0', 'content-type': 'application/json' },
      ...(asked.body !== '' && { body: asked.body }),
    }
    expect((await server.fetch(new Request(`http://agent.example${asked.target}`, init))).status).toBe(403)
    expect((await server.fetch(new Request(`http://localhost${asked.target}`, init))).status).toBe(200)
  })

  test('is told no origin that it may read the answer', async () => {
    const response = await fetch(`${server.url}${asked.target}`, {
      method: 'OPTIONS',
      headers: { origin: server.url, 'access-control-request-method': 'POST' },
    })
    expect(response.status).toBe(405)
    expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
  })
})

test('without auth a body must say that it is JSON, which no foreign form can', async () => {
  const server = await open()
  const answer = async (init: RequestInit) => {
    const { error } = (await (
      await fetch(`${server.url}/a2a/v1`, { method: 'POST', ...init, headers: { 'a2a-version': '1.0', ...init.headers } })
    ).json()) as any
    return error?.data[0].reason
  }
  expect(await answer({ body: new TextEncoder().encode(body) })).toBe('CONTENT_TYPE_NOT_SUPPORTED')
  expect(await answer({ body, headers: { 'content-type': 'text/plain' } })).toBe('CONTENT_TYPE_NOT_SUPPORTED')
  expect(await answer({ body, headers: { 'content-type': 'application/json' } })).toBeUndefined()
  await server.close()
})

test.each([
  ['people', people],
  ['anonymous(), said aloud', anonymous()],
])('with auth (%s) the neighbours are not checked', async (_, auth) => {
  const server = await open({ auth })
  for (const asked of requests) {
    const headers = {
      host: 'agent.example',
      origin: 'https://elsewhere.example',
      'sec-fetch-site': 'cross-site',
      authorization: 'Bearer alice',
    }
    expect(await ask(server, asked, headers)).toMatchObject({ status: 200 })
  }
  await server.close()
})

test.each(['0.0.0.0', '::', '10.0.0.1', 'agent.example', '127.0.0.1.agent.example', '::ffff:10.0.0.1'])(
  'serve() refuses to listen on %s without auth',
  async (host) => {
    await expect(serve(scriptAgent, { host, store: sqlite(':memory:'), log: quiet })).rejects.toThrow(
      /without the option auth the host must be a loopback address/,
    )
  },
)

test('serve() listens on every address once it is told who may call', async () => {
  const server = await open({ host: '0.0.0.0', auth: people })
  const { port } = new URL(server.url)
  expect((await fetch(`http://127.0.0.1:${port}/.well-known/agent-card.json`)).status).toBe(200)
  await server.close()
})

test('serve() listens on the loopback address of IPv6 without auth', async () => {
  const server = await open({ host: '::1' })
  expect(server.url).toMatch(/^http:\/\/\[::1\]:\d+$/)
  expect((await fetch(`${server.url}/rest/tasks`, { headers: { 'a2a-version': '1.0' } })).status).toBe(200)
  await server.close()
})

test('createServer() refuses to start before it is said who may call', async () => {
  const options = { store: sqlite(':memory:'), url: 'https://agent.example' }
  await expect(createServer(scriptAgent, options)).rejects.toThrow(/createServer needs the option auth.*anonymous\(\)/)
  await (await createServer(scriptAgent, { ...options, auth: anonymous() })).close()
})
