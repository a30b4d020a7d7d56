/** The cities that have venues, under the names and the misspellings people use. */

import { anyOf, folded } from './words.js'

const aliases: Readonly<Record<string, readonly string[]>> = {
  Lisbon: ['lisbon', 'lisboa', 'lissabon', 'lisbonne', 'lisbona'],
  Porto: ['porto', 'oporto'],
  Madrid: ['madrid'],
  Barcelona: ['barcelona', 'barcelone', 'barca', 'bcn'],
  Paris: ['paris', 'parigi', 'parisian'],
  London: ['london', 'londres', 'londra', 'ldn'],
  Dublin: ['dublin', 'baile atha cliath'],
  Amsterdam: ['amsterdam'],
  Brussels: ['brussels', 'bruxelles', 'brussel', 'bruessel', 'brussel'],
  Berlin: ['berlin', 'berlino', 'berliner'],
  Munich: ['munich', 'munchen', 'muenchen', 'monaco di baviera'],
  Vienna: ['vienna', 'wien', 'vienne', 'viennese'],
  Zurich: ['zurich', 'zuerich', 'zurigo'],
  Prague: ['prague', 'praha', 'prag', 'praga'],
  Warsaw: ['warsaw', 'warszawa', 'warschau', 'varsovie'],
  Copenhagen: ['copenhagen', 'kobenhavn', 'koebenhavn', 'kopenhagen', 'copenhague', 'cph'],
  Oslo: ['oslo', 'kristiania'],
  Stockholm: ['stockholm', 'estocolmo'],
  Helsinki: ['helsinki', 'helsingfors'],
  Rome: ['rome', 'roma', 'rom'],
}

/** Every city with venues. */
export const cities: readonly string[] = Object.freeze(Object.keys(aliases))

const elsewhere = new RegExp(
  `\\b${anyOf(
    'new york(?: city)?|nyc|los angeles|san francisco|chicago|boston|seattle|miami|las vegas|austin|toronto|montreal',
    'vancouver|mexico city|tokyo|kyoto|osaka|beijing|shanghai|hong kong|singapore|seoul|bangkok|mumbai|delhi',
    'new delhi|bangalore|dubai|abu dhabi|doha|tel aviv|istanbul|ankara|cairo|lagos|nairobi|cape town|johannesburg',
    'sydney|melbourne|auckland|rio de janeiro|sao paulo|buenos aires|lima|bogota|moscow|kyiv|kiev|riga|vilnius',
    'tallinn|athens|sofia|bucharest|belgrade|zagreb|ljubljana|budapest|bratislava|krakow|cracow|gdansk|wroclaw',
    'milano?|naples|turin|florence|venice|bologna|palermo|seville|valencia|bilbao|malaga|lyon|marseille|nice',
    'bordeaux|toulouse|lille|strasbourg|hamburg|frankfurt|cologne|koln|dusseldorf|stuttgart|leipzig|dresden|hannover',
    'nuremberg|bremen|bonn|salzburg|graz|linz|innsbruck|geneva|basel|bern|lausanne|rotterdam|utrecht|the hague',
    'eindhoven|antwerp|ghent|bruges|luxembourg|edinburgh|glasgow|manchester|birmingham|liverpool|leeds|bristol',
    'cardiff|belfast|cork|galway|bergen|trondheim|stavanger|gothenburg|goteborg|malmo|aarhus|odense|tampere|turku',
    'espoo|reykjavik|faro|coimbra|braga|monaco|valletta|nicosia|atlantis|timbuktu|portugal|spain|france|england',
    'scotland|wales|ireland|netherlands|holland|belgium|germany|austria|switzerland|czechia|poland|denmark|norway',
    'sweden|finland|italy|iceland|greece|hungary|croatia|turkey|usa|america|canada|mexico|brazil|japan|china|india',
    'australia|europe|asia|africa',
  )}\\b`,
)

export interface Place {
  /** Absent when none was named, or more than one was left open. */
  readonly city?: string
  /** The cities of "Lisbon or Porto". */
  readonly choices: readonly string[]
  /** A place without venues, in the spelling of the text. */
  readonly unknown?: string
  readonly rest: string
}

/**
 * The place that a text asks for. A city the people come from counts only where no other is named.
 *
 * @param words the text's `plainWords`
 * @param text the text as it was typed: capitals show names of unknown places
 */
