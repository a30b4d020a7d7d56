/** Field cases of the card: what it promises is true, where it points answers, and who signed it can be proved. */

import { generateAgentCardSignature, AgentCard as SdkCard, verifyAgentCardSignature } from '@a2a-js/sdk'
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory, RestTransportFactory } from '@a2a-js/sdk/client'
import { exportJWK, type GenerateKeyPairResult, generateKeyPair } from 'jose'
import { afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type AgentCard, agent, anonymous, CardSignatureError, type SigningKey, signCard, verifyCard } from '../../src/index.js'
import { openRaw, rawRequest } from '../fuzz/raw-http.js'
import { scriptAgent } from '../harness/script-agent.js'
import { bindingNames, frames, openSocket, refusal, requestFor, result, userMessage } from '../harness/server.js'
import { everything, taskOf, textRequest } from '../interop/sdk-client.js'
import { openStill } from '../runtime/kit.js'

const cardPath = '/.well-known/agent-card.json'
const interfacesAt = (base: string) => [`${base}/a2a/v1`, `${base}/rest`]
const urlsOf = (card: any): string[] => card.supportedInterfaces.map(({ url }: any) => url)

const extended = agent({ name: 'More', description: 'Shows more.', extendedCard: () => ({ description: 'For you.' }) }, () => 'x')

let keys: GenerateKeyPairResult
let signing: SigningKey
beforeAll(async () => {
  keys = await generateKeyPair('ES256', { extractable: true })
  signing = { key: await exportJWK(keys.privateKey), kid: 'one', alg: 'ES256' }
})
const trusted = ({ kid }: { readonly kid: string }) => (kid === 'one' ? keys.publicKey : undefined)
const sdkVerify = (card: unknown) => verifyAgentCardSignature(async () => keys.publicKey)(SdkCard.fromJSON(card))

// The official verifier prints every signature that does not hold.
beforeEach(() => void vi.spyOn(console, 'debug').mockImplementation(() => undefined))
afterEach(() => void vi.restoreAllMocks())

describe.each(bindingNames)('over %s', (binding) => {
  test('F089 an operation that the card does not promise: it is refused by its own error, before its parameters are looked at', async () => {
    const { fetch, server } = await openStill(scriptAgent)
    const { capabilities } = (await (await server.fetch(new Request(`http://agent.test${cardPath}`))).json()) as any
    expect(capabilities).toMatchObject({ streaming: true, pushNotifications: false, extendedAgentCard: false })
    for (const operation of ['Create', 'Get', 'List', 'Delete'] as const) {
      const name = `${operation}TaskPushNotificationConfig${operation === 'List' ? 's' : ''}` as const
      // 'ListTaskPushNotificationConfigs' is the only one of the plural, and it was made the line before.
      const error = await refusal(fetch, binding, name as 'GetTaskPushNotificationConfig', { taskId: 'nope', id: 'nope', url: 7 })
      expect(error).toMatchObject({ reason: 'PUSH_NOTIFICATION_NOT_SUPPORTED', code: binding === 'JSONRPC' ? -32003 : 400 })
    }
    for (const operation of ['SendMessage', 'SendStreamingMessage'] as const) {
      const params = { message: userMessage('x'), configuration: { taskPushNotificationConfig: { url: 'https://hook.test/' } } }
      expect(await refusal(fetch, binding, operation, params)).toMatchObject({ reason: 'PUSH_NOTIFICATION_NOT_SUPPORTED' })
    }
    expect(await refusal(fetch, binding, 'GetExtendedAgentCard', {})).toMatchObject({ reason: 'UNSUPPORTED_OPERATION' })
    expect((await result(fetch, binding, 'ListTasks', {})).totalSize).toBe(0)
    const { fetch: more } = await openStill(extended)
    expect(await result(more, binding, 'GetExtendedAgentCard', {})).toMatchObject({
      description: 'For you.',
      capabilities: { extendedAgentCard: true },
    })
  })

  test('F107 a card that points beside the routes: a client that knows the card alone reaches every operation under a prefix', async () => {
    const prefix = '/agents/one'
    const { fetch } = await openStill(scriptAgent, {
      url: `http://agent.test${prefix}/`,
      mounts: { jsonRpc: '/rpc', httpJson: '/v1/http' },
    })
    // A host that mounts the handler under the prefix and takes it off before it hands requests on.
    const seen: string[] = []
    const fetchImpl: typeof globalThis.fetch = async (input, init) => {
      const request = new Request(input, init)
      const url = new URL(request.url)
      seen.push(url.pathname)
      if (!url.pathname.startsWith(`${prefix}/`)) return new Response('not here', { status: 404 })
      url.pathname = url.pathname.slice(prefix.length)
      const headers = new Headers(request.headers)
      headers.set('authorization', 'Bearer alice')
      const body = request.method === 'POST' ? { body: await request.text() } : {}
      return fetch(new Request(url, { method: request.method, headers, ...body }))
    }
    const factory = new ClientFactory({
      transports: [new JsonRpcTransportFactory({ fetchImpl }), new RestTransportFactory({ fetchImpl })],
      preferredTransports: [binding],
      cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
    })
    const client = await factory.createFromUrl(`http://agent.test${prefix}/`)
    const done = taskOf(await client.sendMessage(textRequest('echo')))
    expect((await client.getTask({ tenant: '', id: done.id })).id).toBe(done.id)
    expect((await client.listTasks(everything)).totalSize).toBe(1)
    const asked = taskOf(await client.sendMessage(textRequest('ask')))
    for await (const frame of client.resubscribeTask({ tenant: '', id: asked.id })) {
      expect(frame.payload?.$case).toBe('task')
      break
    }
    expect((await client.cancelTask({ tenant: '', id: asked.id, metadata: undefined })).id).toBe(asked.id)
    let last: unknown
    for await (const frame of client.sendMessageStream(textRequest('chunks 2'))) last = frame.payload?.$case
    expect(last).toBe('statusUpdate')
    expect(new Set(seen.slice(1).map((path) => path.startsWith(`${prefix}${binding === 'JSONRPC' ? '/rpc' : '/v1/http/'}`)))).toEqual(
      new Set([true]),
    )
  })
})

