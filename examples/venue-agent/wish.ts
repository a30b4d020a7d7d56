/** Whether a message asks to book something from the list that was shown, and what of it. */

import { limits, readBrief } from './brief.js'
import { takeSpan } from './days.js'
import { type CountedDay, type NamedDay, readFirstDay } from './first-day.js'
import type { Venue } from './venues.js'
import { anyOf, plainWords } from './words.js'

/** Which venue is meant: its place on the list, counted from 1 or from the end (-1), or the venue itself; absent for "book it". */
export type Choice = { readonly place: number } | { readonly venueId: string }

export interface Wish {
  readonly choice?: Choice
  readonly firstDay?: NamedDay | CountedDay
  /** Half a day is 0.5. */
  readonly days?: number
}

const ordinals: Readonly<Record<string, number>> = {
  ...{ first: 1, second: 2, third: 3, fourth: 4, fifth: 5, sixth: 6, seventh: 7, eighth: 8, ninth: 9, tenth: 10 },
  ...{ '1st': 1, '2nd': 2, '3rd': 3, '4th': 4, '5th': 5, '6th': 6, '7th': 7, '8th': 8, '9th': 9, '10th': 10 },
  // The list begins with the cheapest.
  ...{ top: 1, cheapest: 1, last: -1 },
}
const things = anyOf('one|1|venue|place|option|choice|hall|room|space|location|entry|offer|suggestion|hit|match')
const ordinal = `(?:the |your )?(${Object.keys(ordinals).join('|')})(?: ${things})?(?: (?:on|in|of|from) (?:the|your|that) (?:short)?list)?`
const labelled = '(?:the )?(?:number|no|nr|option|choice|venue|item|place|entry|offer) ?,? ?(\\d{1,2})'
const unnamed = anyOf(
  '(?:it|that|this)(?: (?:one|1|place|venue))?|them|both(?: of them)?|all of them|(?:one|1) of them',
  'the (?:first|last) [2-9]|the (?:middle|biggest|largest|smallest|nicest|best)(?: one| 1)?',
)
const ends = `(?= ?(?:$|,|${anyOf('please|pls|then|now|today|tomorrow|the day after|for|on|from|starting|instead|thanks|thank|next|this|and|with|at|to|too|in')}\\b))`
const notCounted = '(?! (?:days?|nights?|weeks?|people|persons?|pax|guests?|of|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))'

const books = anyOf('book|reserve|booking (?:for|of)|reservation (?:for|of)')
const takes = anyOf(`${books}|take|choose|pick|hold|confirm|order|have|want|go (?:for|with)|settle (?:on|for)|decided? (?:on|for)|prefer`)
const us = '(?: (?:us|me|please|just|simply))*'
const after = (verb: string, what: string) => new RegExp(`\\b${verb}${us} ${what}${notCounted}${ends}`)
const mentions = new RegExp(`\\b(${Object.keys(ordinals).join('|')}) ${things}\\b`)
const takesOrdinal = after(takes, ordinal)
const takesLabelled = after(takes, labelled)
const takesNumber = after(books, '(\\d{1,2})')
const booksUnnamed = after(anyOf(`${books}|take|confirm`), unnamed)
const onlyBooks = /^(?:(?:ok|okay|yes|please|then|now|,) ?)*(?:book|reserve)(?: ?(?:please|now|,))*$/
const polite = `(?:${anyOf(
  'ok|okay|yes|yep|sure|great|perfect|please|pls|then|lets|let us|say|id like|i would like|we would like|wed like|,',
  'no|sorry|wait|rather|actually|better|make it|i mean|i meant',
)} )*`
const alone = new RegExp(`^${polite}(?:${ordinal}|${labelled})${notCounted}${ends}`)

/** "Don't book it." */
export const forbids = (message: string) =>
  /\b(?:dont|do not|not|never|no need)(?: \w+){0,2} (?:book|reserve|take)\b/.test(plainWords(message.slice(0, limits.characters)))

/**
 * What a message asks to book; undefined where it asks for nothing of the kind, such as for a search ("book a hall in Oslo").
 *
 * @param shown the list, first to last: these may be called by a part of their name
 * @param all every venue: these may be called by name
 */
export function readWish(message: string, shown: readonly Venue[], all: readonly Venue[] = shown): Wish | undefined {
  const text = message.slice(0, limits.characters)
  const words = plainWords(text)
  if (forbids(text)) return undefined
  const venue = namedVenue(words, shown, all)
  const named = venue !== undefined && (new RegExp(`\\b${takes}\\b`).test(words) || isAlone(words, venue)) ? venue : undefined
  const referred = named === undefined ? referredTo(words) : undefined
  if (named === undefined && referred === undefined) return undefined
  // The name of a venue says nothing of its city; a city that is named beside "the first one" begins a search.
  if (named === undefined && readBrief(text).city !== undefined) return undefined
  const choice = named === undefined ? referred?.choice : { venueId: named.id }
  return { ...(choice !== undefined && { choice }), ...readDates(referred === undefined ? text : withoutOrdinal(text)) }
}

/** When, in a message about a booking. */
export function readDates(message: string): Pick<Wish, 'firstDay' | 'days'> {
  const text = message.slice(0, limits.characters)
  const firstDay = readFirstDay(text)
  const days = takeSpan(plainWords(text)).value
  return {
    ...(firstDay !== undefined && { firstDay }),
    ...(days !== undefined && days > 0 && days <= limits.days && { days }),
  }
}

function referredTo(words: string): { readonly choice?: Choice } | undefined {
  const [, ordinalWord, number = takesLabelled.exec(words)?.[1] ?? takesNumber.exec(words)?.[1]] =
    takesOrdinal.exec(words) ?? alone.exec(words) ?? []
  const place = ordinalWord === undefined ? Number(number) : ordinals[ordinalWord]
  if (place !== undefined && !Number.isNaN(place)) return { choice: { place } }
  if (!booksUnnamed.test(words) && !onlyBooks.test(words)) return undefined
  // "The second one looks good, book it."
  const mentioned = mentions.exec(words)?.[1]
  return mentioned === undefined ? {} : { choice: { place: ordinals[mentioned] ?? 0 } }
}

// "The 2nd" is no day of the month here.
function withoutOrdinal(text: string): string {
  return text.replace(/\b(?:1st|2nd|3rd|[4-9]th|10th)\b(?!\s+(?:of\s+)?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))/i, '')
}

const ordinary = /^(?:arena|assembly|exchange|forum|hall|house|loft|rooms?|studio|works)$/

function namedVenue(words: string, shown: readonly Venue[], all: readonly Venue[]): Venue | undefined {
  const called = all.find((venue) => ` ${words} `.includes(` ${plainName(venue)} `))
  if (called !== undefined) return called
  for (const word of words.split(' ')) {
    if (word.length < 4 || ordinary.test(word)) continue
    const [owner, ...others] = shown.filter((venue) => plainName(venue).split(' ').includes(word))
    if (owner !== undefined && others.length === 0) return owner
  }
  return undefined
}

function isAlone(words: string, venue: Venue): boolean {
  return new RegExp(`^${polite}(?:the )?${plainName(venue)}${ends}`).test(words)
}

const plainNames = new Map<string, string>()

/** Every message is searched for every name. */
function plainName({ name }: Venue): string {
  const known = plainNames.get(name) ?? plainWords(name)
  plainNames.set(name, known)
  return known
}
