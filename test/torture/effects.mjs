/**
 * The service outside that steps call: it does each thing once for an idempotency key, and answers the same for it ever after.
 *
 * Its file has a line for each call and one for each deed: `call KEY TASK TURN STEP RUN`, `done KEY VALUE`.
 */

import { randomUUID } from 'node:crypto'
import { existsSync, openSync, readFileSync, writeSync } from 'node:fs'

/** @returns `(key, place) => value` */
export function openEffects(file) {
  const done = new Map()
  for (const line of existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []) {
    const [word, key, value] = line.split(' ')
    if (word === 'done') done.set(key, value)
  }
  const log = openSync(file, 'a')
  return (key, { taskId, turn, step, run }) => {
    writeSync(log, `call ${key} ${taskId} ${turn} ${step} ${run}\n`)
    if (!done.has(key)) {
      done.set(key, randomUUID())
      writeSync(log, `done ${key} ${done.get(key)}\n`)
    }
    return done.get(key)
  }
}
