/**
 * Invariants 1 to 5, 7 to 11, 14 and 15 under kill -9 of a real server and of those whom it pushes to; `npm run torture --
 * --kills 1000` goes on for longer.
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Sabotage, sabotages, told, torture } from './torture.js'

const kills = 60
const seed = 1

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'errand-torture-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test(`what a server acknowledged is there after each of ${kills} kills, and every task comes to its end`, {
  timeout: 900_000,
}, async () => {
  const summary = await torture({ kills, seed, folder })
  console.log(told(summary))
  expect(summary.faults).toEqual([])
  expect(summary).toMatchObject({ kills, lost: 0, staleWrites: 0, violations: 0 })
  // What the laws are about did happen.
  expect(summary.inFlight).toBeGreaterThan(kills)
  expect(summary.atWork).toBeGreaterThan(kills / 2)
  expect(summary.unanswered).toBeGreaterThanOrEqual(kills / 2)
  expect(summary.acknowledged).toBeGreaterThan(kills)
  expect(summary.pushes).toBeGreaterThan(kills)
  for (const what of ['stops', 'reruns', 'takeovers', 'evictions', 'repeated', 'receiverKills'] as const)
    expect(summary[what], what).toBeGreaterThan(0)
})

describe('a defect that is planted in the server is found', () => {
  // The keys of the table.
  test.each(Object.keys(sabotages) as Sabotage[])('%s', { timeout: 900_000 }, async (sabotage) => {
    const summary = await torture({ kills, seed, folder: await mkdtemp(join(folder, 'sabotage-')), sabotage })
    expect(summary[sabotages[sabotage]], summary.faults.join('\n')).toBeGreaterThan(0)
  })
})
