/** The card over HTTP: who has it already, how long it may be kept, its signature, and the extended one. Spec §8.2, §8.4, §8.6, §13.3. */

import { exportJWK, type GenerateKeyPairResult, generateKeyPair } from 'jose'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type AgentCard, agent, createServer, type ServerOptions, type SigningKey, serve, sqlite, verifyCard } from '../../src/index.js'
import { operationNames } from '../../src/protocol/operations.js'
import { virtualWorld } from '../../src/testing/virtual-world.js'
import { openRaw, rawRequest } from '../fuzz/raw-http.js'
import { scriptAgent } from '../harness/script-agent.js'
import { bindingNames, call, frames, openServer, openSocket, people, quiet, refusal, result, userMessage } from '../harness/server.js'
import { openStill } from '../runtime/kit.js'

const cardPath = '/.well-known/agent-card.json'
type Headers = Readonly<Record<string, string>>
const cardRequest = (headers: Headers = {}, method = 'GET', path = cardPath) => new Request(`http://agent.test${path}`, { method, headers })

let keys: GenerateKeyPairResult
let signing: SigningKey
beforeAll(async () => {
  keys = await generateKeyPair('ES256', { extractable: true })
  signing = { key: await exportJWK(keys.privateKey), kid: 'one', alg: 'ES256' }
})
const trusted = ({ kid }: { readonly kid: string }) => (kid === 'one' ? keys.publicKey : undefined)

describe('conditional requests (RFC 9110 §13)', () => {
  const open = async (options: Partial<ServerOptions> = {}) => {
    const { fetch } = await openStill(scriptAgent, options)
    const { headers } = await fetch(cardRequest())
    return { fetch, etag: headers.get('etag') ?? '', modified: headers.get('last-modified') ?? '' }
  }

  test('the card has a strong ETag, a date of HTTP and a time to be kept', async () => {
    const { fetch } = await open()
    const { headers } = await fetch(cardRequest())
    expect(headers.get('etag')).toMatch(/^"[0-9a-f]{32}"$/)
    expect(headers.get('last-modified')).toBe('Thu, 01 Jan 2026 00:00:00 GMT')
    expect(headers.get('cache-control')).toBe('public, max-age=300')
    expect(headers.get('content-type')).toBe('application/json')
    expect(headers.get('vary')).toBeNull()
  })

  test.each<[string, (etag: string) => string, number]>([
    ['the ETag', (etag) => etag, 304],
    ['its weak form', (etag) => `W/${etag}`, 304],
    ['a list with it', (etag) => `"a", ${etag} ,W/"b"`, 304],
    ['a star', () => '*', 304],
    ['another one', () => '"a"', 200],
    ['the ETag without its quotes', (etag) => etag.slice(1, -1), 200],
    ['a part of it', (etag) => `${etag.slice(0, 9)}"`, 200],
    ['nothing', () => '', 200],
  ])('If-None-Match with %s', async (_, value, status) => {
    const { fetch, etag, modified } = await open()
    const answer = await fetch(cardRequest({ 'if-none-match': value(etag) }))
    expect(answer.status).toBe(status)
    expect([answer.headers.get('etag'), answer.headers.get('last-modified'), answer.headers.get('cache-control')]).toEqual([
      etag,
      modified,
      'public, max-age=300',
    ])
    expect((await answer.text()) === '').toBe(status === 304)
  })

  test.each([
    ['Thu, 01 Jan 2026 00:00:00 GMT', 304],
    ['Fri, 02 Jan 2026 00:00:00 GMT', 304],
    ['Wed, 31 Dec 2025 23:59:59 GMT', 200],
    ['Thursday, 01-Jan-26 00:00:00 GMT', 304],
    ['Wednesday, 31-Dec-25 23:59:59 GMT', 200],
    ['Thu Jan  1 00:00:00 2026', 304],
    ['Wed Dec 31 23:59:59 2025', 200],
    ['2030-01-01T00:00:00Z', 200],
    ['2030', 200],
    ['Thu, 01 Jan 2030 00:00:00', 200],
    ['Thu, 01 Jan 2030 00:00:00 +0100', 200],
    ['Thu, 99 Jan 2030 00:00:00 GMT', 200],
    ['tomorrow', 200],
    ['', 200],
  ])('If-Modified-Since with %j is a %i', async (date, status) => {
    const { fetch } = await open()
    expect((await fetch(cardRequest({ 'if-modified-since': date }))).status).toBe(status)
  })

  test('If-None-Match makes If-Modified-Since void', async () => {
    const { fetch, etag, modified } = await open()
    expect((await fetch(cardRequest({ 'if-none-match': '"a"', 'if-modified-since': modified }))).status).toBe(200)
    expect((await fetch(cardRequest({ 'if-none-match': etag, 'if-modified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' }))).status).toBe(304)
  })

  test('another card has another ETag, the same card the same one, whenever its server began', async () => {
    const { etag } = await open()
    expect((await open()).etag).toBe(etag)
    const later = await open({ world: virtualWorld({ now: Date.UTC(2027, 0, 1) }) })
    expect([later.etag, later.modified]).toEqual([etag, 'Fri, 01 Jan 2027 00:00:00 GMT'])
    const others = [{ url: 'http://else.test' }, { mounts: { httpJson: '/api' } }, { scopes: { '*': ['a'] } }]
    const etags = await Promise.all(others.map(async (options) => (await open(options)).etag))
    expect(new Set([etag, ...etags]).size).toBe(4)
  })

  test('a part of a second is no part of a date', async () => {
    const { fetch, modified } = await open({ world: virtualWorld({ now: Date.UTC(2026, 0, 1) + 999 }) })
    expect(modified).toBe('Thu, 01 Jan 2026 00:00:00 GMT')
    expect((await fetch(cardRequest({ 'if-modified-since': modified }))).status).toBe(304)
  })
})

