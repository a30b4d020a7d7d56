/** `npm run torture -- --kills 1000 --seed 7`: the same as in the suite, for as long as one likes. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { createViteServer } from 'vitest/node'

const usage = 'npm run torture -- [--kills N] [--seed S] [--sabotage NAME] [--json FILE]'

/** The harness is TypeScript: Vite, which runs the tests, runs it here too. */
const vite = await createViteServer({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  configFile: false,
  server: { middlewareMode: true, watch: null, ws: false },
  optimizeDeps: { noDiscovery: true },
  logLevel: 'error',
})
const folder = mkdtempSync(join(tmpdir(), 'errand-torture-'))
try {
  process.exitCode = await main(await vite.ssrLoadModule('/test/torture/torture.ts'))
} finally {
  rmSync(folder, { recursive: true, force: true })
  await vite.close()
}

async function main({ torture, told, sabotages }) {
  const options = readOptions(sabotages)
  if (typeof options === 'string') {
    console.error(`${options}\n${usage}`)
    return 2
  }
  const begun = performance.now()
  let shown = 0
  const onKill = (now) => {
    for (; shown < now.faults.length; shown++) if (shown < 100) console.error(`after ${now.kills} kills: ${now.faults[shown]}`)
    if (now.kills % 50 === 0) console.log(told(now))
  }
  const { json, ...rest } = options
  const summary = await torture({ ...rest, folder, onKill })
  onKill(summary)
  const seconds = Math.round((performance.now() - begun) / 1e3)
  console.log(`${told(summary)}, ${seconds} s`)
  if (json !== undefined) writeFileSync(json, `${JSON.stringify({ ...summary, seconds }, null, 1)}\n`)
  return summary.faults.length > 0 ? 1 : 0
}

/** A text says what is wrong. */
function readOptions(sabotages) {
  const text = { type: 'string' }
  try {
    const {
      kills = '500',
      seed = '1',
      sabotage,
      json,
    } = parseArgs({ options: { kills: text, seed: text, sabotage: text, json: text } }).values
    for (const [name, value] of Object.entries({ kills, seed })) {
      if (!/^[1-9]\d{0,6}$/.test(value)) return `--${name} takes a whole number from 1; it is ${JSON.stringify(value)}`
    }
    if (sabotage !== undefined && !Object.hasOwn(sabotages, sabotage)) return `--sabotage takes ${Object.keys(sabotages).join(', ')}`
    return { kills: Number(kills), seed: Number(seed), sabotage, json }
  } catch (error) {
    return error.message
  }
}
