/** OAuth 2.0 at the consent door: the code grant with PKCE, from the page to the credential, and everything that is refused. */

import { describe, expect, test } from 'vitest'
import type { OAuthProvider } from '../../src/server/consent-providers.js'
import {
  accessToken,
  askConsent,
  base,
  hourMs,
  type Opening,
  openConsents,
  openDoor,
  openProvider,
  recordOf,
  stateOfTask,
  type TestProvider,
  textOf,
} from './consent-kit.js'

const redirectUri = `${base}/consent/callback`
const asksOAuth = { oauth: 'calendar', scopes: ['calendar.book'] }

/** The doors of the provider, given instead of asked for. */
const doorsOf = ({ url }: TestProvider) => ({ authorizationEndpoint: `${url}/authorize?audience=rooms`, tokenEndpoint: `${url}/token` })

async function openFlow(
  configure: (provider: TestProvider) => OAuthProvider = (p) => ({ issuer: p.url, clientId: 'venue' }),
  opening: Opening = {},
) {
  const opened = await openConsents()
  const provider = await openProvider()
  const open = openDoor(opened, { providers: { calendar: configure(provider) }, ...opening })
  const asked = await askConsent(opened, { asked: asksOAuth })
  const visitor = open()
  return {
    opened,
    provider,
    open,
    asked,
    visitor,
    /** Agrees on our page, and gives the address that the browser is sent to. */
    async agree(state = asked.state, by = visitor) {
      const reply = await by.submit(state, { decision: 'agree' })
      expect(reply.status).toBe(303)
      return reply.headers['location'] ?? ''
    },
  }
}

const comeBack = (query: URLSearchParams) => `callback?${query}`

test('who agrees is sent to the provider, and comes back with what becomes a credential', async () => {
  const { opened, provider, asked, visitor, agree } = await openFlow()
  const page = await visitor.visit('GET', asked.state)
  expect(textOf(page)).toContain(new URL(provider.url).host)
  expect(page.headers['content-security-policy']).toContain("form-action 'self' http:;")
  const location = new URL(await agree())
  expect(location.origin + location.pathname).toBe(`${provider.url}/authorize`)
  expect(Object.fromEntries(location.searchParams)).toEqual({
    response_type: 'code',
    client_id: 'venue',
    redirect_uri: redirectUri,
    scope: 'calendar.book',
    state: asked.state,
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge_method: 'S256',
  })
  const reply = await visitor.visit('GET', comeBack(provider.allow(location.href, { iss: provider.url })))
  expect(reply.status).toBe(200)
  expect(textOf(reply)).toContain('You may close this window')
  expect(await recordOf(opened, asked)).toEqual({ granted: { token: accessToken, scopes: ['calendar.book', 'calendar.read'] } })
  expect(JSON.stringify([page, reply, opened.lines])).not.toMatch(/SECRET/)
})

test('a provider that names no scopes has granted those that were asked for', async () => {
  const { opened, provider, asked, visitor, agree } = await openFlow()
  const query = provider.allow(await agree())
  provider.answer({ status: 200, body: JSON.stringify({ access_token: accessToken, token_type: 'bearer' }) })
  await visitor.visit('GET', comeBack(query))
  expect(await recordOf(opened, asked)).toEqual({ granted: { token: accessToken, scopes: ['calendar.book'] } })
})

describe('the client proves who it is as configured:', () => {
  const basic = `Basic ${Buffer.from('venue:s%3Acret').toString('base64')}`
  test.each([
    { how: 'by Basic, the default with a secret', more: { clientSecret: 's:cret' }, authorization: basic, form: {} },
    { how: 'by Basic', more: { clientSecret: 's:cret', clientAuthentication: 'basic' as const }, authorization: basic, form: {} },
    {
      how: 'in the body',
      more: { clientSecret: 's:cret', clientAuthentication: 'post' as const },
      authorization: undefined,
      form: { client_id: 'venue', client_secret: 's:cret' },
    },
    { how: 'not at all, without a secret', more: {}, authorization: undefined, form: { client_id: 'venue' } },
    { how: 'not at all', more: { clientAuthentication: 'none' as const }, authorization: undefined, form: { client_id: 'venue' } },
  ])('$how', async ({ more, authorization, form }) => {
    const { provider, visitor, agree } = await openFlow((p) => ({ ...doorsOf(p), clientId: 'venue', ...more }))
    const location = await agree()
    expect(new URL(location).searchParams.get('audience')).toBe('rooms')
    const query = provider.allow(location)
    expect((await visitor.visit('GET', comeBack(query))).status).toBe(200)
    const [request] = provider.forms
    expect(request?.authorization).toBe(authorization)
    const { code_verifier: verifier, ...fields } = Object.fromEntries(request?.form ?? [])
    expect(verifier).toMatch(/^[\w-]{43}$/)
    expect(fields).toEqual({ grant_type: 'authorization_code', code: query.get('code'), redirect_uri: redirectUri, ...form })
  })
})