describe('over a socket', () => {
  test('HEAD is GET without the body, with the same headers', async () => {
    const server = await openSocket(scriptAgent)
    onTestFinished(() => server.close())
    const connection = await openRaw(server.url)
    onTestFinished(() => connection.destroy())
    await connection.write(rawRequest('GET', cardPath, {}))
    const whole = await connection.next()
    await connection.write(rawRequest('HEAD', cardPath, {}))
    const head = await connection.next({ hasBody: false })
    const { date: _, ...headers } = head?.headers ?? {}
    expect(whole?.headers).toMatchObject(headers)
    expect(headers['content-length']).toBe(String(Buffer.byteLength(whole?.text ?? '')))
    // The connection goes on: nothing of a body came behind the head.
    await connection.write(rawRequest('GET', `${cardPath}/`, {}))
    expect(await connection.next()).toMatchObject({ status: 200, text: whole?.text })
  })

  test('a 304 says no length and has no body, and its connection goes on (RFC 9110 §8.6)', async () => {
    const server = await openSocket(scriptAgent)
    onTestFinished(() => server.close())
    const connection = await openRaw(server.url)
    onTestFinished(() => connection.destroy())
    for (const method of ['GET', 'HEAD']) {
      await connection.write(rawRequest(method, cardPath, { 'if-none-match': '*' }))
      const answer = await connection.next({ hasBody: false })
      expect([answer?.status, answer?.headers['content-length'], answer?.headers['transfer-encoding']]).toEqual([304, undefined, undefined])
    }
    await connection.write(rawRequest('GET', cardPath, {}))
    expect(await connection.next()).toMatchObject({ status: 200 })
  })
})

test('other verbs are a 405 with those that the card takes', async () => {
  const { fetch } = await openStill(scriptAgent)
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']) {
    const answer = await fetch(cardRequest({}, method))
    expect([method, answer.status, answer.headers.get('allow')]).toEqual([method, 405, 'GET, HEAD'])
  }
})

test('the card is open while every operation asks for credentials, and wrong ones do not close it', async () => {
  const { fetch } = await openStill(scriptAgent, { push: true })
  for (const headers of [{}, { authorization: 'Bearer mallory' }, { authorization: 'Basic AAAA' }, { 'a2a-version': '0.3' }] as Headers[])
    expect((await fetch(cardRequest(headers))).status).toBe(200)
  for (const binding of bindingNames) {
    for (const operation of operationNames) {
      const params = { id: 'x', taskId: 'x', message: userMessage('x') }
      expect((await call(fetch, binding, operation, params, { headers: { authorization: '' } })).status).toBe(401)
    }
  }
})

