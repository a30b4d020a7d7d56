/** What somebody wants, read from one message of plain text, and messages of one conversation put together. */

import { takeDays } from './days.js'
import { type Feature, features, takeFeatures } from './features.js'
import { readHeadcount, withoutPrices } from './headcount.js'
import { takePlace } from './places.js'
import { type Topic, topicOf } from './topic.js'
import { anyOf, numberPattern, plainWords } from './words.js'

/** What a search needs. */
export type Need = 'city' | 'headcount' | 'days'

export interface Brief {
  readonly city?: string
  readonly headcount?: number
  /** Half a day is 0.5. */
  readonly days?: number
  readonly features: readonly Feature[]
}

/** A brief in which nothing is missing. */
export type FullBrief = Brief & { readonly city: string; readonly headcount: number; readonly days: number }

/** One message, understood. */
export interface Reading extends Brief {
  readonly topic: Topic
  /** "same again", "as last time", "what about Porto?": the last search of the conversation, changed. */
  readonly sameAgain: boolean
  readonly thorough: boolean
  /** Features that are said to be not needed. */
  readonly unwanted: readonly Feature[]
  /** The cities of "Lisbon or Porto". */
  readonly choices: readonly string[]
  /** A place that has no venues. */
  readonly unknownPlace?: string
  /** Numbers that cannot be meant, as sentences without their full stop. */
  readonly problems: readonly { readonly need: Need; readonly reason: string }[]
}

/** The greatest numbers that are taken for meant, and how many characters of a message are read. */
export const limits = Object.freeze({ headcount: 100_000, days: 90, characters: 2000 })

const again = new RegExp(
  anyOf(
    '\\bsame (?:again|as|thing|search|place|request|brief|but|with|for|please|one|setup|here|there|in|query)\\b',
    '\\bthe same(?! (?:day|time|floor|building|room|street|week))|^same\\b|\\bsame$',
    '\\b(?:again|once more|one more time|repeat|ditto|as before|like before|(?:as|like) last time)\\b',
    '\\b(?:the (?:last|previous|earlier) (?:one|search|request|brief)|what about|how about|what if|instead(?! of)|this time)\\b',
    '^(?:(?:ok|okay|now|and|but|please|then|actually|lets|can you|could you|also|,) )*(?:make|change|switch)\\b',
    '^(?:(?:ok|okay|please|then|actually|lets|,) )*(?:now|and|but|also) (?:in|for|with|without)\\b',
  ),
)
const thorough = new RegExp(
  `\\b${anyOf(
    'thorough(?:ly)?|in depth|in detail|deep(?:er)? (?:search|dive|look)|exhaustive(?:ly)?|comprehensive(?:ly)?',
    'detailed search|careful(?:ly)?|extensive(?:ly)?|take your time|leave no stone',
  )}\\b`,
)
const notThorough = /\b(?:not|no need|dont|without|nothing|no)(?: \w+){0,5} (?:thorough|in depth|exhaustive|comprehensive|detailed|careful)/
const notMeant = new RegExp(
  `\\b(?:not|instead of|rather than|no longer)(?: for)? ${numberPattern}\\b` +
    '(?: (?:people|persons?|pax|guests?|attendees|participants|days?|nights?|weeks?))?(?! (?:minutes?|mins?|km|hours?|miles?))',
  'g',
)

/**
 * Reads one message.
 *
 * @param asked what the message answers, if it answers a question: numbers that stand alone are taken for these, in order
 */
export function readBrief(message: string, asked: readonly Need[] = []): Reading {
  const text = message.slice(0, limits.characters)
  const words = plainWords(text)
  const wanted = takeFeatures(words)
  const place = takePlace(wanted.rest.replace(/\s+/g, ' '), text)
  const duration = takeDays(withoutPrices(place.rest.replace(notMeant, ' , ')).replace(/\s+/g, ' '))
  const heads = readHeadcount(duration.rest.replace(/\s+/g, ' '))
  const numbers = placeBare(heads.bare, heads.value, duration.value, asked)
  const unknown = place.unknown ?? bareName(text, words, asked)
  const sameAgain = again.test(words)
  const isThorough = thorough.test(words) && !notThorough.test(words)
  const topic = topicOf(words, {
    city: place.city !== undefined || place.choices.length > 0,
    unknownPlace: unknown !== undefined,
    headcount: heads.value !== undefined,
    days: duration.value !== undefined,
    features: wanted.wanted.length + wanted.unwanted.length,
    bareNumbers: heads.bare.length,
    command: isThorough || /\b(?:same|repeat|ditto|once more|as before|like before|last time)\b/.test(words),
    change: sameAgain,
    rest: duration.rest.replace(/\s+/g, ' ').trim(),
  })
  const checked = checkNumbers(numbers)
  return {
    topic,
    ...(place.city !== undefined && { city: place.city }),
    ...checked.brief,
    features: wanted.wanted,
    unwanted: wanted.unwanted,
    choices: place.choices,
    ...(unknown !== undefined && { unknownPlace: unknown }),
    sameAgain,
    thorough: isThorough,
    problems: checked.problems,
  }
}