describe('what the provider says about itself', () => {
  test('is asked for when first needed, and again after an hour', async () => {
    const { opened, provider, asked, visitor, agree } = await openFlow()
    expect(provider.asked).toEqual([])
    await visitor.visit('GET', asked.state)
    await agree()
    expect(provider.asked).toEqual(['/.well-known/openid-configuration'])
    const later = await askConsent(opened, { asked: asksOAuth, timeoutMs: 9 * hourMs })
    await opened.world.advance(hourMs - 1)
    await visitor.visit('GET', later.state)
    expect(provider.asked).toHaveLength(1)
    await opened.world.advance(1)
    await visitor.visit('GET', later.state)
    expect(provider.asked).toHaveLength(2)
  })

  test('may be at the address of OAuth alone (RFC 8414)', async () => {
    const { provider, agree } = await openFlow()
    provider.metadata = { at: 'oauth-authorization-server' }
    expect(await agree()).toContain(`${provider.url}/authorize`)
    expect(provider.asked).toEqual(['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server'])
  })

  test.each([
    { what: 'missing', metadata: undefined },
    { what: 'of another issuer', metadata: { issuer: 'https://evil.test' } },
    { what: 'with an address that is no https', metadata: { authorization_endpoint: 'http://evil.test/authorize' } },
    { what: 'with an address of no host', metadata: { token_endpoint: 'javascript:alert(1)' } },
    { what: 'without an address', metadata: { token_endpoint: undefined } },
  ])('is of no use when it is $what: the person is told to try again, and can', async ({ metadata }) => {
    const { opened, provider, asked, visitor, agree } = await openFlow()
    provider.metadata = metadata
    const before = await stateOfTask(opened, asked)
    expect((await visitor.visit('GET', asked.state)).status).toBe(200)
    const reply = await visitor.submit(asked.state, { decision: 'agree' })
    expect(reply.status).toBe(502)
    expect(textOf(reply)).toContain(`<a href="${base}/consent/${asked.state}">`)
    expect(reply.headers).not.toHaveProperty('location')
    expect(await stateOfTask(opened, asked)).toEqual(before)
    provider.metadata = {}
    expect(await agree()).toContain(`${provider.url}/authorize`)
  })
})

