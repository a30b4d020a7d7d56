/** What an answer of a receiver means for what was posted: the table of D23. */

import type { Delivery } from '../store/store.js'

/** What came of an attempt: the status of an answer, or why there was none. */
export type Answer = { readonly status: number } | { readonly failure: NonNullable<Delivery['failure']> }

/** `retry`: another attempt, as long as there are any left. */
export type Verdict = 'delivered' | 'retry' | 'drop' | 'end'

interface Rule {
  readonly from: number
  readonly to: number
  readonly verdict: Verdict
}

/** The first that fits counts; what none fits is tried again, such as a redirect, which is never followed. */
const rules: readonly Rule[] = [
  { from: 200, to: 299, verdict: 'delivered' },
  { from: 410, to: 410, verdict: 'end' },
  { from: 404, to: 404, verdict: 'retry' },
  { from: 408, to: 408, verdict: 'retry' },
  { from: 425, to: 425, verdict: 'retry' },
  { from: 429, to: 429, verdict: 'retry' },
  { from: 400, to: 499, verdict: 'drop' },
]

const failures: Readonly<Record<NonNullable<Delivery['failure']>, Verdict>> = {
  connection: 'retry',
  timeout: 'retry',
  // What the guard refuses now it would refuse a second later; and each look-up is one that somebody else wanted made.
  address: 'drop',
  // Nothing opens them later: they are damaged, or their key was given up.
  secrets: 'end',
}

export function judgeAnswer(answer: Answer): Verdict {
  if ('failure' in answer) return failures[answer.failure]
  return rules.find(({ from, to }) => from <= answer.status && answer.status <= to)?.verdict ?? 'retry'
}
