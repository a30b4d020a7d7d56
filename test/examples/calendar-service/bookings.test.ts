/** Who may book in the calendar service, and that a repetition books nothing more. */

import { describe, expect, onTestFinished, test } from 'vitest'
import { listen } from '../../../examples/calendar-service/listen.js'
import { openCalendar, other } from './kit.js'

const wish = { venue: 'Isarsaal, Munich', from: '2027-05-12', days: 2, people: 100 }

async function openForBooking() {
  const calendar = openCalendar()
  const bearer = { authorization: `Bearer ${await calendar.accessToken()}` }
  return {
    ...calendar,
    bearer,
    bookWith: (key: string, body: unknown = wish) => calendar.book(body, { ...bearer, 'idempotency-key': key }),
  }
}

test('a booking is confirmed and stands in the calendar', async () => {
  const { bookWith, booked } = await openForBooking()
  const response = await bookWith('k1')
  expect(response.status).toBe(201)
  const booking = await response.json()
  expect(booking).toEqual({ confirmation: expect.stringMatching(/^C-/), ...wish })
  expect(await booked()).toEqual([booking])
})

test('the same key gives the same booking, also where both come at once', async () => {
  const { bookWith, booked } = await openForBooking()
  const answers = await Promise.all([bookWith('k1'), bookWith('k1')])
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 201])
  const [first, second] = await Promise.all(answers.map((answer) => answer.json()))
  expect(second).toEqual(first)
  expect(await booked()).toEqual([first])
})

test('the same key for another booking is refused', async () => {
  const { bookWith, booked } = await openForBooking()
  await bookWith('k1')
  expect((await bookWith('k1', { ...wish, days: 3 })).status).toBe(422)
  expect(await booked()).toHaveLength(1)
})

test('another key is another booking', async () => {
  const { bookWith, booked } = await openForBooking()
  await bookWith('k1')
  await bookWith('k2')
  expect(await booked()).toHaveLength(2)
})

test("another application's key is another key", async () => {
  const { bookWith, book, accessToken, booked } = await openForBooking()
  const authorization = `Bearer ${await accessToken('calendar.book', other)}`
  await bookWith('k1')
  expect((await book({ ...wish, days: 3 }, { authorization, 'idempotency-key': 'k1' })).status).toBe(201)
  expect(await booked()).toHaveLength(2)
})

describe('refused is', () => {
  test.each([
    ['no token', {}, 401, 'Bearer realm="calendar"'],
    ['a token of another kind', { authorization: 'Basic YWxpY2U6' }, 401, 'Bearer realm="calendar"'],
    ['an unknown token', { authorization: 'Bearer guessed' }, 401, 'Bearer realm="calendar", error="invalid_token"'],
  ])('%s (RFC 6750 §3)', async (_, headers, status, challenge) => {
    const { book, booked } = openCalendar()
    const response = await book(wish, { ...headers, 'idempotency-key': 'k1' })
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([status, challenge])
    expect(await booked()).toEqual([])
  })
  test('a token without the scope, and what it lacks is named', async () => {
    const { book, booked, accessToken } = openCalendar()
    const authorization = `Bearer ${await accessToken('calendar.read')}`
    const response = await book(wish, { authorization, 'idempotency-key': 'k1' })
    expect(response.status).toBe(403)
    expect(response.headers.get('www-authenticate')).toContain('error="insufficient_scope", scope="calendar.book"')
    expect(await booked()).toEqual([])
  })
  test('to list with a token that may only book', async () => {
    const { service, bearer } = await openForBooking()
    expect((await service(new Request('http://calendar.test/bookings', { headers: bearer }))).status).toBe(403)
  })
  test('a token after an hour', async () => {
    const { bookWith, pass } = await openForBooking()
    pass(3600)
    expect((await bookWith('k1')).status).toBe(401)
  })
  test.each(['', 'two words', 'x'.repeat(256)])('the key “%s”', async (key) => {
    expect((await (await openForBooking()).bookWith(key)).status).toBe(400)
  })
  test.each<[unknown]>([
    ['{'],
    ['null'],
    [[wish]],
    [{ ...wish, venue: '' }],
    [{ ...wish, from: '2027-02-30' }],
    [{ ...wish, from: '12 May' }],
    [{ ...wish, from: '2027-05-12T00:00:00Z' }],
    [{ ...wish, days: 0 }],
    [{ ...wish, days: '2' }],
    [{ ...wish, people: 1.5 }],
  ])('the booking %j', async (body) => {
    const { bookWith, booked } = await openForBooking()
    expect((await bookWith('k1', body)).status).toBe(400)
    expect(await booked()).toEqual([])
  })
})

test('other methods and addresses are told so', async () => {
  const { service } = openCalendar()
  const response = await service(new Request('http://calendar.test/token'))
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
  expect((await service(new Request('http://calendar.test/'))).status).toBe(404)
})

describe('on a socket', () => {
  async function open() {
    const { service } = openCalendar()
    const { url, server } = await listen(service)
    onTestFinished(async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    })
    return url
  }
  test('it answers on loopback', async () => {
    const url = await open()
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect((await fetch(`${url}/bookings`)).status).toBe(401)
  })
  test('a long body is refused', async () => {
    const response = await fetch(`${await open()}/token`, { method: 'POST', body: new URLSearchParams({ code: 'x'.repeat(70_000) }) })
    expect(response.status).toBe(413)
  })
})
