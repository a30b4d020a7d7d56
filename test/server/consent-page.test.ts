/** The page that a person sees who is asked for consent: what it says, what it cannot be made to say, and who may answer. */

import { describe, expect, test } from 'vitest'
import { createConsents } from '../../src/runtime/consent.js'
import { createVault, keyFromSecret } from '../../src/support/vault.js'
import {
  type AskOptions,
  askConsent,
  base,
  hourMs,
  type Opening,
  openConsents,
  openDoor,
  recordOf,
  stateOfTask,
  textOf,
} from './consent-kit.js'

const link = 'https://calendar.test/allow?for=1'

async function openPage(options: AskOptions = {}, opening: Opening = {}) {
  const opened = await openConsents()
  const asked = await askConsent(opened, { ...options, asked: { link, ...options.asked } })
  return { opened, asked, visitor: openDoor(opened, opening)() }
}

test('the page names the agent, the requester, what is asked, until when, and where it leads', async () => {
  const { asked, visitor } = await openPage()
  const reply = await visitor.visit('GET', asked.state)
  const text = textOf(reply)
  expect(reply.status).toBe(200)
  expect(reply.headers['content-type']).toBe('text/html; charset=utf-8')
  for (const part of ['Venue agent', 'Acme Rooms', 'alice', 'May I enter the room into your calendar?', 'calendar.book', 'calendar.test'])
    expect(text).toContain(part)
  expect(text).toContain('<time datetime="2026-01-01T01:00:00.000Z">2026-01-01, 01:00 UTC</time>')
  expect(text).not.toContain(link)
})

test('where callers prove nothing, the requester is somebody without a name', async () => {
  const { asked, visitor } = await openPage({ owner: 'anonymous' }, { authenticates: false })
  const text = textOf(await visitor.visit('GET', asked.state))
  expect(text).toContain('Somebody who did not say who they are')
  expect(text).not.toContain('anonymous')
})

test('the page has a language, a title, one heading, two named buttons and no scripts, and fits a phone', async () => {
  const { asked, visitor } = await openPage()
  const text = textOf(await visitor.visit('GET', asked.state))
  expect(text).toMatch(/^<!doctype html>\n<html lang="en">/)
  expect(text).toContain('<title>Venue agent asks for your consent</title>')
  expect(text).toContain('<meta name="viewport" content="width=device-width, initial-scale=1">')
  expect(text.match(/<h1>/g)).toHaveLength(1)
  expect(text.match(/<main>/g)).toHaveLength(1)
  expect([...text.matchAll(/<button name="decision" value="(\w+)"[^>]*>(.+?)<\/button>/g)].map(([, value]) => value)).toEqual([
    'agree',
    'decline',
  ])
  expect(text).toContain('<form method="post"')
  expect(text).not.toMatch(/<script|\son\w+=|javascript:|src=/i)
})

test('nothing that others wrote becomes markup', async () => {
  const evil = `"><script>alert(1)</script><img src=x onerror='alert(2)'>&amp;</title></style><form action=//evil.test>`
  const { asked, visitor } = await openPage(
    { owner: evil, asked: { prompt: evil, scopes: [evil] } },
    { agent: { name: evil, provider: { organization: evil, url: 'https://acme.test' } } },
  )
  const text = textOf(await visitor.visit('GET', asked.state))
  // Only our own elements are there, and each of the places shows what was written as it was written.
  const elements = new Set([...text.matchAll(/<\/?([a-z][a-z0-9]*)/gi)].map(([, name]) => name))
  expect([...elements].sort()).toEqual(
    [
      'bdi',
      'body',
      'button',
      'dd',
      'dl',
      'dt',
      'form',
      'h1',
      'head',
      'html',
      'li',
      'main',
      'meta',
      'p',
      'style',
      'time',
      'title',
      'ul',
    ].sort(),
  )
  expect(text.match(/<form/g)).toHaveLength(1)
  const escaped = evil.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
  expect(text.split(escaped).length - 1).toBe(8)
})

test('names are kept apart in their writing direction', async () => {
  const { asked, visitor } = await openPage({ owner: 'eve\u202e' })
  expect(textOf(await visitor.visit('GET', asked.state))).toContain('<bdi>eve\u202e</bdi>')
})

