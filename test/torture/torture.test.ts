/** Invariants 1, 2, 5, 7 and 8 under kill -9 of a real server; `npm run torture -- --kills 1000` goes on for longer. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { told, torture } from './torture.js'

const kills = Number(process.env['ERRAND_KILLS'] || 50)
const seed = Number(process.env['ERRAND_SEED'] || 1)

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'errand-torture-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test(`what a server acknowledged is there after each of ${kills} kills`, { timeout: 120_000 + kills * 10_000 }, async () => {
  const summary = await torture({ kills, seed, folder })
  console.log(told(summary))
  expect(summary.faults).toEqual([])
  expect(summary.kills).toBe(kills)
  expect(summary.lost).toBe(0)
  expect(summary.acknowledged).toBeGreaterThan(kills)
  expect(summary.inFlight).toBeGreaterThanOrEqual(kills / 2)
})

describe('a defect that is planted in the server is found', () => {
  test.each([
    ['ack-before-commit', /lost: /],
    ['no-transactions', /header says|counters say/],
    ['forgotten-messages', /in the log 2 times/],
  ])('%s', { timeout: 240_000 }, async (sabotage, fault) => {
    const summary = await torture({ kills: 50, seed, folder: await mkdtemp(join(folder, 'sabotage-')), sabotage, stopAtFault: true })
    expect(summary.faults.join('\n')).toMatch(fault)
  })
})