describe.each(bindingNames)('what belongs to one caller is kept by no cache over %s', (binding) => {
  const open = () =>
    openStill(agent({ name: 'A', description: 'B', extendedCard: () => ({ description: 'C' }) }, scriptAgent.run), { push: true })

  test('answers, errors and refusals say no-store', async () => {
    const { fetch } = await open()
    const { task } = await result(fetch, binding, 'SendMessage', { message: userMessage('ask') })
    const asked = [
      call(fetch, binding, 'SendMessage', { message: userMessage('x') }),
      call(fetch, binding, 'GetTask', { id: task.id }),
      call(fetch, binding, 'ListTasks', {}),
      call(fetch, binding, 'GetExtendedAgentCard', {}),
      call(fetch, binding, 'CancelTask', { id: task.id }),
      call(fetch, binding, 'CreateTaskPushNotificationConfig', { taskId: task.id, url: 'https://hook.test/' }),
      call(fetch, binding, 'GetTask', { id: 'nope' }),
      call(fetch, binding, 'ListTasks', { pageSize: -1 }),
      call(fetch, binding, 'ListTasks', {}, { as: 'mallory' }),
      call(fetch, binding, 'ListTasks', {}, { headers: { 'a2a-version': '0.3' } }),
    ]
    for (const { headers } of await Promise.all(asked)) expect(headers.get('cache-control')).toBe('no-store')
  })

  test('addresses that are not there say so too', async () => {
    const { fetch } = await open()
    for (const path of ['/', '/nothing', '/a2a/v1/nothing', '/rest', '/a2a']) {
      const answer = await fetch(cardRequest({}, 'GET', path))
      expect([path, answer.status, answer.headers.get('cache-control')]).toEqual([path, 404, 'no-store'])
    }
  })
})

describe('a signed card', () => {
  const read = async (fetch: (request: Request) => Promise<Response>) => {
    const answer = await fetch(cardRequest())
    // The card of our own server.
    return { etag: answer.headers.get('etag'), card: (await answer.json()) as AgentCard }
  }

  test('holds, and is the same with the same ETag for as long as its server lives', async () => {
    const { fetch, world } = await openStill(scriptAgent, { signing })
    const first = await read(fetch)
    expect(await verifyCard(first.card, trusted)).toBe('one')
    await world.advance(86_400_000)
    expect(await Promise.all(Array.from({ length: 10 }, () => read(fetch)))).toEqual(Array(10).fill(first))
    expect((await fetch(cardRequest({ 'if-none-match': String(first.etag) }))).status).toBe(304)
    // Signatures of ES256 differ each time: two servers, two cards.
    expect((await read((await openStill(scriptAgent, { signing })).fetch)).etag).not.toBe(first.etag)
  })

  test('shows no private part of its key', async () => {
    const { fetch } = await openStill(scriptAgent, { signing: { ...signing, jku: 'https://keys.test/jwks' } })
    expect(await (await fetch(cardRequest())).text()).not.toContain(String((signing.key as { d?: string }).d))
  })

  test('behind a proxy of many names it is made once for each of those in use', async () => {
    const server = await openSocket(scriptAgent, { trustedProxies: ['127.0.0.1'], signing })
    onTestFinished(() => server.close())
    const etagFor = async (host: string) =>
      (await fetch(`${server.url}${cardPath}`, { headers: { 'x-forwarded-host': host } })).headers.get('etag')
    const first = await etagFor('public.test')
    for (let i = 0; i < 100; i++) {
      await etagFor(`made-up-${i}.test`)
      if (i % 20 === 0) expect(await etagFor('public.test')).toBe(first)
    }
    expect(await etagFor('made-up-0.test')).not.toBe(first)
  })

  test('the extended card is signed as well, as the caller reads it', async () => {
    const more = agent({ name: 'A', description: 'B', extendedCard: ({ id }) => ({ description: `For ${id}.` }) }, () => 'x')
    const { fetch } = await openStill(more, { signing })
    for (const binding of bindingNames) {
      const card = await result(fetch, binding, 'GetExtendedAgentCard', {})
      expect(card.description).toBe('For alice.')
      expect(await verifyCard(card, trusted)).toBe('one')
      await expect(verifyCard({ ...card, description: 'B' }, trusted)).rejects.toThrow(/does not fit/)
    }
  })

  test.each<[string, object, RegExp]>([
    ['a public key', { signing: 'public' }, /^the option signing cannot sign the card: /],
    ['a key of another algorithm', { signing: 'ES384' }, /^the option signing cannot sign the card: /],
  ])('with %s the server does not start', async (_, { signing: how }: any, sentence) => {
    const key = how === 'public' ? await exportJWK(keys.publicKey) : signing.key
    const info = { name: 'A', description: 'B' }
    const options = {
      store: sqlite(':memory:'),
      auth: people,
      url: 'https://agent.test',
      signing: { ...signing, key, ...(how === 'ES384' && { alg: 'ES384' as const }) },
    }
    const started = createServer(
      agent(info, () => 'x'),
      options,
    )
    await expect(started).rejects.toThrow(TypeError)
    await expect(started).rejects.toThrow(sentence)
    await expect(started).rejects.not.toThrow(String((signing.key as { d?: string }).d))
  })
})