export function takePlace(words: string, text: string): Place {
  const found = findCities(words)
  let rest = words
  for (const { match } of found) rest = rest.replace(match, ',')
  const best = Math.max(...found.map(({ weight }) => weight))
  const named = found.filter(({ weight }) => weight === best && weight > 0)
  const last = named.at(-1)
  if (last !== undefined) {
    const different = [...new Set(named.map(({ city }) => city))]
    if (different.length > 1 && isOpenChoice(words)) return { choices: different, rest }
    const chosen = /\b(?:no|sorry|actually|rather|i mean|wait|instead|make it|better)\b/.test(words) ? last : (named[0] ?? last)
    return { city: chosen.city, choices: [], rest }
  }
  const unknown = unknownPlace(rest, text)
  return { choices: [], ...(unknown !== undefined && { unknown }), rest: unknown === undefined ? rest : rest.replace(folded(unknown), ',') }
}

interface Found {
  readonly city: string
  readonly match: string
  readonly weight: number
}

function findCities(words: string): Found[] {
  const tokens = words.split(' ')
  const found: Found[] = []
  for (let at = 0; at < tokens.length; at++) {
    for (const length of [3, 2, 1]) {
      const match = tokens.slice(at, at + length).join(' ')
      const city = length > 1 ? exact.get(match) : cityOf(match)
      if (city === undefined) continue
      found.push({ city, match, weight: weightOf(tokens.slice(0, at).join(' ')) })
      at += length - 1
      break
    }
  }
  return found
}

function weightOf(before: string): number {
  if (/\b(?:not|except|anywhere but|instead of|rather than|other than)(?: in)?$/.test(before)) return 0
  if (/\b(?:from|based in|live in|office in|located in|travel(?:l?ing) from|coming from)$/.test(before)) return 1
  return /\b(?:in|at|near|around|within|to|central|downtown|greater)$/.test(before) ? 3 : 2
}

function isOpenChoice(words: string): boolean {
  return / (?:or|\/) /.test(words) && !/\b(?:no|sorry|actually|rather|i mean|wait|instead|make it)\b/.test(words)
}

const exact = new Map(Object.entries(aliases).flatMap(([city, names]) => names.map((name) => [name, city] as const)))
// English words that are one letter away from a city.
const ordinary = new Set(
  [
    'solo home some come dome rose role rope rode robe romp room more also pair pairs parts',
    'party parks pars parish port ports photo prom from munch wein wine wines when vine praise roman romeo',
  ].flatMap((line) => line.split(' ')),
)

function cityOf(word: string): string | undefined {
  const known = exact.get(word)
  if (known !== undefined) return known
  if (word.length < 4 || ordinary.has(word)) return undefined
  for (const [name, city] of exact) {
    if (name.length >= 4 && (isTypoOf(name, word) || (word.endsWith('s') && word.slice(0, -1) === name))) return city
  }
  return undefined
}

/** One letter missing, added, changed or swapped with its neighbour; in long names two. The first letter is right, or swapped. */
function isTypoOf(name: string, word: string): boolean {
  const limit = name.length >= 8 ? 2 : 1
  if (Math.abs(name.length - word.length) > limit) return false
  const startsAlike = name[0] === word[0] || (name[0] === word[1] && name[1] === word[0])
  return startsAlike && distance(name, word) <= limit
}

function distance(a: string, b: string): number {
  const rows = Array.from({ length: a.length + 1 }, (_, i) =>
    Array.from({ length: b.length + 1 }, (_, j) => (i === 0 ? j : j === 0 ? i : 0)),
  )
  const cell = (i: number, j: number) => rows[i]?.[j] ?? Infinity
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? cell(i - 2, j - 2) + 1 : Infinity
      const row = rows[i]
      if (row) row[j] = Math.min(cell(i - 1, j) + 1, cell(i, j - 1) + 1, cell(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1), swapped)
    }
  }
  return cell(a.length, b.length)
}

const notAName = new RegExp(
  `^${anyOf(
    'monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|may|june|july|august',
    'september|october|november|december|spring|summer|autumn|fall|winter|english|german|french|europe|i|q[1-4]|the',
    'total|wifi|av|person|easter|christmas|our|my|we|your|a|an|eur|euros?|stock|town|city',
  )}$`,
)

function unknownPlace(rest: string, text: string): string | undefined {
  const listed = elsewhere.exec(rest)?.[0]
  // "A nice place" is no town on the Riviera.
  if (listed !== undefined && (listed !== 'nice' || /\b(?:in|near|at|around) nice\b/.test(rest))) {
    return new RegExp(`\\b${listed}\\b`, 'i').exec(text)?.[0] ?? listed
  }
  const named = /\b(?:in|near|around|to) ((?:\p{Lu}[\p{L}'-]+)(?: \p{Lu}[\p{L}'-]+)*)/gu
  for (const [, name = ''] of text.matchAll(named)) {
    const first = folded(name).split(' ')[0] ?? ''
    if (!notAName.test(first) && cityOf(first) === undefined) return name
  }
  return undefined
}
