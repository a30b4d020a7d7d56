/** A task as a conversation: what its messages add up to, and what to ask next. */

import { type Brief, changed, type FullBrief, isFull, missing, type Need, type Reading, readBrief } from './brief.js'
import { isFeature, listed } from './features.js'
import { cities } from './places.js'

export interface Understood {
  readonly brief: Brief
  readonly thorough: boolean
  /** The newest message. */
  readonly latest: Reading
  /** An earlier search was referred to, and there is none. */
  readonly nothingToRepeat: boolean
}

/**
 * What the user's messages to one task ask for.
 *
 * @param texts oldest first, at least one
 * @param last the last search of the same context
 */
export function understand(texts: readonly string[], last?: FullBrief): Understood {
  let brief: Brief = { features: [] }
  let thorough = false
  let latest = readBrief('')
  for (const [index, text] of texts.entries()) {
    latest = readBrief(text, index === 0 ? [] : missing(brief))
    const from =
      latest.sameAgain && last !== undefined
        ? { ...last, ...brief, features: brief.features.length > 0 ? brief.features : last.features }
        : brief
    brief = changed(from, latest)
    thorough ||= latest.thorough
  }
  return { brief, thorough, latest, nothingToRepeat: latest.sameAgain && last === undefined }
}

const questions: Readonly<Record<Need, string>> = { city: 'which city', headcount: 'how many people', days: 'for how many days' }

/** One question that names all that is missing, after the reason why it is asked again. */
export function question({ brief, latest, nothingToRepeat }: Understood, turn: number): string {
  const asks = `Please tell me ${listed(missing(brief).map((need) => questions[need]))}.`
  return [...reasons(latest, nothingToRepeat, turn), asks].join(' ')
}

function reasons(latest: Reading, nothingToRepeat: boolean, turn: number): string[] {
  const found = [
    ...(nothingToRepeat ? ['I remember no earlier search in this conversation.'] : []),
    ...(latest.unknownPlace === undefined ? [] : [`I have no venues in ${latest.unknownPlace}, only in ${listed(cities)}.`]),
    ...(latest.choices.length === 0 ? [] : [`I search one city at a time: ${listed(latest.choices, 'or')}?`]),
    ...latest.problems.map(({ reason }) => `Sorry, ${reason}.`),
  ]
  return turn > 1 && found.length === 0 && latest.topic !== 'search' ? ['I could not make a venue search of that.'] : found
}

/** Whether a message asks for venues that cost less than those that were shown, and for nothing else. */
export function asksForCheaper(text: string): boolean {
  const { city, headcount, days, features } = readBrief(text)
  const asksElse = city !== undefined || headcount !== undefined || days !== undefined || features.length > 0
  return !asksElse && /\b(?:cheaper|less expensive|lower(?:-| )priced|costs? less)\b/i.test(text)
}

/** A remembered brief, or undefined where `memory` is none. */
export function toFullBrief(memory: unknown): FullBrief | undefined {
  if (typeof memory !== 'object' || memory === null) return undefined
  const { city, headcount, days, features }: { city?: unknown; headcount?: unknown; days?: unknown; features?: unknown } = memory
  if (typeof city !== 'string' || typeof headcount !== 'number' || typeof days !== 'number' || !Array.isArray(features)) return undefined
  const brief: Brief = { city, headcount, days, features: features.filter(isFeature) }
  return isFull(brief) ? brief : undefined
}
