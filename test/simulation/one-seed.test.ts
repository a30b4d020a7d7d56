/** One history alone, with all that happens in it: seed and changes of its plan come by ERRAND_SEED and ERRAND_PLAN. */

import { expect, test } from 'vitest'
import type { LogLevel } from '../../src/support/log.js'
import { play } from './history.js'

const seed = Number(process.env['ERRAND_SEED'])
const plan = JSON.parse(process.env['ERRAND_PLAN'] ?? '{}')

if (Number.isNaN(seed)) console.warn('Not played: one history alone. ERRAND_SEED names the seed that is to be played again.')

test.skipIf(Number.isNaN(seed))(`no law is broken with seed ${seed}`, async () => {
  const told = (level: LogLevel) => (message: string, fields?: object) => console.log(level, message, fields)
  const log = { debug: told('debug'), info: told('info'), warn: told('warn'), error: told('error') }
  const { violation } = await play(seed, { plan, trace: (line) => console.log(line), log })
  expect(violation).toBeUndefined()
})
