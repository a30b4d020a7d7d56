/** The process that is measured for pushes: it may post to the origins in PUSH_ORIGINS, and its agent says a number now and then. */

import { setTimeout as delay } from 'node:timers/promises'
import { agent, bearerTokens, completed, inputRequired, serve, sqlite, working } from '../dist/src/index.js'

/** The first message makes the task; the second, `say N MS`, has it say N numbers, MS apart. */
const counting = agent({ name: 'Counting', description: 'Counts aloud.' }, async function* (task) {
  if (task.turn === 1) return inputRequired('How far?')
  const [, count, ms] = task.text.split(' ').map(Number)
  for (let n = 1; n <= count; n++) {
    await delay(ms)
    yield working(`${n}`)
  }
  return completed('done')
})

const [file] = process.argv.slice(2)
const allow = process.env['PUSH_ORIGINS'].split(' ')
const auth = bearerTokens({ bench: 'bench' })
// Thousands of lines about what is dropped are no part of what is measured.
const nothing = () => {}
const log = { debug: nothing, info: nothing, warn: nothing, error: nothing }
const server = await serve(counting, { store: sqlite(file), auth, push: true, outbound: { allow }, log })

// The parent is gone, or done.
process.on('disconnect', () => server.close().then(() => process.exit(0)))
process.send({ url: server.url })
