/** What a conversation remembers of its last search: the list as it was shown, so that "the second one" is what stood second. */

import type { JsonObject, TaskHandle } from 'errand'
import { toFullBrief } from './conversation.js'
import type { NamedDay } from './first-day.js'
import { briefData, offerOf, type Shortlist } from './search.js'
import { venues } from './venues.js'

export interface Remembered extends Shortlist {
  /** The first day, where the search named one. */
  readonly firstDay?: NamedDay
}

/** @param firstDay where the search named one */
export function remember({ context }: TaskHandle, { brief, offers }: Shortlist, firstDay: NamedDay | undefined): void {
  context.set('brief', briefData(brief))
  context.set('shown', { venues: offers.map(({ venue }) => venue.id), ...(firstDay !== undefined && { firstDay: { ...firstDay } }) })
}

/** The last list of this conversation; undefined where there is none, or nothing stood on it. */
export function lastShortlist({ context }: TaskHandle): Remembered | undefined {
  const brief = toFullBrief(context.get('brief'))
  const shown = context.get<JsonObject>('shown')
  if (brief === undefined || !Array.isArray(shown?.['venues'])) return undefined
  const offers = shown['venues'].flatMap((id) => venues.filter((venue) => venue.id === id).map((venue) => offerOf(venue, brief)))
  if (offers.length === 0) return undefined
  const firstDay = toNamedDay(shown['firstDay'])
  return { brief, offers, ...(firstDay !== undefined && { firstDay }) }
}

function toNamedDay(memory: unknown): NamedDay | undefined {
  if (typeof memory !== 'object' || memory === null) return undefined
  const { day, month, year }: { day?: unknown; month?: unknown; year?: unknown } = memory
  if (typeof day !== 'number' || typeof month !== 'number') return undefined
  return { day, month, ...(typeof year === 'number' && { year }) }
}
