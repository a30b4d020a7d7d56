/**
 * Measures the built package: `node bench/run.mjs [--only NAME] [--json FILE]`. The server has core 0 to itself, the load core 1;
 * a cost is the time that the kernel saw the server's threads on a core. Ends with 1 where a bound is not kept.
 */

import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { cpus, release, totalmem } from 'node:os'
import { parseArgs } from 'node:util'
import { measureChunks } from './chunks.mjs'
import { tableOf } from './figures.mjs'
import { measureGrowth } from './growth.mjs'
import { measureLeavers } from './leavers.mjs'
import { measurePush } from './push.mjs'
import { measureRequests } from './requests.mjs'
import { pinLoad } from './start.mjs'
import { measureWaiting } from './waiting.mjs'

const suites = {
  requests: measureRequests,
  chunks: measureChunks,
  growth: measureGrowth,
  leavers: measureLeavers,
  waiting: measureWaiting,
  push: measurePush,
}

const { values } = parseArgs({ options: { only: { type: 'string', multiple: true }, json: { type: 'string' } } })
const names = values.only ?? Object.keys(suites)
const unknown = names.find((name) => !Object.hasOwn(suites, name))
if (unknown !== undefined) {
  console.error(`There is no ${unknown}: --only takes ${Object.keys(suites).join(', ')}.`)
  process.exit(2)
}

pinLoad()
const results = {}
for (const name of names) {
  const begun = performance.now()
  results[name] = await suites[name]()
  console.log(`\n${name} (${((performance.now() - begun) / 1e3).toFixed(0)} s)\n${tableOf(results[name])}`)
}

if (values.json !== undefined) {
  const record = { commit: commit(), machine: machine(), at: new Date().toISOString(), results }
  writeFileSync(values.json, `${JSON.stringify(record, null, 1)}\n`)
}
const over = Object.values(results)
  .flat()
  .filter(({ isKept }) => isKept === false)
if (over.length > 0) {
  console.error(`\n${over.length} of the bounds are not kept: ${over.map(({ name }) => name).join('; ')}`)
  process.exit(1)
}

/** With a plus where the tree is not as committed. */
function commit() {
  const git = (...args) => execFileSync('git', args, { encoding: 'utf8', cwd: new URL('.', import.meta.url) }).trim()
  try {
    return git('rev-parse', 'HEAD') + (git('status', '--porcelain') === '' ? '' : '+')
  } catch {
    return 'unknown'
  }
}

function machine() {
  const [first] = cpus()
  return { cpu: first?.model, cores: cpus().length, memoryGiB: Math.round(totalmem() / 2 ** 30), kernel: release(), node: process.version }
}
