/** Options of jwt(), unknown, missing, wrong and contradictory: one sentence each, and no secret in it. */

import { beforeAll, describe, expect, test } from 'vitest'
import { createServer, jwt, sqlite } from '../../src/index.js'
import { scriptAgent } from '../harness/script-agent.js'
import { audience, issuer, makeKey, type TestKey } from './issuer.js'

const secret = 'a shared secret of 32 characters'

let key: TestKey
beforeAll(async () => {
  key = await makeKey('one')
})

describe('options', () => {
  const settled = () => ({ issuer, audience, jwks: { keys: [key.publicJwk] } })
  // The types forbid what is tried here; settings from files do it all the same.
  const untyped = jwt as (options: unknown) => unknown

  test.each<[string, unknown]>([
    ['issuer', ''],
    ['issuer', 7],
    ['audience', []],
    ['audience', ['']],
    ['audience', null],
    ['jwks', 'issuer.test'],
    ['jwks', 'http://issuer.test/jwks'],
    ['jwks', 'https://user:word@issuer.test/jwks'],
    ['jwks', 'ftp://127.0.0.1/jwks'],
    ['jwks', {}],
    ['jwks', { keys: [] }],
    ['jwks', { keys: [{}] }],
    ['jwks', { keys: [{ kty: 'oct', k: 'AAAA' }] }],
    ['jwks', { keys: [{ kty: 'EC', crv: 'P-256', x: 'A', y: 'A', d: 'private-part' }] }],
    ['algorithms', []],
    ['algorithms', 'ES256'],
    ['algorithms', ['none']],
    ['algorithms', ['ES256', 'RS25']],
    ['clockSkew', 'soon'],
    ['clockSkew', -1],
    ['clockSkew', Number.NaN],
    ['clockSkew', null],
    ['idClaim', ''],
    ['scopeClaim', []],
    ['tenantsClaim', 7],
  ])('option %s does not take %j', (option, value) => {
    const attempt = () => untyped({ ...settled(), [option]: value })
    expect(attempt).toThrow(TypeError)
    expect(attempt).toThrow(new RegExp(`^jwt: option ${option} takes .+; it got .+$`))
    expect(attempt).not.toThrow(/private-part/)
  })

  test.each(['issuer', 'audience'] as const)('option %s is needed', (option) => {
    const { [option]: _, ...rest } = settled()
    expect(() => untyped(rest)).toThrow(new RegExp(`^jwt needs the option ${option}: `))
  })

  test('an unknown option is named beside those that there are', () => {
    expect(() => untyped({ ...settled(), audiences: [] })).toThrow(
      /^jwt has no option "audiences"; it takes issuer, audience, jwks, secret, /,
    )
    expect(() => untyped('secret')).toThrow(/^jwt takes an object of options; it got /)
  })

  test('keys and a secret exclude each other, and one of them is needed', () => {
    expect(() => untyped({ ...settled(), secret })).toThrow('jwt takes either jwks or secret; it got both')
    expect(() => untyped({ issuer, audience })).toThrow('jwt takes either jwks or secret; it got neither')
  })

  test('a secret that is too short is not taken, and not shown', () => {
    const short = secret.slice(1)
    expect(() => untyped({ issuer, audience, secret: short })).toThrow(
      /^jwt: option secret takes a text of at least 32 characters; it got a string$/,
    )
    expect(() => untyped({ issuer, audience, secret, algorithms: ['HS512'] })).toThrow(
      'jwt: option secret takes at least 64 characters for HS512; it got fewer',
    )
    expect(untyped({ issuer, audience, secret: secret + secret, algorithms: ['HS512'] })).toBeDefined()
  })

  test('algorithms that do not fit the keys are refused', () => {
    expect(() => untyped({ ...settled(), algorithms: ['ES256', 'HS256'] })).toThrow(
      /^jwt: option algorithms takes HS… with secret .+; it got HS256$/,
    )
    expect(() => untyped({ issuer, audience, secret, algorithms: ['RS256'] })).toThrow(/; it got RS256$/)
  })

  test('what jwt() made shows no key and no secret', () => {
    expect(JSON.stringify(untyped({ issuer, audience, secret }))).not.toContain(secret)
  })
})

test.each<[string, object, RegExp]>([
  ['a kind that there is not', { kty: 'banana', kid: 'k' }, /^the key "k" of jwt's option jwks cannot be read: /],
  ['half of a key', { kty: 'EC', crv: 'P-256', x: 'AAAA', kid: 'k' }, /^the key "k" of jwt's option jwks cannot be read: /],
  ['a short RSA key', { kty: 'RSA', n: 'AQAB', e: 'AQAB', kid: 'k' }, /is an RSA key of less than 2048 bits$/],
])('a server does not start with %s among its keys', async (_, key, sentence) => {
  const auth = jwt({ issuer, audience, jwks: { keys: [key as never] } })
  const started = createServer(scriptAgent, { store: sqlite(':memory:'), url: 'https://agent.test', auth })
  await expect(started).rejects.toThrow(sentence)
})