const spoofed = {
  'x-forwarded-proto': 'https',
  'x-forwarded-host': 'evil.example',
  'x-forwarded-prefix': '/evil',
  forwarded: 'host=evil.example;proto=https',
}

describe('addresses in the card', () => {
  const cardOf = async (url: string, headers: Record<string, string> = {}): Promise<any> =>
    (await fetch(`${url}${cardPath}`, { headers })).json()

  test('F103 the wrong host: the configured URL wins over every header and every Host', async () => {
    const { fetch } = await openStill(scriptAgent, { url: 'https://public.example/agents/', trustedProxies: ['127.0.0.1', '::1'] })
    for (const host of ['agent.test', 'evil.example', 'localhost:1']) {
      const answer = await fetch(new Request(`http://${host}${cardPath}`, { headers: spoofed }))
      expect(urlsOf(await answer.json())).toEqual(interfacesAt('https://public.example/agents'))
    }
  })

  test('F103 the wrong host: forwarded headers of a peer that is not trusted say nothing, and neither does Host', async () => {
    const server = await openSocket(scriptAgent, { trustedProxies: ['10.0.0.0/8'] })
    onTestFinished(() => server.close())
    expect(urlsOf(await cardOf(server.url, spoofed))).toEqual(interfacesAt(server.url))
    const connection = await openRaw(server.url)
    onTestFinished(() => connection.destroy())
    await connection.write(rawRequest('GET', cardPath, { ...spoofed, host: 'evil.example' }))
    const answer = await connection.next()
    expect(answer?.text).not.toContain('evil')
    expect(JSON.stringify(answer?.headers)).not.toContain('evil')
    expect(urlsOf(JSON.parse(answer?.text ?? ''))).toEqual(interfacesAt(server.url))
    expect(urlsOf(await cardOf(server.url))).toEqual(interfacesAt(server.url))
  })

  test.each([
    [{ 'x-forwarded-proto': 'https', 'x-forwarded-host': 'public.example' }, 'https://public.example'],
    [
      { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'public.example:8443', 'x-forwarded-prefix': '/agents' },
      'https://public.example:8443/agents',
    ],
    [{ 'x-forwarded-proto': 'http, https', 'x-forwarded-host': 'evil.example, public.example' }, 'https://public.example'],
  ])('F103 the wrong host: those of a trusted proxy are what callers reach the server by: %j', async (headers, base) => {
    const server = await openSocket(extended, { trustedProxies: ['127.0.0.0/8'] })
    onTestFinished(() => server.close())
    expect(urlsOf(await cardOf(server.url, headers))).toEqual(interfacesAt(base))
    // One caller's address is no other's.
    expect(urlsOf(await cardOf(server.url))).toEqual(interfacesAt(server.url))
    for (const binding of bindingNames) {
      const card = await result(fetch, binding, 'GetExtendedAgentCard', {}, { url: server.url, headers })
      expect(urlsOf(card)).toEqual(interfacesAt(base))
    }
  })

  test.each([
    { 'x-forwarded-proto': 'javascript', 'x-forwarded-host': 'public.example' },
    { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'user@public.example' },
    { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'public.example/path?x=' },
    { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'public.example', 'x-forwarded-prefix': '//evil.example' },
    { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'public.example', 'x-forwarded-prefix': '/../x"' },
    { 'x-forwarded-proto': 'https' },
  ])('F103 the wrong host: what makes no address is passed over, even from a trusted proxy: %j', async (headers) => {
    const server = await openSocket(scriptAgent, { trustedProxies: ['127.0.0.0/8'] })
    onTestFinished(() => server.close())
    expect(urlsOf(await cardOf(server.url, headers as Record<string, string>))).toEqual(interfacesAt(server.url))
  })
})

