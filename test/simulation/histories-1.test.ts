/** Random histories, the first half: every law holds in each. */

import { expect, test } from 'vitest'
import { chunksOf, playSeeds } from './seeds.js'

test.each(chunksOf(1, 2))(
  'no law is broken from seed %i on',
  async (from, count) => {
    await expect(playSeeds(from, count)).resolves.toBeUndefined()
  },
  120_000,
)
