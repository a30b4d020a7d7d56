/** Plain words: text as people type it, in one spelling, with every number in digits. */

export const weekdayPattern =
  '(?:mon(?:day)?|tue(?:s(?:day)?)?|wed(?:s|nesday)?|thu(?:rs?(?:day)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?)s?'
export const monthPattern = anyOf(
  'jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?',
  'sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?',
)
export const numberPattern = '(?:minus )?\\d+(?:\\.\\d+)?'

const letters: Readonly<Record<string, string>> = { ø: 'o', æ: 'ae', œ: 'oe', ß: 'ss', ł: 'l', đ: 'd', ð: 'd', þ: 'th' }
const monthNames = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/** `text` in lower case without accents, punctuation as commas, ranges as `to`, numbers (`a dozen`, `1.2k`, `1,200`) in digits. */
export function plainWords(text: string): string {
  return numbersInDigits(punctuated(withDates(withDigits(folded(text)))))
}

/** A pattern for any of `lines`, in each of which alternatives are parted by `|`. */
export function anyOf(...lines: readonly string[]): string {
  return `(?:${lines.join('|')})`
}

/** `words` with `80 to 100` and its like replaced by the upper end. */
export function upperEnds(words: string): string {
  const range = /\b(?:between )?(\d+(?:\.\d+)?) (?:to|or|\/|(?<=between \S+ )and) (\d+(?:\.\d+)?)\b/g
  return words.replace(range, (all, low: string, high: string) => (Number(low) < Number(high) ? high : all))
}

