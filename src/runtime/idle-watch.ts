/** Watches a run that has to put something out now and then. */

import type { World } from '../support/world.js'

export interface IdleWatch {
  /** Something was put out. */
  touch(): void
  stop(): void
}

interface IdleOptions {
  readonly limitMs: number
  /** Whether the run waits for somebody else: that time does not count. */
  readonly isWaiting: () => boolean
  readonly onIdle: () => void
}

export function createIdleWatch(world: World, { limitMs, isWaiting, onIdle }: IdleOptions): IdleWatch {
  let last = world.now()
  let clear = () => {}
  let isStopped = false

  const arm = (ms: number) => {
    clear = world.timer(ms, look)
  }
  function look(): void {
    if (isStopped) return
    if (isWaiting()) last = world.now()
    const left = last + limitMs - world.now()
    if (left > 0) arm(left)
    else onIdle()
  }

  arm(limitMs)
  return {
    touch() {
      last = world.now()
    },
    stop() {
      isStopped = true
      clear()
    },
  }
}
