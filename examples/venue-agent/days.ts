/** How many days a text asks for, be it as a length, as dates or as days of the week. */

import { anyOf, monthPattern, numberPattern, upperEnds, weekdayPattern } from './words.js'

export interface Taken<T> {
  readonly value?: T
  /** The text without what was understood. */
  readonly rest: string
}

// "In two weeks" says when it begins.
const startPattern = new RegExp(
  anyOf(
    `\\b(?:in|within) (?:about )?(?:an? |${numberPattern} )(?:days?|weeks?|months?)(?: time)?(?= |$)`,
    `\\b${numberPattern} (?:days?|weeks?|months?) (?:ago|from now|notice)\\b`,
  ),
  'g',
)

/** Days in `words` (see `plainWords`): half a day is 0.5, a weekend 2, a week 7; a length goes before dates. */
export function takeDays(words: string): Taken<number> {
  const span = takeSpan(words)
  const part = takeFirst(span.rest, partForms)
  const single = takeFirst(part.rest, singleForms)
  const value = span.value ?? part.value ?? single.value
  return { ...(value !== undefined && { value }), rest: single.rest }
}

/** As {@link takeDays}, but a day that stands alone ("12 May", "tomorrow") is no length. */
export function takeSpan(words: string): Taken<number> {
  const startsOnly = words.replace(startPattern, ',')
  const undressed = takeFirst(startsOnly.replace(weekdayOfDate, ''), dateForms)
  const dates = undressed.value === undefined ? { rest: startsOnly } : undressed
  const length = takeLength(upperEnds(dates.rest))
  const weekdays = takeFirst(length.rest, weekdayForms)
  const value = length.value ?? dates.value ?? weekdays.value
  return { ...(value !== undefined && { value }), rest: weekdays.rest }
}

// "Mon 12 to Wed 14 May"
const weekdayOfDate = new RegExp(`\\b${weekdayPattern} ,? ?(?=(?:the )?\\d{1,2}(?:st|nd|rd|th)?\\b)`, 'g')

type Form = readonly [pattern: RegExp, days: (...groups: string[]) => number | undefined]

function takeFirst(words: string, forms: readonly Form[]): Taken<number> {
  for (const [pattern, days] of forms) {
    const match = pattern.exec(words)
    const value = match ? days(...match.slice(1).map((group) => group ?? '')) : undefined
    if (match && value !== undefined) return { value, rest: words.replace(match[0], ' , ') }
  }
  return { rest: words }
}

const days = (factor: number) => (number: string) =>
  number.startsWith('minus') ? -factor * Number(number.slice(6)) : factor * Number(number)
const span = `(${numberPattern})`
const kind = '(?:full|whole|entire|consecutive|straight|solid|more|extra|calendar|conference|event|long|short) '
const lengthForms: readonly Form[] = [
  [new RegExp(`\\b${span} and a half days?\\b`), (n) => days(1)(n) + 0.5],
  [/\b(?:a |1 )?day and a half\b/, () => 1.5],
  [new RegExp(`\\b(?:a|1)?(?: ?full)? days? or (${numberPattern})\\b`), (n) => days(1)(n)],
  [new RegExp(`\\b(${numberPattern}) half days?\\b`), days(0.5)],
  [/\bhalf (?:a |of a |of the |the )?days?\b/, () => 0.5],
  [new RegExp(`\\b${span} ?(?:${kind})*(?:working |business |week ?|work ?)?(?:days?|d)\\b(?! rate)`), days(1)],
  [new RegExp(`\\b${span} (?:working|business|work) weeks?\\b`), days(5)],
  [/\b(?:working|business|work|school) week\b/, () => 5],
  [new RegExp(`\\b${span} (?:${kind})*(?:weeks?|wks?)\\b`), days(7)],
  [/\bfortnight\b/, () => 14],
  [new RegExp(`\\b${span} months?\\b`), days(30)],
  [/\b(?:a|whole|full|entire) month\b/, () => 30],
  [new RegExp(`\\b${span} weekends?\\b`), days(2)],
  [/\b(?:long|extended|bank holiday|3 day) weekend\b/, () => 3],
  [/\bweek ?ends?\b/, () => 2],
  [
    new RegExp(
      `\\b(?:(?:a|the whole|whole|full|entire|1|(?:for|all|during|takes?|lasts?)(?: the)?) (?:${kind})*week|week ?long)\\b` +
        '(?! (?:from|before|after|later|ago|of))',
    ),
    () => 7,
  ],
  [new RegExp(`\\b${span} nights?\\b`), days(1)],
  [new RegExp(`\\b(?:days|nights|duration|length)(?: is| are| of| ,)? (${numberPattern})(?! (?:people|pax|guests|persons))\\b`), days(1)],
  [
    new RegExp(
      anyOf(
        '\\b(?:a|full|whole|single|entire|all|(?:for|just|only|during) the|the whole|1) ?day\\b(?! (?:rate|before|after|from|out of|1|2))',
        '\\bday ?long\\b',
      ),
    ),
    () => 1,
  ],
  [
    new RegExp(`\\b${span} (?:hours?|hrs?|h)\\b`),
    (n) => (days(1)(n) > 24 ? Math.ceil(Number(n) / 24) : days(1)(n) > 5 ? 1 : days(1)(n) > 0 ? 0.5 : undefined),
  ],
]

// "2 days plus 1 day" is three; of two lengths without such a word the first counts, after a correction the last.
function takeLength(words: string): Taken<number> {
  const first = takeFirst(words, lengthForms)
  if (first.value === undefined) return first
  const second = takeFirst(first.rest, lengthForms)
  if (second.value === undefined) return first
  if (/\bnights?\b/.test(words)) return { value: first.value, rest: second.rest }
  if (/ (?:plus|and another|and then) (?:a |another )?,/.test(second.rest)) return { value: first.value + second.value, rest: second.rest }
  return { value: correction.test(words) ? second.value : first.value, rest: second.rest }
}

