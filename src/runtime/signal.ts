/** Signals from outside: what `task.wait` waits for. */

import { TaskNotFoundError, UnsupportedOperationError } from '../protocol/errors.js'
import { isFinal } from '../protocol/states.js'
import type { Json } from '../protocol/wire.js'
import type { Decision, Store, TaskHeader, TaskRef } from '../store/store.js'
import { jsonText } from '../support/json-text.js'
import { isText, show } from '../support/options.js'
import { sealBody, type Vault } from '../support/vault.js'
import type { SignalBody, WaitBody } from './record-bodies.js'

/** Key, in turn 0, of the record of signals that nobody waited for yet. */
export function signalKey(name: string): string {
  return `signal:${name}`
}

export interface SignalNeeds {
  readonly store: Store
  readonly vault: Vault
}

/**
 * Gives `value` to the task's `wait(name)`, or keeps it until the task waits for it. A live run is still to be woken.
 *
 * @throws {TypeError} for a value that is no JSON
 * @throws {TaskNotFoundError} for a task that there is not
 * @throws {UnsupportedOperationError} for one that has ended
 */
export async function signal({ store, vault }: SignalNeeds, taskId: string, name: string, value: Json): Promise<TaskRef> {
  if (!isText(taskId)) throw new TypeError(`signal takes the id of the task first, a text; it got ${show(taskId)}`)
  if (!isText(name)) throw new TypeError(`signal takes the name of the signal second, a text; it got ${show(name)}`)
  const plain = textOf(name, value)
  for (;;) {
    const found = await store.locate(taskId)
    if (!found) throw new TaskNotFoundError(taskId)
    const key = signalKey(name)
    const text = found.sealed ? await sealBody(vault, { taskId, turn: 0, key }, JSON.parse(plain)) : plain
    const { ref } = found
    const updated = await store.update(ref, (header, find): Decision<boolean> => {
      if (isFinal(header.state))
        throw new UnsupportedOperationError(
          `Task ${taskId} has ended and takes no signals; the signal ${JSON.stringify(name)} was not kept.`,
        )
      // It was entrusted with a credential meanwhile.
      if (header.sealed !== found.sealed) return { result: false }
      return { result: true, write: isWaitedFor(header, name) ? close(header, text) : keep(name, text, find(0, key)?.body) }
    })
    if (updated.outcome !== 'updated' || updated.result) return ref
  }
}

function isWaitedFor({ waiting }: TaskHeader, name: string): boolean {
  return waiting?.kind === 'wait' && waiting.name === name
}

function close({ waiting }: TaskHeader, signal: string) {
  const body = JSON.stringify({ signal } satisfies WaitBody)
  return { events: [], waiting: null, attempt: 0, records: [{ kind: 'wait' as const, key: waiting?.key ?? '', body }] }
}

function keep(name: string, signal: string, kept: string | undefined) {
  // Only this file and `wait` write it.
  const { signals } = kept === undefined ? { signals: [] } : (JSON.parse(kept) as SignalBody)
  const body = JSON.stringify({ signals: [...signals, signal] } satisfies SignalBody)
  return { events: [], records: [{ turn: 0, kind: 'signal' as const, key: signalKey(name), body }] }
}

function textOf(name: string, value: Json): string {
  const text = jsonText(value)
  if (text === undefined) throw new TypeError(`signal(…, ${JSON.stringify(name)}, …) takes a JSON value; it got ${show(value)}`)
  return `{"value":${text}}`
}
