/**
 * An imitation of somebody else's calendar service: people allow an application to book for them (OAuth 2.0 with PKCE),
 * and the application books.
 */

import { createAuthorization } from './authorization.js'
import { createBookings } from './bookings.js'
import { createGrants } from './grants.js'
import { type CalendarMemory, inMemory } from './memory.js'
import { createTokenEndpoint } from './token.js'

/** What an application can be allowed, and how that is said to the person who decides. */
export const scopes = Object.freeze({
  'calendar.book': 'enter a booking into your calendar',
  'calendar.read': 'see the bookings in your calendar',
})
export type Scope = keyof typeof scopes

/** An application that keeps no secret: what it proves, it proves by PKCE. RFC 6749 §2.1. */
export interface Client {
  readonly id: string
  /** As people read it. */
  readonly name: string
  /** The only address that codes are sent to, compared character by character. */
  readonly redirectUri: string
}

export interface CalendarOptions {
  readonly clients: readonly Client[]
  /** Milliseconds since 1970. Default: the clock of this machine. */
  readonly now?: () => number
  /** Default: gone with the service. */
  readonly memory?: CalendarMemory
}

export type CalendarService = (request: Request) => Promise<Response>

export function createCalendarService({ clients, now = Date.now, memory = inMemory() }: CalendarOptions): CalendarService {
  const grants = createGrants(now, memory)
  const authorization = createAuthorization(clients, grants)
  const bookings = createBookings(grants, memory)
  const endpoints: Readonly<Record<string, Readonly<Record<string, CalendarService>>>> = {
    '/authorize': { GET: authorization.ask, POST: authorization.decide },
    '/token': { POST: createTokenEndpoint(clients, grants) },
    '/bookings': { GET: bookings.list, POST: bookings.book },
  }
  return async (request) => {
    const endpoint = endpoints[new URL(request.url).pathname]
    if (endpoint === undefined) return new Response('There is nothing here.\n', { status: 404 })
    const answer = endpoint[request.method]
    return answer?.(request) ?? new Response(null, { status: 405, headers: { allow: Object.keys(endpoint).join(', ') } })
  }
}
