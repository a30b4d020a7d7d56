/** The callback of the consent door, where other places post credentials: what is taken, and everything that is refused. */

import { describe, expect, test } from 'vitest'
import type { HttpReply } from '../../src/bindings/http.js'
import { askConsent, hourMs, openConsents, openDoor, recordOf, stateOfTask, textOf } from './consent-kit.js'

const json = 'application/json'
const form = 'application/x-www-form-urlencoded'
const asksByLink = { link: 'https://calendar.test/allow', scopes: ['calendar.book'] }

async function openCallback() {
  const opened = await openConsents()
  const asked = await askConsent(opened, { asked: asksByLink })
  const { visit } = openDoor(opened)()
  return {
    opened,
    asked,
    visit,
    post: (body: unknown, type: string | undefined = json): Promise<HttpReply> =>
      visit('POST', 'callback', { headers: { 'content-type': type }, body: typeof body === 'string' ? body : JSON.stringify(body) }),
    postUntyped: (body: string): Promise<HttpReply> => visit('POST', 'callback', { body }),
  }
}

test('a credential is taken as JSON or as a form, and answered without a word', async () => {
  const granted = { granted: { token: 'tok-1', scopes: ['a', 'b'] } }
  for (const type of [json, `${json}; charset=utf-8`, form, 'Application/X-WWW-Form-Urlencoded']) {
    const { opened, asked, post } = await openCallback()
    const fields = { state: asked.state, token: 'tok-1' }
    const reply = await post(
      type.toLowerCase().includes('form')
        ? new URLSearchParams({ ...fields, scopes: 'a b' }).toString()
        : { ...fields, scopes: ['a', 'b'] },
      type,
    )
    expect(reply).toMatchObject({ status: 204, body: '', headers: { 'cache-control': 'no-store' } })
    expect(await recordOf(opened, asked)).toEqual(granted)
    expect(JSON.stringify(opened.lines)).not.toContain('tok-1')
  }
})

test('without scopes, those that were asked for are granted; members that nobody knows are passed over', async () => {
  const { opened, asked, post } = await openCallback()
  expect((await post({ state: asked.state, token: 'tok-1', expires_in: 60 })).status).toBe(204)
  expect(await recordOf(opened, asked)).toEqual({ granted: { token: 'tok-1', scopes: ['calendar.book'] } })
})

test('an error denies the request, and the agent is told', async () => {
  const { opened, asked, post } = await openCallback()
  expect((await post({ state: asked.state, error: 'the calendar is closed' })).status).toBe(204)
  expect(await recordOf(opened, asked)).toEqual({ denied: 'the calendar is closed' })
})

