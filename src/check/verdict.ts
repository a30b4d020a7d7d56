/** How a trial ends, and what a check throws to end it otherwise than well. */

import type { Binding, Check } from './check.js'
import type { Exchange } from './exchange.js'

/**
 * - fail: the agent broke the sentence
 * - error: the network or the checker did not work
 * - not applicable: the agent does not claim what the check is about
 * - not provoked: the agent never came into the state that the check is about
 * - waived: it failed, and a waiver says that this is known
 */
export const verdicts = ['pass', 'fail', 'error', 'not applicable', 'not provoked', 'waived'] as const
export type Verdict = (typeof verdicts)[number]

/** Where the protocol allows two readings: which one the agent has. */
export interface Reading {
  /** What is read in two ways. */
  readonly about: string
  readonly has: string
}

export interface Outcome {
  readonly check: Check
  readonly binding: Binding | 'agent'
  readonly verdict: Verdict
  /** Of what failed. */
  readonly wanted?: string
  readonly got?: string
  /** Why a check has no verdict of its own, or was waived. */
  readonly reason?: string
  readonly readings: readonly Reading[]
  /** The exchange that shows it is the last one; empty for a pass. */
  readonly exchanges: readonly Exchange[]
  readonly durationMs: number
}

/** The agent did something else than the check's sentence says. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly wanted: string
  readonly got: string
  constructor(wanted: string, got: string) {
    super(`wanted ${wanted}; got ${got}`)
    this.wanted = wanted
    this.got = got
  }
}

/** The agent did not come as far as where the check would look. */
export class NotProvoked extends Error {
  override readonly name = 'NotProvoked'
}

/** The agent does not claim what the check is about. */
export class NotApplicable extends Error {
  override readonly name = 'NotApplicable'
}
