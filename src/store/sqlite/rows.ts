/** How states, kinds and headers look in the tables. */

import type { TaskState } from '../../protocol/wire.js'
import type { EventKind, TaskEvent } from '../../task/event.js'
import type { TaskHeader, TaskRef, Waiting } from '../store.js'
import type { Row, SqlValue } from './driver.js'

// The numbers are in files, and indexes rely on them: those before 4 are not final.
const states: readonly TaskState[] = [
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_WORKING',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_AUTH_REQUIRED',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
]

const stateCodes = new Map(states.map((state, code) => [state, code]))

export function stateCode(state: TaskState): number {
  const code = stateCodes.get(state)
  if (code === undefined) throw new TypeError(`${state} is no state of a task`)
  return code
}

export function stateOf(code: SqlValue | undefined): TaskState {
  const state = states[Number(code)]
  if (state === undefined) throw new Error(`the store has a state ${String(code)} that this version does not know`)
  return state
}

// A kind takes eight numbers, so that the state of a status fits into it and nobody has to parse a body for it.
const kindCodes = { status: 0, created: 8, artifact: 16, turn: 24, message: 32, answer: 40 } as const satisfies Record<EventKind, number>
const kindNames = new Map<number, EventKind>(Object.entries(kindCodes).map(([kind, code]) => [code >> 3, kind as EventKind])) // keys of the table above

export function kindCode(event: { readonly kind: EventKind; readonly state?: TaskState }): number {
  return kindCodes[event.kind] + (event.state === undefined ? 0 : stateCode(event.state))
}

/** Bits of the kinds, for `(mask >> (kind >> 3)) & 1`. */
export function kindMask(kinds: readonly EventKind[] | undefined): number {
  if (kinds === undefined) return -1
  return kinds.reduce((mask, kind) => mask | (1 << (kindCodes[kind] >> 3)), 0)
}

export function kindOf(code: number): EventKind {
  const kind = kindNames.get(code >> 3)
  if (kind === undefined) throw new Error(`the store has a kind of event ${code} that this version does not know`)
  return kind
}

/** SQL for the key of an event; takes the task and the number. Bit operators, since drivers hand numbers over as floats. */
export const eventKey = '((? << 30) | ?)'
/** SQL for the number in such a key. */
export const eventSeq = '(key & 0x3fffffff)'
/** SQL that is true of the events of a task after a number; it takes the task, the number and the task again. */
export const eventsAfter = `key > ${eventKey} and key < ((? + 1) << 30)`

/** From the columns seq, kind and body. */
export function eventOf(row: Row): TaskEvent {
  const code = Number(row['kind'])
  const kind = kindOf(code)
  const event = { seq: Number(row['seq']), kind, body: textOf(row['body']) }
  return kind === 'status' || kind === 'created' ? { ...event, state: stateOf(code & 7) } : event
}

/** The columns that {@link headerOf} reads, of `task t` joined with `account a`. */
export const headerColumns = `t.key, a.tenant, a.owner, t.id, t.context_id, t.state, t.status_ts, t.last_seq, t.epoch, t.holder, t.attempt, t.turn,
  t.waiting, t.inbox_seq, t.sealed`

export function headerOf(row: Row): TaskHeader {
  return {
    ref: refOf(row['key']),
    caller: { tenant: textOf(row['tenant']), owner: textOf(row['owner']) },
    id: textOf(row['id']),
    contextId: textOf(row['context_id']),
    state: stateOf(row['state']),
    statusTimestamp: Number(row['status_ts']),
    lastSeq: Number(row['last_seq']),
    epoch: Number(row['epoch']),
    holder: optionalText(row['holder']),
    attempt: Number(row['attempt']),
    turn: Number(row['turn']),
    waiting: waitingOf(row['waiting']),
    inboxSeq: Number(row['inbox_seq']),
    sealed: row['sealed'] === 1,
  }
}

export function refOf(key: SqlValue | undefined): TaskRef {
  // A TaskRef is the integer key of the row; this is the one place that makes them.
  return Number(key) as TaskRef
}

export function textOf(value: SqlValue | undefined): string {
  if (typeof value !== 'string') throw new Error('the store has no text where a text belongs')
  return value
}

function waitingOf(value: SqlValue | undefined): Waiting | undefined {
  const text = optionalText(value)
  // Only the JSON of a Waiting is ever written into this column.
  return text === undefined ? undefined : (JSON.parse(text) as Waiting)
}

function optionalText(value: SqlValue | undefined): string | undefined {
  return value === null ? undefined : textOf(value)
}