// A word or two in answer to "which city?" that mean nothing else here.
function bareName(text: string, words: string, asked: readonly Need[]): string | undefined {
  if (!asked.includes('city') || readBrief(text).topic !== 'other') return undefined
  return /^[a-z]+(?: [a-z]+)?$/.test(words) && !/\b(?:what|why|how|who|i|you|it|yes|no|none|any|dont)\b/.test(words)
    ? text.trim().replace(/[.!?]+$/, '')
    : undefined
}

interface Numbers {
  readonly headcount?: number | undefined
  readonly days?: number | undefined
}

function placeBare(bare: readonly number[], headcount: number | undefined, days: number | undefined, asked: readonly Need[]): Numbers {
  const numbers = [...bare]
  if (asked.length > 0 && !asked.includes('headcount') && asked.includes('days')) return { headcount, days: days ?? numbers[0] }
  return { headcount: headcount ?? numbers.shift(), days: days ?? numbers.shift() }
}

function checkNumbers(numbers: Numbers): { readonly brief: Pick<Brief, 'headcount' | 'days'>; readonly problems: Reading['problems'] } {
  const { headcount, days } = numbers
  const headcountReason =
    headcount === undefined
      ? undefined
      : headcount < 1
        ? `a headcount of ${headcount} leaves nobody to seat`
        : !Number.isInteger(headcount)
          ? `${headcount} is no whole number of people`
          : headcount > limits.headcount
            ? `${spelled(headcount)} people is more than I can believe`
            : undefined
  const daysReason =
    days === undefined
      ? undefined
      : days <= 0
        ? `${days} days is no time at all`
        : days > limits.days
          ? `${spelled(days)} days is longer than the ${limits.days} that a venue can be had for`
          : undefined
  return {
    brief: {
      ...(headcount !== undefined && headcountReason === undefined && { headcount }),
      ...(days !== undefined && daysReason === undefined && { days }),
    },
    problems: [
      ...(headcountReason === undefined ? [] : [{ need: 'headcount' as const, reason: headcountReason }]),
      ...(daysReason === undefined ? [] : [{ need: 'days' as const, reason: daysReason }]),
    ],
  }
}

/** `1,200` */
export function spelled(number: number): string {
  return number.toLocaleString('en-GB')
}

/** `brief` as changed by a later message. A number that cannot be meant takes back the one before. */
export function changed(brief: Brief, reading: Reading): Brief {
  const refused = new Set(reading.problems.map(({ need }) => need))
  const isElsewhere = reading.city === undefined && (reading.choices.length > 0 || reading.unknownPlace !== undefined)
  const city = reading.city ?? (isElsewhere ? undefined : brief.city)
  const headcount = reading.headcount ?? (refused.has('headcount') ? undefined : brief.headcount)
  const days = reading.days ?? (refused.has('days') ? undefined : brief.days)
  const wanted = new Set([...brief.features, ...reading.features].filter((feature) => !reading.unwanted.includes(feature)))
  return {
    ...(city !== undefined && { city }),
    ...(headcount !== undefined && { headcount }),
    ...(days !== undefined && { days }),
    features: features.filter((feature) => wanted.has(feature)),
  }
}

/** What `brief` still needs, in the order in which it is asked for. */
export function missing(brief: Brief): readonly Need[] {
  return (['city', 'headcount', 'days'] as const).filter((need) => brief[need] === undefined)
}

export function isFull(brief: Brief): brief is FullBrief {
  return missing(brief).length === 0
}
