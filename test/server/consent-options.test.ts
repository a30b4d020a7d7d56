/** The options `oauth` and `secretKey`, and mounts beside the consent door: what is wrong is said before the server starts. */

import { describe, expect, test } from 'vitest'
import { checkProviders, isProviderUrl, type OAuthProvider } from '../../src/server/consent-providers.js'
import { checkServerOptions } from '../../src/server/options.js'

/** What is said of an option; the types forbid most of what is tried here. */
function complaint(options: Readonly<Record<string, unknown>>): string {
  try {
    checkServerOptions('serve', options)
  } catch (error) {
    if (error instanceof TypeError) return error.message
    throw error
  }
  return ''
}

const doors = { authorizationEndpoint: 'https://p.test/authorize?a=1', tokenEndpoint: 'https://p.test/token' }

test.each<OAuthProvider>([
  { issuer: 'https://p.test', clientId: 'venue' },
  { issuer: 'https://p.test/tenant', clientId: 'venue', clientSecret: 's', clientAuthentication: 'post' },
  { issuer: 'http://127.0.0.1:8080', clientId: 'venue' },
  { issuer: 'http://localhost', clientId: 'venue', clientAuthentication: 'none' },
  { ...doors, clientId: 'venue', clientSecret: 's' },
  { ...doors, issuer: 'https://p.test', clientId: 'venue', clientSecret: 's', clientAuthentication: 'basic' },
])('%j is a provider', (provider) => {
  expect(complaint({ oauth: { calendar: provider } })).toBe('')
})

const where = 'an https URL, or an http one on a loopback host'

test.each<{ provider: unknown; says: string }>([
  {
    provider: 'https://p.test',
    says: 'takes an object with issuer, authorizationEndpoint, tokenEndpoint, clientId, clientSecret, clientAuthentication',
  },
  { provider: {}, says: ' needs the option clientId: a text' },
  { provider: { clientId: 'v' }, says: 'needs issuer, or authorizationEndpoint and tokenEndpoint' },
  { provider: { issuer: 'https://p.test', clientId: '' }, says: 'option clientId takes a text; it got ""' },
  { provider: { issuer: 'http://p.test', clientId: 'v' }, says: `option issuer takes ${where}; it got "http://p.test"` },
  { provider: { issuer: 'https://u:p@p.test', clientId: 'v' }, says: `option issuer takes ${where}` },
  { provider: { issuer: 'https://p.test/?a=1', clientId: 'v' }, says: `option issuer takes ${where}` },
  { provider: { ...doors, tokenEndpoint: 'http://p.test/token', clientId: 'v' }, says: `option tokenEndpoint takes ${where}` },
  { provider: { ...doors, authorizationEndpoint: 'javascript:x', clientId: 'v' }, says: `option authorizationEndpoint takes ${where}` },
  { provider: { tokenEndpoint: doors.tokenEndpoint, clientId: 'v' }, says: 'takes authorizationEndpoint and tokenEndpoint together' },
  {
    provider: { issuer: 'https://p.test', authorizationEndpoint: doors.authorizationEndpoint, clientId: 'v' },
    says: 'takes authorizationEndpoint and tokenEndpoint together',
  },
  {
    provider: { ...doors, clientId: 'v', clientAuthentication: 'basic' },
    says: "takes clientSecret with the clientAuthentication 'basic' or 'post'",
  },
  { provider: { ...doors, clientId: 'v', clientSecret: 'SECRET', clientAuthentication: 'none' }, says: 'takes clientSecret with' },
  {
    provider: { ...doors, clientId: 'v', clientAuthentication: 'jwt' },
    says: "option clientAuthentication takes 'basic', 'post' or 'none'",
  },
  { provider: { ...doors, clientId: 'v', clientSecret: ['SECRET'] }, says: 'option clientSecret takes a text; it got a list' },
  { provider: { ...doors, clientId: 'v', secret: 'SECRET' }, says: 'has no option "secret"; it takes issuer' },
])('$provider is none: $says', ({ provider, says }) => {
  const said = complaint({ oauth: { calendar: provider } })
  expect(said).toMatch(/^serve: oauth "calendar"/)
  expect(said).toContain(says)
  expect(said).not.toContain('SECRET')
})

test('an option that is undefined counts as left out', () => {
  expect(complaint({ oauth: undefined, secretKey: undefined })).toBe('')
  expect(() => checkProviders('serve', {})).not.toThrow()
})

test('a key is a text of at least 32 characters, and is not shown', () => {
  expect(complaint({ secretKey: 'x'.repeat(32) })).toBe('')
  const said = complaint({ secretKey: 'a-short-SECRET' })
  expect(said).toMatch(/^serve: option secretKey takes a text of at least 32 characters, .*openssl rand -base64 32.*; it got a string$/)
})

describe.each(['jsonRpc', 'httpJson'])('mount %s', (mount) => {
  test.each(['/consent', '/consent/a', '/consent/callback'])('%s would stand in the way of consents', (path) => {
    expect(complaint({ mounts: { [mount]: path } })).toMatch(new RegExp(`^serve: mounts: option ${mount} takes a path`))
  })

  test.each(['/consents', '/a/consent', '/consent-form'])('%s does not', (path) => {
    expect(complaint({ mounts: { [mount]: path } })).toBe('')
  })
})

test.each([
  'http://127.0.0.1.evil.test',
  'http://localhost.evil.test',
  'http://evil.test/127.0.0.1',
  'https://p.test/#a',
  'ftp://p.test',
  'p.test',
  7,
])('%s is no place to send codes to', (url) => {
  expect(isProviderUrl(url)).toBe(false)
})
