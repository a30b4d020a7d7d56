/** Many seeds at once, and how to run again the one that failed. */

import { expect } from 'vitest'
import { play } from './history.js'
import type { Plan } from './plan.js'

/** As many seeds as the environment variable says, or else a share of the 2,000 of the suite. */
const seedCount = Number(process.env['ERRAND_SEEDS'] ?? 2_000)
const chunk = 100

/** First seeds and lengths of the chunks that one of `parts` test files plays, counted from 1. */
export function chunksOf(part: number, parts: number): readonly (readonly [from: number, count: number])[] {
  const share = Math.ceil(seedCount / parts)
  const end = part * share + 1
  const starts = Array.from({ length: Math.ceil(share / chunk) }, (_, place) => (part - 1) * share + place * chunk + 1)
  return starts.map((from) => [from, Math.min(chunk, end - from)])
}

/** @throws for the first seed whose history breaks a law */
export async function playSeeds(from: number, count: number): Promise<void> {
  for (let seed = from; seed < from + count; seed++) await playSeed(seed)
}

export async function playSeed(seed: number, plan: Partial<Plan> = {}): Promise<void> {
  const { violation, lines } = await play(seed, { plan })
  if (violation === undefined) return
  const changed = Object.keys(plan).length > 0 ? ` ERRAND_PLAN='${JSON.stringify(plan)}'` : ''
  const again = `ERRAND_SEED=${seed}${changed} npx vitest run test/simulation/one-seed.test.ts`
  expect.fail(`seed ${seed}: ${violation}\nRun it alone, with all that happens: ${again}\nIt ended so:\n${lines.slice(-30).join('\n')}`)
}