test('every answer is for nobody to keep, frame, guess the type of, or learn the address from', async () => {
  const { opened, asked, visitor } = await openPage()
  const other = await askConsent(opened, { asked: { link } })
  const replies = [
    await visitor.visit('GET', asked.state),
    await visitor.visit('GET', 'forged'),
    await visitor.submit(other.state, { decision: 'agree' }),
    await visitor.submit(other.state, { decision: 'decline' }),
    await visitor.submit(asked.state, {}),
    await visitor.visit('PUT', asked.state),
    await visitor.visit('GET', 'callback?state=forged&code=x'),
    await visitor.visit('POST', 'callback'),
  ]
  expect(replies.map(({ status }) => status)).toEqual([200, 404, 303, 200, 400, 405, 404, 415])
  for (const { headers, status } of replies) {
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'same-origin', 'x-content-type-options': 'nosniff' })
    if (!headers['content-type']?.startsWith('text/html')) continue
    expect(headers['x-frame-options']).toBe('DENY')
    const action = status === 200 && headers === replies[0]?.headers ? "'self' https:" : "'none'"
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; form-action .+; base-uri 'none'; frame-ancestors 'none'$/,
    )
    expect(headers['content-security-policy']).toContain(`; form-action ${action};`)
  }
})

test('the policy allows the very style that is on the page', async () => {
  const { asked, visitor } = await openPage()
  const reply = await visitor.visit('GET', asked.state)
  const [, style = ''] = /<style>([\s\S]*?)<\/style>/.exec(textOf(reply)) ?? []
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(style))
  expect(reply.headers['content-security-policy']).toContain(`'sha256-${Buffer.from(digest).toString('base64')}'`)
})

test('who agrees is led to the link of the agent, and nothing is decided yet', async () => {
  const { opened, asked, visitor } = await openPage()
  const before = await stateOfTask(opened, asked)
  const reply = await visitor.submit(asked.state, { decision: 'agree' })
  expect(reply).toMatchObject({ status: 303, headers: { location: link } })
  expect(await stateOfTask(opened, asked)).toEqual(before)
})

test('who declines is told so, and so is the agent', async () => {
  const { opened, asked, visitor } = await openPage()
  const reply = await visitor.submit(asked.state, { decision: 'decline' })
  expect(reply.status).toBe(200)
  expect(textOf(reply)).toContain('<h1>Declined</h1>')
  expect(await recordOf(opened, asked)).toEqual({ denied: 'the person who was asked declined' })
})

test('a link that is none of the web is followed by nobody', async () => {
  for (const wrong of ['javascript:alert(1)', 'data:text/html,x', 'calendar', '']) {
    const { opened, asked, visitor } = await openPage({ asked: { link: wrong } })
    const before = await stateOfTask(opened, asked)
    expect((await visitor.visit('GET', asked.state)).status).toBe(500)
    const reply = await visitor.submit(asked.state, { decision: 'agree' })
    expect(reply.status).toBe(500)
    expect(reply.headers).not.toHaveProperty('location')
    expect(await stateOfTask(opened, asked)).toEqual(before)
  }
})

test('HEAD is answered like GET', async () => {
  const { asked, visitor } = await openPage()
  for (const path of [asked.state, 'forged']) expect(await visitor.visit('HEAD', path)).toEqual(await visitor.visit('GET', path))
})

test.each(['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'get'])('%s is no way to answer', async (method) => {
  const { opened, asked, visitor } = await openPage()
  const before = await stateOfTask(opened, asked)
  const reply = await visitor.visit(method, asked.state, { body: 'decision=agree' })
  expect(reply).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD, POST' } })
  expect(await stateOfTask(opened, asked)).toEqual(before)
})

