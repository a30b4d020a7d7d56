/** One seed, one history. */

import { expect, test } from 'vitest'
import { play } from './history.js'

test('the same seed gives the same history, line by line', async () => {
  for (let seed = 1; seed <= 25; seed++) {
    const first = await play(seed)
    const second = await play(seed)
    expect(second).toEqual(first)
  }
}, 120_000)

test('another seed gives another history', async () => {
  const histories = new Set<string>()
  for (let seed = 1; seed <= 10; seed++) histories.add((await play(seed)).lines.join('\n'))
  expect(histories.size).toBe(10)
}, 120_000)
