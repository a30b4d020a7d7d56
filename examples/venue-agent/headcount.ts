/** How many people a text speaks of, and the numbers in it that could be anything. */

import { correction } from './days.js'
import { anyOf, monthPattern, numberPattern, upperEnds } from './words.js'

export interface Heads {
  readonly value?: number
  /** Numbers that stand alone, in order: answers to "how many?". */
  readonly bare: readonly number[]
}

/** Headcount in `words` (see `plainWords`) after features, days and place were taken out. Of a range the upper end counts. */
export function readHeadcount(words: string): Heads {
  const numbers = upperEnds(withoutOtherNumbers(words))
  const cleaned = withoutFillers(numbers)
  const counted = byNoun(cleaned) ?? byPhrase(cleaned)
  const most = /\b(?:max(?:imum)?|up to|at most|no more than) (?:of )?(\d+)(?![\w.])/.exec(numbers)?.[1]
  if (counted !== undefined) return { value: most === undefined ? counted : Math.max(counted, toNumber(most)), bare: [] }
  return { bare: [...cleaned.matchAll(new RegExp(`(?<![\\w.])(${numberPattern})(?![\\w.])`, 'g'))].map(([number]) => toNumber(number)) }
}

const things = anyOf(
  'rooms?|halls?|screens?|projectors?|tables?|chairs?|cars?|bus(?:es)?|floors?|stages?|stars?|meals?|sqm|m2|sq',
  'square|metres?|meters?|m|km|kms|kilomet\\w+|miles?|mins?|minutes?|hours?|hrs?|h|percent|spots?|spaces?|toilets?',
  'sessions?|tracks?|talks?|venues?|options?|places|suggestions|offers|rounds?|microphones?|mics?|booths?|stands?',
  'years?|months?|weeks?|days?|nights?|th|st|nd|rd|bathrooms?|laptops?|beds?|vegetarian\\w*|vegans?|wheelchairs?',
)

const currency = '(?:eur|euros?|usd|gbp|chf|dollars?|pounds?|bucks|kroner|nok|sek|dkk|percent)\\b'
const each = '(?:a|per|each) (?:day|night|person|head|week)'
const prices = [
  `(?:[€$£] ?\\d+(?:\\.\\d+)?|\\b\\d+(?:\\.\\d+)? ?(?:[€$£%]|${currency}))(?: ${each})?`,
  '\\b(?:budget|price|cost|pay|spend|rate|fee)s?' +
    '(?: (?:is|of|around|about|max|maximum|up|to|not|more|than|at|most|under|below|per|a|day|head|person|the|for|total))* \\d+(?:\\.\\d+)?',
  `\\b\\d+(?:\\.\\d+)? (?:${each}|each)\\b`,
].map((pattern) => new RegExp(pattern, 'g'))

/** `words` without sums of money and what they are for ("€500 a day"). */
export function withoutPrices(words: string): string {
  return prices.reduce((rest, pattern) => rest.replace(pattern, ' , '), words)
}

const noHeads = '\\b(?! (?:people|guests|pax|persons?))'
const size = '(?:small|smaller|large|big|separate|extra|parallel|different|good|more|other|of them|working) '
const otherNumbers = [
  `\\b${monthPattern} (?:the )?\\d{1,2}(?:st|nd|rd|th)?${noHeads}`,
  `\\b\\d{1,2}(?:st|nd|rd|th)? (?:of )?${monthPattern}\\b`,
  '\\b\\d{1,2}(?:st|nd|rd|th)\\b',
  `\\b(?:in|year|during|${monthPattern}|spring|summer|autumn|fall|winter|q[1-4]|, ,) 20[2-4]\\d${noHeads}`,
  `\\b(?:room|hall|week|option|number|no|step|version|phase|covid|web|floor|level|day) \\d+${noHeads}`,
  `\\b(?:and )?${numberPattern} (?:${size})*${things}\\b(?! (?:person|people))`,
  '\\b(?:once|1) (?:or twice|time)\\b',
].map((pattern) => new RegExp(pattern, 'g'))

function withoutOtherNumbers(words: string): string {
  return otherNumbers.reduce((rest, pattern) => rest.replace(pattern, ' , '), words)
}

const fillers = new RegExp(
  `(?:\\b${anyOf(
    'about|around|roughly|approx(?:imately)?|circa|ca|c|some|say|maybe|perhaps|probably|possibly|nearly|almost|over',
    'under|more than|fewer than|less than|no more than|not more than|up to|upto|upwards of|at least|at most',
    'max(?:imum)?|min(?:imum)?|exactly|precisely|just|only|a total of|total of|an estimated|estimated|likely',
    'somewhere|between|or so|or more|or less|ish|odd|plus minus|like|still|now|it is|its|will be',
  )}\\b|[~<>])\\s*`,
  'g',
)

