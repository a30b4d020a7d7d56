/** Reads what is committed of a task: its header, its events, its text. */

import type { EventKind, TaskEvent } from '../../task/event.js'
import { type Foldable, fold } from '../../task/fold.js'
import type { Caller, TaskHeader, TaskRef, TaskText } from '../store.js'
import type { Driver, Row } from './driver.js'
import { eventOf, eventSeq, eventsAfter, headerColumns, headerOf, kindMask, kindOf, refOf, stateOf, textOf } from './rows.js'

export interface EventsOptions {
  readonly maxBytes?: number
  readonly kinds?: readonly EventKind[]
}

export interface Reading {
  find(caller: Caller, id: string): TaskHeader | undefined
  header(ref: TaskRef): TaskHeader | undefined
  /** Whoever's it is. */
  locate(id: string): TaskHeader | undefined
  /** @throws {Error} when there is no such task */
  text(ref: TaskRef): TaskText
  events(ref: TaskRef, after: number, options?: EventsOptions): readonly TaskEvent[]
  unfinished(after: number, limit: number): readonly TaskHeader[]
  /** Earliest first. */
  due(now: number, limit: number): readonly TaskRef[]
  nextDue(): number | undefined
  /** The last folded text with the events after it, for going on folding. */
  folded(ref: TaskRef): { readonly base: string | undefined; readonly tail: readonly Foldable[] }
}

const defaultMaxBytes = 1 << 20

export function createReading(driver: Driver): Reading {
  const byId = driver.prepare(
    `select ${headerColumns} from account a join task t on t.account = a.key and t.id = ? where a.tenant = ? and a.owner = ?`,
  )
  const byKey = driver.prepare(`select ${headerColumns} from task t join account a on a.key = t.account where t.key = ?`)
  const anybodys = driver.prepare(
    `select ${headerColumns} from task t indexed by task_id join account a on a.key = t.account where t.id = ? limit 1`,
  )
  const text = driver.prepare(
    `select t.state, t.last_seq, s.seq, s.body from task t left join snapshot s on s.task = t.key where t.key = ?`,
  )
  const snapshot = driver.prepare('select seq, body from snapshot where task = ?')
  const tail = driver.prepare(`select kind, body from task_event where ${eventsAfter} order by key`)
  const page = driver.prepare(
    `select ${eventSeq} as seq, kind, body from task_event where ${eventsAfter} and (? >> (kind >> 3)) & 1 order by key`,
  )
  const unfinished = driver.prepare(
    `select ${headerColumns} from task t indexed by task_unfinished join account a on a.key = t.account
      where t.state < 4 and t.key > ? order by t.key limit ?`,
  )
  const due = driver.prepare('select key from task indexed by task_due where due_at <= ? order by due_at, key limit ?')
  const earliest = driver.prepare('select due_at from task indexed by task_due where due_at > ? order by due_at limit 1')

  function tailOf(ref: TaskRef, after: number): readonly Foldable[] {
    return tail.all(ref, after, ref).map((row) => ({ kind: kindOf(Number(row['kind'])), body: textOf(row['body']) }))
  }

  return {
    find(caller, id) {
      const row = byId.get(id, caller.tenant, caller.owner)
      return row === undefined ? undefined : headerOf(row)
    },
    header(ref) {
      const row = byKey.get(ref)
      return row === undefined ? undefined : headerOf(row)
    },
    locate(id) {
      const row = anybodys.get(id)
      return row === undefined ? undefined : headerOf(row)
    },
    text(ref) {
      const row = text.get(ref)
      if (row === undefined) throw new Error(`the store has no task with the key ${ref}`)
      const seq = Number(row['last_seq'])
      const state = stateOf(row['state'])
      const stored = storedText(row)
      if (stored !== undefined && Number(row['seq']) === seq) return { text: stored, seq, state }
      return { text: JSON.stringify(fold(stored, tailOf(ref, Number(row['seq'] ?? 0)))), seq, state }
    },
    events(ref, after, { maxBytes = defaultMaxBytes, kinds } = {}) {
      const events: TaskEvent[] = []
      let bytes = 0
      for (const row of page.iterate(ref, after, ref, kindMask(kinds))) {
        const event = eventOf(row)
        bytes += event.body.length
        if (events.length > 0 && bytes > maxBytes) break
        events.push(event)
      }
      return events
    },
    unfinished: (after, limit) => unfinished.all(after, limit).map(headerOf),
    due: (now, limit) => due.all(now, limit).map((row) => refOf(row['key'])),
    nextDue() {
      // A bound, however far, is what makes it a search.
      const row = earliest.get(Number.MIN_SAFE_INTEGER)
      return row === undefined ? undefined : Number(row['due_at'])
    },
    folded(ref) {
      const row = snapshot.get(ref)
      return { base: row && storedText(row), tail: tailOf(ref, Number(row?.['seq'] ?? 0)) }
    },
  }
}

function storedText(row: Row): string | undefined {
  return row['body'] === null ? undefined : textOf(row['body'])
}
