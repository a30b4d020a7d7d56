/** Chance that repeats itself: whatever is random in a history follows from its seed. */

export interface Chance {
  /** From 0 up to 1. */
  fraction(): number
  /** 0, 1, … `count` - 1. */
  below(count: number): number
  /** True with this probability. */
  is(probability: number): boolean
  pick<T>(list: readonly T[]): T
  bytes(length: number): Uint8Array
}

export function chanceOf(seed: number): Chance {
  let state = Math.imul(seed, 0x9e37_79b1) ^ 0x85eb_ca6b
  /** Mulberry32: 32 bits of state, well spread, and fast. */
  function next(): number {
    state = (state + 0x6d2b_79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  const fraction = () => next() / 2 ** 32
  const below = (count: number) => Math.floor(fraction() * count)
  return {
    fraction,
    below,
    is: (probability) => probability > 0 && fraction() < probability,
    pick(list) {
      const picked = list[below(list.length)]
      if (picked === undefined) throw new Error('nothing to pick from')
      return picked
    },
    bytes: (length) => Uint8Array.from({ length }, () => next() >>> 24),
  }
}

/** A short digest, so that each result depends on all that came before it. */
export function mixed(text: string): string {
  let hash = 7
  for (let i = 0; i < text.length; i++) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) | 0
  return (hash >>> 0).toString(36)
}
