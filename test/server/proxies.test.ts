/** Behind proxies: addresses, headers and streams as they come out at the other side. Field cases F103, F107, F038; D1, D15. */

import { describe, expect, onTestFinished, test } from 'vitest'
import { agent, createServer, type RunningServer, type ServeOptions, sqlite } from '../../src/index.js'
import { virtualWorld } from '../../src/testing/virtual-world.js'
import { openRaw, rawRequest } from '../fuzz/raw-http.js'
import { scriptAgent } from '../harness/script-agent.js'
import { bindingNames, frames, openSocket, people, readFrames, requestFor, result, userMessage } from '../harness/server.js'
import { connect, everything, taskOf, textRequest } from '../interop/sdk-client.js'
import { closeStill, textReader } from '../runtime/kit.js'
import { forwarded, openProxy, stripped } from './reverse-proxy.js'

const cardPath = '/.well-known/agent-card.json'
const headers = { 'a2a-version': '1.0', authorization: 'Bearer alice' }

async function openBehind(options: ServeOptions = {}): Promise<RunningServer> {
  const server = await openSocket(scriptAgent, { limits: { shutdownMs: 0 }, ...options })
  onTestFinished(() => server.close())
  return server
}

const urlsAt = async (base: string, more: Readonly<Record<string, string>> = {}): Promise<string[]> =>
  ((await (await fetch(`${base}${cardPath}`, { headers: more })).json()) as any).supportedInterfaces.map(({ url }: any) => url)

describe('a proxy that takes its prefix off', () => {
  const prefix = '/agents/one'

  test.each(bindingNames)('a client that knows the card alone reaches everything over %s', async (binding) => {
    const server = await openBehind({ trustedProxies: ['127.0.0.0/8'] })
    const proxy = await openProxy({ upstream: server.url, rewrite: stripped(prefix), set: forwarded(prefix) })
    const base = `${proxy.url}${prefix}`
    expect(await urlsAt(base)).toEqual([`${base}/a2a/v1`, `${base}/rest`])
    const client = await connect(`${base}/`, binding)
    const done = taskOf(await client.sendMessage(textRequest('echo')))
    expect((await client.getTask({ tenant: '', id: done.id })).id).toBe(done.id)
    expect((await client.listTasks(everything)).totalSize).toBe(1)
    const seen: unknown[] = []
    for await (const frame of client.sendMessageStream(textRequest('chunks 2'))) seen.push(frame.payload?.$case)
    expect(seen).toEqual(['task', 'statusUpdate', 'artifactUpdate', 'artifactUpdate', 'statusUpdate'])
  })

  test('a prefix with a slash at its end doubles none', async () => {
    const server = await openBehind({ trustedProxies: ['127.0.0.1'] })
    const proxy = await openProxy({ upstream: server.url, rewrite: stripped(prefix), set: forwarded(`${prefix}/`) })
    expect(await urlsAt(`${proxy.url}${prefix}`)).toEqual([`${proxy.url}${prefix}/a2a/v1`, `${proxy.url}${prefix}/rest`])
  })
})

test('a proxy that keeps its prefix reaches a server that is mounted under it', async () => {
  const prefix = '/agents/one'
  const server = await openBehind({ trustedProxies: ['127.0.0.1'], mounts: { jsonRpc: `${prefix}/rpc`, httpJson: `${prefix}/http` } })
  const proxy = await openProxy({ upstream: server.url, set: forwarded() })
  const [jsonRpc, httpJson] = await urlsAt(proxy.url)
  expect([jsonRpc, httpJson]).toEqual([`${proxy.url}${prefix}/rpc`, `${proxy.url}${prefix}/http`])
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ListTasks' })
  const overJsonRpc = await (
    await fetch(String(jsonRpc), { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body })
  ).json()
  expect((overJsonRpc as any).result).toEqual(await (await fetch(`${httpJson}/tasks`, { headers })).json())
  expect((await fetch(`${proxy.url}/rest/tasks`, { headers })).status).toBe(404)
})

