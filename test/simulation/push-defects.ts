/** Defects of pushes, planted in the store and in the way to the receivers. */

import type { Post } from '../../src/push/post.js'
import type { Push, PushProgress, PushStore, Store } from '../../src/store/store.js'
import type { Chance } from './chance.js'
import type { Defect } from './defects.js'
import type { Sabotage } from './history.js'

type Delivery = Parameters<PushStore['advancePush']>[2]

/** How far a configuration is, written otherwise than it was meant. */
const progressing =
  (change: (progress: PushProgress, delivery: Delivery, before: PushProgress | undefined) => PushProgress): Sabotage =>
  (store) => ({
    ...store,
    async advancePush(push, progress, delivery) {
      const before = await store.push(push)
      return store.advancePush(push, change(progress, delivery, before?.progress), delivery)
    },
  })

/** Only pushes ask for these alone. */
const isForPush = ([, , options]: Parameters<Store['events']>) => options?.kinds?.join() === 'status,artifact'

const leavingOut: Sabotage = (store, chance) => ({
  ...store,
  async events(...given) {
    const events = await store.events(...given)
    return isForPush(given) && chance.is(0.2) ? store.events(given[0], events[0]?.seq ?? given[1], given[2]) : events
  },
})

/** What is about to be posted counts as posted. */
const hasty: Sabotage = (store) => ({
  ...store,
  async push(push) {
    const found = await store.push(push)
    if (found && isBehind(found)) {
      const { progress } = found
      await store.advancePush(push, { ...progress, after: progress.after + 1, opens: false }).catch(() => undefined)
    }
    return found
  },
})

function isBehind({ task, progress: { after, state } }: Push): boolean {
  return state === 'active' && after < task.lastSeq
}

/** Holds a post back, says that it was answered, and makes it after the next one. */
function overtaking(post: Post, chance: Chance): Post {
  let held: (() => Promise<number>) | undefined
  return async (request, signal) => {
    if (!held && chance.is(0.3)) {
      held = () => post(request, signal)
      return 204
    }
    const status = await post(request, signal)
    const late = held
    held = undefined
    void late?.().catch(() => undefined)
    return status
  }
}

const plan: Defect['plan'] = {
  push: { attempts: 3, timeoutMs: 15_000, backoffMs: 10, inSends: 0.8, creates: 0.15, deletes: 0.05 },
  actions: 160,
}

export const pushDefects: Readonly<Record<string, Defect>> = {
  'a push passes over an event': { store: leavingOut, plan, found: /was posted where \d+ was due/ },
  'one push overtakes another': { post: overtaking, plan, found: /was posted where \d+ was due|that nobody gave/ },
  'a receiver that wants no more is told more': {
    store: progressing((progress, delivery) => (delivery?.outcome === 'ended' ? { ...progress, state: 'active' } : progress)),
    plan,
    found: /was posted where nothing was due/,
  },
  'a push is tried for ever': {
    store: progressing((progress) => ({ ...progress, attempts: Math.min(progress.attempts, 1) })),
    plan,
    found: /is failed and should be dropped/,
  },
  'a push counts as made before it is answered': {
    store: hasty,
    plan: { ...plan, crash: 0.2, crashAtCommit: 0.1 },
    found: /was posted where \d+ was due|was never told of/,
  },
  'an answer to a push is forgotten': {
    store: progressing((progress, delivery, before) => (delivery?.outcome === 'delivered' && before ? before : progress)),
    plan,
    found: /was posted where/,
  },
  'a receiver that takes nothing is told everything': {
    store: progressing(({ state, ...progress }) => ({ ...progress, state: state === 'resting' ? 'active' : state })),
    plan: { ...plan, actions: 250 },
    found: /was posted where/,
  },
  'a push configuration is deleted in words only': {
    store: (store) => ({ ...store, deletePushConfig: async () => {} }),
    plan: { ...plan, push: { attempts: 3, timeoutMs: 15_000, backoffMs: 10, inSends: 0.8, creates: 0.15, deletes: 0.2 } },
    found: /after it was deleted|confirmed and not done/,
  },
}
