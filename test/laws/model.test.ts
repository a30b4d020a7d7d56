/** The laws hold where nothing is clever, so a store that breaks one breaks the contract. */

import { describe, vi } from 'vitest'
import type { Store } from '../../src/store/store.js'
import type { World } from '../../src/support/world.js'
import { emptyModel, type ModelData, modelStore } from './model-store.js'
import { storeLaws } from './store-laws.js'

vi.setConfig({ testTimeout: 120_000 })

const kept = new WeakMap<Store, ModelData>()

async function openModel(world: World, data: ModelData): Promise<Store> {
  const store = modelStore(world, data)
  kept.set(store, data)
  return store
}

describe('the model of a store', () => {
  storeLaws(
    (world) => openModel(world, emptyModel()),
    async (store, world) => {
      const data = kept.get(store)
      if (data === undefined) throw new Error('this store keeps nothing')
      await store.close()
      return openModel(world, data)
    },
  )
})
