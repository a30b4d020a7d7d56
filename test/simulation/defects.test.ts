/** The simulation can fail: each planted defect is found by a law, within so many seeds. */

import { expect, test } from 'vitest'
import { defects } from './defects.js'
import { play } from './history.js'

const mostSeeds = 100

test.each(Object.entries(defects))('%s: a law is broken', async (_, { found, store, plan, ...defect }) => {
  const told: string[] = []
  for (let seed = 1; seed <= mostSeeds; seed++) {
    // Where pushes do not matter there are none: as long as there are, somebody polls, and a standstill takes longer to be seen.
    const { violation } = await play(seed, { ...defect, ...(store && { sabotage: store }), plan: { push: false, ...plan } })
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
