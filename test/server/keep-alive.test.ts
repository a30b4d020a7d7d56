/** Comment lines for silent streams, by the clock that there is. */

import { expect, test } from 'vitest'
import { createKeepAlive } from '../../src/server/keep-alive.js'
import { virtualWorld } from '../../src/testing/virtual-world.js'

test('a silent stream gets a comment within its time, one that speaks gets none, one that ended gets none', async () => {
  const world = virtualWorld()
  const keepAlive = createKeepAlive(world, 15_000)
  const silent: number[] = []
  const speaking: number[] = []
  keepAlive.watch(() => silent.push(world.now()))
  const other = keepAlive.watch(() => speaking.push(world.now()))
  for (let i = 0; i < 60; i++) {
    await world.advance(1_000)
    other.wrote()
  }
  expect(silent.length).toBeGreaterThanOrEqual(4)
  expect(Math.max(...silent.map((at, i) => at - (silent[i - 1] ?? at)))).toBeLessThanOrEqual(15_000)
  expect(speaking).toEqual([])
  other.end()
})

test('a clock that is set back does not silence it', async () => {
  const world = virtualWorld()
  let back = 0
  const keepAlive = createKeepAlive({ ...world, now: () => world.now() - back }, 15_000)
  let comments = 0
  keepAlive.watch(() => comments++)
  await world.advance(30_000)
  const before = comments
  back = 3_600_000
  await world.advance(120_000)
  expect(comments - before).toBeGreaterThanOrEqual(7)
})
