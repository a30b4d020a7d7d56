/** Failures that are known and borne for a while, each with its reason and its end. */

import { brief, isMembers } from './json.js'
import type { Outcome } from './verdict.js'

export interface Waiver {
  /** Of a check. */
  readonly id: string
  readonly reason: string
  /** The last day, as YYYY-MM-DD. */
  readonly until: string
}

/**
 * Waivers as a file holds them: a list of objects with id, reason and until.
 *
 * @throws {TypeError} naming the one that is wrong
 */
export function waiversOf(given: unknown): readonly Waiver[] {
  if (!Array.isArray(given)) throw new TypeError(`waivers are a list of objects with id, reason and until; it got ${brief(given, 40)}`)
  return given.map((one: unknown) => {
    const { id, reason, until, ...rest } = isMembers(one) ? one : {}
    const isDay = typeof until === 'string' && /^\d{4}-\d\d-\d\d$/.test(until) && !Number.isNaN(Date.parse(until))
    const isWhole = typeof id === 'string' && typeof reason === 'string' && reason.trim() !== '' && isDay && Object.keys(rest).length === 0
    if (!isWhole) throw new TypeError(`a waiver has an id, a reason and until (YYYY-MM-DD), and nothing else; it got ${brief(one, 80)}`)
    return { id, reason, until }
  })
}

export interface Waived {
  readonly outcomes: readonly Outcome[]
  /** Waivers that do not hold: expired ones, and those of checks that did not fail. */
  readonly faults: readonly string[]
}

/** @param now in milliseconds */
export function waive(outcomes: readonly Outcome[], waivers: readonly Waiver[], now: number): Waived {
  const today = new Date(now).toISOString().slice(0, 10)
  const failed = new Set(outcomes.filter(({ verdict }) => verdict === 'fail').map(({ check }) => check.id))
  const faults = waivers.flatMap(({ id, until }) => {
    if (until < today) return [`the waiver of ${id} expired on ${until}`]
    return failed.has(id) ? [] : [`the waiver of ${id} is not needed: the check did not fail`]
  })
  const holding = new Map(waivers.filter(({ until }) => until >= today).map((waiver) => [waiver.id, waiver]))
  return {
    faults,
    outcomes: outcomes.map((outcome) => {
      const waiver = outcome.verdict === 'fail' ? holding.get(outcome.check.id) : undefined
      return waiver ? { ...outcome, verdict: 'waived', reason: `${waiver.reason} (until ${waiver.until})` } : outcome
    }),
  }
}
