/** JSON Web Tokens as credentials: which are taken, which are refused, and what a token says of its caller. RFC 7519, RFC 8725. */

import { type CryptoKey, exportSPKI, importJWK, SignJWT } from 'jose'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { agent, type JwtOptions, jwt } from '../../src/index.js'
import { scriptAgent } from '../harness/script-agent.js'
import { bindingNames, call, openSocket, refusal, result, userMessage } from '../harness/server.js'
import { openStill } from '../runtime/kit.js'
import { audience, issuer, makeKey, openKeySet, start, type TestKey, type TokenOptions, tokenOf } from './issuer.js'

let key: TestKey
let other: TestKey
beforeAll(async () => {
  key = await makeKey('one')
  other = await makeKey('other')
})

const secret = 'a shared secret of 32 characters'

/** A server that takes tokens signed by `key`. */
async function open(options: Partial<JwtOptions> = {}) {
  const keys = (options.jwks ?? options.secret) ? {} : { jwks: { keys: [key.publicJwk] } as NonNullable<JwtOptions['jwks']> }
  const opened = await openStill(scriptAgent, { auth: jwt({ issuer, audience, ...keys, ...options }) })
  const ask = (token: string) => call(opened.fetch, 'HTTP+JSON', 'ListTasks', {}, { as: token })
  return { ...opened, ask, status: async (token: string) => (await ask(token)).status }
}

const base64url = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
const usualClaims = { iss: issuer, aud: audience, sub: 'alice', exp: start + 3600 }

describe.each(bindingNames)('over %s', (binding) => {
  test('a token of the issuer names its caller, and without one nothing is answered', async () => {
    const { fetch } = await open()
    const [alice, bob] = await Promise.all(['alice', 'bob'].map((sub) => tokenOf(key, { claims: { sub } })))
    const { task } = await result(fetch, binding, 'SendMessage', { message: userMessage('x') }, { as: alice as string })
    expect(await result(fetch, binding, 'GetTask', { id: task.id }, { as: alice as string })).toEqual(task)
    expect(await refusal(fetch, binding, 'GetTask', { id: task.id }, { as: bob as string })).toMatchObject({ reason: 'TASK_NOT_FOUND' })
    const refused = await call(fetch, binding, 'GetTask', { id: task.id }, { headers: { authorization: '' } })
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="a2a"'])
  })

  test('a token that does not hold is a 401 that says so, whatever is wrong with it', async () => {
    const { fetch } = await open()
    const answer = await call(fetch, binding, 'ListTasks', {}, { as: await tokenOf(other) })
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="a2a", error="invalid_token"'])
    expect((await call(fetch, binding, 'ListTasks', {}, { as: 'x' })).text).toBe(answer.text)
  })

  test('keys that cannot be read are a 503 with Retry-After and no 401', async () => {
    const set = await openKeySet([])
    await set.close()
    const { fetch, lines } = await open({ jwks: set.url })
    const token = await tokenOf(key)
    const answer = await call(fetch, binding, 'ListTasks', {}, { as: token })
    expect([answer.status, answer.headers.get('retry-after'), answer.headers.get('www-authenticate')]).toEqual([503, '1', null])
    const error = (answer.body as any).error
    expect((error.data ?? error.details)[0].reason).toBe('UNAVAILABLE')
    // The operator reads why, and nobody reads the token.
    expect(lines.filter(({ level }) => level === 'error')).toHaveLength(1)
    expect(String(lines.find(({ level }) => level === 'error')?.fields['error']?.cause)).toMatch(/fetch failed/)
    expect(JSON.stringify(lines)).not.toContain(token)
  })
})

