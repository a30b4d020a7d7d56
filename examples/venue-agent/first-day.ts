/** On which day something begins, as people say it, and which day of the calendar that is. */

import { limits } from './brief.js'
import { anyOf, folded, monthPattern, plainWords, weekdayPattern } from './words.js'

/** A day with its month; the year may be left out. */
export interface NamedDay {
  readonly day: number
  readonly month: number
  readonly year?: number
}

/** A day that is counted from the day on which it is said. */
export type CountedDay = { readonly inDays: number } | { readonly weekday: number } | { readonly dayOfMonth: number }

/** The first day in a text: the beginning, where several are named. */
export function readFirstDay(message: string): NamedDay | CountedDay | undefined {
  const text = message.slice(0, limits.characters)
  return readNamedDay(text) ?? readCountedDay(plainWords(text))
}

/** As {@link readFirstDay}, but only a day that stays the same whenever it is read. */
export function readNamedDay(message: string): NamedDay | undefined {
  const text = message.slice(0, limits.characters)
  const numeric = folded(text)
  const [, year, month, day] = /\b(20\d\d)-(\d\d?)-(\d\d?)\b/.exec(numeric) ?? []
  if (year !== undefined) return named(day, Number(month), year)
  const [, dayFirst, monthNext, yearLast] = /\b(\d\d?)[./](\d\d?)[./](20\d\d)\b/.exec(numeric) ?? []
  if (yearLast !== undefined) return named(dayFirst, Number(monthNext), yearLast)
  const words = plainWords(text)
  for (const [pattern, place] of writtenForms) {
    const match = pattern.exec(words)
    if (match) return named(match[place.day], monthNumber(match[place.month]), match[place.year])
  }
  return undefined
}

const day = '(\\d{1,2})(?:st|nd|rd|th)?'
const year = '(?: ,? ?(20\\d\\d))?'
const month = `(${monthPattern})`
const writtenForms: readonly (readonly [RegExp, { readonly day: number; readonly month: number; readonly year: number }])[] = [
  // 12 to 14 may 2027; 12, 13 and 14 may
  [
    new RegExp(
      `\\b${day}(?: (?:,|to|till?|until|through|thru|and)(?: and)? (?:the )?\\d{1,2}(?:st|nd|rd|th)?)+ (?:of )?${month}\\b${year}`,
    ),
    { day: 1, month: 2, year: 3 },
  ],
  // 12th of may 2027
  [new RegExp(`\\b${day} (?:of )?${month}\\b${year}`), { day: 1, month: 2, year: 3 }],
  // may the 12th, 2027
  [new RegExp(`\\b${month} (?:the )?${day}\\b(?! (?:people|guests|pax|persons))${year}`), { day: 2, month: 1, year: 3 }],
]

const monthStarts = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const monthNumber = (name = '') => monthStarts.indexOf(name.slice(0, 3)) + 1

function named(day = '', month: number, year?: string): NamedDay | undefined {
  const date = { day: Number(day), month, ...(year !== undefined && { year: Number(year) }) }
  // A leap year, so that 29 February is a day.
  return isoDay(date.year ?? 2028, month, date.day) === undefined ? undefined : date
}

const weekdayStarts = ['su', 'mo', 'tu', 'we', 'th', 'fr', 'sa']
const begins = anyOf('on|from|for|starting|starting on|beginning|by|after')

function readCountedDay(words: string): CountedDay | undefined {
  if (/\bday after tomorrow\b/.test(words)) return { inDays: 2 }
  if (/\btomorrow\b/.test(words)) return { inDays: 1 }
  if (/\b(?:today|tonight)\b/.test(words)) return { inDays: 0 }
  const [, count, unit] = /\bin (?:about )?(an?|\d{1,3}) (day|week)s?\b/.exec(words) ?? []
  if (count !== undefined) return { inDays: (Number(count) || 1) * (unit === 'week' ? 7 : 1) }
  const weekday = new RegExp(`\\b${weekdayPattern}\\b`).exec(words)?.[0]
  if (weekday !== undefined) return { weekday: weekdayStarts.indexOf(weekday.slice(0, 2)) }
  const [, dayOfMonth] = new RegExp(`(?:^|\\b${begins} )(?:the )?(\\d{1,2})(?:st|nd|rd|th)\\b`).exec(words) ?? []
  return dayOfMonth === undefined ? undefined : { dayOfMonth: Number(dayOfMonth) }
}

/**
 * The day as `2027-05-12`. Without a year, or counted, it is the next such day.
 *
 * @param today the day on which it was said, as `2027-05-12`
 * @returns undefined where there is no such day, such as 29 February 2027
 */
export function toIsoDay(spoken: NamedDay | CountedDay, today: string): string | undefined {
  const now = new Date(`${today}T00:00:00Z`)
  const [thisYear, thisMonth, thisDay] = [now.getUTCFullYear(), now.getUTCMonth() + 1, now.getUTCDate()]
  if ('month' in spoken) {
    if (spoken.year !== undefined) return isoDay(spoken.year, spoken.month, spoken.day)
    const next = isoDay(thisYear, spoken.month, spoken.day)
    return next !== undefined && next >= today ? next : isoDay(thisYear + 1, spoken.month, spoken.day)
  }
  if ('inDays' in spoken) return daysAfter(today, spoken.inDays)
  // "On Monday", said on a Monday, is in a week.
  if ('weekday' in spoken) return daysAfter(today, ((spoken.weekday - now.getUTCDay() + 6) % 7) + 1)
  const ahead = spoken.dayOfMonth < thisDay ? 1 : 0
  return isoDay(thisYear + (thisMonth + ahead > 12 ? 1 : 0), ((thisMonth + ahead - 1) % 12) + 1, spoken.dayOfMonth)
}

function daysAfter(today: string, days: number): string {
  return new Date(Date.parse(`${today}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10)
}

function isoDay(year: number, month: number, day: number): string | undefined {
  const date = new Date(Date.UTC(year, month - 1, day))
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? date.toISOString().slice(0, 10) : undefined
}

/** `12 May 2027` */
export function spokenDay(isoDay: string): string {
  return new Date(`${isoDay}T00:00:00Z`).toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' })
}
