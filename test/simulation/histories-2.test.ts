/** Random histories, the second half: every law holds in each. */

import { expect, test } from 'vitest'
import { playSeeds, seedCount } from './seeds.js'

const half = Math.ceil(seedCount / 2)
const chunk = 100
const chunks = Array.from({ length: Math.ceil(half / chunk) }, (_, place) => (2 - 1) * half + place * chunk + 1)

test.each(chunks)(
  'no law is broken from seed %i on',
  async (from) => {
    await expect(playSeeds(from, Math.min(chunk, 2 * half + 1 - from))).resolves.toBeUndefined()
  },
  120_000,
)
