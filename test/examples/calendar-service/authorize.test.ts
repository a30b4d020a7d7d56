/** How the calendar service asks a person, and when it does not. */

import { describe, expect, test } from 'vitest'
import { answered, type Changes, client, openCalendar, press, shown, sound } from './kit.js'

describe('the page', () => {
  test('says who asks for what, and keeps what others wrote as text', async () => {
    const response = await openCalendar().ask({ scope: 'calendar.book calendar.read' })
    expect(response.status).toBe(200)
    const html = await response.text()
    expect(html).toContain('The &#60;b&#62;agent&#60;/b&#62;')
    expect(html).not.toContain('<b>')
    expect(html).toContain('enter a booking into your calendar')
    expect(html).toContain('see the bookings in your calendar')
    expect(html).toContain('127.0.0.1:4000')
  })
  test('runs nothing, stands in no frame, is kept nowhere, and its form leads back only', async () => {
    const { headers } = await openCalendar().ask()
    const policy = headers.get('content-security-policy')?.split('; ')
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).toContain(`form-action 'self' ${new URL(client.redirectUri).origin}`)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('set-cookie')).toMatch(/; HttpOnly; SameSite=Strict; Path=\/authorize;/)
  })
})

test('Allow sends the browser back with a code and the state as it was', async () => {
  const answer = answered(await openCalendar().decide('allow'))
  expect([...answer.keys()]).toEqual(['code', 'state'])
  expect(answer.get('state')).toBe(sound.state)
  expect(answer.get('code')).toMatch(/^[\w-]{43}$/)
})

test('Deny sends it back with access_denied (RFC 6749 §4.1.2.1)', async () => {
  const answer = answered(await openCalendar().decide('deny'))
  expect([answer.get('error'), answer.get('state'), answer.get('code')]).toEqual(['access_denied', sound.state, null])
})

test('no state comes back where there was none', async () => {
  expect(answered(await openCalendar().decide('allow', { state: undefined })).has('state')).toBe(false)
})

describe('nobody is sent to an address that is not registered (RFC 6749 §3.1.2.4)', () => {
  test.each<[string, Changes]>([
    ['an unknown application', { client_id: 'nobody' }],
    ['no application', { client_id: undefined }],
    ['two applications', { client_id: [client.id, client.id] }],
    ['no address', { redirect_uri: undefined }],
    ['another address', { redirect_uri: 'https://evil.example/' }],
    ['the address and more', { redirect_uri: `${client.redirectUri}/more` }],
    ['the address with a query', { redirect_uri: `${client.redirectUri}?x=1` }],
    ['the address by another name', { redirect_uri: client.redirectUri.replace('127.0.0.1', 'localhost') }],
    ['the address twice', { redirect_uri: [client.redirectUri, 'https://evil.example/'] }],
    ["another application's address", { redirect_uri: 'http://127.0.0.1:5000/back' }],
  ])('%s', async (_, changes) => {
    const response = await openCalendar().ask(changes)
    expect([response.status, response.headers.get('location')]).toEqual([400, null])
    expect(await response.text()).not.toContain('<form')
  })
})

describe('a request that is wrong is sent back with the reason', () => {
  test.each<[string, Changes]>([
    ['invalid_request', { response_type: undefined }],
    ['unsupported_response_type', { response_type: 'token' }],
    ['unsupported_response_type', { response_type: 'code token' }],
    ['invalid_request', { code_challenge: undefined }],
    ['invalid_request', { code_challenge: '' }],
    ['invalid_request', { code_challenge: 'short' }],
    ['invalid_request', { code_challenge: `${'x'.repeat(42)}=` }],
    ['invalid_request', { code_challenge_method: undefined }],
    ['invalid_request', { code_challenge_method: 'plain' }],
    ['invalid_request', { scope: ['calendar.book', 'calendar.read'] }],
    ['invalid_scope', { scope: undefined }],
    ['invalid_scope', { scope: 'calendar.book everything' }],
    ['invalid_scope', { scope: 'toString' }],
  ])('%s for %j', async (error, changes) => {
    const answer = answered(await openCalendar().ask(changes))
    expect([answer.get('error'), answer.get('state')]).toEqual([error, sound.state])
    expect(answer.get('error_description')).toMatch(/^[ !#-[\]-~]+$/)
  })
  test('without a state where that was there twice', async () => {
    const answer = answered(await openCalendar().ask({ state: ['one', 'two'] }))
    expect([answer.get('error'), answer.has('state')]).toEqual(['invalid_request', false])
  })
})

describe('a decision counts', () => {
  test('once', async () => {
    const { ask, service } = openCalendar()
    const form = await shown(await ask())
    answered(await press(service, form, 'allow'))
    expect((await press(service, form, 'allow')).status).toBe(403)
  })
  test('from the browser that saw the page', async () => {
    const { ask, service } = openCalendar()
    const mine = await shown(await ask())
    const theirs = await shown(await ask())
    expect((await press(service, { ...mine, cookie: theirs.cookie }, 'allow')).status).toBe(403)
    expect((await press(service, { ...mine, cookie: '' }, 'allow')).status).toBe(403)
    expect((await press(service, { ...mine, request: 'guessed' }, 'allow')).status).toBe(403)
    // None of these has spent it.
    expect(answered(await press(service, mine, 'allow')).has('code')).toBe(true)
  })
  test('for ten minutes', async () => {
    const { ask, service, pass } = openCalendar()
    const form = await shown(await ask())
    pass(599)
    const later = await shown(await ask())
    pass(1)
    expect((await press(service, form, 'allow')).status).toBe(403)
    expect(answered(await press(service, later, 'allow')).has('code')).toBe(true)
  })
  test('in each of two windows of one browser', async () => {
    const { ask, service } = openCalendar()
    const first = await shown(await ask())
    const second = await shown(await ask({}, { cookie: `theme=dark; ${first.cookie}` }))
    expect(second.cookie).toBe(first.cookie)
    expect(answered(await press(service, second, 'deny')).get('error')).toBe('access_denied')
    expect(answered(await press(service, first, 'allow')).has('code')).toBe(true)
  })
  test('as a denial where it is neither', async () => {
    const { ask, service } = openCalendar()
    expect(answered(await press(service, await shown(await ask()), 'maybe')).get('error')).toBe('access_denied')
  })
})
