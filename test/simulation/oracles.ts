/** What must hold of a history when everything rests. */

import type { Task } from '../../src/index.js'
import { isAtRest } from '../../src/protocol/states.js'
import type { KeptSignal } from '../../src/runtime/record-bodies.js'
import { signalKey } from '../../src/runtime/signal.js'
import type { RecordKind, RecordWrite, TaskHeader } from '../../src/store/store.js'
import { createVault, openBody } from '../../src/support/vault.js'
import { systemWorld } from '../../src/support/world.js'
import type { TaskEvent } from '../../src/task/event.js'
import { fold } from '../../src/task/fold.js'
import type { History } from './history.js'
import { textOf } from './interpret.js'
import { judgeReaders } from './judge-readers.js'
import { judgeQuestions, judgeRecords, judgeSignals, type SettledRecord } from './judge-records.js'
import type { Fact, WatchedTask } from './observer.js'
import { type Program, signalName } from './program.js'
import { judgeReference } from './reference.js'

const finals = new Set(['TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED'])

export interface WrittenRecord {
  readonly kind: RecordKind
  readonly key: string
  readonly n?: number
  readonly turn: number
  readonly body: any
}

/** A task as the oracles see it. */
export interface Told {
  readonly id: string
  /** Among the tasks of the history. */
  readonly place: number
  readonly header: TaskHeader
  readonly log: readonly TaskEvent[]
  readonly facts: readonly Fact[]
  readonly task: Task
  /** All that was ever written, opened. */
  readonly writes: readonly WrittenRecord[]
  /** Settled and opened, in the order of their settling, by turn. */
  readonly records: ReadonlyMap<number, readonly SettledRecord[]>
}

export async function judgeAtRest(history: History): Promise<void> {
  const { observer, callers, programs, store, violate } = history
  const vault = createVault(() => store.sealingKey(), systemWorld)
  const byId = new Map([...observer.tasks.values()].map((task) => [task.id, task]))
  if (observer.tasks.size !== programs.length) violate(`${programs.length} messages began ${observer.tasks.size} tasks`)
  for (const place of programs.keys()) {
    const id = callers.taskId(place) ?? ''
    const watched = byId.get(id)
    if (!watched) {
      violate(`the task ${id} that a caller was told of is not there`)
      continue
    }
    const told = await tell(history, watched, place, (turn, key, body) => openBody(vault, { taskId: id, turn, key }, body))
    if (!told) continue
    judgeLog(history, told)
    judgeAttempts(history, told)
    judgeMessages(history, told)
    judgeReaders(history, told)
    judgeRecords(history, told)
    judgeQuestions(history, told)
    judgeSecrets(history, told)
    judgeSignals(history, told)
    await judgeReference(history, told)
  }
  judgeEffects(history)
}

type Open = (turn: number, key: string, body: string) => Promise<unknown>

async function tell(
  { store, violate, programs }: History,
  { id, ref, facts }: WatchedTask,
  place: number,
  open: Open,
): Promise<Told | undefined> {
  const header = await store.locate(id)
  if (!header) {
    violate(`the task ${id} is gone`)
    return undefined
  }
  const log = await store.events(ref, 0, { maxBytes: Number.MAX_SAFE_INTEGER })
  const { text } = await store.read(ref)
  const told = fold(undefined, log)
  // Invariant 7.
  if (JSON.stringify(JSON.parse(text)) !== JSON.stringify(told)) violate(`the task is not the fold of its log: ${text}`)
  const program = programs[place] ?? []
  const writes: WrittenRecord[] = []
  for (const { write, before } of facts) {
    for (const record of write.records ?? []) {
      const turn = turnOf(record, write.turn ?? before?.turn ?? 1)
      const body: any = await open(turn, record.key, record.body)
      writes.push({ ...record, turn, body: await withSignals(body, record, { program, open }) })
    }
  }
  const records = new Map<number, SettledRecord[]>()
  for (const { kind, key, n, turn, body } of writes) {
    if (n === undefined && kind !== 'context') continue
    const list = records.get(turn) ?? []
    records.set(turn, list)
    list.push({ kind, key, n: n ?? 0, body })
  }
  for (const list of records.values()) list.sort((a, b) => a.n - b.n)
  return { id, place, header, log, facts, task: told, writes, records }
}

/** Signals were sealed for themselves, before they were given to whoever waits. */
async function withSignals(
  body: any,
  { kind, key }: RecordWrite,
  { program, open }: { readonly program: Program; readonly open: Open },
): Promise<unknown> {
  if (kind === 'wait' && 'signal' in body) return { signal: await open(0, signalKey(signalName(program, key)), body.signal) }
  if (kind === 'signal')
    return { signals: await Promise.all(body.signals.map(({ name, text }: KeptSignal) => open(0, signalKey(name), text))) }
  return body
}

export function turnOf({ turn }: RecordWrite, now: number): number {
  return turn ?? now
}