describe('a signed card on its way', () => {
  test('F104 a broken signature: a card that was rewritten is refused in words that say so, and its unchanged form is not', async () => {
    const { fetch } = await openStill(scriptAgent, { url: 'https://public.example', signing, auth: anonymous() })
    // The card of our own server.
    const card = (await (await fetch(new Request(`http://agent.test${cardPath}`))).json()) as AgentCard
    expect(urlsOf(card)).toEqual(interfacesAt('https://public.example'))
    expect(await verifyCard(card, trusted)).toBe('one')
    await expect(sdkVerify(card)).resolves.toBeUndefined()
    const [first, ...others] = card.supportedInterfaces
    const rewritten = [
      { ...card, supportedInterfaces: [{ ...first, url: 'https://gateway.example/a2a/v1' }, ...others] },
      { ...card, supportedInterfaces: others },
      { ...card, description: `${card.description} ` },
      { ...card, capabilities: { ...card.capabilities, pushNotifications: true } },
    ] as readonly AgentCard[]
    for (const changed of rewritten) {
      await expect(verifyCard(changed, trusted)).rejects.toThrow(CardSignatureError)
      await expect(verifyCard(changed, trusted)).rejects.toThrow(/No signature of the agent card holds: .*does not fit/)
      await expect(sdkVerify(changed)).rejects.toThrow()
    }
    const { signatures: _, ...bare } = card
    await expect(verifyCard(bare, trusted)).rejects.toThrow(/not signed/)
  })

  test('F104 a broken signature: behind a trusted proxy the card is signed as its callers read it', async () => {
    const server = await openSocket(scriptAgent, { trustedProxies: ['127.0.0.1'], signing })
    onTestFinished(() => server.close())
    for (const host of ['one.example', 'two.example']) {
      const answer = await fetch(`${server.url}${cardPath}`, { headers: { 'x-forwarded-proto': 'https', 'x-forwarded-host': host } })
      // The card of our own server.
      const card = (await answer.json()) as AgentCard
      expect(urlsOf(card)).toEqual(interfacesAt(`https://${host}`))
      expect(await verifyCard(card, trusted)).toBe('one')
    }
  })
})

test('F106 a card that is not where it is looked for: it answers GET and HEAD, and 304 to who has it; the old path is not there', async () => {
  const server = await openSocket(scriptAgent)
  onTestFinished(() => server.close())
  const ask = (init: RequestInit = {}, path = cardPath) => fetch(`${server.url}${path}`, init)
  const whole = await ask()
  const etag = whole.headers.get('etag') ?? ''
  const modified = whole.headers.get('last-modified') ?? ''
  expect([whole.status, whole.headers.get('content-type'), whole.headers.get('cache-control')]).toEqual([
    200,
    'application/json',
    expect.stringMatching(/max-age=\d+/),
  ])
  const head = await ask({ method: 'HEAD' })
  expect([head.status, head.headers.get('etag'), await head.text()]).toEqual([200, etag, ''])
  expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(await whole.text())))
  for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
    const fresh = await ask({ headers: { 'if-none-match': known } })
    expect([fresh.status, fresh.headers.get('etag'), await fresh.text()]).toEqual([304, etag, ''])
  }
  expect((await ask({ headers: { 'if-none-match': '"other"' } })).status).toBe(200)
  expect((await ask({ headers: { 'if-modified-since': modified } })).status).toBe(304)
  expect((await ask({ headers: { 'if-modified-since': modified, 'if-none-match': '"other"' } })).status).toBe(200)
  expect((await ask({ headers: { 'if-modified-since': new Date(0).toUTCString() } })).status).toBe(200)
  expect((await ask({}, `${cardPath}/`)).status).toBe(200)
  expect((await ask({}, '/.well-known/agent.json')).status).toBe(404)
  const post = await ask({ method: 'POST' })
  expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
})

