/** What a function awaits: steps, questions, consents, signals and times, each leaving a record. */

import type { Store, TaskHeader } from '../store/store.js'
import { openBody, type Vault } from '../support/vault.js'
import type { World } from '../support/world.js'
import { askWait } from './ask.js'
import { authorizeWait, type ConsentDesk } from './authorize.js'
import type { Door } from './door.js'
import type { Ledger } from './ledger.js'
import { signalWait, sleepWait } from './pause.js'
import { signalKey } from './signal.js'
import { createSteps } from './steps.js'
import type { StepsInHand } from './steps-in-hand.js'
import type { Consent, ConsentRequest, TaskHandle } from './task.js'
import { messageAt } from './turn.js'
import { createWaitKeys } from './wait-keys.js'
import type { Wait, Waits } from './waits.js'

export type Doors = Pick<TaskHandle, 'step' | 'stream' | 'sleep' | 'ask' | 'authorize' | 'wait'>

interface DoorsOptions {
  readonly store: Store
  readonly world: World
  readonly vault: Vault
  readonly desk: ConsentDesk | undefined
  readonly header: TaskHeader
  readonly signal: AbortSignal
  readonly door: Door
  readonly ledger: Ledger
  readonly waits: Waits
  readonly steps: StepsInHand
  readonly encode: (key: string, body: object) => Promise<string>
  /** What the store gives. Where it gives nothing, that is no answer to what was awaited: the run is lost, and nothing settles. */
  readonly reading: <T>(work: Promise<T>) => Promise<T>
  /** Before a wait: the task is at work from then on. */
  readonly onWait: () => void
  /** From here on all records are sealed. */
  readonly onAuthorize: () => Promise<void>
  /** The run has a credential from here on. */
  readonly onGranted: (token: string) => void
  /** An error of the author that fails the task, whatever the function does about it. */
  readonly fail: (error: Error) => void
}

export function createDoors(options: DoorsOptions): Doors {
  const { store, world, vault, desk, header, signal, door, ledger, waits, encode, fail } = options
  const { ref, id } = header
  const keys = createWaitKeys(fail)
  const read = (seq: number) => options.reading(messageAt(store, ref, seq))
  const openSignal = (name: string, body: string) => openBody(vault, { taskId: id, turn: 0, key: signalKey(name) }, body)
  const steps = createSteps({
    world,
    header,
    signal,
    recorded: (kind, key, work, readBody) => options.steps.recorded(kind, key, work, readBody),
    isRecorded: (key) => ledger.has(key),
    door,
    mayBegin: () => options.steps.mayBegin(),
    onStream: (leave) => options.steps.reading(leave),
    onTry: (made) => options.steps.follow(made),
    fail,
  })

  function wait<T>(make: () => Wait<T>): Promise<T> {
    return door.open(() => {
      const made = make()
      options.onWait()
      return waits.call(made)
    })
  }

  function authorize(request: ConsentRequest): Wait<Consent> {
    const made = authorizeWait(request, { ref, world, keys, desk, messageAt: read, encode })
    const sealed = options.onAuthorize()
    return {
      ...made,
      async prepare() {
        await sealed
        return made.prepare()
      },
      async read(body) {
        const consent = await made.read(body)
        if ('granted' in consent) options.onGranted(consent.granted.token)
        return consent
      },
    }
  }

  return {
    step: (key, fn, given) => door.open(() => steps.step(key, fn, given)),
    stream: steps.stream,
    sleep: (duration, given = {}) => wait(() => sleepWait(duration, given, { world, keys, openSignal })),
    // The overloads say what comes of which options.
    ask: ((prompt: Parameters<TaskHandle['ask']>[0], given = {}) =>
      wait(() => askWait(prompt, given, { world, keys, messageAt: read }))) as TaskHandle['ask'],
    authorize: (request) => wait(() => authorize(request)),
    // The author names the type of what comes with this signal; nothing else in the process knows it.
    wait: ((name: string, given = {}) => wait(() => signalWait(name, given, { world, keys, openSignal }))) as TaskHandle['wait'],
  }
}