describe('claims', () => {
  test.each<[string, TokenOptions, number]>([
    ['a list of audiences with ours', { claims: { aud: ['https://else.test', audience] } }, 200],
    ['another audience', { claims: { aud: 'https://else.test' } }, 401],
    ['an audience that begins like ours', { claims: { aud: `${audience}/x` } }, 401],
    ['no audience', { claims: { aud: undefined } }, 401],
    ['another issuer', { claims: { iss: 'https://else.test' } }, 401],
    ['our issuer with a slash', { claims: { iss: `${issuer}/` } }, 401],
    ['no issuer', { claims: { iss: undefined } }, 401],
    ['no subject', { claims: { sub: undefined } }, 401],
    ['an empty subject', { claims: { sub: '' } }, 401],
    ['a subject that is no text', { claims: { sub: 7 as never } }, 401],
    ['no expiry', { claims: { exp: undefined } }, 401],
    ['an expiry that is no number', { claims: { exp: '9999999999' as never } }, 401],
    ['an expiry in the last 30 s', { claims: { exp: start - 29 } }, 200],
    ['an expiry 30 s ago', { claims: { exp: start - 30 } }, 401],
    ['a beginning in 30 s', { claims: { nbf: start + 30 } }, 200],
    ['a beginning in 31 s', { claims: { nbf: start + 31 } }, 401],
    ['another type in its header', { header: { typ: 'at+jwt' } }, 200],
    ['a key of the set that did not sign it', { header: { kid: 'other' } }, 401],
    ['no key named', { header: { kid: undefined } }, 200],
    ['a critical header that nobody knows', { header: { crit: ['urn:x'], 'urn:x': 1 } }, 401],
  ])('a token with %s', async (_, options, status) => {
    const { ask } = await open()
    const token = await tokenOf(key, options)
    expect((await ask(token)).status).toBe(status)
  })

  test('the clock is the server’s, and how far it may be off an option', async () => {
    const { status, world } = await open({ clockSkew: '2m' })
    const token = await tokenOf(key, { claims: { exp: start + 10, nbf: start + 120 } })
    expect(await status(token)).toBe(200)
    await world.advance(129_999)
    expect(await status(token)).toBe(200)
    await world.advance(1)
    expect(await status(token)).toBe(401)
  })

  test('with no clock skew a token ends with its second', async () => {
    const { status, world } = await open({ clockSkew: 0 })
    const token = await tokenOf(key, { claims: { exp: start + 1 } })
    expect(await status(token)).toBe(200)
    await world.advance(1000)
    expect(await status(token)).toBe(401)
  })

  test('one of several audiences of the server is enough', async () => {
    const { status } = await open({ audience: ['https://a.test', 'https://b.test'] })
    expect(await status(await tokenOf(key, { claims: { aud: 'https://b.test' } }))).toBe(200)
    expect(await status(await tokenOf(key))).toBe(401)
  })

  test('another claim may name the caller, and then the subject is not needed', async () => {
    const { status } = await open({ idClaim: 'client_id' })
    expect(await status(await tokenOf(key, { claims: { sub: undefined, client_id: 'robot' } }))).toBe(200)
    expect(await status(await tokenOf(key))).toBe(401)
    const inherited = await open({ idClaim: 'toString' })
    expect(await inherited.status(await tokenOf(key))).toBe(401)
  })

  test('the agent reads the claims of its caller', async () => {
    const seen: unknown[] = []
    const curious = agent({ name: 'Curious', description: 'Reads claims.' }, ({ user }) => void seen.push(user))
    const auth = jwt({ issuer, audience, jwks: { keys: [key.publicJwk] as never } })
    const { fetch } = await openStill(curious, { auth })
    await result(
      fetch,
      'JSONRPC',
      'SendMessage',
      { message: userMessage('x') },
      { as: await tokenOf(key, { claims: { team: { name: 'red' } } }) },
    )
    expect(seen).toEqual([{ id: 'alice', claims: { ...usualClaims, team: { name: 'red' } } }])
  })

  test.each([
    ['a list', ['red', 'blue']],
    ['a text', 'red blue'],
  ])('tenants stand in their claim as %s', async (_, orgs) => {
    const { fetch } = await open({ tenantsClaim: 'orgs' })
    const as = await tokenOf(key, { claims: { orgs } })
    for (const tenant of ['red', 'blue', '']) expect((await result(fetch, 'JSONRPC', 'ListTasks', { tenant }, { as })).totalSize).toBe(0)
    expect(await refusal(fetch, 'JSONRPC', 'ListTasks', { tenant: 'green' }, { as })).toMatchObject({
      reason: 'INVALID_PARAMS',
      fields: ['tenant'],
    })
  })

  test('without a claim for tenants no token grants one', async () => {
    const { fetch } = await open()
    const as = await tokenOf(key, { claims: { tenants: ['red'], tenant: 'red' } })
    expect(await refusal(fetch, 'JSONRPC', 'ListTasks', { tenant: 'red' }, { as })).toMatchObject({ fields: ['tenant'] })
  })
})

