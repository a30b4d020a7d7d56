/** How long to wait between two attempts. */

import type { World } from '../support/world.js'

const factor = 4
const longestMs = 60_000

/** Milliseconds after `attempts` that failed: `first` and four times as long each time, between half and all of it. */
export function backoff(world: Pick<World, 'randomBytes'>, first: number, attempts: number): number {
  const full = Math.min(longestMs, first * factor ** (attempts - 1))
  return full / 2 + (full / 2) * chance(world)
}

/** From 0, and less than 1. */
export function chance(world: Pick<World, 'randomBytes'>): number {
  const [high = 0, low = 0] = world.randomBytes(2)
  return (high * 256 + low) / 65_536
}