/** Invariants 1 to 5: what was committed is the log, in order, by one writer at a time, with one end. */
function judgeLog({ violate, callers }: History, { id, log, facts, task }: Told): void {
  const written = facts.flatMap(({ write }) => write.events.map(({ body }) => body))
  if (written.length !== log.length || log.some(({ body }, place) => body !== written[place]))
    violate(`the log of task ${id} is not what was committed to it: ${log.length} events of ${written.length}`)
  if (log.some(({ seq }, place) => seq !== place + 1)) violate(`the numbers of task ${id} have gaps: ${log.map(({ seq }) => seq)}`)
  const ends = log.filter(({ state }) => state !== undefined && finals.has(state))
  if (ends.length !== 1) violate(`task ${id} has ${ends.length} final events`)
  if (ends[0] !== log.at(-1)) violate(`task ${id} has events after its final one`)
  let epoch = 0
  for (const { fence, before, write } of facts) {
    const own = fence?.epoch ?? before?.epoch ?? 0
    if (own < epoch) violate(`epoch ${own} wrote to task ${id} after epoch ${epoch}`)
    epoch = own
    if (fence && (fence.epoch !== before?.epoch || fence.holder !== before.holder))
      violate(`a run that does not hold task ${id} wrote to it`)
    if (before && finals.has(before.state) && write.events.length > 0) violate(`task ${id} was written to after its end`)
  }
  if (callers.canceled.has(id) && task.status.state !== 'TASK_STATE_CANCELED')
    violate(`the cancel of task ${id} was confirmed, and it is ${task.status.state}`)
}

/** Attempts count takeovers of work from the dead, and nothing else. */
function judgeAttempts({ violate }: History, { id, facts, task }: Told): void {
  let attempts = 0
  for (const { before, write, life } of facts) {
    if (write.attempt !== undefined && before && write.attempt > before.attempt) {
      if (before.waiting || before.holder === undefined) violate(`an attempt of task ${id} was counted while it waited`)
      if (facts.every((one) => one.life >= life)) violate(`an attempt of task ${id} was counted in the process that made it`)
      attempts++
    } else if (write.attempt === 0) attempts = 0
    if ((write.records ?? []).some(({ n }) => n !== undefined) && write.attempt !== 0)
      violate(`a record of task ${id} left its attempts as they were`)
  }
  if (/was started/.test(lastWords(task)) && attempts !== 3) violate(`task ${id} was given up after ${attempts} attempts`)
}

export const lastWords = ({ status }: Task) => (status.message ? textOf(status.message) : '')

/** Invariants 1 and 8: every message that was accepted is there, once; one that was refused is not. */
function judgeMessages({ violate, callers }: History, { id, place, log, task }: Told): void {
  const ids = (task.history ?? []).filter(({ role }) => role === 'ROLE_USER').map(({ messageId }) => messageId)
  if (new Set(ids).size !== ids.length) violate(`the history of task ${id} has a message twice: ${ids}`)
  const was = pastOf(log)
  for (const sending of callers.sendings) {
    if (sending.place !== place) continue
    const isThere = ids.includes(sending.id)
    if (sending.state === 'accepted' && !isThere) violate(`the message ${sending.id} was accepted and is not in task ${id}`)
    if (sending.state === 'refused' && isThere) violate(`the message ${sending.id} was refused and is in task ${id}`)
    for (const answer of sending.answers) {
      const seq = was(answer)
      if (seq === undefined) violate(`an answer to ${sending.id} is no state that the task was in`)
      if (sending.how === 'blocking' && !hasRested(log, sending.id, seq ?? 0))
        violate(`the blocking send ${sending.id} was answered at event ${seq}, before the task rested`)
    }
  }
  for (const view of callers.views) {
    if (view.place === place && was(view.task) === undefined)
      violate(`GetTask gave what task ${id} never was: ${JSON.stringify(view.task)}`)
  }
}

/** Whether the task rested when its message `id` came or after that, up to event `seq`. */
function hasRested(log: readonly TaskEvent[], id: string, seq: number): boolean {
  const sent = log.find(({ body }) => messageIdIn(body) === id)?.seq ?? 0
  const before = log.filter((event) => event.seq < sent && event.state !== undefined).at(-1)
  return [before, ...log.slice(sent, seq)].some((event) => event?.state !== undefined && isAtRest(event.state))
}

function messageIdIn(body: string): string | undefined {
  const { task, message } = JSON.parse(body)
  return (message ?? task?.history[0])?.messageId
}

/** Finds the number of the event after which the task was what somebody was shown. */
export function pastOf(log: readonly TaskEvent[]): (shown: unknown) => number | undefined {
  const past: string[] = []
  return (shown) => {
    for (let seq = past.length + 1; seq <= log.length; seq++) past.push(JSON.stringify(fold(undefined, log.slice(0, seq))))
    const found = past.lastIndexOf(JSON.stringify(shown))
    return found < 0 ? undefined : found + 1
  }
}

/** What was given in confidence is in no event. */
function judgeSecrets({ violate, callers }: History, { id, log, facts }: Told): void {
  for (const { token } of callers.grants) {
    if (token === undefined) continue
    if (log.some(({ body }) => body.includes(token))) violate(`a credential is in the log of task ${id}`)
    for (const { write } of facts)
      if ((write.records ?? []).some(({ body }) => body.includes(token))) violate(`a credential is in a record of task ${id} in the open`)
  }
}

function judgeEffects({ effects, isCalm, violate }: History): void {
  for (const { label, times, arguments: given } of effects.values()) {
    if (isCalm && times !== 1) violate(`the step ${label} took effect ${times} times, and nothing had happened`)
    if (given.size > 1) violate(`the step ${label} was done with different arguments: ${[...given]}`)
  }
}
