/** `npm run torture -- --kills 1000 --seed 7`: the same test, for as long as one likes. */

import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const { values } = parseArgs({ options: { kills: { type: 'string', default: '500' }, seed: { type: 'string', default: '1' } } })
for (const [name, value] of Object.entries(values)) {
  if (/^[1-9]\d{0,6}$/.test(value)) continue
  console.error(`--${name} takes a whole number from 1; it is ${JSON.stringify(value)}`)
  process.exit(2)
}

const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url))
const env = { ...process.env, ERRAND_KILLS: values.kills, ERRAND_SEED: values.seed }
const run = spawn(process.execPath, [vitest, 'run', 'test/torture/torture.test.ts'], {
  env,
  stdio: 'inherit',
  cwd: fileURLToPath(new URL('../..', import.meta.url)),
})
run.once('exit', (code) => process.exit(code ?? 1))
