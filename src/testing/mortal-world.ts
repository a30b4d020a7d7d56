/** The world as one process has it, and as those have it who call: what becomes of it in the end. */

import type { Log } from '../support/log.js'
import { systemWorld, type World } from '../support/world.js'
import { generator, type VirtualWorld } from './virtual-world.js'

export interface MortalWorld extends World {
  readonly isDead: boolean
  /** Settles when the process dies. */
  readonly death: Promise<void>
  /** Nothing that was asked of this world happens from here on. */
  die(): void
}

export interface PartOfWorld {
  /** Where time comes from. */
  readonly base: VirtualWorld
  /** Each part has chance of its own, or two processes would make the same ids. */
  readonly seed: number
  /** Told of each use of chance. Timers and turns tell nothing: to look whether there is work is to do none. */
  readonly onUse: () => void
}

/** When the process dies, none of its timers and turns comes any more. */
export function mortalWorld({ base, seed, onUse }: PartOfWorld): MortalWorld {
  const random = generator(seed)
  const timers = new Set<() => void>()
  let isDead = false
  let bury = () => {}
  const death = new Promise<void>((resolve) => {
    bury = resolve
  })
  return {
    death,
    get isDead() {
      return isDead
    },
    now: base.now,
    timer(ms, fire) {
      if (isDead) return () => {}
      const takeBack = base.timer(ms, () => {
        timers.delete(takeBack)
        fire()
      })
      timers.add(takeBack)
      return () => {
        timers.delete(takeBack)
        takeBack()
      }
    },
    defer(run) {
      if (isDead) return
      base.defer(() => {
        if (!isDead) run()
      })
    },
    randomBytes(length) {
      onUse()
      return Uint8Array.from({ length }, random)
    },
    async outside(work) {
      const never = new Promise<never>(() => {})
      if (isDead) return never
      onUse()
      try {
        const result = await base.outside(work)
        return isDead ? never : result
      } catch (error) {
        if (isDead) return never
        throw error
      }
    },
    die() {
      isDead = true
      for (const takeBack of timers) takeBack()
      timers.clear()
      bury()
    },
  }
}

export interface CallersWorld extends World {
  /** Timers that are set. */
  pending(): number
  /** From here on no pause takes any time: whoever still tries finds out that nobody is there, instead of waiting for ever. */
  end(): void
}

export function callersWorld({ base, seed, onUse }: PartOfWorld): CallersWorld {
  const random = generator(seed)
  const timers = new Set<() => void>()
  let isOver = false

  function soon(fire: () => void): void {
    systemWorld.defer(() => {
      if (timers.delete(fire)) fire()
    })
  }

  return {
    pending: () => timers.size,
    now: base.now,
    defer: base.defer,
    randomBytes(length) {
      onUse()
      return Uint8Array.from({ length }, random)
    },
    timer(ms, fire) {
      const once = () => fire()
      timers.add(once)
      const takeBack = base.timer(ms, () => {
        if (timers.delete(once)) fire()
      })
      if (isOver) soon(once)
      return () => {
        timers.delete(once)
        takeBack()
      }
    },
    end() {
      isOver = true
      for (const once of timers) soon(once)
    },
  }
}

/** What a dead process still says goes nowhere. */
export function mortalLog(log: Log, world: MortalWorld): Log {
  const at =
    (level: keyof Log): Log[keyof Log] =>
    (message, fields) => {
      if (!world.isDead) log[level](message, fields)
    }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}
