/** The calendar itself: what is booked, and that nothing is booked twice. */

import { isDeepStrictEqual } from 'node:util'
import { type Grants, randomName, type Token } from './grants.js'
import type { CalendarMemory } from './memory.js'
import type { Scope } from './service.js'

/** What is to be booked. */
export interface BookingRequest {
  readonly venue: string
  /** First day, `2027-05-12`. */
  readonly from: string
  readonly days: number
  readonly people: number
}

export interface Booking extends BookingRequest {
  readonly confirmation: string
}

/** What was asked for, and what came of it. */
export interface Entered {
  readonly wish: BookingRequest
  readonly booking: Booking
}

export function createBookings(grants: Grants, { bookings, save }: Pick<CalendarMemory, 'bookings' | 'save'>) {
  return {
    async list(request: Request): Promise<Response> {
      const token = authorize(request, grants, 'calendar.read')
      return token instanceof Response ? token : Response.json({ bookings: [...bookings.values()].map(({ booking }) => booking) })
    },

    /** Books once per client and `Idempotency-Key`: a repetition is given the booking that there is. */
    async book(request: Request): Promise<Response> {
      const token = authorize(request, grants, 'calendar.book')
      if (token instanceof Response) return token
      const key = request.headers.get('idempotency-key') ?? ''
      if (!/^[!-~]{1,255}$/.test(key)) return refuse(400, 'the header Idempotency-Key is missing or longer than 255 characters')
      const wish = readWish(await request.text())
      if (wish === undefined) return refuse(400, 'the body must be JSON with venue, from (such as 2027-05-12), days and people')
      const known = bookings.get(`${token.clientId} ${key}`)
      if (known !== undefined && !isDeepStrictEqual(known.wish, wish))
        return refuse(422, 'that Idempotency-Key was used for another booking')
      if (known !== undefined) return Response.json(known.booking)
      const booking = { confirmation: `C-${randomName().slice(0, 8)}`, ...wish }
      bookings.set(`${token.clientId} ${key}`, { wish, booking })
      save()
      return Response.json(booking, { status: 201 })
    },
  }
}

/** The token of a request, or why it is refused. RFC 6750 §3. */
function authorize(request: Request, grants: Grants, scope: Scope): Token | Response {
  const shown = /^Bearer +([\w.~+/-]+=*)$/i.exec(request.headers.get('authorization') ?? '')?.[1]
  if (shown === undefined) return challenge(401, 'Bearer realm="calendar"')
  const token = grants.token(shown)
  if (token === undefined) return challenge(401, 'Bearer realm="calendar", error="invalid_token"')
  return token.scopes.includes(scope) ? token : challenge(403, `Bearer realm="calendar", error="insufficient_scope", scope="${scope}"`)
}

function challenge(status: number, value: string): Response {
  return new Response(null, { status, headers: { 'www-authenticate': value } })
}

function refuse(status: number, error: string): Response {
  return Response.json({ error }, { status })
}

function readWish(body: string): BookingRequest | undefined {
  let wish: unknown
  try {
    wish = JSON.parse(body)
  } catch {
    return undefined
  }
  if (typeof wish !== 'object' || wish === null) return undefined
  const { venue, from, days, people }: { venue?: unknown; from?: unknown; days?: unknown; people?: unknown } = wish
  if (typeof venue !== 'string' || venue === '' || typeof from !== 'string' || !isDay(from)) return undefined
  if (typeof days !== 'number' || !(days > 0) || typeof people !== 'number' || !Number.isInteger(people) || people < 1) return undefined
  return { venue, from, days, people }
}

function isDay(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text) && text.length === 10
}