const plainCard = {
  name: 'Müller & Söhne',
  description: 'Signs.',
  version: '1',
  supportedInterfaces: [{ url: 'https://a.example/rpc', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: { streaming: true },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 's', name: 's', description: 's', tags: ['t'] }],
} satisfies AgentCard

describe('signatures between implementations', () => {
  const cards: readonly (readonly [string, AgentCard])[] = [
    [
      'what is false where it may be left out',
      { ...plainCard, capabilities: { streaming: false, pushNotifications: false, extendedAgentCard: false } },
    ],
    [
      'an extension that is not required',
      { ...plainCard, capabilities: { streaming: true, extensions: [{ uri: 'urn:x', required: false, description: '' }] } },
    ],
    [
      'lists that may be empty',
      { ...plainCard, skills: [{ id: 's', name: 's', description: 's', tags: ['t'], examples: [], inputModes: [] }] },
    ],
    [
      'keys and texts beyond ASCII',
      {
        ...plainCard,
        capabilities: {
          streaming: true,
          extensions: [{ uri: 'urn:x', params: { ö: 'ü', '\u20ac': 1, 'a"b': '\u2028', '😀': 1e21, A: 0.1 } }],
        },
      },
    ],
    ['an empty text that was set', { ...plainCard, documentationUrl: '' }],
  ]

  test.each(cards)(
    'F109 a signature that fails elsewhere: ours holds for the official implementation and for us over %s',
    async (_, card) => {
      const signed = await signCard(card, signing)
      expect(await verifyCard(signed, trusted)).toBe('one')
      await expect(sdkVerify(signed)).resolves.toBeUndefined()
      // As it arrives over a wire.
      expect(await verifyCard(JSON.parse(JSON.stringify(signed)), trusted)).toBe('one')
    },
  )

  test.each([...cards, ['no skills at all', { ...plainCard, skills: [] }] as const])(
    'F109 a signature that fails here: that of the official implementation holds for us over %s',
    async (_, card) => {
      const sign = generateAgentCardSignature(keys.privateKey, { alg: 'ES256', kid: 'one', typ: 'JOSE' })
      // JSON of a card is a card.
      const signed = SdkCard.toJSON(await sign(SdkCard.fromJSON(card))) as AgentCard
      expect(await verifyCard(signed, trusted)).toBe('one')
    },
  )

  test('F109 a signature that would fail elsewhere: a card with an empty required member is not signed at all', async () => {
    await expect(signCard({ ...plainCard, skills: [] }, signing)).rejects.toThrow(/skills/)
  })

  test('F109 a signature that proves nothing: no algorithm, an unknown key and a key from elsewhere are no proof', async () => {
    const signed = await signCard(plainCard, { ...signing, jku: 'https://keys.example/jwks' })
    const asked: unknown[] = []
    await verifyCard(signed, (header) => {
      asked.push(header)
      return keys.publicKey
    })
    expect(asked).toEqual([{ kid: 'one', alg: 'ES256', jku: 'https://keys.example/jwks' }])
    await expect(verifyCard(signed, ({ jku }) => (jku === undefined ? keys.publicKey : undefined))).rejects.toThrow(/not trusted/)
    const { publicKey } = await generateKeyPair('ES256')
    await expect(verifyCard(signed, () => publicKey)).rejects.toThrow(CardSignatureError)
    const head = Buffer.from(JSON.stringify({ alg: 'none', kid: 'one', typ: 'JOSE' })).toString('base64url')
    await expect(verifyCard({ ...plainCard, signatures: [{ protected: head, signature: '' }] }, trusted)).rejects.toThrow(
      CardSignatureError,
    )
  })
})

test('F107 paths and interfaces come from one place: with other mounts the default ones are not there', async () => {
  const { fetch } = await openStill(scriptAgent, { mounts: { jsonRpc: '/rpc', httpJson: '/http' } })
  const card = await (await fetch(new Request(`http://agent.test${cardPath}`))).json()
  expect(urlsOf(card)).toEqual(['http://agent.test/rpc', 'http://agent.test/http'])
  for (const binding of bindingNames) expect((await fetch(requestFor(binding, 'ListTasks', {}))).status).toBe(404)
  await expect(frames(fetch, 'JSONRPC', 'SendStreamingMessage', { message: userMessage('x') }).next()).rejects.toThrow(/METHOD_NOT_FOUND/)
})
