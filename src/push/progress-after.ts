/** How far a configuration is after an attempt: pure, so that D23 can be read and tried in one place. */

import { isFinal } from '../protocol/states.js'
import type { Delivery, Push, PushProgress } from '../store/store.js'
import { type Answer, judgeAnswer } from './judge-answer.js'

/** So many posts dropped in a row, and only interrupted and final states are still tried. */
const dropsToRest = 5

interface Attempted {
  /** Of the newest event in the post. */
  readonly number: number
  readonly answer: Answer
  /** That a post may have. */
  readonly attempts: number
  /** When the next attempt may be made, should there be one. */
  readonly retryAt: number
}

export interface AfterAttempt {
  readonly progress: PushProgress
  readonly outcome: Delivery['outcome']
}

export function progressAfter({ task, progress }: Push, { number, answer, attempts, retryAt }: Attempted): AfterAttempt {
  const verdict = judgeAnswer(answer)
  const made = progress.attempts + 1
  if (verdict === 'retry' && made < attempts) return { outcome: 'failed', progress: { ...progress, attempts: made, due: retryAt } }
  const next = { after: number, opens: false, attempts: 0 }
  if (verdict === 'end') return { outcome: 'ended', progress: { ...next, drops: 0, state: 'ended' } }
  // Nothing comes after a final state.
  const isLast = isFinal(task.state) && number >= task.lastSeq
  if (verdict === 'delivered') return { outcome: 'delivered', progress: { ...next, drops: 0, state: isLast ? 'ended' : 'active' } }
  const drops = progress.drops + 1
  const state = drops >= dropsToRest ? 'resting' : progress.state
  return { outcome: 'dropped', progress: { ...next, drops, state: isLast ? 'ended' : state } }
}
