/** Finding an agent by its card: where it is, which interface is taken, and who may see a credential. */

import { once } from 'node:events'
import { createServer, type Server as HttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair } from 'jose'
import { describe, expect, onTestFinished, test } from 'vitest'
import { httpRoutes } from '../../src/client/http-json.js'
import { type ConnectOptions, connect, InvalidAgentResponseError, UnauthenticatedError } from '../../src/client.js'
import { CardSignatureError, signCard, verifyCard } from '../../src/index.js'
import { type OperationRow, operationTable } from '../../src/protocol/operations.js'
import { scriptAgent } from '../harness/script-agent.js'
import { bindingNames, openSocket, people, quiet } from '../harness/server.js'
import { bytesAgent, cardOf, frame, json, openScript, sse, taskFrame } from './kit.js'

interface Seen {
  readonly url: string
  readonly authorization: string | null
  readonly headers: Headers
  readonly body: any
}

/** A network in which every address answers with the card, or with a finished task. */
function network(card: unknown, answers: Readonly<Record<string, () => Response>> = {}) {
  const seen: Seen[] = []
  const fetch = async (request: Request): Promise<Response> => {
    const body = request.method === 'POST' ? await request.json() : undefined
    seen.push({ url: request.url, authorization: request.headers.get('authorization'), headers: request.headers, body })
    const answer = answers[request.url]
    if (answer) return answer()
    return request.method === 'GET' ? json(card) : sse([frame(taskFrame('COMPLETED'))])
  }
  return { fetch, seen }
}
const at = (url: string, more: Readonly<Record<string, unknown>> = {}) => ({
  url,
  protocolBinding: 'JSONRPC',
  protocolVersion: '1.0',
  ...more,
})

// Listening on a port, the address is one of host and port.
const urlOf = (http: HttpServer) => `http://127.0.0.1:${(http.address() as AddressInfo).port}`

