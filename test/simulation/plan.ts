/** What sort of history a seed gives: some are calm, some are not. */

import { type Chance, chanceOf } from './chance.js'
import { makeProgram, type Program } from './program.js'

export interface Plan {
  readonly programs: readonly Program[]
  /** Actions before everything is left in peace. */
  readonly actions: number
  readonly concurrency: number
  readonly waitingRuns: number
  readonly recovery: 'restart' | 'fail'
  /** Named by the caller, and shared by all its tasks. Default: each task has one of its own. */
  readonly contextId: string | undefined
  /** Probabilities per COMMIT. */
  readonly crashAtCommit: number
  readonly failedCommit: number
  /** Weights among what may happen next. */
  readonly crash: number
  readonly shutdown: number
  readonly takeover: number
  readonly cancels: number
  readonly jump: number
  /** Probability with which a listener of the store is not told. */
  readonly lostWakeUps: number
  /** False: nobody is told by pushes, and chance goes on as if there were none. */
  readonly push: false | PushPlan
}

/** Options of the server, and how much its callers care for pushes. */
export interface PushPlan {
  readonly coalesce?: 'chunks'
  readonly attempts: number
  readonly timeoutMs: number
  readonly backoffMs: number
  /** Probability that a message brings a configuration. */
  readonly inSends: number
  /** Weights among what may happen next. */
  readonly creates: number
  readonly deletes: number
}

/** What has to do with pushes has chance of its own: a history without them is the one that it was before there were any. */
export const pushChanceOf = (seed: number): Chance => chanceOf(seed ^ 0x5bd1_e995)

export function makePlan(chance: Chance, pushChance: Chance): Plan {
  const tasks = chance.pick([1, 1, 1, 2, 2, 3])
  const length = chance.pick([3, 5, 8])
  return {
    programs: Array.from({ length: tasks }, () => makeProgram(chance, length)),
    actions: chance.pick([40, 80, 160]),
    concurrency: chance.pick([1, 2, 3]),
    waitingRuns: chance.pick([0, 1, 2, 1000]),
    recovery: chance.is(0.05) ? 'fail' : 'restart',
    contextId: chance.is(0.5) ? 'shared' : undefined,
    crashAtCommit: chance.pick([0, 0, 0.03, 0.1]),
    failedCommit: chance.pick([0, 0, 0.03, 0.1]),
    crash: chance.pick([0, 0, 0.06, 0.2]),
    shutdown: chance.pick([0, 0.05, 0.2]),
    takeover: chance.pick([0, 0, 0.1]),
    cancels: chance.pick([0, 0, 0.04]),
    jump: chance.pick([0, 0.05, 0.15]),
    lostWakeUps: chance.pick([0, 0, 0, 0.3]),
    push: pushChance.is(0.3) && makePushPlan(pushChance),
  }
}

export function makePushPlan(chance: Chance): PushPlan {
  return {
    ...(chance.is(0.4) && { coalesce: 'chunks' }),
    attempts: chance.pick([1, 2, 3, 3]),
    timeoutMs: 15_000,
    backoffMs: chance.pick([0, 10, 1_000]),
    inSends: chance.pick([0.3, 0.8]),
    creates: chance.pick([0.05, 0.15]),
    deletes: chance.pick([0, 0.05]),
  }
}
