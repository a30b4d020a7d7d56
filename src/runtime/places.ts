/** Places for runs at work: so many at a time. A run that goes on after a wait is served before one that begins. */

import { never } from './door.js'

export interface Places {
  /** Takes a free place, if there is one. */
  take(): boolean
  /** Takes a place as soon as there is one. */
  wait(): Promise<void>
  /** Gives one on. */
  give(): void
}

export function createPlaces(count: number, onFree: () => void): Places {
  const waiting: (() => void)[] = []
  let taken = 0
  return {
    take() {
      if (taken >= count) return false
      taken++
      return true
    },
    async wait() {
      if (taken < count) taken++
      else await new Promise<void>((resolve) => waiting.push(resolve))
    },
    give() {
      const next = waiting.shift()
      if (next) return next()
      taken--
      onFree()
    },
  }
}

/** The place of one run: given on while it only waits, taken again when it goes on. */
export interface Place {
  leave(): void
  /** Does not settle where the run is told to stop meanwhile. */
  enter(): Promise<void>
}

export interface RunPlace extends Place {
  /** For good. */
  end(): void
}

/** The place that a run was started in. */
export function placeAmong(places: Places): RunPlace {
  let isInside = true
  let isOver = false
  let entering: Promise<void> | undefined

  async function take(): Promise<void> {
    await places.wait()
    entering = undefined
    if (isOver) {
      places.give()
      return never()
    }
    isInside = true
  }

  function leave(): void {
    if (!isInside) return
    isInside = false
    places.give()
  }

  return {
    leave,
    async enter() {
      // Several steps may begin at once, and it is one place for all of them.
      if (isInside) return
      entering ??= take()
      await entering
    },
    end() {
      isOver = true
      leave()
    },
  }
}
