/** How the calendar service changes a code for a token, and when it refuses to. */

import { describe, expect, test } from 'vitest'
import { type Changes, client, openCalendar, other } from './kit.js'

test('a code is changed for a token that is not to be kept by caches (RFC 6749 §5.1)', async () => {
  const { code, token } = openCalendar()
  const response = await token(await code({ scope: 'calendar.book calendar.read' }))
  expect(response.status).toBe(200)
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(await response.json()).toEqual({
    access_token: expect.stringMatching(/^[\w-]{43}$/),
    token_type: 'Bearer',
    expires_in: 3600,
    scope: 'calendar.book calendar.read',
  })
})

describe('refused is', () => {
  test.each<[string, number, Changes]>([
    ['invalid_request', 400, { grant_type: undefined }],
    ['unsupported_grant_type', 400, { grant_type: 'client_credentials' }],
    ['invalid_request', 400, { code: undefined }],
    ['invalid_request', 400, { redirect_uri: undefined }],
    ['invalid_request', 400, { code_verifier: undefined }],
    ['invalid_request', 400, { code_verifier: 'short' }],
    ['invalid_request', 400, { client_id: [client.id, other.id] }],
    ['invalid_client', 401, { client_id: undefined }],
    ['invalid_client', 401, { client_id: 'nobody' }],
    ['invalid_grant', 400, { code: 'guessed' }],
    ['invalid_grant', 400, { client_id: other.id, redirect_uri: other.redirectUri }],
    ['invalid_grant', 400, { redirect_uri: `${client.redirectUri}/` }],
    ['invalid_grant', 400, { code_verifier: 'w'.repeat(43) }],
  ])('%s (%i) for %j', async (error, status, changes) => {
    const { code, token } = openCalendar()
    const response = await token(await code(), changes)
    expect(response.status).toBe(status)
    expect(await response.json()).toMatchObject({ error, error_description: expect.any(String) })
    expect(response.headers.has('www-authenticate')).toBe(status === 401)
  })
  test('a client that shows a secret: none was given out', async () => {
    const { code, token } = openCalendar()
    const response = await token(await code(), {}, { authorization: 'Basic YWdlbnQ6c2VjcmV0' })
    expect([response.status, (await response.json()).error]).toEqual([401, 'invalid_client'])
  })
  test('a body that is no form', async () => {
    const { code, token } = openCalendar()
    const response = await token(await code(), {}, { 'content-type': 'application/json' })
    expect([response.status, (await response.json()).error]).toEqual([400, 'invalid_request'])
  })
  test('a code after a minute', async () => {
    const { code, token, pass } = openCalendar()
    const [early, late] = [await code(), await code()]
    pass(59)
    expect((await token(early)).status).toBe(200)
    pass(1)
    expect(await (await token(late)).json()).toMatchObject({ error: 'invalid_grant' })
  })
})

test('a code shown again gets nothing, and takes back the token that it got (RFC 6749 §4.1.2)', async () => {
  const { code, token, book } = openCalendar()
  const shown = await code()
  const { access_token } = await (await token(shown)).json()
  expect(await (await token(shown)).json()).toMatchObject({ error: 'invalid_grant' })
  expect((await book({}, { authorization: `Bearer ${access_token}` })).status).toBe(401)
})

test('a code has one try', async () => {
  const { code, token } = openCalendar()
  const shown = await code()
  expect((await token(shown, { code_verifier: 'w'.repeat(43) })).status).toBe(400)
  expect(await (await token(shown)).json()).toMatchObject({ error: 'invalid_grant' })
})