describe('the answer of a provider is refused, and the task unchanged,', () => {
  test('when the person said no there: the agent is told', async () => {
    const { opened, provider, asked, visitor, agree } = await openFlow()
    await agree()
    const reply = await visitor.visit('GET', comeBack(new URLSearchParams({ error: 'access_denied', state: asked.state })))
    expect(reply.status).toBe(200)
    expect(textOf(reply)).toContain('<h1>Declined</h1>')
    expect(await recordOf(opened, asked)).toEqual({ denied: 'the provider was told not to allow it' })
    expect(provider.forms).toEqual([])
  })

  test.each([
    { what: 'with another error', query: { error: 'server_error' }, reason: 'server_error' },
    { what: 'with an error of no known form', query: { error: '<b>SECRET</b>' }, reason: 'an error without a known name' },
    { what: 'without a code', query: {}, reason: /no authorization code/ },
    { what: 'of another issuer', query: { code: 'c', iss: 'https://evil.test' }, reason: /unexpected "iss"/ },
    { what: 'a denial of another issuer', query: { error: 'access_denied', iss: 'https://evil.test' }, reason: /unexpected "iss"/ },
    { what: 'of the implicit grant', query: { id_token: 'SECRET', code: 'c' }, reason: /implicit/ },
  ])('when it comes $what', async ({ query, reason }) => {
    const { opened, provider, asked, visitor, agree } = await openFlow()
    await agree()
    const before = await stateOfTask(opened, asked)
    const given = Object.entries({ state: asked.state, ...query }).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
    const reply = await visitor.visit('GET', comeBack(new URLSearchParams(given)))
    expect(reply.status).toBe(502)
    expect(opened.lines.at(-1)).toMatchObject({ level: 'warn', fields: { reason: expect.stringMatching(reason) } })
    expect(JSON.stringify([reply, opened.lines])).not.toMatch(/SECRET/)
    expect(await stateOfTask(opened, asked)).toEqual(before)
    expect(provider.forms).toEqual([])
  })

  test('when a parameter is there twice', async () => {
    const { opened, provider, asked, visitor, agree } = await openFlow()
    const query = provider.allow(await agree())
    const before = await stateOfTask(opened, asked)
    query.append('code', 'another')
    expect((await visitor.visit('GET', comeBack(query))).status).toBe(502)
    query.delete('code')
    query.append('state', 'another')
    expect((await visitor.visit('GET', comeBack(query))).status).toBe(502)
    expect(await stateOfTask(opened, asked)).toEqual(before)
    expect(provider.forms).toEqual([])
  })

  test('when the issuer is missing that the provider says it sends (RFC 9207)', async () => {
    const { opened, provider, asked, visitor, agree } = await openFlow()
    provider.metadata = { authorization_response_iss_parameter_supported: true }
    const query = provider.allow(await agree())
    expect((await visitor.visit('GET', comeBack(query))).status).toBe(502)
    query.set('iss', provider.url)
    expect((await visitor.visit('GET', comeBack(query))).status).toBe(200)
    expect(await recordOf(opened, asked)).toHaveProperty('granted')
  })

  test('when the code was made for the request of somebody else', async () => {
    const { opened, provider, asked, agree, open } = await openFlow()
    const mine = await askConsent(opened, { owner: 'eve', asked: asksOAuth })
    const stolen = provider.allow(await agree()).get('code') ?? ''
    const eve = open()
    await agree(mine.state, eve)
    const before = [await stateOfTask(opened, asked), await stateOfTask(opened, mine)]
    const reply = await eve.visit('GET', comeBack(new URLSearchParams({ code: stolen, state: mine.state })))
    expect(reply.status).toBe(502)
    expect(opened.lines.at(-1)?.fields).toEqual({ reason: 'HTTP 400, invalid_grant' })
    expect([await stateOfTask(opened, asked), await stateOfTask(opened, mine)]).toEqual(before)
  })

  test('when it comes to another browser than the one in which somebody agreed', async () => {
    const { opened, provider, asked, agree, open } = await openFlow()
    const query = provider.allow(await agree())
    const before = await stateOfTask(opened, asked)
    const victim = open()
    const reply = await victim.visit('GET', comeBack(query))
    expect(reply.status).toBe(403)
    expect(textOf(reply)).toContain(`<a href="${base}/consent/${asked.state}">`)
    const name = (await open().submit(asked.state, { decision: 'agree' })).headers['set-cookie']?.split('=')[0]
    for (const cookie of [`${name}=`, `${name}=${'A'.repeat(43)}`, '__Host-consent-0=x', 'x'.repeat(9_000), ';;=;']) {
      expect((await victim.visit('GET', comeBack(query), { headers: { cookie } })).status).toBe(403)
    }
    const other = await askConsent(opened, { asked: asksOAuth })
    await agree(other.state, victim)
    expect((await victim.visit('GET', comeBack(query))).status).toBe(403)
    expect((await victim.visit('GET', comeBack(new URLSearchParams({ error: 'access_denied', state: asked.state })))).status).toBe(403)
    expect(provider.forms).toEqual([])
    expect(await stateOfTask(opened, asked)).toEqual(before)
  })

  test('when the state is used, expired, forged, missing, or of a request that asks no provider', async () => {
    const { opened, provider, asked, visitor, agree } = await openFlow()
    const query = provider.allow(await agree())
    expect((await visitor.visit('GET', comeBack(query))).status).toBe(200)
    const expiring = await askConsent(opened, { asked: asksOAuth })
    await agree(expiring.state)
    const byLink = await askConsent(opened, { asked: { link: 'https://calendar.test/' }, timeoutMs: undefined })
    await agree(byLink.state)
    await opened.world.advance(hourMs)
    const before = await Promise.all([asked, expiring, byLink].map((one) => stateOfTask(opened, one)))
    const replies = await Promise.all(
      [asked.state, expiring.state, 'forged', '', byLink.state].map((state) =>
        visitor.visit('GET', comeBack(new URLSearchParams({ code: 'c', state }))),
      ),
    )
    replies.push(await visitor.visit('GET', 'callback'), await visitor.visit('GET', 'callback?code=c'))
    for (const reply of replies) expect(reply).toEqual(replies[0])
    expect(replies[0]?.status).toBe(404)
    expect(provider.forms).toHaveLength(1)
    expect(await Promise.all([asked, expiring, byLink].map((one) => stateOfTask(opened, one)))).toEqual(before)
  })

  test('when the exchange fails, and it can be tried again', async () => {
    const { opened, provider, asked, visitor, agree } = await openFlow()
    const before = await stateOfTask(opened, asked)
    const failures = [
      { answer: { status: 500, body: 'SECRET' }, reason: /HTTP status code\): 500$/ },
      { answer: { status: 400, body: '{"error":"invalid_grant","error_description":"SECRET"}' }, reason: /^HTTP 400, invalid_grant$/ },
      { answer: { status: 400, body: '{"error":"code SECRET is wrong"}' }, reason: /^HTTP 400, an error without a known name$/ },
      { answer: { status: 302, body: '' }, reason: /: 302$/ },
      { answer: { status: 200, body: 'access_token=SECRET' }, reason: /JSON/ },
      { answer: { status: 200, body: '{"access_token":"SECRET"}' }, reason: /token_type/ },
      { answer: { status: 200, body: '{"access_token":"SECRET","token_type":"mac"}' }, reason: /token_type/ },
      { answer: { status: 200, body: '{"access_token":["SECRET"],"token_type":"bearer"}' }, reason: /access_token/ },
      { answer: { status: 200, body: '{"access_token":"SECRET","token_type":"bearer","id_token":"SECRET"}' }, reason: /JWT|JWS|id_token/i },
    ]
    for (const { answer, reason } of failures) {
      provider.answer(answer)
      const reply = await visitor.visit('GET', comeBack(provider.allow(await agree())))
      expect(reply.status).toBe(502)
      expect(textOf(reply)).toContain('try again')
      expect(opened.lines.at(-1)?.fields['reason']).toMatch(reason)
      expect(JSON.stringify([reply.body, opened.lines])).not.toMatch(/SECRET/)
      expect(await stateOfTask(opened, asked)).toEqual(before)
    }
    provider.answer(undefined)
    expect((await visitor.visit('GET', comeBack(provider.allow(await agree())))).status).toBe(200)
  })

  test('when the provider is not there', async () => {
    const { opened, provider, asked, visitor, agree } = await openFlow((p) => ({
      ...doorsOf(p),
      tokenEndpoint: 'http://127.0.0.1:9/',
      clientId: 'venue',
    }))
    const reply = await visitor.visit('GET', comeBack(provider.allow(await agree())))
    expect(reply.status).toBe(502)
    expect(opened.lines.at(-1)?.fields['reason']).toMatch(/^the provider could not be reached \(/)
    expect(await recordOf(opened, asked)).toHaveProperty('asked')
  })

  test('when the provider does not answer in time', async () => {
    let isAsked = () => {}
    const reached = new Promise<void>((resolve) => {
      isAsked = resolve
    })
    const silent: Opening['fetch'] = (_, init) =>
      new Promise((_, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason))
        isAsked()
      })
    const { opened, asked, provider, visitor, agree } = await openFlow((p) => ({ ...doorsOf(p), clientId: 'venue' }), { fetch: silent })
    const coming = visitor.visit('GET', comeBack(provider.allow(await agree())))
    await reached
    await opened.world.advance(10_000)
    expect((await coming).status).toBe(502)
    expect(opened.lines.at(-1)?.fields['reason']).toBe('no answer in 10 s')
    expect(await recordOf(opened, asked)).toHaveProperty('asked')
  })

  test('when a credential stands in the address', async () => {
    const { opened, asked, visitor, agree } = await openFlow()
    await agree()
    const before = await stateOfTask(opened, asked)
    for (const name of ['token', 'access_token']) {
      const reply = await visitor.visit('GET', comeBack(new URLSearchParams({ state: asked.state, [name]: 'SECRET' })))
      expect(reply).toMatchObject({ status: 405, headers: { allow: 'POST' } })
      expect(JSON.stringify([reply, opened.lines])).not.toMatch(/SECRET/)
    }
    expect(await stateOfTask(opened, asked)).toEqual(before)
  })
})