describe('an answer counts from our own page only:', () => {
  const foreign = [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'cross-site', origin: 'https://agent.test' },
    { 'sec-fetch-site': '', origin: 'https://evil.test' },
    { 'sec-fetch-site': '', origin: 'null' },
    { 'sec-fetch-site': '', origin: 'http://agent.test' },
    { 'sec-fetch-site': '', origin: 'https://agent.test.evil.test' },
  ]
  const headersOf = ({ 'sec-fetch-site': site, ...rest }: Record<string, string>) => ({
    'content-type': 'application/x-www-form-urlencoded',
    ...(site !== '' && site !== undefined && { 'sec-fetch-site': site }),
    ...rest,
  })

  test.each(foreign)('%j is refused, and nothing is decided', async (given) => {
    const { opened, asked, visitor } = await openPage()
    const before = await stateOfTask(opened, asked)
    for (const decision of ['agree', 'decline']) {
      const reply = await visitor.visit('POST', asked.state, { headers: headersOf(given), body: `decision=${decision}` })
      expect(reply.status).toBe(403)
      expect(reply.headers).not.toHaveProperty('location')
      expect(reply.headers).not.toHaveProperty('set-cookie')
    }
    expect(await stateOfTask(opened, asked)).toEqual(before)
    expect(opened.lines.at(-1)).toMatchObject({ level: 'info', message: 'a consent was refused' })
  })

  test.each([
    { 'sec-fetch-site': 'same-origin', origin: 'http://localhost:3000' },
    { 'sec-fetch-site': 'none' },
    { 'sec-fetch-site': '', origin: 'https://agent.test' },
    { 'sec-fetch-site': '' },
  ])('%j is taken', async (given) => {
    const { asked, visitor } = await openPage()
    expect((await visitor.visit('POST', asked.state, { headers: headersOf(given), body: 'decision=agree' })).status).toBe(303)
  })
})

describe('a broken answer is refused, and nothing is decided:', () => {
  const form = 'application/x-www-form-urlencoded'
  test.each([
    { what: 'no decision', type: form, body: '', status: 400 },
    { what: 'another decision', type: form, body: 'decision=maybe', status: 400 },
    { what: 'two decisions', type: form, body: 'decision=agree&decision=decline', status: 400 },
    { what: 'an escape that is no UTF-8', type: form, body: 'decision=%ff', status: 400 },
    { what: 'another type', type: 'text/plain', body: 'decision=agree', status: 415 },
    { what: 'JSON', type: 'application/json', body: '{"decision":"agree"}', status: 415 },
    { what: 'no type', type: undefined, body: 'decision=agree', status: 415 },
    { what: 'too much', type: form, body: `decision=agree&x=${'x'.repeat(65_536)}`, status: 413 },
  ])('$what', async ({ type, body, status }) => {
    const { opened, asked, visitor } = await openPage()
    const before = await stateOfTask(opened, asked)
    const headers = { 'sec-fetch-site': 'same-origin', ...(type !== undefined && { 'content-type': type }) }
    const reply = await visitor.visit('POST', asked.state, { headers, body })
    expect(reply.status).toBe(status)
    expect(await stateOfTask(opened, asked)).toEqual(before)
  })
})

test('a state that is used, expired or made up leads to the same page', async () => {
  const { opened, asked, visitor } = await openPage()
  const used = await askConsent(opened, { asked: { link } })
  await opened.consents.deny(used.state, 'no')
  await opened.world.advance(hourMs)
  const paths = [asked.state, used.state, 'forged', '', `${asked.state}/more`, '..%2f', 'a'.repeat(8_000)]
  const [first, ...rest] = await Promise.all(paths.map((path) => visitor.visit('GET', path)))
  expect(first?.status).toBe(404)
  for (const reply of rest) expect(reply).toEqual(first)
  const answers = await Promise.all(
    paths.flatMap((path) => [visitor.submit(path, { decision: 'agree' }), visitor.submit(path, { decision: 'decline' })]),
  )
  for (const reply of answers) expect(reply).toEqual(first)
})

test('where the key has changed, the person is told nothing, and the operator what to do', async () => {
  const { opened, asked } = await openPage()
  const { store, world, log } = opened
  const vault = createVault(async () => keyFromSecret('another secret of more than 32 characters'), world)
  const consents = createConsents({ store, vault, world, log, secret: await store.secret('consent') })
  const reply = await openDoor({ ...opened, consents })().visit('GET', asked.state)
  expect(reply.status).toBe(503)
  expect(textOf(reply)).not.toMatch(/secretKey|sealed/)
  expect(String(opened.lines.at(-1)?.fields['error'])).toMatch(/secretKey/)
})

test('links lie under the base URL, with or without a slash at its end', async () => {
  const { consentCallback, consentLink } = await import('../../src/runtime/consent.js')
  expect([consentLink(base, 's'), consentLink(`${base}/`, 's')]).toEqual(Array(2).fill('https://agent.test/base/consent/s'))
  expect(consentCallback(`${base}/`)).toBe('https://agent.test/base/consent/callback')
})
