/** Chance that can be had again: the same seed gives the same numbers. */

export interface Random {
  /** A whole number from `least` to `most`. */
  between(least: number, most: number): number
  /** One of `list`, which is not empty. */
  pick<Item>(list: readonly Item[]): Item
  /** True in `percent` of 100 cases. */
  chance(percent: number): boolean
  /** A source of its own. */
  fork(): Random
}

export function createRandom(seed: number): Random {
  let state = Math.imul(seed ^ 0x9e37_79b9, 0x85eb_ca6b) || 1
  const next = () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 0x1_0000_0000
  }
  const between = (least: number, most: number) => least + Math.floor(next() * (most - least + 1))
  return {
    between,
    // The index is within the list.
    pick: <Item>(list: readonly Item[]) => list[between(0, list.length - 1)] as Item,
    chance: (percent) => next() * 100 < percent,
    fork: () => createRandom(between(1, 2 ** 31)),
  }
}
