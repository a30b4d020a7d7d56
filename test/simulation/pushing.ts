/** All of a history that has to do with pushes: who asks for them, who gets them, and the law. */

import type { OpenedPost, Post } from '../../src/push/post.js'
import type { PushOptions } from '../../src/push/push-options.js'
import type { Sending } from './calls.js'
import type { Chance } from './chance.js'
import type { Life } from './life.js'
import type { PushPlan } from './plan.js'
import { createPushCallers, type PushCallers } from './push-callers.js'
import { createPushLaw, type PushLaw } from './push-law.js'
import { createReceivers, type Receivers } from './push-receivers.js'

/** What is wrong from outside with the way to the receivers. */
export type PostSabotage = (post: Post, chance: Chance) => Post

export interface Pushing {
  readonly law: PushLaw
  readonly callers: PushCallers
  readonly receivers: Receivers
  /** What a process needs for it. */
  of(life: Life): { readonly options: PushOptions; readonly post: OpenedPost }
  judgeAtRest(sendings: readonly Sending[]): void
}

interface PushingOptions {
  readonly plan: PushPlan
  readonly chance: Chance
  readonly sabotage: PostSabotage | undefined
  readonly now: () => number
  /** Number of the action that is under way. */
  readonly action: () => number
  readonly isQuiet: () => boolean
  readonly violate: (what: string) => void
  readonly note: (line: string) => void
  readonly count: (what: string) => void
}

export function createPushing({ sabotage, ...options }: PushingOptions): Pushing {
  const { plan, chance } = options
  const law = createPushLaw({ ...options, rules: plan })
  const receivers = createReceivers({ ...options, law })
  const callers = createPushCallers({ ...options, law })
  return {
    law,
    callers,
    receivers,
    of(life) {
      const { coalesce, attempts, timeoutMs, backoffMs } = plan
      const opened = receivers.open(life)
      return {
        options: { ...(coalesce && { coalesce }), attempts, timeoutMs, backoffMs },
        post: sabotage ? { ...opened, post: sabotage(opened.post, chance) } : opened,
      }
    },
    judgeAtRest(sendings) {
      law.atRest()
      callers.judge(sendings)
    },
  }
}
