/** Histories that once broke a law, and what they were about. */

import type { Plan } from './plan.js'

export interface NamedSeed {
  readonly seed: number
  readonly plan?: Partial<Plan>
  readonly about: string
}

export const namedSeeds: readonly NamedSeed[] = [
  { seed: 592, plan: { actions: 100, push: false }, about: 'a task that is canceled while it is being taken up does not run' },
  {
    seed: 58,
    plan: { actions: 200, failedCommit: 0.3, cancels: 0.3, crash: 0, crashAtCommit: 0, shutdown: 0, lostWakeUps: 0, push: false },
    about: 'whoever waits for a task hears of its end also where nobody knows the outcome of the COMMIT',
  },
  {
    seed: 297,
    plan: { actions: 200, takeover: 0.25, shutdown: 0.15, failedCommit: 0.1, crash: 0, crashAtCommit: 0, push: false },
    about: 'a task that was taken from a run and claimed again is not held for ever, whatever becomes of the older run',
  },
  { seed: 662, about: 'a run that is given back for its wait begins no step any more, though the wait has just lost a race' },
  { seed: 1829, plan: { push: false }, about: 'a reader who comes late misses nothing, though nobody was told of the last commit' },
]
