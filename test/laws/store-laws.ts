/** The laws that every store keeps, in the order in which one would learn them. */

import { afterEach, describe } from 'vitest'
import type { Store } from '../../src/store/store.js'
import type { World } from '../../src/support/world.js'
import { virtualWorld } from '../../src/testing/virtual-world.js'
import { commitLaws } from './commits.js'
import { contextLaws } from './contexts.js'
import { durabilityLaws } from './durability.js'
import { fencingLaws } from './fencing.js'
import { idempotencyLaws } from './idempotency.js'
import { jobLaws } from './jobs.js'
import type { Open, Opened, Reopen } from './kit.js'
import { listingLaws } from './listing.js'
import { logLaws } from './log.js'
import { pageLaws } from './pages.js'
import { pushConfigLaws } from './push-configs.js'
import { pushLaws } from './pushes.js'
import { readingLaws } from './reading.js'
import { recordLaws } from './records.js'
import { scopeLaws } from './scope.js'
import { secretLaws } from './secrets.js'
import { updateLaws } from './update.js'
import { waitingLaws } from './waiting.js'
import { walkLaws } from './walks.js'

/**
 * Declares the laws as tests of the `describe` that is open.
 *
 * @param open a new, empty store each time
 * @param reopen closes the store and opens it again on the same data; absent where nothing outlives the store
 */
export function storeLaws(open: (world: World) => Promise<Store>, reopen?: (store: Store, world: World) => Promise<Store>): void {
  const left = new Set<Store>()
  afterEach(async () => {
    for (const store of left) await store.close()
    left.clear()
  })

  const start: Open = async () => {
    const world = virtualWorld()
    const store = await open(world)
    left.add(store)
    return { store, world }
  }

  describe('log', () => logLaws(start))
  describe('commits', () => commitLaws(start))
  describe('update', () => updateLaws(start))
  describe('fencing', () => fencingLaws(start))
  describe('records', () => recordLaws(start))
  describe('waiting', () => waitingLaws(start))
  describe('jobs', () => jobLaws(start))
  describe('reading', () => readingLaws(start))
  describe('pages of the log', () => pageLaws(start))
  describe('scope', () => scopeLaws(start))
  describe('idempotency', () => idempotencyLaws(start))
  describe('contexts', () => contextLaws(start))
  describe('listing', () => listingLaws(start))
  describe('walks', () => walkLaws(start))
  describe('push configurations', () => pushConfigLaws(start))
  describe('pushes', () => pushLaws(start))
  describe('secrets and the end', () => secretLaws(start))
  if (reopen === undefined) return

  const again: Reopen = async ({ store, world }: Opened) => {
    left.delete(store)
    const reopened = await reopen(store, world)
    left.add(reopened)
    return { store: reopened, world }
  }
  describe('durability', () => durabilityLaws(start, again))
}
