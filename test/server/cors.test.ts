/** Which web pages may call: preflights, marks on every answer, and none of it unless asked for. Field case F115, section 11. */

import { describe, expect, onTestFinished, test } from 'vitest'
import { anonymous, type Cors, createServer, type ServeOptions, serve, sqlite } from '../../src/index.js'
import { openRaw, rawRequest } from '../fuzz/raw-http.js'
import { scriptAgent } from '../harness/script-agent.js'
import { bindingNames, people, quiet, requestFor, userMessage } from '../harness/server.js'
import { openStill } from '../runtime/kit.js'

const app = 'https://app.test'
const cardPath = '/.well-known/agent-card.json'
const places = ['/a2a/v1', '/rest/tasks', '/rest/message:stream', cardPath]
type Headers = Readonly<Record<string, string>>

const open = (cors?: Cors) => openStill(scriptAgent, cors ? { cors } : {})
const preflight = (path: string, origin: string, more: Headers = {}) =>
  new Request(`http://agent.test${path}`, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization,a2a-version', ...more },
  })
/** The headers of an answer that speak to browsers. */
const corsOf = ({ headers }: Response) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control') || name === 'vary'))
const exposed = 'A2A-Extensions, WWW-Authenticate, Retry-After, ETag, Allow'

test('it is off unless asked for: no answer says anything to a page, and a preflight is a 405', async () => {
  const { fetch } = await open()
  for (const path of places) {
    const answer = await fetch(preflight(path, app))
    expect([path, answer.status, corsOf(answer)]).toEqual([path, 405, {}])
    expect(corsOf(await fetch(new Request(`http://agent.test${path}`, { headers: { origin: app } })))).toEqual({})
  }
})

describe('a preflight', () => {
  test.each(places)(
    'of a listed origin for %s is answered with all that a client sends, without credentials and without a body',
    async (path) => {
      const { fetch, lines } = await open({ origins: ['https://else.test', app] })
      const answer = await fetch(preflight(path, app))
      expect([answer.status, await answer.text()]).toEqual([204, ''])
      expect(corsOf(answer)).toEqual({
        'access-control-allow-origin': app,
        'access-control-allow-methods': 'GET, POST, DELETE',
        'access-control-allow-headers': 'Authorization, Content-Type, A2A-Version, A2A-Extensions, Last-Event-ID, Cache-Control',
        'access-control-expose-headers': exposed,
        'access-control-max-age': '600',
        vary: 'Origin',
      })
      expect(lines).toEqual([])
    },
  )

  test.each([
    'https://evil.test',
    'https://app.test.evil.test',
    'https://evilapp.test',
    'http://app.test',
    'https://app.test:8443',
    'HTTPS://APP.TEST',
    'null',
    `${app}, https://evil.test`,
    `${app}/`,
  ])('of the origin %s is refused, in words that no page reads, and noted', async (origin) => {
    const { fetch, lines } = await open({ origins: [app] })
    const answer = await fetch(preflight('/a2a/v1', origin))
    expect([answer.status, corsOf(answer)]).toEqual([403, { vary: 'Origin' }])
    expect(lines.map(({ level, fields }) => [level, fields['status']])).toEqual([['info', 403]])
  })

  test('OPTIONS without a question is no preflight', async () => {
    const { fetch } = await open({ origins: [app] })
    const answer = await fetch(new Request('http://agent.test/rest/tasks', { method: 'OPTIONS', headers: { origin: app } }))
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET'])
  })

  test('on a socket says no length, and its connection goes on (RFC 9110 §8.6)', async () => {
    const server = await serve(scriptAgent, { store: sqlite(':memory:'), log: quiet, auth: people, cors: { origins: [app] } })
    onTestFinished(() => server.close())
    const connection = await openRaw(server.url)
    onTestFinished(() => connection.destroy())
    for (let i = 0; i < 2; i++) {
      await connection.write(rawRequest('OPTIONS', '/a2a/v1', { origin: app, 'access-control-request-method': 'POST' }))
      const answer = await connection.next({ hasBody: false })
      expect([answer?.status, answer?.headers['content-length'], answer?.headers['access-control-allow-origin']]).toEqual([
        204,
        undefined,
        app,
      ])
    }
  })
})

