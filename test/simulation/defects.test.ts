/** The simulation can fail: each planted defect is found by a law, within so many seeds. */

import { expect, test } from 'vitest'
import { defects } from './defects.js'
import { play } from './history.js'

const mostSeeds = 100

test.each(Object.entries(defects))('%s: a law is broken', async (_, { store, world, plan, found }) => {
  const told: string[] = []
  for (let seed = 1; seed <= mostSeeds; seed++) {
    const { violation } = await play(seed, { ...(store && { sabotage: store }), ...(world && { world }), ...(plan && { plan }) })
    if (violation === undefined) continue
    told.push(violation)
    if (found.test(violation)) return
  }
  expect.fail(`${mostSeeds} histories, and no law saw it: ${told.join('\n')}`)
})

test('without a defect the same histories break no law', async () => {
  for (const { plan = {} } of Object.values(defects))
    for (let seed = 1; seed <= 3; seed++) expect((await play(seed, { plan })).violation).toBeUndefined()
})
