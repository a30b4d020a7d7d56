/** `npm run lab:push-race -- --events 5 --json FILE`: runs the race and prints both counts. */

import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { race } from './race.js'

const { values } = parseArgs({ options: { events: { type: 'string', default: '5' }, json: { type: 'string' } } })
const events = Number(values.events)
if (!Number.isSafeInteger(events) || events < 2) {
  console.error(`--events takes a whole number from 2; it got ${values.events}`)
  process.exit(2)
}

const result = await race(events)
const { naive, binding } = result
console.log(`A job of ${events} events whose reply comes after them:
  knows its tasks    ${naive.attempts} attempts, ${naive.refused} refused
  binds credentials  ${binding.attempts} attempts, ${binding.accepted} accepted`)
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(result)}\n`)