describe('forwarded headers', () => {
  const spoofed = { 'x-forwarded-host': 'evil.test', 'x-forwarded-proto': 'https', 'x-forwarded-prefix': '/evil' }
  const evil = /evil/

  test.each<[string, ServeOptions]>([
    ['no proxy is trusted', {}],
    ['another one is', { trustedProxies: ['10.0.0.0/8', '192.0.2.7', '2001:db8::/32'] }],
    ['its mapped form stands for another one', { trustedProxies: ['::ffff:10.0.0.1'] }],
  ])('say nothing where %s', async (_, options) => {
    const server = await openBehind(options)
    for (const more of [
      spoofed,
      { forwarded: 'host=evil.test;proto=https' },
      { 'x-original-host': 'evil.test', 'x-forwarded-server': 'evil.test' },
    ]) {
      expect(await urlsAt(server.url, more)).toEqual([`${server.url}/a2a/v1`, `${server.url}/rest`])
    }
  })

  test.each(['127.0.0.1', '127.0.0.0/8', '::ffff:127.0.0.1', '0.0.0.0/0'])('are read where %s is trusted', async (proxy) => {
    const server = await openBehind({ trustedProxies: [proxy] })
    expect((await urlsAt(server.url, spoofed))[0]).toBe('https://evil.test/evil/a2a/v1')
  })

  test('a caller’s own are overwritten by a proxy that sets them', async () => {
    const server = await openBehind({ trustedProxies: ['127.0.0.1'] })
    const proxy = await openProxy({ upstream: server.url, set: forwarded('') })
    expect(await urlsAt(proxy.url, spoofed)).toEqual([`${proxy.url}/a2a/v1`, `${proxy.url}/rest`])
  })

  test('a caller’s own come first where a proxy adds to them, and the last is what counts', async () => {
    const server = await openBehind({ trustedProxies: ['127.0.0.1'] })
    const append = (got: any) =>
      Object.fromEntries(Object.entries(forwarded('/')(got)).map(([name, value]) => [name, got[name] ? `${got[name]}, ${value}` : value]))
    const proxy = await openProxy({ upstream: server.url, set: append })
    expect(await urlsAt(proxy.url, spoofed)).toEqual([`${proxy.url}/a2a/v1`, `${proxy.url}/rest`])
  })

  test('a cache is told that the card depends on them, and only where it does', async () => {
    const vary = async (options: ServeOptions) => {
      const server = await openBehind(options)
      return (await server.fetch(new Request(`http://agent.test${cardPath}`))).headers.get('vary')
    }
    expect(await vary({ trustedProxies: ['127.0.0.1'] })).toBe('X-Forwarded-Host, X-Forwarded-Proto, X-Forwarded-Prefix')
    expect(await vary({ trustedProxies: ['127.0.0.1'], cors: { origins: ['https://app.test'] } })).toBe(
      'X-Forwarded-Host, X-Forwarded-Proto, X-Forwarded-Prefix, Origin',
    )
    expect(await vary({ trustedProxies: ['127.0.0.1'], url: 'https://public.test' })).toBeNull()
    expect(await vary({})).toBeNull()
  })

  test('Host is in no answer, whoever sends it', async () => {
    const server = await openBehind({ trustedProxies: ['127.0.0.1'] })
    const connection = await openRaw(server.url)
    onTestFinished(() => connection.destroy())
    for (const target of [cardPath, '/rest/tasks', '/nothing']) {
      await connection.write(rawRequest('GET', target, { host: 'evil.test' }))
      const answer = await connection.next()
      expect(JSON.stringify(answer)).not.toMatch(evil)
    }
  })

  test.each<[string, object]>([
    ['userinfo', { 'x-forwarded-host': 'a@evil.test' }],
    ['a path in the host', { 'x-forwarded-host': 'evil.test/x' }],
    ['a space in the host', { 'x-forwarded-host': 'evil.test x' }],
    ['no host', { 'x-forwarded-host': '' }],
    ['a port that is none', { 'x-forwarded-host': 'evil.test:99999' }],
    ['another protocol', { 'x-forwarded-host': 'evil.test', 'x-forwarded-proto': 'javascript' }],
    ['a prefix that is a host', { 'x-forwarded-host': 'evil.test', 'x-forwarded-prefix': '//evil.test' }],
    ['a prefix with a query', { 'x-forwarded-host': 'evil.test', 'x-forwarded-prefix': '/x?y' }],
    ['a prefix without a slash', { 'x-forwarded-host': 'evil.test', 'x-forwarded-prefix': 'x' }],
  ])('that make no URL are passed over: %s', async (_, more) => {
    const server = await openBehind({ trustedProxies: ['127.0.0.1'] })
    expect(await urlsAt(server.url, more as Record<string, string>)).toEqual([`${server.url}/a2a/v1`, `${server.url}/rest`])
  })

  test.each([
    [{ 'x-forwarded-host': '[2001:db8::1]:8443', 'x-forwarded-proto': 'HTTPS' }, 'https://[2001:db8::1]:8443'],
    [{ 'x-forwarded-host': 'public.test' }, 'http://public.test'],
  ])('%j make %s', async (more, base) => {
    const server = await openBehind({ trustedProxies: ['127.0.0.1'] })
    expect((await urlsAt(server.url, more as unknown as Record<string, string>))[1]).toBe(`${base}/rest`)
  })

  test.each(['10.0.0', '1', '010.0.0.1', '0x7f.0.0.1', '10.0.0.1/33', '10.0.0.1/', '::1/129', ':::', 'localhost', '10.0.0.*', ''])(
    'trustedProxies take no %j',
    async (proxy) => {
      const options = { store: sqlite(':memory:'), auth: people, url: 'http://agent.test', trustedProxies: [proxy] }
      await expect(createServer(scriptAgent, options)).rejects.toThrow(
        /^createServer: option trustedProxies takes a list of addresses or networks .+; it got /,
      )
    },
  )
})

