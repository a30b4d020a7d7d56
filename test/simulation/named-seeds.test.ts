/** Histories that once broke a law. */

import { expect, test } from 'vitest'
import { namedSeeds } from './named-seeds.js'
import { playSeed } from './seeds.js'

test.each(namedSeeds)('seed $seed: $about', async ({ seed, plan }) => {
  await expect(playSeed(seed, plan)).resolves.toBeUndefined()
})