test('a callback that is loaded twice at once shows its code once', async () => {
  const { opened, provider, asked, visitor, agree } = await openFlow()
  const path = comeBack(provider.allow(await agree()))
  const [one, two] = await Promise.all([visitor.visit('GET', path), visitor.visit('GET', path)])
  expect(one).toEqual(two)
  expect(one.status).toBe(200)
  expect(provider.forms).toHaveLength(1)
  expect(await recordOf(opened, asked)).toHaveProperty('granted')
})

test('HEAD does not spend the code', async () => {
  const { opened, provider, asked, visitor, agree } = await openFlow()
  const path = comeBack(provider.allow(await agree()))
  expect(await visitor.visit('HEAD', path)).toMatchObject({ status: 405, headers: { allow: 'GET, POST' } })
  expect(provider.forms).toEqual([])
  expect(await recordOf(opened, asked)).toHaveProperty('asked')
  expect((await visitor.visit('GET', path)).status).toBe(200)
})

test('a credential that comes after the question has expired is not recorded', async () => {
  const late: Opening['fetch'] = async (url, init) => {
    const response = await fetch(url, init)
    await opened.world.advance(5_000)
    return response
  }
  const { opened, provider, visitor, agree } = await openFlow((p) => ({ ...doorsOf(p), clientId: 'venue' }), { fetch: late })
  const asked = await askConsent(opened, { asked: asksOAuth, timeoutMs: 5_000 })
  expect((await visitor.visit('GET', comeBack(provider.allow(await agree(asked.state))))).status).toBe(404)
  expect(provider.forms).toHaveLength(1)
  expect(await recordOf(opened, asked)).toHaveProperty('asked')
})