describe('addresses as they come through a proxy', () => {
  test.each([
    ['/rest/tasks/a%3Ab', 'a:b'],
    ['/rest/tasks/a:b', 'a:b'],
    ['/rest/tasks/a%2Fb', 'a/b'],
    ['/rest/tasks/%C3%BC%20x/', 'ü x'],
    ['/rest/tasks/tasks', 'tasks'],
    ['/rest/tasks/tasks/', 'tasks'],
    ['/rest/tasks/x%3Asubscribe', 'x:subscribe'],
  ])('GET %s is the task %j', async (path, taskId) => {
    const server = await openBehind()
    const proxy = await openProxy({ upstream: server.url })
    const answer = await fetch(`${proxy.url}${path}`, { headers })
    expect(answer.status).toBe(404)
    expect(((await answer.json()) as any).error.details[0]).toMatchObject({ reason: 'TASK_NOT_FOUND', metadata: { taskId } })
  })

  test('a slash at the end is the same address on both bindings and for the card', async () => {
    const server = await openBehind()
    const proxy = await openProxy({ upstream: server.url })
    expect((await fetch(`${proxy.url}/rest/tasks/`, { headers })).status).toBe(200)
    expect((await fetch(`${proxy.url}${cardPath}/`)).status).toBe(200)
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ListTasks' })
    const rpc = await fetch(`${proxy.url}/a2a/v1/`, { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body })
    expect(((await rpc.json()) as any).result.totalSize).toBe(0)
  })

  test.each([
    '//rest/tasks',
    '/rest//tasks',
    '/rest/tasks//',
    '//a2a/v1',
    '/a2a//v1',
    '/a2a/v1//',
    `/${cardPath}`,
    `${cardPath}//`,
    '/./rest/tasks',
    '/rest/../rest/tasks',
  ])('a doubled slash or a dot is another address, where nothing is: %s', async (target) => {
    const server = await openBehind()
    const connection = await openRaw(server.url)
    onTestFinished(() => connection.destroy())
    for (const method of ['GET', 'POST']) {
      await connection.write(rawRequest(method, target, headers))
      const answer = await connection.next()
      // Never a redirect: it would send credentials to wherever the doubled slash points.
      expect([method, answer?.status, answer?.headers['location']]).toEqual([method, 404, undefined])
    }
  })

  test('a whole URL in the request line is read by its path (RFC 9112 §3.2.2)', async () => {
    const server = await openBehind()
    const connection = await openRaw(server.url)
    onTestFinished(() => connection.destroy())
    for (const [target, status] of [
      [`${server.url}/rest/tasks?pageSize=1`, 200],
      [`http://public.test${cardPath}`, 200],
      ['HTTPS://public.test/nothing', 404],
      ['http://public.test', 404],
      ['http://public.test?x=/rest/tasks', 404],
      ['http:///rest/tasks', 404],
      ['ftp://public.test/rest/tasks', 404],
    ] as const) {
      await connection.write(rawRequest('GET', target, headers))
      expect([target, (await connection.next())?.status]).toEqual([target, status])
    }
  })

  test.each([
    ['HEAD', '/rest/tasks', 405],
    ['OPTIONS', '/rest/tasks', 405],
    ['HEAD', '/a2a/v1', 405],
    ['OPTIONS', '/a2a/v1', 405],
    ['OPTIONS', cardPath, 405],
    ['HEAD', '/nothing', 404],
    ['OPTIONS', '*', 404],
    ['HEAD', cardPath, 200],
  ])('%s %s is a %i, before credentials are looked at', async (method, target, status) => {
    const server = await openBehind()
    const connection = await openRaw(server.url)
    onTestFinished(() => connection.destroy())
    await connection.write(rawRequest(method, target, {}))
    const answer = await connection.next({ hasBody: method !== 'HEAD' })
    expect(answer?.status).toBe(status)
    expect(answer?.headers['allow']).toEqual(status === 405 ? expect.stringMatching(/GET|POST/) : undefined)
    // Nothing is left over in the connection.
    await connection.write(rawRequest('GET', '/rest/tasks', headers))
    expect((await connection.next())?.status).toBe(200)
  })

  test('a body may be application/a2a+json on both bindings, with parameters and in any letters', async () => {
    const server = await openBehind()
    const proxy = await openProxy({ upstream: server.url })
    for (const type of [
      'application/a2a+json',
      'application/a2a+json; charset=utf-8',
      'Application/A2A+JSON',
      'application/json;charset=UTF-8',
    ]) {
      for (const binding of bindingNames) {
        const { task } = await result(
          fetch,
          binding,
          'SendMessage',
          { message: userMessage('x') },
          { url: proxy.url, headers: { 'content-type': type } },
        )
        expect(task.status.state).toBe('TASK_STATE_COMPLETED')
      }
      const posted = new Request(`${proxy.url}/rest/message:send`, {
        method: 'POST',
        headers: { ...headers, 'content-type': type },
        body: JSON.stringify({ message: userMessage('x') }),
      })
      expect((await fetch(posted)).headers.get('content-type')).toBe('application/a2a+json')
    }
  })
})

