/** Choices that repeat themselves: equal seeds, equal choices. */

export interface Chance {
  /** A whole number below `n`. */
  below(n: number): number
  pick<T>(list: readonly T[]): T
}

export function chance(seed: number): Chance {
  let state = seed >>> 0
  // Mulberry32: a step of a Weyl sequence and two multiplications, enough for choices that only need to differ.
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (n: number) => Math.floor(next() * n)
  return {
    below,
    pick(list) {
      if (list.length === 0) throw new TypeError('there is nothing to pick from')
      // below() is less than the length.
      return list[below(list.length)] as (typeof list)[number]
    },
  }
}
