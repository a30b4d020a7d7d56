/** `task.sleep` and `task.wait`: a time, or a signal from elsewhere. The task stays WORKING. */

import type { Json } from '../protocol/wire.js'
import { type Duration, durationMs } from '../support/duration.js'
import { checkOptions, isText, show } from '../support/options.js'
import type { World } from '../support/world.js'
import type { WaitBody } from './record-bodies.js'
import { WaitTimeoutError } from './run-errors.js'
import { takeKept } from './signal.js'
import { timeRule } from './steps.js'
import type { WaitOptions } from './task.js'
import type { WaitKeys } from './wait-keys.js'
import type { Wait } from './waits.js'

interface PauseNeeds {
  readonly world: World
  readonly keys: WaitKeys
  /** What is in the body of a signal, whether it is sealed or not. */
  readonly openSignal: (name: string, body: string) => Promise<unknown>
}

const key = { takes: 'a text', ok: isText }

export function sleepWait(duration: Duration, options: { readonly key?: string }, { world, keys }: PauseNeeds): Wait<void> {
  const ms = durationMs(duration, 'task.sleep')
  checkOptions('task.sleep', options, { key })
  return {
    kind: 'sleep',
    key: keys.key('sleep', String(duration), options.key),
    prepare: async () => () => ({ waiting: { due: world.now() + ms }, body: '{}' }),
    judge: async () => ({ settled: {} }),
    overdue: {},
    read: () => undefined,
  }
}

/** @throws {TypeError} for a wrong name or option */
export function signalWait(name: string, options: WaitOptions, { world, keys, openSignal }: PauseNeeds): Wait<Json> {
  if (!isText(name)) throw new TypeError(`task.wait takes the name of the signal first, a text; it got ${show(name)}`)
  checkOptions('task.wait', options, { timeout: timeRule, key })
  const timeoutMs = options.timeout === undefined ? undefined : durationMs(options.timeout, 'task.wait: timeout')
  return {
    kind: 'wait',
    key: keys.key('wait', name, options.key),
    prepare: async () => (draft) => {
      const kept = takeKept(draft.find, name)
      if (kept) {
        draft.record(kept.record)
        return { settled: { signal: kept.text } satisfies WaitBody }
      }
      return { waiting: { name, ...(timeoutMs !== undefined && { due: world.now() + timeoutMs }) }, body: '{}' }
    },
    judge: async (body) => ({ settled: body as WaitBody }),
    overdue: { timeout: true } satisfies WaitBody,
    async read(given) {
      const body = given as WaitBody // Written above and by `signal`.
      if ('timeout' in body) throw new WaitTimeoutError(`the signal ${JSON.stringify(name)} within ${options.timeout}`)
      if (!('signal' in body)) throw new Error('a wait that is open was taken for one that is over')
      // `signal` takes JSON values only.
      return ((await openSignal(name, body.signal)) as { readonly value: Json }).value
    },
  }
}
