/** Which venues fit a brief, best first, and how that is told to people and programs. */

import { type FullBrief, spelled } from './brief.js'
import { type Feature, featureNames, listed } from './features.js'
import { type Venue, venues } from './venues.js'

export interface Offer {
  readonly venue: Venue
  /** For all days, in euros. */
  readonly total: number
  /** Features that were asked for and are not there. */
  readonly lacking: readonly Feature[]
}

export interface Shortlist {
  readonly brief: FullBrief
  /** Empty when no venue of the city is large enough. */
  readonly offers: readonly Offer[]
  /** The largest venue of the city, where none is large enough. */
  readonly closest?: Venue
}

const longest = 5

/** Venues of the city with room for all: those with every feature, or where there is none those that lack the fewest; cheapest first. */
export function search(brief: FullBrief, all: readonly Venue[] = venues): Shortlist {
  const local = all.filter(({ city }) => city === brief.city)
  const offers = local.filter(({ capacity }) => capacity >= brief.headcount).map((venue) => offerOf(venue, brief))
  if (offers.length === 0) {
    const closest = local.toSorted((a, b) => b.capacity - a.capacity)[0]
    return { brief, offers, ...(closest !== undefined && { closest }) }
  }
  const fewest = Math.min(...offers.map(({ lacking }) => lacking.length))
  const best = offers.filter(({ lacking }) => lacking.length === fewest)
  return { brief, offers: best.toSorted((a, b) => a.total - b.total || a.venue.id.localeCompare(b.venue.id)).slice(0, longest) }
}

/** What the venue costs, and what it lacks. */
export function offerOf(venue: Venue, brief: FullBrief): Offer {
  return {
    venue,
    total: Math.round(venue.pricePerDay * brief.days),
    lacking: brief.features.filter((feature) => !venue.features.includes(feature)),
  }
}

/** Venues that cost less than all that were shown, though they lack what was asked for: those that lack the fewest features first. */
export function searchCheaper({ brief, offers }: Shortlist, all: readonly Venue[] = venues): Shortlist {
  const lowest = Math.min(...offers.map(({ total }) => total))
  const found = all
    .filter(({ city, capacity }) => city === brief.city && capacity >= brief.headcount)
    .map((venue) => offerOf(venue, brief))
    .filter(({ total }) => total < lowest)
  return { brief, offers: found.toSorted((a, b) => a.lacking.length - b.lacking.length || a.total - b.total).slice(0, longest) }
}

/** The shortlist as lines of text. */
export function shortlistText({ brief, offers, closest }: Shortlist): string {
  if (offers.length === 0)
    return `No venue for ${briefText(brief)}.${closest ? ` The largest is ${closest.name} with ${spelled(closest.capacity)} seats.` : ''}\n`
  const lines = offers.map(({ venue, total, lacking }, index) => {
    const without = lacking.length > 0 ? `, without ${featureNames(lacking)}` : ''
    return `${index + 1}. ${venue.name}: ${spelled(venue.capacity)} seats, €${spelled(total)} for ${daysText(brief.days)}${without}`
  })
  return `Venues for ${briefText(brief)}:\n${lines.join('\n')}\n`
}

/** The shortlist for programs: `{brief, venues, closest?}`, prices in euros. */
export function shortlistData({ brief, offers, closest }: Shortlist) {
  return {
    brief: briefData(brief),
    venues: offers.map(({ venue, total, lacking }) => ({ ...venueData(venue), total, currency: 'EUR', lacking: [...lacking] })),
    ...(closest && { closest: venueData(closest) }),
  }
}

/** A brief as JSON, as a conversation remembers it. */
export function briefData({ city, headcount, days, features }: FullBrief) {
  return { city, headcount, days, features: [...features] }
}

function venueData(venue: Venue) {
  return { ...venue, features: [...venue.features] }
}

/** One sentence on what was found and why it stands first. */
export function explain({ brief, offers, closest }: Shortlist): string {
  const first = offers[0]
  if (first === undefined) {
    const nearest = closest ? `; ${closest.name} comes closest with ${spelled(closest.capacity)} seats` : ''
    return `None of my venues in ${brief.city} has room for ${spelled(brief.headcount)} people${nearest}.`
  }
  const others = offers.length - 1
  const rank = others === 0 ? 'is the only match' : `is the cheapest of ${offers.length} matches`
  const caveat = first.lacking.length > 0 ? `, though none has all you asked for and it lacks ${featureNames(first.lacking)}` : ''
  return `${first.venue.name} ${rank} for ${briefText(brief)}, at €${spelled(first.total)} in all${caveat}.`
}

/** One sentence on what costs less than what was shown. */
export function explainCheaper({ brief, offers }: Shortlist, cheaper: Shortlist): string {
  const [lowest] = offers.toSorted((a, b) => a.total - b.total)
  const [first, ...others] = cheaper.offers
  if (first === undefined) return `${lowest?.venue.name} is the cheapest that I have for ${briefText({ ...brief, features: [] })}.`
  const rank = others.length === 0 ? 'is the only one that costs less' : `is one of ${cheaper.offers.length} that cost less`
  return `${first.venue.name} ${rank}, at €${spelled(first.total)} in all, but it lacks ${featureNames(first.lacking)}.`
}

/** `120 people in Lisbon for 2 days with wifi and catering` */
export function briefText({ city, headcount, days, features }: FullBrief): string {
  const wishes = features.length > 0 ? ` with ${featureNames(features)}` : ''
  return `${spelled(headcount)} ${headcount === 1 ? 'person' : 'people'} in ${city} for ${daysText(days)}${wishes}`
}

export function daysText(days: number): string {
  return days === 0.5 ? 'half a day' : `${days} ${days === 1 ? 'day' : 'days'}`
}

export interface Stage {
  readonly note: string
  /** What the stage found, as text; the last stage has the shortlist itself. */
  readonly finding?: string
}

/** The five stages of a thorough search. */
export function stages(shortlist: Shortlist, all: readonly Venue[] = venues): readonly Stage[] {
  const { brief } = shortlist
  const local = all.filter(({ city }) => city === brief.city)
  const large = local.filter(({ capacity }) => capacity >= brief.headcount)
  const names = (list: readonly Venue[]) => (list.length > 0 ? `: ${listed(list.map(({ name }) => name))}` : '')
  const complete = large.filter((venue) => brief.features.every((feature) => venue.features.includes(feature)))
  const wishes = brief.features.length > 0 ? featureNames(brief.features) : 'no particular features'
  return [
    { note: `Stage 1 of 5: listing every venue in ${brief.city}`, finding: `${local.length} venues in ${brief.city}${names(local)}.\n` },
    {
      note: `Stage 2 of 5: counting seats for ${spelled(brief.headcount)}`,
      finding: `${large.length} with room for ${spelled(brief.headcount)}${names(large)}.\n`,
    },
    { note: `Stage 3 of 5: checking for ${wishes}`, finding: `${complete.length} with all that was asked for${names(complete)}.\n` },
    { note: `Stage 4 of 5: comparing prices for ${daysText(brief.days)}`, finding: shortlistText(shortlist) },
    { note: 'Stage 5 of 5: writing the shortlist' },
  ]
}
