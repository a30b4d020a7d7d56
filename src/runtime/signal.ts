/** Signals from outside: what `task.wait` waits for. */

import { ResourceExhaustedError, TaskNotFoundError, UnsupportedOperationError } from '../protocol/errors.js'
import { isFinal } from '../protocol/states.js'
import type { Json } from '../protocol/wire.js'
import type { Decision, FindRecord, RecordWrite, Store, TaskHeader, TaskRef } from '../store/store.js'
import { utf8 } from '../support/crypto.js'
import { jsonText } from '../support/json-text.js'
import { isText, show } from '../support/options.js'
import { sealBody, type Vault } from '../support/vault.js'
import type { KeptSignal, SignalBody, WaitBody } from './record-bodies.js'

/** A task keeps so much of what nobody waits for: whoever sends more has to be told, since the task may never ask. */
export const signalLimits = Object.freeze({
  valueBytes: 1 << 20, // 1 MiB of JSON
  kept: 1_000, // signals
  keptBytes: 4 << 20, // 4 MiB, as the store keeps them
})

/** Key, in turn 0, of the record of signals that nobody waited for yet. */
const keptKey = 'signals'

/** Under which a signal is sealed, in turn 0, whether it is kept or taken. */
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
 * @throws {ResourceExhaustedError} beyond {@link signalLimits}
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
    const text = found.sealed ? await sealBody(vault, { taskId, turn: 0, key: signalKey(name) }, JSON.parse(plain)) : plain
    const { ref } = found
    const updated = await store.update(ref, (header, find): Decision<boolean> => {
      if (isFinal(header.state))
        throw new UnsupportedOperationError(
          `Task ${taskId} has ended and takes no signals; the signal ${JSON.stringify(name)} was not kept.`,
        )
      // It was entrusted with a credential meanwhile.
      if (header.sealed !== found.sealed) return { result: false }
      return { result: true, write: isWaitedFor(header, name) ? close(header, text) : keep(header, find, { name, text }) }
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

function keep({ id }: TaskHeader, find: FindRecord, signal: KeptSignal) {
  const signals = [...keptSignals(find), signal]
  const record = keptRecord(signals)
  if (signals.length > signalLimits.kept || bytesOf(record.body) > signalLimits.keptBytes) {
    throw new ResourceExhaustedError(
      'size',
      `Task ${id} keeps ${signals.length - 1} signals that it has not waited for, and takes no more; the signal ${show(signal.name)} was not kept. A task keeps ${signalLimits.kept} signals and ${signalLimits.keptBytes} bytes.`,
    )
  }
  return { events: [], records: [record] }
}

/** Takes the oldest kept signal of that name: its text, and the record of those that stay. */
export function takeKept(find: FindRecord, name: string): { readonly text: string; readonly record: RecordWrite } | undefined {
  const signals = keptSignals(find)
  const taken = signals.find((one) => one.name === name)
  return taken && { text: taken.text, record: keptRecord(signals.filter((one) => one !== taken)) }
}

function keptSignals(find: FindRecord): SignalBody['signals'] {
  const kept = find(0, keptKey)
  // Only this file writes it.
  return kept === undefined ? [] : (JSON.parse(kept.body) as SignalBody).signals
}

function keptRecord(signals: SignalBody['signals']): RecordWrite {
  return { turn: 0, kind: 'signal', key: keptKey, body: JSON.stringify({ signals } satisfies SignalBody) }
}

const bytesOf = (text: string) => utf8(text).length

function textOf(name: string, value: Json): string {
  const door = `signal(…, ${JSON.stringify(name)}, …)`
  const text = jsonText(value, door)
  if (text === undefined) throw new TypeError(`${door} takes a JSON value; it got ${show(value)}`)
  if (bytesOf(text) > signalLimits.valueBytes) {
    throw new ResourceExhaustedError(
      'size',
      `The value of the signal ${show(name)} is larger than ${signalLimits.valueBytes} bytes of JSON. Send where it can be had instead.`,
    )
  }
  return `{"value":${text}}`
}
