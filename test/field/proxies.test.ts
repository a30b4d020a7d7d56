/** Field cases of browsers and what stands between them and the server. */

import { describe, expect, onTestFinished, test } from 'vitest'
import { scriptAgent } from '../harness/script-agent.js'
import { bindingNames, openServer, openSocket, requestFor, userMessage } from '../harness/server.js'
import { openStill } from '../runtime/kit.js'

const app = 'https://app.example'
const wanted = ['authorization', 'content-type', 'a2a-version', 'a2a-extensions', 'last-event-id']
const corsOf = (headers: Headers) => [...headers].filter(([name]) => name.startsWith('access-control-')).map(([name]) => name)

const doors = [
  ['POST', '/a2a/v1'],
  ['POST', '/rest/message:stream'],
  ['GET', '/rest/tasks'],
  ['DELETE', '/rest/tasks/x/pushNotificationConfigs/y'],
  ['GET', '/.well-known/agent-card.json'],
] as const

const preflight = (base: string, path: string, method: string, origin: string) =>
  new Request(`${base}${path}`, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': method, 'access-control-request-headers': wanted.join(',') },
  })

describe.each(doors)('web pages that call %s %s', (method, path) => {
  test('F115 a page that is kept out: the preflight of an allowed page is answered with its very origin and all headers of the protocol', async () => {
    const { fetch } = await openStill(scriptAgent, { cors: { origins: [app, 'https://other.example'] } })
    const answer = await fetch(preflight('http://agent.test', path, method, app))
    expect([answer.status, await answer.text()]).toEqual([204, ''])
    expect(answer.headers.get('access-control-allow-origin')).toBe(app)
    expect(answer.headers.get('vary')).toMatch(/Origin/i)
    const allowed = (answer.headers.get('access-control-allow-headers') ?? '').toLowerCase().split(', ')
    for (const name of wanted) expect(allowed).toContain(name)
    expect(answer.headers.get('access-control-allow-methods')).toContain(method)
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull()
  })

  test.each(['https://evil.example', 'http://app.example', 'https://app.example.evil.example', 'null', `${app}:8443`])(
    'F115 a page that is let in: the preflight of %s is refused, and no header lets it read anything',
    async (origin) => {
      const { fetch } = await openStill(scriptAgent, { cors: { origins: [app] } })
      const asked = await fetch(preflight('http://agent.test', path, method, origin))
      expect([asked.status, corsOf(asked.headers)]).toEqual([403, []])
      const sent = await fetch(new Request(`http://agent.test${path}`, { method, headers: { origin, authorization: 'Bearer alice' } }))
      expect(corsOf(sent.headers)).toEqual([])
      // A cache must not hand this answer to the page that is allowed.
      expect(sent.headers.get('vary')).toMatch(/Origin/i)
    },
  )

  test('F115 a door that nobody opened: without the option there is no such header, for nobody', async () => {
    const { fetch } = await openStill(scriptAgent)
    const asked = await fetch(preflight('http://agent.test', path, method, app))
    expect(corsOf(asked.headers)).toEqual([])
    expect(asked.status).toBeGreaterThanOrEqual(400)
  })
})

describe.each(bindingNames)('over %s', (binding) => {
  test.each([
    ['a result', 'ListTasks', {}, {}, 200],
    ['a stream', 'SendStreamingMessage', { message: userMessage('echo') }, {}, 200],
    ['an error', 'GetTask', { id: 'nope' }, {}, binding === 'JSONRPC' ? 200 : 404],
    ['a refusal', 'ListTasks', {}, { authorization: 'Bearer mallory' }, 401],
  ] as const)(
    'F115 an answer that cannot be read: the page can read %s and the headers it needs, over a socket too',
    async (_, operation, params, headers, status) => {
      const cors = { origins: [app] }
      const socket = await openSocket(scriptAgent, { cors })
      onTestFinished(() => socket.close())
      const server = await openServer(scriptAgent, { cors })
      onTestFinished(() => server.close())
      for (const [fetching, url] of [
        [server.fetch, 'http://agent.test'],
        [fetch, socket.url],
      ] as const) {
        const answer = await fetching(requestFor(binding, operation, params, { url, headers: { origin: app, ...headers } }))
        expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([status, app])
        const exposed = (answer.headers.get('access-control-expose-headers') ?? '').toLowerCase().split(', ')
        for (const name of ['a2a-extensions', 'www-authenticate', 'retry-after']) expect(exposed).toContain(name)
        await answer.text()
      }
    },
  )
})

test('F115 every page and credentials at once: the server does not start', async () => {
  await expect(openServer(scriptAgent, { cors: { origins: ['*'], credentials: true } })).rejects.toThrow(/cors/)
  for (const origin of ['app.example', `${app}/`, `${app}/path`, 'null']) {
    await expect(openServer(scriptAgent, { cors: { origins: [origin] } })).rejects.toThrow(/cors/)
  }
})

test('F115 a star with credentials: for every page the origin is a star, never with credentials; with a list credentials come only if they are asked for', async () => {
  const { fetch } = await openStill(scriptAgent, { cors: { origins: ['*'] } })
  const open = await fetch(preflight('http://agent.test', '/a2a/v1', 'POST', app))
  expect([open.headers.get('access-control-allow-origin'), open.headers.get('access-control-allow-credentials')]).toEqual(['*', null])
  const { fetch: closed } = await openStill(scriptAgent, { cors: { origins: [app], credentials: true } })
  const named = await closed(preflight('http://agent.test', '/a2a/v1', 'POST', app))
  expect([named.headers.get('access-control-allow-origin'), named.headers.get('access-control-allow-credentials')]).toEqual([app, 'true'])
})