describe('the card', () => {
  test.each([
    ['https://x.test', 'https://x.test/.well-known/agent-card.json'],
    ['https://x.test/', 'https://x.test/.well-known/agent-card.json'],
    ['https://x.test/agents/a', 'https://x.test/agents/a/.well-known/agent-card.json'],
    ['https://x.test/agents/a/', 'https://x.test/agents/a/.well-known/agent-card.json'],
    ['https://x.test/cards/mine.json?v=2', 'https://x.test/cards/mine.json?v=2'],
    ['https://x.test/a/.well-known/agent.card', 'https://x.test/a/.well-known/agent.card'],
  ])('of %s is at %s', async (url, expected) => {
    const { fetch, seen } = network(cardOf())
    await connect(url, { fetch })
    expect(seen.map((one) => one.url)).toEqual([expected])
  })

  test('gives an interface by path: it is one below the card', async () => {
    const { fetch, seen } = network(cardOf({ supportedInterfaces: [at('/a2a')] }))
    await (await connect('https://x.test/base', { fetch })).send('go').outcome
    expect(seen[1]?.url).toBe('https://x.test/a2a')
  })

  test('leads to the first interface that is spoken, or to the preferred one', async () => {
    const supportedInterfaces = [
      at('https://x.test/old', { protocolVersion: '0.3' }),
      at('https://x.test/g', { protocolBinding: 'GRPC' }),
      at('https://x.test/rest', { protocolBinding: 'http+json', tenant: 'red' }),
      at('https://x.test/rpc', { protocolVersion: '1.0.1', tenant: 'blue' }),
    ]
    const { fetch, seen } = network(cardOf({ supportedInterfaces, capabilities: {} }), {
      'https://x.test/rest/red/message:send': () => json(taskFrame('COMPLETED')),
      'https://x.test/rpc': () => json({ jsonrpc: '2.0', id: 1, result: taskFrame('COMPLETED') }),
    })
    await (await connect('https://x.test', { fetch })).send('go').outcome
    expect(seen[1]?.url).toBe('https://x.test/rest/red/message:send')
    await (await connect('https://x.test', { fetch, prefer: ['JSONRPC'], extensions: ['urn:one', 'urn:two'] })).send('go').outcome
    expect(seen[3]).toMatchObject({ url: 'https://x.test/rpc', body: { params: { tenant: 'blue' } } })
    expect(seen[3]?.headers.get('a2a-version')).toBe('1.0')
    expect(seen[3]?.headers.get('a2a-extensions')).toBe('urn:one, urn:two')
  })

  test('is asked for where it has moved to, but not for ever', async () => {
    const moved = (location: string) => () => new Response(null, { status: 302, headers: { location } })
    const home = 'https://x.test/.well-known/agent-card.json'
    const once = network(cardOf(), { [home]: moved('https://y.test/card') })
    await connect('https://x.test', { fetch: once.fetch, auth: 'secret' })
    expect(once.seen.map(({ url, authorization }) => [url, authorization])).toEqual([
      [home, 'Bearer secret'],
      ['https://y.test/card', null],
    ])
    const endless = network(cardOf(), { [home]: moved(home) })
    await expect(connect('https://x.test', { fetch: endless.fetch })).rejects.toThrow(/leads on and on/)
    expect(endless.seen).toHaveLength(6)
  })

  test.each<[string, () => Response, RegExp]>([
    [
      'HTML',
      () => new Response('<html>', { headers: { 'content-type': 'text/html' } }),
      /agent-card.json answered 200 with text\/html where JSON/,
    ],
    ['nothing', () => new Response(null, { status: 204 }), /answered 204/],
    ['a list', () => json([]), /no card/],
    ['a card without interfaces', () => json({ name: 'X' }), /interfaces \(none\)/],
    ['a card of version 0.3', () => json({ name: 'X', url: 'https://x.test', protocolVersion: '0.3.0' }), /interfaces \(none\)/],
    ['an interface that is none', () => json(cardOf({ supportedInterfaces: [3] })), /supportedInterfaces\[0\] is no object/],
    [
      'a missing page',
      () => new Response('gone', { status: 404, headers: { 'content-type': 'text/plain' } }),
      /answered 404 with text\/plain/,
    ],
    ['more than an answer may be', () => new Response(new Uint8Array(2000)), /more than 1000 bytes/],
  ])('that is %s is a typed error that names the address', async (_, answer, words) => {
    const { fetch } = network({}, { 'https://x.test/.well-known/agent-card.json': answer })
    const failed = connect('https://x.test', { fetch, limits: { answerBytes: 1000, retries: 0 } })
    await expect(failed).rejects.toThrow(words)
    await expect(failed).rejects.toMatchObject({ name: expect.stringMatching(/^(InvalidAgentResponse|MethodNotFound|Connection)Error$/) })
  })

  test('is looked at by the caller before it is used: a pinned key holds, another does not', async () => {
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
    const other = await generateKeyPair('ES256')
    const signed = await signCard(
      cardOf({ supportedInterfaces: [at('https://x.test/rpc')], skills: [{ id: 's', name: 'S', description: 'S.', tags: ['s'] }] }) as any,
      {
        key: await exportJWK(privateKey),
        kid: 'k',
        alg: 'ES256',
      },
    )
    const { fetch } = network(signed)
    const pinned = (key: CryptoKey): ConnectOptions => ({ fetch, verifyCard: (card) => verifyCard(card as any, () => key as any) })
    expect((await connect('https://x.test', pinned(publicKey))).card).toMatchObject({ name: 'Bytes' })
    await expect(connect('https://x.test', pinned(other.publicKey))).rejects.toThrow(CardSignatureError)
  })
})