function withoutFillers(words: string): string {
  return words
    .replace(/(?:about|around|roughly|approx\w*)(?= ,)/g, ' ')
    .replace(fillers, '')
    .replace(/\s+/g, ' ')
    .trim()
}

const nouns = anyOf(
  'people|persons?|peoples|pax|guests?|attendees?|attendants?|participants?|delegates?|ppl|peeps|folks?|heads?',
  'employees?|staff(?: members)?|colleagues?|co ?workers?|visitors?|seats?|seated|seater|students?|pupils?|devs?',
  'developers?|engineers?|designers?|managers?|members?|invitees?|adults?|grown ups|kids?|children|child|souls?',
  'humans?|of us|friends?|team ?mates?|customers?|clients?|doctors?|nurses?|physicians?|teachers?|researchers?',
  'scientists?|academics?|users?|players?|spectators?|listeners?|women|men|ladies|gentlemen|individuals?',
  'professionals?|lawyers?|experts?|trainees?|volunteers?|founders?|investors?|partners?|executives?|execs?|leaders?',
  'directors?|sales ?people|salespersons?|fans|relatives?|family members|musicians?|singers?|artists?|speakers?',
  'others?|strong|headcount|capacity|in total|all together|altogether|total|in attendance|hackers?|programmers?',
  'alumni|freelancers?|journalists?|shareholders?|board members|consultants?|bankers?|nerds?',
)
const joining = ' ?(?:,)? ?(?:and|plus|with|as well as|along with)(?: the)? ?'

// Up to two words may stand between: "40 senior engineers".
const between = '(?:(?!(?:for|in|with|and|or|on|at|to|the|a|we|who|which|plus|of|are|is)\\b)[a-z]+ ){0,2}'
const counted = `(${numberPattern})(?: x)? ${between}${nouns}\\b`

function byNoun(words: string): number | undefined {
  const parts = [...words.matchAll(new RegExp(counted, 'g'))]
  const first = parts[0]
  if (first === undefined) {
    const before = new RegExp(
      `\\b${nouns}(?: (?:is|are|of|count|number|size|would be|should be|for|to|was))* ?[,=]? ?(${numberPattern})(?![\\w.])`,
    ).exec(words)
    return before?.[1] === undefined ? undefined : toNumber(before[1])
  }
  const joinedToSelf = new RegExp(`\\b(?:me|myself|i|us)${joining}$`).test(words.slice(0, first.index))
  let sum = toNumber(first[1]) + (joinedToSelf ? 1 : 0)
  let best = sum
  let end = first.index + first[0].length
  for (const part of parts.slice(1)) {
    const gap = words.slice(end, part.index)
    const value = toNumber(part[1])
    sum = new RegExp(`^(?: [a-z]+)?${joining}$`).test(gap) ? sum + value : value
    best = correction.test(gap) ? sum : Math.max(best, sum)
    end = part.index + part[0].length
  }
  if (parts.length === 1 && /\bothers?$/.test(first[0]) && /^ (?:and|plus) (?:me|myself)\b/.test(words.slice(end))) best += 1
  const corrected = new RegExp(`^.*?\\b(?:no|sorry|actually|i mean|wait|make (?:it|that))\\b[ ,]*(${numberPattern})(?![\\w.])`).exec(
    words.slice(end),
  )
  return corrected?.[1] === undefined ? best : toNumber(corrected[1])
}

const gatherings = anyOf(
  'group|party|team|crowd|audience|class|gathering|company|staff|family|department|delegation|bunch|number|size',
  'meeting|wedding|conference|workshop|event|dinner|capacity|headcount|attendance|turnout|total',
)
const holding = anyOf(
  'seats?|seating|sits?|fits?|fitting|holds?|holding|takes|accommodates?|accommodating|hosts?|host|hosting|houses?',
  'space for|room for|enough for|suitable for|expect(?:ing)?|invited?|inviting|we are|were|we re|we will|well be',
  'we have|there are|therell be|there will|we|us',
)
const phrases = [
  `${gatherings} (?:size )?(?:of |for |is |are |would be |should be |, |= |to )*(?:us )?(${numberPattern})`,
  `${holding} (?:for |be )?(${numberPattern})`,
  `(?:${numberPattern} )?for (?:(?:all|the|us|our|a|an|team|group|of|my|now|me) )*(${numberPattern})`,
]

function byPhrase(words: string): number | undefined {
  for (const phrase of phrases) {
    const values = [...words.matchAll(new RegExp(`\\b${phrase}(?![\\w.])`, 'g'))].map((match) => toNumber(match[1]))
    const value = correction.test(words) ? values.at(-1) : values[0]
    if (value !== undefined) return value
  }
  if (/\b(?:just|only) (?:me|myself)\b|\bby myself\b/.test(words)) return 1
  return undefined
}

function toNumber(text = ''): number {
  return text.startsWith('minus ') ? -Number(text.slice(6)) : Number(text)
}