/** Words after which the later of two values counts. */
export const correction = /\b(?:no|sorry|actually|rather|i mean|wait|make (?:it|that)|correction|scratch that|instead|but)\b/

const to = '(?:to|till?|until|through|thru|up to|/|and)'
const day = '(\\d{1,2})(?:st|nd|rd|th)?'
const dateForms: readonly Form[] = [
  // may 12 to june 2
  [
    new RegExp(`\\b(${monthPattern}) (?:the )?${day} ${to} (${monthPattern}) (?:the )?${day}\\b`),
    (m1, d1, m2, d2) => between(d1, m1, d2, m2),
  ],
  // 12 may to 2 june
  [
    new RegExp(`\\b${day} (?:of )?(${monthPattern})(?: 20\\d\\d)? ${to} (?:the )?${day} (?:of )?(${monthPattern})\\b`),
    (d1, m1, d2, m2) => between(d1, m1, d2, m2),
  ],
  // may 12, 13 and 14
  [new RegExp(`\\b${monthPattern} ((?:${day} ,? ?){2,4}and ${day})\\b`), counted],
  [new RegExp(`\\b((?:(?:the )?${day} , ){1,4}(?:the )?${day} ,? ?and (?:the )?${day}) (?:of )?${monthPattern}\\b`), counted],
  // 12 to 14 may; 12th may to 14th
  [new RegExp(`\\b${day}(?: of)?(?: ${monthPattern})? ${to} (?:the )?${day} (?:of )?${monthPattern}\\b`), (d1, d2) => run(d1, d2)],
  [new RegExp(`\\b${day} (?:of )?${monthPattern} ${to} (?:the )?${day}(?! (?:people|guests|pax))\\b`), (d1, d2) => run(d1, d2)],
  // may 12 to 14
  [new RegExp(`\\b${monthPattern} (?:the )?${day} ${to} (?:the )?${day}\\b`), (d1, d2) => run(d1, d2)],
  // the 12th to the 14th
  [/\b(\d{1,2})(?:st|nd|rd|th) (?:to|till?|until|through|thru|and|\/) (?:the )?(\d{1,2})(?:st|nd|rd|th)?\b/, (d1, d2) => run(d1, d2)],
]

function run(from = '', to = ''): number | undefined {
  const length = Number(to) - Number(from) + 1
  return length > 1 && Number(to) <= 31 ? length : undefined
}

function counted(list = ''): number {
  return list.match(/\d+/g)?.length ?? 1
}

const monthLengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
const monthStarts = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

function between(fromDay = '', fromMonth = '', toDay = '', toMonth = ''): number | undefined {
  const dayOfYear = (date: string, month: string) =>
    monthLengths.slice(0, monthStarts.indexOf(month.slice(0, 3))).reduce((sum, length) => sum + length, Number(date))
  const length = dayOfYear(toDay, toMonth) - dayOfYear(fromDay, fromMonth) + 1
  return length > 0 ? length : length + 365
}

const dateOrPart = ` (?:the )?\\d{1,2}(?:st|nd|rd|th)?(?: (?:of )?${monthPattern})?| (?:morning|noon|night|evening|afternoon)`
const weekday = `(${weekdayPattern})(?:${dateOrPart})?`
const weekdayForms: readonly Form[] = [
  [
    new RegExp(`\\b${weekday} (?:to|till?|until|through|thru) (?:and including |the following |next )?${weekday}\\b`),
    (first, last) => weekdaysBetween(first, last),
  ],
  [new RegExp(`\\bbetween ${weekday} and ${weekday}\\b`), (first, last) => weekdaysBetween(first, last)],
  [
    new RegExp(`\\b((?:${weekdayPattern} ?,? ){1,6}(?:and|plus) ${weekdayPattern})\\b`),
    (list = '') => list.match(new RegExp(`\\b${weekdayPattern}\\b`, 'g'))?.length,
  ],
  [new RegExp(`\\b(${weekdayPattern}) / ${weekdayPattern}\\b`), () => 2],
]

const weekdayStarts = ['mo', 'tu', 'we', 'th', 'fr', 'sa', 'su']

function weekdaysBetween(first = '', last = ''): number {
  const distance = weekdayStarts.indexOf(last.slice(0, 2)) - weekdayStarts.indexOf(first.slice(0, 2))
  return (distance < 0 ? distance + 7 : distance) + 1
}

const partForms: readonly Form[] = [
  [
    new RegExp(
      `\\b(?:(?:for|on|in|during|only|just) (?:an?|the|1)|an|1|tomorrow|single|whole|${weekdayPattern}) (?:morning|afternoon|evening)\\b`,
    ),
    () => 0.5,
  ],
]

// One date without an end is one day, unless it only says when to begin.
const begins = '(?<!from |from the |starting |starting on |starts on |beginning |beginning on |begins on |by |before |after |since |until )'
const singleForms: readonly Form[] = [
  [new RegExp(`${begins}\\b(?:${weekdayPattern} ,? ?)?(?:the )?\\d{1,2}(?:st|nd|rd|th)? (?:of )?${monthPattern}\\b`), () => 1],
  [new RegExp(`${begins}\\b${monthPattern} (?:the )?\\d{1,2}(?:st|nd|rd|th)?\\b(?! (?:people|guests|pax))`), () => 1],
  [new RegExp(`\\b(?:on|this|next|coming) (?:the )?(?:${weekdayPattern}|\\d{1,2}(?:st|nd|rd|th))\\b`), () => 1],
  [/\b(?:tomorrow|today|tonight)\b/, () => 1],
]