test.each(['JSONRPC', 'HTTP+JSON'])('an interface over %s that is not where the card says is an error that says where', async (binding) => {
  const missing = () => new Response('<html>', { status: 404, headers: { 'content-type': 'text/html' } })
  const client = await bytesAgent(
    missing,
    {},
    cardOf({ supportedInterfaces: [at('http://bytes.test/wrong', { protocolBinding: binding })] }),
  )
  for (const call of [client.task('t1').get(), client.send('go').outcome])
    await expect(call).rejects.toMatchObject({
      name: 'MethodNotFoundError',
      message: expect.stringMatching(/http:\/\/bytes\.test\/wrong\S* answered 404 with text\/html/),
    })
})

describe('a credential', () => {
  const elsewhere = cardOf({ supportedInterfaces: [at('https://api.test/rpc')] })

  test('is shown to the origin of the card alone', async () => {
    const { fetch, seen } = network(elsewhere, { 'https://api.test/rpc': () => json({}, { status: 401 }) })
    const client = await connect('https://x.test', { fetch, auth: 'secret' })
    await expect(client.send('go').outcome).rejects.toThrow(/saw no credentials: .*trustHosts/)
    await expect(client.task('t1').get()).rejects.toThrow(UnauthenticatedError)
    expect(seen.map(({ authorization }) => authorization)).toEqual(['Bearer secret', null, null])
  })

  test.each([
    ['https://x.test', 'https://api.test/rpc', ['api.test'], 'Bearer secret'],
    ['https://x.test', 'http://api.test/rpc', ['api.test'], null],
    ['https://x.test', 'https://api.test:8443/rpc', ['api.test'], null],
    ['https://x.test', 'https://api.test:8443/rpc', ['API.test:8443'], 'Bearer secret'],
    ['https://x.test', 'http://x.test/rpc', [], null],
    ['http://x.test', 'http://api.test/rpc', ['api.test'], 'Bearer secret'],
    ['https://x.test', 'https://sub.x.test/rpc', [], null],
    ['https://x.test', 'https://x.test/rpc', [], 'Bearer secret'],
  ])('for a card at %s and an interface at %s, trusting %j: %s', async (home, url, trustHosts, shownThere) => {
    const { fetch, seen } = network(cardOf({ supportedInterfaces: [at(url)] }))
    await (await connect(home, { fetch, auth: 'secret', trustHosts })).send('go').outcome
    expect(seen[1]?.authorization).toBe(shownThere)
  })

  test.each([
    ['a scheme and what follows it', 'Basic abc', 'authorization', 'Basic abc'],
    ['headers', { 'x-api-key': 'k' }, 'x-api-key', 'k'],
    ['a promise of a token', async () => 'later', 'authorization', 'Bearer later'],
  ] as const)('may be %s', async (_, auth, header, value) => {
    const { fetch, seen } = network(cardOf())
    await connect('https://x.test', { fetch, auth })
    expect(seen[0]?.headers.get(header)).toBe(value)
  })

  test('goes nowhere by a redirect, over sockets as well', async () => {
    const asked: string[] = []
    const other = createServer((request, response) => {
      asked.push(`${request.method} ${request.headers['x-api-key']}`)
      response.end('{}')
    })
    const home = createServer((request, response) => {
      if (request.method === 'GET') return void response.end(JSON.stringify(cardOf({ supportedInterfaces: [at('/rpc')] })))
      response.writeHead(307, { location: urlOf(other) }).end()
    })
    for (const http of [other, home]) await once(http.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => {
      for (const http of [other, home]) http.close().closeAllConnections()
    })
    const client = await connect(urlOf(home), { auth: { 'x-api-key': 'secret' } })
    await expect(client.send('go').outcome).rejects.toThrow(`a redirect to ${urlOf(other)}`)
    expect(asked).toEqual([])
  })

  test('does not follow a redirect of a call', async () => {
    const moved = () => new Response(null, { status: 307, headers: { location: 'https://evil.test/' } })
    const { fetch, seen } = network(cardOf(), { 'http://bytes.test/rpc': moved })
    const client = await connect('http://bytes.test', { fetch, auth: 'secret' })
    await expect(client.send('go').outcome).rejects.toThrow(/a redirect to https:\/\/evil.test\//)
    expect(seen).toHaveLength(2)
  })
})

describe.each(bindingNames)('behind a base path, over %s', (binding) => {
  test('a server is found and spoken to', async () => {
    const server = await openSocket(scriptAgent, { auth: people, log: quiet, port: 0 })
    try {
      // What a proxy does that mounts the server below /agents/script.
      const proxy = async (request: Request) => {
        const url = new URL(request.url)
        if (!url.pathname.startsWith('/agents/script/')) return new Response(null, { status: 404 })
        const response = await fetch(new Request(request.url.replace('/agents/script', ''), request))
        if (request.method !== 'GET' || !url.pathname.endsWith('.json')) return response
        return new Response((await response.text()).replaceAll(server.url, `${server.url}/agents/script`), response)
      }
      const client = await connect(`${server.url}/agents/script`, { fetch: proxy, auth: 'alice', prefer: [binding] })
      expect(await client.send('echo').outcome).toMatchObject({ state: 'completed' })
    } finally {
      await server.close()
    }
  })

  test('a tenant of the card is sent', async () => {
    const { fetch } = await openScript()
    const tenantOf = (tenant: string) => async (request: Request) => {
      const response = await fetch(request)
      if (request.method !== 'GET' || !request.url.endsWith('.json')) return response
      const card: any = await response.json()
      return json({ ...card, supportedInterfaces: card.supportedInterfaces.map((one: object) => ({ ...one, tenant })) })
    }
    const red = await connect('http://agent.test', { fetch: tenantOf('red'), auth: 'carol', prefer: [binding] })
    const blue = await connect('http://agent.test', { fetch: tenantOf('blue'), auth: 'carol', prefer: [binding] })
    const id = (await red.send('echo').taskId) ?? ''
    expect(await red.task(id).follow().outcome).toMatchObject({ state: 'completed' })
    await expect(blue.task(id).get()).rejects.toMatchObject({ name: 'TaskNotFoundError' })
  })
})

describe('options', () => {
  test.each<[string, unknown, RegExp]>([
    ['no URL', ['nonsense', {}], /URL of an agent/],
    ['another scheme', ['ftp://x.test', {}], /URL of an agent/],
    ['an unknown one', ['https://x.test', { tokens: 'x' }], /no option "tokens"/],
    ['an unknown limit', ['https://x.test', { limits: { total: 1 } }], /no option "total"/],
    ['a binding that is not spoken', ['https://x.test', { prefer: ['GRPC'] }], /prefer takes a list of JSONRPC and HTTP\+JSON; it got/],
    ['a wrong limit', ['https://x.test', { limits: { idleMs: 0 } }], /idleMs takes a whole number/],
    ['a credential that is none', ['https://x.test', { auth: 3 }], /auth takes a token.*got a number/],
  ])('%s: is refused at once', async (_, args, words) => {
    await expect(connect(...(args as [string, object]))).rejects.toThrow(words)
  })

  test('a message without parts is refused at once', async () => {
    const client = await bytesAgent(() => json({}))
    expect(() => client.send([])).toThrow(TypeError)
  })

  test('the events of a send are for one loop', async () => {
    const client = await bytesAgent(() => sse([frame(taskFrame('COMPLETED'))]))
    const sending = client.send('go')
    for await (const _ of sending);
    expect(() => sending[Symbol.asyncIterator]()).toThrow(/one loop/)
    expect(InvalidAgentResponseError.name).toBe('InvalidAgentResponseError')
  })
})

test('the addresses of HTTP+JSON are those of the table of operations', () => {
  for (const [operation, route] of Object.entries(httpRoutes)) {
    const [verb, path] = route.split(' ')
    const row: OperationRow = operationTable[operation as keyof typeof httpRoutes]
    expect(row.path).toBe(path)
    expect(row.verbs).toContain(verb)
  }
})