describe('signatures', () => {
  test('a token without a signature is refused, however it spells that', async () => {
    const { status } = await open()
    const [head, body, signature] = (await tokenOf(key)).split('.')
    for (const alg of ['none', 'None', 'NONE', 'nOnE', '']) {
      const bare = base64url({ alg, kid: 'one' })
      for (const end of ['', signature]) expect(await status(`${bare}.${body}.${end}`)).toBe(401)
    }
    expect(await status(`${head}.${body}.`)).toBe(401)
    expect(await status(`${head}.${body}`)).toBe(401)
  })

  test('a public key is no shared secret (RFC 8725 §2.1)', async () => {
    const rsa = await makeKey('rsa', 'RS256')
    const { status } = await open({ jwks: { keys: [rsa.publicJwk] as never } })
    expect(await status(await tokenOf(rsa))).toBe(200)
    const publicKey = (await importJWK(rsa.publicJwk, 'RS256', { extractable: true })) as CryptoKey
    for (const text of [await exportSPKI(publicKey), JSON.stringify(rsa.publicJwk), String(rsa.publicJwk.n)]) {
      for (const alg of ['HS256', 'HS384', 'HS512']) {
        const forged = await new SignJWT(usualClaims).setProtectedHeader({ alg, kid: 'rsa' }).sign(new TextEncoder().encode(text))
        expect(await status(forged)).toBe(401)
      }
    }
  })

  test('an algorithm that is not listed is refused, even with a key of the set', async () => {
    const wide = await makeKey('wide', 'ES384')
    const narrow = await open({ jwks: { keys: [key.publicJwk, wide.publicJwk] as never } })
    expect(await narrow.status(await tokenOf(wide))).toBe(401)
    const listed = await open({ jwks: { keys: [key.publicJwk, wide.publicJwk] as never }, algorithms: ['ES384'] })
    expect(await listed.status(await tokenOf(wide))).toBe(200)
    expect(await listed.status(await tokenOf(key))).toBe(401)
  })

  test.each(['RS256', 'PS256', 'ES256', 'EdDSA'])('%s is taken by default', async (alg) => {
    const own = await makeKey('own', alg)
    const { status } = await open({ jwks: { keys: [own.publicJwk] as never } })
    expect(await status(await tokenOf(own))).toBe(200)
  })

  test('a token that names no key holds if any key of the set signed it', async () => {
    const bare = [key, other].map(({ publicJwk: { kid: _, ...rest } }) => rest)
    const { status } = await open({ jwks: { keys: bare as never } })
    const stranger = await makeKey('stranger')
    const header = { kid: undefined }
    expect(await status(await tokenOf(key, { header }))).toBe(200)
    expect(await status(await tokenOf(other, { header }))).toBe(200)
    expect(await status(await tokenOf(stranger, { header }))).toBe(401)
    expect(await status(await tokenOf(other, { header, claims: { aud: 'https://else.test' } }))).toBe(401)
  })

  test('a key that the token brings itself is not looked at', async () => {
    const { status } = await open()
    const set = await openKeySet([other.publicJwk])
    onTestFinished(() => set.close())
    for (const header of [{ jwk: other.publicJwk }, { jku: set.url }, { x5u: set.url }]) {
      expect(await status(await tokenOf(other, { header: { ...header, kid: 'one' } }))).toBe(401)
    }
    expect(set.reads()).toBe(0)
  })

  test('a shared secret signs tokens too, and only its own', async () => {
    const { status } = await open({ secret })
    const signed = (text: string, alg = 'HS256') =>
      new SignJWT(usualClaims).setProtectedHeader({ alg }).sign(new TextEncoder().encode(text))
    expect(await status(await signed(secret))).toBe(200)
    expect(await status(await signed(`${secret}!`))).toBe(401)
    expect(await status(await signed(secret, 'HS512'))).toBe(401)
    expect(await status(await tokenOf(key))).toBe(401)
  })

  test('garbage of 100 KB is a 401 like any other, and of a socket a 431', async () => {
    const { ask } = await open()
    const good = await tokenOf(key)
    const [head = '', body = '', signature = ''] = good.split('.')
    const long = 'A'.repeat(100_000)
    const nested = base64url(`{"alg":"ES256","kid":"one","x":${'['.repeat(30_000)}${']'.repeat(30_000)}}`)
    const garbage = [
      long,
      `${long}.${body}.${signature}`,
      `${head}.${long}.${signature}`,
      `${good}${long}`,
      `${nested}.${body}.${signature}`,
      '.'.repeat(100_000),
      `${good}.${good}`,
    ]
    for (const token of [...garbage, '..', '.', 'e30.e30.e30', `${head}.${body}.${signature}=`]) {
      const answer = await ask(token)
      expect([token.slice(0, 20), answer.status]).toEqual([token.slice(0, 20), 401])
      expect(answer.text.length).toBeLessThan(1000)
    }
    const server = await openSocket(scriptAgent, { auth: jwt({ issuer, audience, jwks: { keys: [key.publicJwk] as never } }) })
    onTestFinished(() => server.close())
    expect((await fetch(`${server.url}/rest/tasks`, { headers: { authorization: `Bearer ${long}` } })).status).toBe(431)
    expect((await fetch(`${server.url}/rest/tasks`, { headers: { authorization: `Bearer ${'A'.repeat(10_000)}` } })).status).toBe(401)
  })
})

test('the card says that tokens are bearer tokens in the form of JWT', async () => {
  const { fetch } = await open()
  const card = (await (await fetch(new Request('http://agent.test/.well-known/agent-card.json'))).json()) as any
  expect(card.securitySchemes).toEqual({ bearer: { httpAuthSecurityScheme: { scheme: 'Bearer', bearerFormat: 'JWT' } } })
  expect(card.securityRequirements).toEqual([{ schemes: { bearer: { list: [] } } }])
})
