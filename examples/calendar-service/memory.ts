/** What the calendar keeps beyond its process: the tokens that it gave out, by their digests, and what is booked. */

import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { Entered } from './bookings.js'
import type { Expiring, Token } from './grants.js'

export interface CalendarMemory {
  readonly tokens: Map<string, Expiring<Token>>
  /** By client and `Idempotency-Key`. */
  readonly bookings: Map<string, Entered>
  /** Called after a change, and before anybody is told of it. */
  save(): void
}

export function inMemory(): CalendarMemory {
  return { tokens: new Map(), bookings: new Map(), save() {} }
}

interface Kept {
  readonly tokens: readonly (readonly [string, Expiring<Token>])[]
  readonly bookings: readonly (readonly [string, Entered])[]
}

export function inFile(path: string): CalendarMemory {
  // Written by save() below.
  const kept = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Kept) : { tokens: [], bookings: [] }
  const tokens = new Map(kept.tokens)
  const bookings = new Map(kept.bookings)
  return {
    tokens,
    bookings,
    save() {
      const text = JSON.stringify({ tokens: [...tokens], bookings: [...bookings] } satisfies Kept)
      // A process that dies meanwhile leaves the file as it was.
      writeFileSync(`${path}.new`, text, { mode: 0o600, flush: true })
      renameSync(`${path}.new`, path)
    },
  }
}