test('a provider whose name nobody gave may call itself what it likes', async () => {
  const { provider, visitor, agree } = await openFlow((p) => ({ ...doorsOf(p), clientId: 'venue' }))
  expect((await visitor.visit('GET', comeBack(provider.allow(await agree(), { iss: 'https://name.test' })))).status).toBe(200)
})

test('a provider that the server does not have any more leads nowhere', async () => {
  const { opened, asked } = await openFlow()
  const visitor = openDoor(opened)()
  expect((await visitor.visit('GET', asked.state)).status).toBe(500)
  expect((await visitor.submit(asked.state, { decision: 'agree' })).status).toBe(500)
  expect(opened.lines.at(-1)).toMatchObject({ level: 'error', fields: { taskId: asked.id, provider: 'calendar' } })
  expect(await recordOf(opened, asked)).toHaveProperty('asked')
})

describe('the cookie of the browser', () => {
  test('is for https alone, this host, and the way back from another site', async () => {
    const { asked, visitor } = await openFlow()
    const { headers } = await visitor.submit(asked.state, { decision: 'agree' })
    expect(headers['set-cookie']).toMatch(/^__Host-consent-[0-9a-f]{16}=[\w-]{43}; Path=\/; Secure; Max-Age=3600; HttpOnly; SameSite=Lax$/)
    expect(headers['set-cookie']).not.toContain(asked.state)
  })

  test('is for the consent pages alone where there is no https', async () => {
    const { asked, visitor } = await openFlow(undefined, { base: () => 'http://127.0.0.1:8080/base/' })
    const { headers } = await visitor.submit(asked.state, { decision: 'agree' })
    expect(headers['set-cookie']).toMatch(/^consent-[0-9a-f]{16}=[\w-]{43}; Path=\/base\/consent; Max-Age=3600; HttpOnly; SameSite=Lax$/)
  })
})