/** `text` in lower case, without accents and typographic variants. */
export function folded(text: string): string {
  return text
    .toLowerCase()
    .replace(/½/g, ' 1/2')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[øæœßłđðþ]/g, (letter) => letters[letter] ?? letter)
    .replace(/[‘’ʼ`´]/g, "'")
    .replace(/[\u2010-\u2015\u2212]/g, '-')
    .replace(/[\s\u200b]+/g, ' ')
    .trim()
}

function withDigits(text: string): string {
  return text
    .replace(/\b(\d+) {1,2}1\/2\b/g, '$1.5')
    .replace(/(^|[^\d/])1\/2 (?=days?\b)/g, '$1half ')
    .replace(/\b\d{1,3}(?:[,.' ]\d{3})+(?![\d.,]*\d)/g, (number) => number.replace(/[,.' ]/g, ''))
    .replace(/(\d),(\d{1,2})(?![\d,])/g, '$1.$2')
    .replace(/\b(\d+(?:\.\d+)?) ?k\b/g, (_, number: string) => String(Math.round(Number(number) * 1000)))
}

// Numeric dates are read day first, as everywhere in Europe.
function withDates(text: string): string {
  const date = (all: string, day: string, month: string) => {
    const name = monthNames[Number(month) - 1]
    return name === undefined || Number(day) < 1 || Number(day) > 31 ? all : ` ${Number(day)} ${name} `
  }
  return text
    .replace(/\b24\/7\b/g, ' , ')
    .replace(/\b20\d\d-(\d\d)-(\d\d)\b/g, (all, month: string, day: string) => date(all, day, month))
    .replace(/\b(\d{1,2})[./](\d{1,2})[./](?:20)?\d\d\b/g, date)
    .replace(/\b(\d{1,2})\.(\d{1,2})\.(?=[ \-,]|$)/g, date)
    .replace(/\b(\d{1,2})\. ?- ?(?= ?\d{1,2} [a-z])/g, '$1 to ')
    .replace(/\b(\d{1,2})\/(\d{1,2})(?= ?(?:-|to|until) ?\d{1,2}[/ ])/g, date)
    .replace(
      new RegExp(`((?:${monthNames.join('|')}) ? ?(?:-|to|until) ?)(\\d{1,2})/(\\d{1,2})\\b`, 'g'),
      (_, before: string, day: string, month: string) => {
        return before + date(`${day}/${month}`, day, month)
      },
    )
}

function punctuated(text: string): string {
  return text
    .replace(/\b\d{1,2}(?::\d\d ?(?:am|pm)?| ?(?:am|pm)\b| o'clock)/g, ' , ')
    .replace(/'/g, '')
    .replace(/(\d) ?-?ish\b/g, '$1')
    .replace(/&/g, ' and ')
    .replace(/\//g, ' / ')
    .replace(/(\d) ?\+(?= ?\d)/g, '$1 plus ')
    .replace(/(\d)\+/g, '$1 ')
    .replace(/ \+ /g, ' plus ')
    .replace(new RegExp(`\\b(${weekdayPattern}) ?- ?(?=${weekdayPattern}\\b)`, 'g'), '$1 to ')
    .replace(new RegExp(`(\\d(?:st|nd|rd|th)?(?: ${monthPattern})?) {0,2}- {0,2}(?=(?:${weekdayPattern} )?\\d)`, 'g'), '$1 to ')
    .replace(/(^|[\s(:=])-(?=\d)/g, '$1 minus ')
    .replace(/([a-z0-9])-(?=[a-z0-9])/g, '$1 ')
    .replace(/(\d)(?=(?:days?|nights?|hours?|hrs?|weeks?|people|persons?|pax|guests?|ppl|d|h|p|x)\b)/g, '$1 ')
    .replace(/(\d)\.(?=\d)/g, '$1·')
    .replace(/[.;,!?()[\]"|*•\n]|-/g, ' , ')
    .replace(/[·]/g, '.')
    .replace(/[^a-z0-9.,/€$£%~ ]/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
}

const small = [
  'zero',
  'one',
  'two',
  'three',
  'four',
  'five',
  'six',
  'seven',
  'eight',
  'nine',
  'ten',
  'eleven',
  'twelve',
  'thirteen',
  'fourteen',
  'fifteen',
  'sixteen',
  'seventeen',
  'eighteen',
  'nineteen',
]
const tens = ['twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety']
const values = new Map([
  ...small.map((word, value) => [word, value] as const),
  ...tens.map((word, index) => [word, (index + 2) * 10] as const),
  ['fourty', 40] as const,
  ['couple', 2] as const,
])
const factors = new Map([
  ['dozen', 12],
  ['dozens', 12],
  ['hundred', 100],
  ['thousand', 1000],
  ['grand', 1000],
  ['million', 1_000_000],
])
// Elsewhere `one` is a pronoun ("find me one in Oslo").
const afterOne = new RegExp(
  `^${anyOf(
    'days?|full|whole|single|half|nights?|weeks?|weekend|morning|afternoon|evening|hours?|persons?|people|guests?',
    'hundred|thousand|million|dozen|or|to|month',
  )}$`,
)

function numbersInDigits(text: string): string {
  const words = text.split(' ')
  const out: string[] = []
  for (let at = 0; at < words.length; ) {
    const number = numberAt(words, at)
    out.push(number === undefined ? (words[at] ?? '') : String(number.value))
    at = number?.end ?? at + 1
  }
  return out.join(' ')
}

function numberAt(words: readonly string[], start: number): { readonly value: number; readonly end: number } | undefined {
  if (words[start] === 'half') {
    const at = words[start + 1] === 'a' ? start + 2 : start + 1
    const factor = factors.get(words[at] ?? '')
    return factor === undefined ? undefined : { value: factor / 2, end: at + 1 }
  }
  if (/^(?:few|several|many)$/.test(words[start - 1] ?? '') && factors.has(words[start] ?? '')) return undefined
  let at = start
  let sum = 0
  let part: number | undefined
  for (; at < words.length; at++) {
    const word = words[at] ?? ''
    const factor = factors.get(word)
    const value = numberOf(words, at)
    if (
      factor !== undefined &&
      (part !== undefined || (at > start && sum === 0) || (at === start && word !== 'dozens' && word !== 'grand'))
    ) {
      part = (part ?? 1) * factor
      if (factor >= 1000) {
        sum += part
        part = undefined
      }
    } else if (value !== undefined && mayFollow(part, value, at === start || sum > 0)) part = (part ?? 0) + value
    else if (
      word === 'and' &&
      at > start &&
      factors.has(words[at - 1] ?? '') &&
      (numberOf(words, at + 1) ?? 100) < 100 &&
      !/^\d/.test(words[at + 1] ?? '')
    )
      continue
    else if (/^an?$/.test(word) && at === start && (factors.has(words[at + 1] ?? '') || words[at + 1] === 'couple')) continue
    else if (word === 'of' && words[at - 1] === 'couple') continue
    else break
  }
  if (part === undefined && sum === 0 && numberOf(words, start) !== 0) return undefined
  return at === start ? undefined : { value: sum + (part ?? 0), end: at }
}

function numberOf(words: readonly string[], at: number): number | undefined {
  const word = words[at] ?? ''
  const isAndAHalf = words[at + 1] === 'and' && words[at + 3] === 'half'
  if (word === 'one' && words.length > 1 && !isAndAHalf && !afterOne.test(words[at + 1] ?? '') && !tens.includes(words[at - 1] ?? ''))
    return undefined
  // Digits belong to a number phrase only before a factor: "2 hundred".
  if (/^\d+(?:\.\d+)?$/.test(word)) return factors.has(words[at + 1] ?? '') ? Number(word) : undefined
  return values.get(word)
}

function mayFollow(part: number | undefined, value: number, atStart: boolean): boolean {
  if (part === undefined) return atStart
  if (part >= 100 && part % 100 === 0) return value < 100
  return part >= 20 && part % 10 === 0 && value > 0 && value < 10
}
