/**
 * What a check is: a sentence of the specification that an agent can be seen to break, and the function that looks.
 *
 * - area: the letter that its id begins with
 * - trial: one run of a check against one binding of an agent
 * - exchange: one request and what came back, as bytes
 */

import type { Trial } from './trial.js'

/** By the letter of a check's id. */
export const areas = {
  C: 'Agent card',
  S: 'Task states',
  M: 'Messages and parts',
  L: 'Listing',
  A: 'Access',
  E: 'Errors',
  Q: 'Equivalence of bindings',
  R: 'Streams and resuming',
  P: 'Push',
  V: 'Versions',
  X: 'Extensions',
  H: 'Hardening of HTTP and JSON',
} as const

export type Area = keyof typeof areas
export type Level = 'MUST' | 'SHOULD' | 'MAY'
export type Binding = 'JSONRPC' | 'HTTP+JSON'

/** The bindings that the checker speaks. */
export const bindings: readonly Binding[] = ['JSONRPC', 'HTTP+JSON']

/** What must be there for a check to mean anything; without it the check is not applicable. */
export type Need =
  | 'streaming'
  | 'no streaming'
  | 'push'
  | 'no push'
  | 'extended card'
  | 'no extended card'
  | 'authentication'
  | 'second identity'
  | 'webhook'
  | 'required extension'
  | 'optional extension'
  | 'two bindings'
  | 'signatures'

export interface CheckOptions {
  /** `each`: once on every binding that the card declares; `agent`: once in all. Default `each`. */
  readonly on?: 'each' | 'agent' | Binding
  readonly needs?: readonly Need[]
  /** Messages that one trial sends at most. Default 0. */
  readonly messages?: number
  /** Judges by the clock; not part of what a clean server is measured by. */
  readonly timing?: true
}

export interface Check {
  /** A letter of {@link areas} and a number. */
  readonly id: string
  readonly level: Level
  /** Of the specification. */
  readonly section: string
  /** One sentence that is true of a conformant agent. */
  readonly intent: string
  readonly on: 'each' | 'agent' | Binding
  readonly needs: readonly Need[]
  readonly messages: number
  readonly timing: boolean
  run(trial: Trial): Promise<void>
}

/** A check from its place in the specification, its sentence and its function. */
export function check(
  id: string,
  [level, section]: readonly [Level, string],
  intent: string,
  options: CheckOptions,
  run: Check['run'],
): Check {
  const { on = 'each', needs = [], messages = 0, timing = false } = options
  return Object.freeze({ id, level, section, intent, on, needs, messages, timing, run })
}

/** @throws {TypeError} for an id that is in no area */
export function areaOf(id: string): Area {
  const letter = id.slice(0, 1)
  if (!Object.hasOwn(areas, letter))
    throw new TypeError(`the check ${id} is in no area; an id begins with ${Object.keys(areas).join(', ')}`)
  // A key of this very table.
  return letter as Area
}
