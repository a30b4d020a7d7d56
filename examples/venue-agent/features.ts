/** What a venue can have, and the words people use for it. */

import { anyOf } from './words.js'

/** Every feature with its name in a sentence and the words that mean it. */
const table = {
  wifi: ['wifi', 'wi ?fi|wireless|internet|w ?lan|broadband|connectivity|online access'],
  projector: [
    'a projector',
    'projectors?|projection|beamers?|av|audio ?visual|a v|screens?|powerpoint|slides',
    'presentation (?:equipment|facilities)',
  ],
  sound: ['a sound system', 'sound ?systems?|sound|speakers system|loudspeakers?|microphones?|mics?|pa system|audio|amplification'],
  'step-free': [
    'step-free access',
    'step ?free|wheel ?chairs?(?: \\w+)?|accessible|accessibility|barrier ?free',
    'disabled (?:access|guests|people|toilets?)|no (?:stairs|steps)|without (?:stairs|steps)|lifts?|elevators?',
    'ramps?|mobility',
  ],
  catering: [
    'catering',
    'cater(?:ing|ed|er)?s?|lunch(?:es)?|foods?|dinners?|buffets?|meals?|breakfasts?|brunch|snacks?',
    'coffees?(?: breaks?)?|refreshments|canapes|vegan|vegetarian|halal|kosher|drinks|something to eat',
  ],
  stage: ['a stage', 'stages?|podium|platform|lectern'],
  'breakout-rooms': [
    'breakout rooms',
    '(?:\\d+ )?break ?outs?(?: (?:rooms?|spaces?|areas?|sessions?))?',
    '(?:\\d+ )?(?:smaller|side|group|seminar|separate|syndicate|workshop) rooms',
    '(?:a )?rooms? for (?:group work|breakouts?)',
  ],
  parking: ['parking', '(?:car )?park(?:ing)?(?: (?:spaces?|spots?|places?|lots?))?|car ?parks?|garages?|somewhere to park'],
  outdoor: [
    'outdoor space',
    'out ?doors?|outside|gardens?|terraces?|patios?|roof ?tops?|courtyards?|open air|al fresco|alfresco',
    'balcon(?:y|ies)|lawn|deck',
  ],
  accommodation: [
    'accommodation',
    'accomm?odations?|(?:hotel|guest|bed) ?rooms?|sleeping (?:places|rooms|quarters)|lodging|overnight(?: stays?)?',
    'hotel|(?:place )?to (?:sleep|stay) (?:at|over|overnight)|rooms to (?:sleep|stay)|beds|stay(?:ing)? overnight',
  ],
  daylight: ['daylight', 'day ?light|natural light|(?:big |large )?windows?|sunlight|bright'],
  'air-conditioning': ['air conditioning', 'air ?con(?:ditioning|ditioned|ditioner|d)?|a ?/ ?c|climate control|cooling'],
  whiteboard: ['a whiteboard', 'white ?boards?|flip ?charts?|smart ?boards?'],
  streaming: [
    'streaming',
    '(?:live ?)?stream(?:ing|ed)?|video ?conferenc\\w+|hybrid|webcast|zoom|remote (?:participants|attendees|guests)',
    'video ?calls?|recording',
  ],
  kitchen: ['a kitchen', 'kitchen(?:ette)?s?|self ?catering|cook(?:ing)?(?: facilities)?'],
  bar: ['a bar', 'bars?|cocktails?'],
  transit: [
    'public transport nearby',
    'public transport(?:ation)?|(?:metro|subway|underground|tram|train|bus|tube)(?: (?:station|stop|line)s?)?',
    'central station|train station|well connected|transit',
  ],
} as const satisfies Record<string, readonly [name: string, ...words: string[]]>

export type Feature = keyof typeof table

// The keys of a literal object are its type's keys.
export const features = Object.freeze(Object.keys(table) as Feature[])

export function isFeature(name: unknown): name is Feature {
  return typeof name === 'string' && Object.hasOwn(table, name)
}

/** `wifi, catering and a stage` */
export function featureNames(list: readonly Feature[]): string {
  return listed(list.map((feature) => table[feature][0]))
}

/** `a, b and c` */
export function listed(items: readonly string[], last = 'and'): string {
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} ${last} ${items.at(-1)}`
}

export interface FeaturesTaken {
  readonly wanted: readonly Feature[]
  /** Said to be not needed. */
  readonly unwanted: readonly Feature[]
  readonly rest: string
}

const no = anyOf(
  'no|without|not|dont need|do not need|doesnt need|wont need|dont want|minus|no need for|no more|less',
  '(?:skip|drop|forget|never ?mind)(?: the)?',
)
const refusal = new RegExp(`\\b${no}(?: (?:a|an|any|the|need|want|for|necessarily|or|and|,))*(?: \\w+)? ?$`)
const afterwards = new RegExp(
  `^ ?(?:is|are|isnt|arent|s)? ?(?:not|nt|isnt|arent)? ?${anyOf(
    '(?:really )?(?:not |un)(?:needed|necessary|required|important)',
    'optional|can be skipped',
  )}`,
)

/** The features named in `words` (see `plainWords`), in the table's order. */
export function takeFeatures(words: string): FeaturesTaken {
  const wanted: Feature[] = []
  const unwanted: Feature[] = []
  let rest = words
  for (const feature of features) {
    const [, ...meaning] = table[feature]
    const pattern = new RegExp(`\\b${anyOf(...meaning)}\\b`, 'g')
    let isWanted: boolean | undefined
    rest = rest.replace(pattern, (match, at: number, whole: string) => {
      const before = whole.slice(0, at)
      const refused =
        feature !== 'step-free' || !/^(?:no|without) /.test(match)
          ? endsRefused(before) || afterwards.test(whole.slice(at + match.length))
          : false
      isWanted = isWanted === true || !refused
      return marker
    })
    if (isWanted !== undefined) (isWanted ? wanted : unwanted).push(feature)
  }
  return { wanted, unwanted, rest: rest.replaceAll(marker, ' , ') }
}

// Stands where a feature was, so that "no catering or parking" refuses both.
const marker = '¤'

function endsRefused(before: string): boolean {
  const clause = before.slice(before.lastIndexOf(' but ') + 1)
  return (
    refusal.test(clause) ||
    (new RegExp(`${marker}(?: ,)? (?:or|nor)(?: (?:a|an|any|the))* ?$`).test(clause) && /\b(?:no|without|not|dont need|nor)\b/.test(clause))
  )
}