describe.each(bindingNames)('an answer over %s', (binding) => {
  const ask = (fetch: (request: Request) => Promise<Response>, operation: 'ListTasks' | 'SendStreamingMessage', headers: Headers) => {
    const params = operation === 'ListTasks' ? {} : { message: userMessage('x') }
    return fetch(requestFor(binding, operation, params, { headers }))
  }

  test('may be read by a page of a listed origin: results, streams, errors and refusals', async () => {
    const { fetch } = await open({ origins: [app] })
    const readable = { 'access-control-allow-origin': app, 'access-control-expose-headers': exposed, vary: 'Origin' }
    for (const headers of [{}, { authorization: 'Bearer mallory' }, { 'a2a-version': '0.3' }] as Headers[]) {
      for (const operation of ['ListTasks', 'SendStreamingMessage'] as const) {
        const answer = await ask(fetch, operation, { ...headers, origin: app })
        expect(corsOf(answer)).toEqual(readable)
        await answer.text()
      }
    }
  })

  test('may not be read by another page, and caches are told that it depends', async () => {
    const { fetch } = await open({ origins: [app] })
    for (const headers of [{ origin: 'https://evil.test' }, { origin: 'null' }, {}] as Headers[]) {
      const answer = await ask(fetch, 'ListTasks', headers)
      // The page is not told; who calls without a browser is answered as ever.
      expect([answer.status, corsOf(answer)]).toEqual([200, { vary: 'Origin' }])
    }
  })

  test('with credentials names the origin and never a star', async () => {
    const { fetch } = await open({ origins: [app], credentials: true })
    expect(corsOf(await ask(fetch, 'ListTasks', { origin: app }))).toMatchObject({
      'access-control-allow-origin': app,
      'access-control-allow-credentials': 'true',
    })
    expect(corsOf(await ask(fetch, 'ListTasks', { origin: 'https://evil.test' }))).toEqual({ vary: 'Origin' })
  })

  test('with a star may be read by every page, and is the same for all', async () => {
    const { fetch } = await open({ origins: ['*'] })
    for (const headers of [{ origin: 'https://any.test' }, { origin: 'null' }, {}] as Headers[]) {
      expect(corsOf(await ask(fetch, 'ListTasks', headers))).toEqual({
        'access-control-allow-origin': '*',
        'access-control-expose-headers': exposed,
      })
    }
    expect((await fetch(preflight('/a2a/v1', 'https://any.test'))).status).toBe(204)
  })
})

test('the card, its 304 and addresses that are not there may be read as well', async () => {
  const { fetch } = await open({ origins: [app] })
  for (const [path, headers, status] of [
    [cardPath, {}, 200],
    [cardPath, { 'if-none-match': '*' }, 304],
    ['/nothing', {}, 404],
  ] as const) {
    const answer = await fetch(new Request(`http://agent.test${path}`, { headers: { ...headers, origin: app } }))
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([status, app])
  }
})

describe('on a loopback server without auth', () => {
  async function openLocal(cors: Cors) {
    const server = await serve(scriptAgent, { store: sqlite(':memory:'), log: quiet, cors })
    onTestFinished(() => server.close())
    const ask = async (headers: Headers, method = 'POST') => {
      const connection = await openRaw(server.url)
      onTestFinished(() => connection.destroy())
      const body = method === 'POST' ? '{"jsonrpc":"2.0","id":1,"method":"ListTasks"}' : ''
      await connection.write(
        rawRequest(
          method,
          '/a2a/v1',
          { host: new URL(server.url).host, 'a2a-version': '1.0', 'content-type': 'application/json', ...headers },
          body,
        ),
      )
      return (await connection.next({ hasBody: method === 'POST' }))?.status
    }
    return { server, ask }
  }

  test('a listed page may call across sites, and no other one', async () => {
    const { ask } = await openLocal({ origins: [app] })
    const across = { 'sec-fetch-site': 'cross-site' }
    expect(await ask({ origin: app, ...across })).toBe(200)
    expect(await ask({ origin: app, 'access-control-request-method': 'POST' }, 'OPTIONS')).toBe(204)
    for (const origin of ['https://evil.test', 'null', `${app}.evil.test`]) expect(await ask({ origin, ...across })).toBe(403)
    // A page that sends no origin, as images and scripts do, is not known to be the listed one.
    expect(await ask(across)).toBe(403)
  })

  test('a listed page gets no further under a foreign name for this machine', async () => {
    const { ask } = await openLocal({ origins: [app] })
    expect(await ask({ origin: app, host: 'rebound.test' })).toBe(403)
  })

  test('a star would open it to every page, and is refused at start', async () => {
    await expect(serve(scriptAgent, { store: sqlite(':memory:'), log: quiet, cors: { origins: ['*'] } })).rejects.toThrow(
      "the option cors takes '*' with auth only: without it, every web page could use this agent; name the origins that may",
    )
    const aloud = await serve(scriptAgent, { store: sqlite(':memory:'), log: quiet, auth: anonymous(), cors: { origins: ['*'] } })
    await aloud.close()
  })
})

test.each<[string, unknown]>([
  ['no origins', {}],
  ['an empty list', { origins: [] }],
  ['a star beside others', { origins: ['*', app] }],
  ['a star with credentials', { origins: ['*'], credentials: true }],
  ['a pattern', { origins: ['https://*.app.test'] }],
  ['a path', { origins: [`${app}/x`] }],
  ['a default port', { origins: [`${app}:443`] }],
  ['other letters', { origins: ['https://APP.test'] }],
  ['the origin null', { origins: ['null'] }],
  ['a host alone', { origins: ['app.test'] }],
  ['credentials that are no boolean', { origins: [app], credentials: 'yes' }],
  ['an unknown member', { origins: [app], methods: ['GET'] }],
  ['true', true],
])('cors takes no %s', async (_, cors) => {
  const options = { store: sqlite(':memory:'), auth: people, url: 'http://agent.test', cors } as ServeOptions & {
    store: ReturnType<typeof sqlite>
  }
  await expect(createServer(scriptAgent, options)).rejects.toThrow(/^createServer: option cors takes an object with origins .+; it got .+$/)
})