describe('a broken body is refused with what is wrong, and the task unchanged:', () => {
  const state = 'STATE'
  test.each([
    { what: 'nothing', body: '', says: /no JSON/ },
    { what: 'half of a JSON', body: '{"state":"STATE","token":"SECRET"', says: /no JSON/ },
    { what: 'a list', body: [state], says: /no object/ },
    { what: 'null', body: 'null', says: /no object/ },
    { what: 'no state', body: { token: 'SECRET' }, says: /state must be/ },
    { what: 'a state that is no text', body: { state: 1, token: 'SECRET' }, says: /state must be/ },
    { what: 'neither token nor error', body: { state }, says: /either token or error/ },
    { what: 'both', body: { state, token: 'SECRET', error: 'x' }, says: /either token or error/ },
    { what: 'an empty token', body: { state, token: ' ' }, says: /token must be/ },
    { what: 'a token with half of a character', body: '{"state":"STATE","token":"SECRET\\ud83d"}', says: /token must be/ },
    { what: 'an error with half of a character', body: '{"state":"STATE","error":"SECRET\\ud83d"}', says: /error must be/ },
    { what: 'a token that is no text', body: { state, token: { SECRET: 1 } }, says: /token must be/ },
    { what: 'null as a token', body: { state, token: null }, says: /token must be/ },
    { what: 'scopes that are no list', body: { state, token: 'SECRET', scopes: 7 }, says: /scopes must be/ },
    { what: 'scopes of no texts', body: { state, token: 'SECRET', scopes: ['a', 7] }, says: /scopes must be/ },
    { what: 'an empty error', body: { state, error: '' }, says: /error must be/ },
    { what: 'a long error', body: { state, error: 'x'.repeat(201) }, says: /at most 200/ },
    { what: 'a form with two tokens', body: `state=${state}&token=SECRET&token=SECRET`, type: form, says: /twice/ },
    { what: 'a form with no token', body: `state=${state}&token=`, type: form, says: /token must be/ },
    { what: 'a form called JSON', body: `state=${state}&token=SECRET`, says: /no JSON/ },
  ])('$what', async ({ body, type, says }) => {
    const { opened, asked, post } = await openCallback()
    const before = await stateOfTask(opened, asked)
    const text = (typeof body === 'string' ? body : JSON.stringify(body)).replace(state, asked.state)
    const reply = await post(text, type)
    expect(reply.status).toBe(400)
    expect(textOf(reply)).toMatch(says)
    expect(opened.lines).toEqual([{ level: 'info', message: 'a consent was refused', fields: { reason: expect.stringMatching(says) } }])
    expect(JSON.stringify([reply, opened.lines])).not.toMatch(/SECRET/)
    expect(JSON.stringify(opened.lines)).not.toContain(asked.state)
    expect(await stateOfTask(opened, asked)).toEqual(before)
  })

  test('bytes that are no UTF-8', async () => {
    const { opened, asked, visit } = await openCallback()
    const reply = await visit('POST', 'callback', { headers: { 'content-type': json }, body: Uint8Array.of(0x22, 0xff, 0x22) })
    expect(reply.status).toBe(400)
    expect(textOf(reply)).toMatch(/UTF-8/)
    expect(await recordOf(opened, asked)).toHaveProperty('asked')
  })

  test('another type, or none', async () => {
    const { opened, asked, post, postUntyped } = await openCallback()
    const body = JSON.stringify({ state: asked.state, token: 'SECRET' })
    for (const reply of [await post(body, 'text/plain'), await post(body, 'multipart/form-data; boundary=x'), await postUntyped(body)]) {
      expect(reply.status).toBe(415)
      expect(textOf(reply)).toContain(json)
    }
    expect(await recordOf(opened, asked)).toHaveProperty('asked')
  })

  test('more than 64 KiB', async () => {
    const { opened, asked, post } = await openCallback()
    const bodyOf = (length: number) => {
      const body = JSON.stringify({ state: asked.state, token: '' })
      return body.replace('""', `"${'x'.repeat(length - body.length)}"`)
    }
    expect((await post(bodyOf((64 << 10) + 1))).status).toBe(413)
    expect(await recordOf(opened, asked)).toHaveProperty('asked')
    expect((await post(bodyOf(64 << 10))).status).toBe(204)
  })
})

test('a state that is used, expired, forged, or of a request to a provider is answered alike, and changes nothing', async () => {
  const { opened, asked, post } = await openCallback()
  expect((await post({ state: asked.state, token: 'tok-1' })).status).toBe(204)
  const expired = await askConsent(opened, { asked: asksByLink })
  await opened.world.advance(hourMs)
  const byProvider = await askConsent(opened, { asked: { oauth: 'calendar' } })
  const tasks = [asked, expired, byProvider]
  const before = await Promise.all(tasks.map((one) => stateOfTask(opened, one)))
  const replies: HttpReply[] = []
  for (const state of [...tasks.map((one) => one.state), 'forged', 'callback', '../x', '\u0000']) {
    replies.push(await post({ state, token: 'tok-2' }), await post({ state, error: 'no' }))
  }
  for (const reply of replies) expect(reply).toEqual(replies[0])
  expect(replies[0]?.status).toBe(404)
  expect(await Promise.all(tasks.map((one) => stateOfTask(opened, one)))).toEqual(before)
})

test('a credential in the address is never taken', async () => {
  const { opened, asked, visit } = await openCallback()
  const before = await stateOfTask(opened, asked)
  const query = new URLSearchParams({ state: asked.state, token: 'SECRET' })
  expect(await visit('GET', `callback?${query}`)).toMatchObject({ status: 405, headers: { allow: 'POST' } })
  expect((await visit('POST', `callback?${query}`, { headers: { 'content-type': form } })).status).toBe(400)
  expect(JSON.stringify(opened.lines)).not.toMatch(/SECRET/)
  expect(await stateOfTask(opened, asked)).toEqual(before)
})

test.each(['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD'])('%s is no way to the callback', async (method) => {
  const { visit } = await openCallback()
  expect(await visit(method, 'callback')).toMatchObject({ status: 405, headers: { allow: 'GET, POST' } })
})
