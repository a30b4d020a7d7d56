/** The time of the experiment. It moves on only when no request, no frame and no answer is under way. */

import type { World } from 'errand/client'
import { virtualWorld } from '../../src/testing/virtual-world.js'
import type { Wire } from './wire.js'

export interface Clock {
  /** For the server and its callers alike. */
  readonly world: World
  /** Seconds. */
  now(): number
  /** Does what is answered at once: until it is, time stands still. */
  atOnce<T>(work: () => Promise<T>): Promise<T>
  /** Waits, and then until whatever else happens at that moment has happened. */
  sleep(seconds: number): Promise<void>
  /** Lets time pass until `work` is done. @throws what it throws, and an Error when it takes more than `limitSeconds` */
  until<T>(work: Promise<T>, limitSeconds: number): Promise<T>
}

/** Between two frames, work is in promises and turns of the event loop; what takes longer than this many is `atOnce`. */
const quietTurns = 20
const mostTurns = 1_000_000

interface Alarm {
  readonly at: number
  readonly ring: () => void
}

export function createClock(wire: Pick<Wire, 'isQuiet' | 'progress'>): Clock {
  const world = virtualWorld()
  const start = world.now()
  const alarms = new Set<Alarm>()
  let underWay = 0

  async function rest(): Promise<void> {
    for (let turns = 0, quiet = 0; quiet < quietTurns; turns++) {
      if (turns === mostTurns) throw new Error(`something is still under way after ${mostTurns} turns of the event loop`)
      const before = wire.progress()
      await world.advance(0)
      quiet = underWay === 0 && wire.isQuiet() && wire.progress() === before ? quiet + 1 : 0
    }
  }

  /** To the next timer or alarm. Alarms ring when the timers of their moment have fired and all that came of them is at rest. */
  async function moveOn(limit: number): Promise<void> {
    const [alarm] = [...alarms].sort((a, b) => a.at - b.at)
    if (alarm && alarm.at <= world.now()) {
      alarms.delete(alarm)
      return alarm.ring()
    }
    const next = Math.min(alarm?.at ?? Number.POSITIVE_INFINITY, world.nextDue() ?? Number.POSITIVE_INFINITY)
    if (next > limit) throw new Error(`nobody was told within ${(limit - start) / 1000} s of the experiment`)
    await world.advance(next - world.now())
  }

  return {
    world,
    now: () => (world.now() - start) / 1000,
    async atOnce(work) {
      underWay++
      try {
        return await work()
      } finally {
        underWay--
      }
    },
    sleep: (seconds) => new Promise((ring) => void alarms.add({ at: world.now() + seconds * 1000, ring })),
    async until(work, limitSeconds) {
      const limit = world.now() + limitSeconds * 1000
      let isOver = false
      const end = () => {
        isOver = true
      }
      work.then(end, end)
      for (;;) {
        await rest()
        if (isOver) return work
        await moveOn(limit)
      }
    },
  }
}
