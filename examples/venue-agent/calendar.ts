/** The agent's side of the calendar service: one call, which may be repeated without booking twice. */

/** What is booked. */
export interface Order {
  readonly venue: string
  /** First day, `2027-05-12`. */
  readonly from: string
  readonly days: number
  readonly people: number
}

/** What came of it: the number of the booking, or why the calendar does not take it. */
export type Booked = { readonly confirmation: string } | { readonly refused: string }

export interface Permission {
  readonly token: string
  /** The same key books once, however often it is sent. */
  readonly idempotencyKey: string
  readonly signal: AbortSignal
}

export interface Calendar {
  /** @throws where it cannot be said whether the booking was made: to be called again with the same key */
  book(order: Order, permission: Permission): Promise<Booked>
}

/** @param url where the service listens */
export function calendarAt(url: string): Calendar {
  return {
    async book(order, { token, idempotencyKey, signal }) {
      const response = await fetch(new URL('/bookings', url), {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
        body: JSON.stringify(order),
        signal,
      })
      if (response.status === 401 || response.status === 403) return { refused: 'the permission does not cover it, or no longer does' }
      if (response.status === 400 || response.status === 422) return { refused: 'it cannot enter such a booking' }
      if (!response.ok) throw new Error(`the calendar answered with ${response.status}`)
      const booking: unknown = await response.json()
      if (typeof booking === 'object' && booking !== null && 'confirmation' in booking && typeof booking.confirmation === 'string')
        return { confirmation: booking.confirmation }
      throw new Error('the calendar answered without a confirmation')
    },
  }
}