test('extensions in several headers count as one list on the wire', async () => {
  const own = agent({ name: 'A', description: 'B', extensions: [{ uri: 'urn:test:a' }, { uri: 'urn:test:b' }] }, ({ extensions }) => ({
    extensions,
  }))
  const server = await openSocket(own)
  onTestFinished(() => server.close())
  const body = JSON.stringify({ message: userMessage('x') })
  const head = `POST /rest/message:send HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer alice\r\nA2A-Version: 1.0\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`
  const connection = await openRaw(server.url)
  onTestFinished(() => connection.destroy())
  await connection.write(
    `${head}A2A-Extensions: urn:test:b\r\na2a-extensions: urn:test:none,urn:test:a\r\nA2A-EXTENSIONS: urn:test:b\r\n\r\n${body}`,
  )
  const answer = await connection.next()
  expect(answer?.headers['a2a-extensions']).toBe('urn:test:b, urn:test:a')
  expect(JSON.parse(answer?.text ?? '').task.artifacts[0].parts[0].data).toEqual({ extensions: ['urn:test:b', 'urn:test:a'] })
})

describe('a proxy that cuts what has been silent for ten seconds', () => {
  async function openIdle(keepAliveMs?: number) {
    const world = virtualWorld()
    const server = await openSocket(scriptAgent, { world, limits: keepAliveMs === undefined ? {} : { keepAliveMs } })
    onTestFinished(() => closeStill(server, world))
    const proxy = await openProxy({ upstream: server.url, idle: { world, ms: 10_000 } })
    return { world, proxy }
  }

  test.each(bindingNames)('leaves a stream alone that says something in between over %s', async (binding) => {
    const { world, proxy } = await openIdle(9_000)
    const response = await fetch(requestFor(binding, 'SendStreamingMessage', { message: userMessage('slow 600000') }, { url: proxy.url }))
    const reader = textReader(response)
    let text = ''
    while (!text.includes('waiting')) text += (await reader.read()).value
    for (let beats = 0; beats < 99; beats++) {
      const next = reader.read()
      await world.advance(6_000)
      const { value } = await next
      expect(value).toMatch(/^:/)
    }
    await world.advance(6_000)
    let rest = ''
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      rest += value
    }
    expect(rest).toContain('TASK_STATE_COMPLETED')
    expect(proxy.cuts()).toBe(0)
  })

  test('cuts one that says nothing for longer, and the reader goes on where it was cut (D15)', async () => {
    const { world, proxy } = await openIdle(30_000)
    const response = await fetch(
      requestFor('HTTP+JSON', 'SendStreamingMessage', { message: userMessage('slow 60000') }, { url: proxy.url }),
    )
    const seen: any[] = []
    const reading = (async () => {
      for await (const frame of readFrames(response, 'HTTP+JSON')) {
        seen.push(frame)
        if (frame.data.statusUpdate?.status.message?.parts[0].text === 'waiting') void world.advance(10_000)
      }
    })()
    await expect(reading).rejects.toThrow()
    expect(proxy.cuts()).toBe(1)
    const again = { url: proxy.url, headers: { 'last-event-id': seen.at(-1).id } }
    await world.advance(50_000)
    const rest: any[] = []
    for await (const frame of frames(fetch, 'HTTP+JSON', 'SubscribeToTask', { id: seen[0].data.task.id }, again)) rest.push(frame)
    expect(rest.map(({ id }) => Number(id) > Number(seen.at(-1).id))).toEqual(rest.map(() => true))
    expect(rest.at(-1).data.statusUpdate.status.state).toBe('TASK_STATE_COMPLETED')
  })
})