describe('the extended card', () => {
  const more = agent({ name: 'A', description: 'B', extendedCard: ({ id }) => ({ description: `For ${id}.` }) }, () => 'x')

  test('names the addresses under which its caller reaches the server', async () => {
    const server = await openSocket(more, { trustedProxies: ['127.0.0.0/8'] })
    onTestFinished(() => server.close())
    const headers = { 'x-forwarded-host': 'public.test', 'x-forwarded-proto': 'https', 'x-forwarded-prefix': '/agents' }
    for (const binding of bindingNames) {
      const through = await result(fetch, binding, 'GetExtendedAgentCard', {}, { url: server.url, headers })
      expect(through.supportedInterfaces.map(({ url }: any) => url)).toEqual([
        'https://public.test/agents/a2a/v1',
        'https://public.test/agents/rest',
      ])
      const direct = await result(fetch, binding, 'GetExtendedAgentCard', {}, { url: server.url })
      expect(direct.supportedInterfaces[0].url).toBe(`${server.url}/a2a/v1`)
    }
  })

  test.each(bindingNames)('declared but not there for this caller is ExtendedAgentCardNotConfigured, over %s', async (binding) => {
    const none = agent(
      { name: 'A', description: 'B', extendedCard: ({ id }) => (id === 'alice' ? { description: 'Hers.' } : undefined) },
      () => 'x',
    )
    const server = await openServer(none)
    expect((await result(server.fetch, binding, 'GetExtendedAgentCard', {})).description).toBe('Hers.')
    expect(await refusal(server.fetch, binding, 'GetExtendedAgentCard', {}, { as: 'bob' })).toMatchObject({
      reason: 'EXTENDED_AGENT_CARD_NOT_CONFIGURED',
    })
    await server.close()
  })

  test.each<[string, unknown]>([
    ['a text', 'abc'],
    ['members of wrong types', { supportedInterfaces: 'nope', name: 5 }],
    ['a required member that is empty', { name: '' }],
  ])('made of %s is an error of the agent and goes out to nobody', async (_, made) => {
    const lines: unknown[] = []
    const log = { ...quiet, error: (message: string, fields?: object) => lines.push([message, fields]) }
    const server = await openServer(
      agent({ name: 'A', description: 'B', extendedCard: () => made as object as never }, () => 'x'),
      { log },
    )
    for (const binding of bindingNames) {
      expect(await refusal(server.fetch, binding, 'GetExtendedAgentCard', {})).toMatchObject({ reason: 'INTERNAL' })
    }
    expect(lines).toHaveLength(2)
    await server.close()
  })

  test('needs a server that knows its callers', async () => {
    await expect(serve(more, { store: sqlite(':memory:'), log: quiet })).rejects.toThrow(/extendedCard needs a server with auth/)
  })
})

test('a stream is passed on as it comes: no cache, no repacking, no gathering', async () => {
  const { fetch } = await openStill(scriptAgent)
  for (const binding of bindingNames) {
    const seen: Headers[] = []
    const noting = async (request: Request) => {
      const answer = await fetch(request)
      seen.push(Object.fromEntries(answer.headers))
      return answer
    }
    for await (const _ of frames(noting, binding, 'SendStreamingMessage', { message: userMessage('chunks 2') }));
    expect(seen[0]).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    })
  }
})
