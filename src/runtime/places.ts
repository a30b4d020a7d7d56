/** Places for runs at work: so many at a time. A run that goes on after a wait is served before one that begins. */

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
