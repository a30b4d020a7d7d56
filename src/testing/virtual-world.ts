/** A world for tests: time stands still until it is moved, and chance repeats itself. */

import { systemWorld, type World } from '../support/world.js'

export interface VirtualWorld extends World {
  /** One at a time; as long as any is under way, what was deferred waits: when it ends depends on the machine, what comes of it does not. */
  outside<T>(work: () => Promise<T>): Promise<T>
  /**
   * Moves the clock by `ms`. Timers that become due are fired in their order, each at its own time; before and after
   * each of them, and at the end, everything deferred has run, work outside has ended and promises have settled.
   * `advance(0)` only settles.
   *
   * @throws {TypeError} when a move is under way already
   */
  advance(ms: number): Promise<void>
  /** When the next timer is due; undefined where none is set. */
  nextDue(): number | undefined
}

export interface VirtualWorldOptions {
  /** Where the clock starts, in milliseconds. Default: 2026-01-01T00:00:00Z. */
  readonly now?: number
  /** Equal seeds give equal bytes. Default 1. */
  readonly seed?: number
  /** Where turns of the event loop come from. Default: the real ones. */
  readonly defer?: World['defer']
}

interface Timer {
  readonly due: number
  readonly fire: () => void
}

// Something that defers itself again and again would keep `advance` from ever coming back.
const maxTurns = 100_000

/** A {@link World} whose clock moves by `advance` alone and whose random bytes follow from the seed. */
export function virtualWorld(options: VirtualWorldOptions = {}): VirtualWorld {
  const turn = options.defer ?? systemWorld.defer
  const random = generator(options.seed ?? 1)
  const timers = new Set<Timer>()
  let now = options.now ?? Date.UTC(2026, 0, 1)
  let deferred = 0
  /** What goes on outside, one after the other. */
  let outsiders = 0
  let last: Promise<unknown> = Promise.resolve()
  let isMoving = false

  async function settle(): Promise<void> {
    for (let turns = 0; turns < maxTurns; turns++) {
      await new Promise<void>((resolve) => turn(resolve))
      // Whoever waited for it has gone on by the next turn.
      if (outsiders > 0) await last
      else if (deferred === 0) return
    }
    throw new Error(`the world did not come to rest in ${maxTurns} turns`)
  }

  async function move(target: number): Promise<void> {
    await settle()
    for (let next = earliest(timers, target); next !== undefined; next = earliest(timers, target)) {
      timers.delete(next)
      now = Math.max(now, next.due)
      next.fire()
      await settle()
    }
    now = target
  }

  return {
    now: () => now,
    timer(ms, fire) {
      const timer = { due: now + Math.max(0, ms), fire }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    defer(run) {
      deferred++
      const go = () => {
        // What goes on outside ends when it likes; nothing may depend on when that is.
        if (outsiders > 0) return turn(go)
        deferred--
        run()
      }
      turn(go)
    },
    outside(work) {
      deferred++
      outsiders++
      const done = last.then(work).finally(() => {
        deferred--
        outsiders--
      })
      last = done.catch(() => undefined)
      return done
    },
    randomBytes: (length) => Uint8Array.from({ length }, random),
    nextDue: () => earliest(timers, Number.POSITIVE_INFINITY)?.due,
    async advance(ms) {
      if (isMoving) throw new TypeError('advance() is under way: await it before moving the clock again')
      if (!(ms >= 0)) throw new TypeError(`time moves forward only, not by ${ms} ms`)
      isMoving = true
      try {
        await move(now + ms)
      } finally {
        isMoving = false
      }
    },
  }
}

/** The timer that is due first, at `limit` at the latest; of two at the same time the older one. */
function earliest(timers: ReadonlySet<Timer>, limit: number): Timer | undefined {
  let first: Timer | undefined
  for (const timer of timers) {
    if (timer.due <= limit && (first === undefined || timer.due < first.due)) first = timer
  }
  return first
}

/** Bytes of a 32-bit xorshift: repeatable and well spread, which is all that a test asks of chance. */
export function generator(seed: number): () => number {
  // Zero is the one state that xorshift never leaves; the product spreads neighbouring seeds.
  let state = Math.imul(seed, 0x9e37_79b1) || 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 16) & 0xff
  }
}
