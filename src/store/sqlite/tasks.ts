/** Headers and events: what the units of a turn make of each task, written once at the end of it. */

import { isAtRest, isFinal } from '../../protocol/states.js'
import type { TaskState } from '../../protocol/wire.js'
import type { NewEvent, TaskEvent } from '../../task/event.js'
import { fold } from '../../task/fold.js'
import type { NewTask, TaskHeader, TaskRef, TaskWrite } from '../store.js'
import type { Part } from './batch.js'
import type { Driver } from './driver.js'
import { storedNumber } from './numbers.js'
import type { Reading } from './reading.js'
import { eventKey, headerColumns, headerOf, kindCode, refOf, stateCode } from './rows.js'

/** A task as it will be after the units so far. */
export interface Draft {
  readonly account: number
  readonly header: TaskHeader
  /** Made in this turn. */
  readonly isNew: boolean
  /** Events of this turn, in order. */
  readonly events: readonly TaskEvent[]
}

export interface Tasks extends Part {
  /** Number of the last commit that changed a status. */
  revision(): number
  draft(ref: TaskRef): Draft | undefined
  /** @throws {Error} when the account has a task of that id */
  add(account: number, task: NewTask): Draft
  /**
   * All of `write`, or nothing.
   *
   * @throws {Error} when it adds events to a task that is final by then
   */
  change(draft: Draft, write: TaskWrite): TaskHeader
  changed(): Iterable<Draft>
}

interface EventRow extends TaskEvent {
  readonly epoch: number
  readonly code: number
  /** Of a status: its time, and the number of the status before it. */
  readonly timestamp: number | null
  readonly previous: number | null
}

interface Entry extends Draft {
  header: TaskHeader
  readonly events: EventRow[]
  /** The state that is counted in the tables; undefined for a new task. */
  readonly counted: TaskState | undefined
  snapshot: string | undefined
  statusSeq: number
  tailBytes: number
  snapshotSeq: number
  snapshotBytes: number
  /** What the tables have in `due_at`. */
  readonly due: number | undefined
  hasNewStatus: boolean
  isDirty: boolean
}

/** Those that a write may change without an event. */
const headerMembers = ['holder', 'waiting', 'turn', 'epoch', 'attempt', 'inboxSeq', 'sealed'] as const

/** A snapshot is rewritten when the tail has grown to its size: copying stays linear in what is written. */
const leastTailEvents = 64
/** A question rewrites it sooner, since clients read then; still at most 8 bytes are copied for one that is new. */
const restFraction = 8

export function createTasks(driver: Driver, reading: Reading): Tasks {
  const load = driver.prepare(
    `select ${headerColumns}, t.account, t.status_seq, t.tail_bytes, t.snapshot_seq, t.snapshot_bytes
      from task t join account a on a.key = t.account where t.key = ?`,
  )
  const taken = driver.prepare('select 1 as taken from task where account = ? and id = ?')
  const insertTask = driver.prepare(
    `insert into task(key, account, id, context_id, state, status_ts, status_seq, status_rev, created_rev, last_seq, epoch, holder, attempt, turn,
      waiting, inbox_seq, sealed, tail_bytes, snapshot_seq, snapshot_bytes) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const header = `last_seq = ?, epoch = ?, holder = ?, attempt = ?, turn = ?, waiting = ?, inbox_seq = ?, sealed = ?, tail_bytes = ?, snapshot_seq = ?, snapshot_bytes = ?`
  const updateHeader = driver.prepare(`update task set ${header} where key = ?`)
  // Apart, because naming a column of an index is what makes SQLite rewrite the index.
  const updateStatus = driver.prepare(`update task set ${header}, state = ?, status_ts = ?, status_seq = ?, status_rev = ? where key = ?`)
  // For the same reason, and because few tasks ever wait for a time.
  const updateDue = driver.prepare('update task set due_at = ? where key = ?')
  const insertEvent = driver.prepare(
    `insert into task_event(key, epoch, kind, ts, rev, previous, body) values (${eventKey}, ?, ?, ?, ?, ?, ?)`,
  )
  const putSnapshot = driver.prepare('insert or replace into snapshot(task, seq, body) values (?, ?, ?)')
  const count = driver.prepare('insert into task_count(account, state, n) values (?, ?, ?) on conflict do update set n = n + excluded.n')
  const revision = storedNumber(driver, 'revision', 0)
  // Never given twice while the process lives: what began in a commit that failed must not meet another task.
  let nextKey = Number(driver.prepare('select coalesce(max(key), 0) as last from task').get()?.['last']) + 1

  const entries = new Map<number, Entry>()
  const newIds = new Set<string>()

  function entryOf(ref: TaskRef): Entry | undefined {
    const known = entries.get(ref)
    if (known !== undefined) return known
    const row = load.get(ref)
    if (row === undefined) return undefined
    const loaded = headerOf(row)
    const entry: Entry = {
      account: Number(row['account']),
      header: loaded,
      events: [],
      isNew: false,
      counted: loaded.state,
      snapshot: undefined,
      statusSeq: Number(row['status_seq']),
      tailBytes: Number(row['tail_bytes']),
      snapshotSeq: Number(row['snapshot_seq']),
      snapshotBytes: Number(row['snapshot_bytes']),
      due: dueOf(loaded),
      hasNewStatus: false,
      isDirty: false,
    }
    entries.set(ref, entry)
    return entry
  }

  function change(entry: Entry, write: TaskWrite): TaskHeader {
    const after = headerAfter(entry.header, write)
    const rows = rowsOf(entry, after.epoch, write.events)
    const tailBytes = entry.tailBytes + rows.reduce((sum, { body }) => sum + body.length, 0)
    const isDue = rows.length > 0 && isSnapshotDue(after, tailBytes, entry)
    // Folded before anything is changed: events that cannot be folded are this write's error and nobody else's.
    const snapshot = isDue ? textAfter(entry, rows) : undefined
    for (const row of rows) {
      entry.events.push(row)
      if (row.state === undefined) continue
      entry.statusSeq = row.seq
      entry.hasNewStatus = true
    }
    entry.tailBytes = tailBytes
    if (snapshot !== undefined) Object.assign(entry, { snapshot, tailBytes: 0, snapshotSeq: after.lastSeq, snapshotBytes: snapshot.length })
    entry.isDirty ||= rows.length > 0 || headerMembers.some((member) => after[member] !== entry.header[member])
    entry.header = after
    return after
  }

  function textAfter(entry: Entry, rows: readonly EventRow[]): string {
    if (entry.isNew) return JSON.stringify(fold(undefined, [...entry.events, ...rows]))
    const { base, tail } = reading.folded(entry.header.ref)
    return JSON.stringify(fold(base, [...tail, ...entry.events, ...rows]))
  }

  return {
    revision: revision.get,
    draft: entryOf,
    add(account, { caller, id, contextId, created, holder }) {
      const name = `${account}:${id}`
      if (newIds.has(name) || taken.get(account, id) !== undefined) throw new Error(`there is a task ${JSON.stringify(id)} already`)
      const ref = refOf(nextKey++)
      const before: TaskHeader = {
        ref,
        caller,
        id,
        contextId,
        state: created.state,
        statusTimestamp: created.timestamp,
        lastSeq: 0,
        epoch: holder === undefined ? 0 : 1,
        holder,
        attempt: 0,
        turn: 1,
        waiting: undefined,
        inboxSeq: 0,
        sealed: false,
      }
      const entry: Entry = {
        account,
        header: before,
        events: [],
        isNew: true,
        counted: undefined,
        snapshot: undefined,
        statusSeq: 0,
        tailBytes: 0,
        snapshotSeq: 0,
        snapshotBytes: 0,
        due: undefined,
        hasNewStatus: false,
        isDirty: true,
      }
      change(entry, { events: [created] })
      newIds.add(name)
      entries.set(ref, entry)
      return entry
    },
    // Every Draft is an Entry of this very map.
    change: (draft, write) => change(draft as Entry, write),
    changed: () => [...entries.values()].filter(({ isDirty }) => isDirty),

    isDirty: () => [...entries.values()].some(({ isDirty }) => isDirty),
    write() {
      const rev = revision.get() + 1
      const counts = new Map<string, { readonly account: number; readonly state: number; n: number }>()
      const add = (account: number, state: TaskState, n: number) => {
        const code = stateCode(state)
        const name = `${account}:${code}`
        const counted = counts.get(name) ?? { account, state: code, n: 0 }
        counts.set(name, counted)
        counted.n += n
      }
      let isMoved = false
      for (const entry of entries.values()) {
        if (!entry.isDirty) continue
        writeEntry(entry, rev)
        if (!entry.hasNewStatus) continue
        isMoved = true
        if (entry.counted !== undefined) add(entry.account, entry.counted, -1)
        add(entry.account, entry.header.state, 1)
      }
      for (const { account, state, n } of counts.values()) if (n !== 0) count.run(account, state, n)
      if (isMoved) revision.write(rev)
    },
    done(isCommitted) {
      isCommitted ? revision.keep() : revision.forget()
      entries.clear()
      newIds.clear()
    },
  }

  function writeEntry({ account, header: h, events, ...entry }: Entry, rev: number): void {
    const state = stateCode(h.state)
    const waiting = h.waiting === undefined ? null : JSON.stringify(h.waiting)
    const tail = [waiting, h.inboxSeq, h.sealed ? 1 : 0, entry.tailBytes, entry.snapshotSeq, entry.snapshotBytes]
    const rest = [h.lastSeq, h.epoch, h.holder ?? null, h.attempt, h.turn, ...tail]
    if (entry.isNew) insertTask.run(h.ref, account, h.id, h.contextId, state, h.statusTimestamp, entry.statusSeq, rev, rev, ...rest)
    else if (entry.hasNewStatus) updateStatus.run(...rest, state, h.statusTimestamp, entry.statusSeq, rev, h.ref)
    else updateHeader.run(...rest, h.ref)
    const due = dueOf(h)
    if (due !== entry.due) updateDue.run(due ?? null, h.ref)
    for (const { seq, epoch, code, timestamp, previous, body } of events) {
      insertEvent.run(h.ref, seq, epoch, code, timestamp, timestamp === null ? null : rev, previous, body)
    }
    if (entry.snapshot !== undefined) putSnapshot.run(h.ref, entry.snapshotSeq, entry.snapshot)
  }
}

function headerAfter(before: TaskHeader, write: TaskWrite): TaskHeader {
  const { events, memory: _memory, pushConfig: _pushConfig, records: _records, holder, waiting, ...numbers } = write
  const last = events.findLast(isStatus)
  return {
    ...before,
    ...numbers,
    ...(holder !== undefined && { holder: holder ?? undefined }),
    ...(waiting !== undefined && { waiting: waiting ?? undefined }),
    ...(last !== undefined && { state: last.state, statusTimestamp: last.timestamp }),
    lastSeq: before.lastSeq + events.length,
  }
}

/** A task that is over is due no more, whatever it waited for. */
function dueOf({ state, waiting }: TaskHeader): number | undefined {
  return isFinal(state) ? undefined : waiting?.due
}

function rowsOf(entry: Entry, epoch: number, events: readonly NewEvent[]): readonly EventRow[] {
  let { state, lastSeq: seq } = entry.header
  let previous = entry.statusSeq
  return events.map((event) => {
    if (isFinal(state) && seq > 0) throw new Error(`the task is final and takes no ${event.kind} event`)
    seq++
    const row = { seq, kind: event.kind, body: event.body, epoch, code: kindCode(event) }
    if (!isStatus(event)) return { ...row, timestamp: null, previous: null }
    const status = { ...row, state: event.state, timestamp: event.timestamp, previous }
    state = event.state
    previous = seq
    return status
  })
}

function isSnapshotDue({ state, lastSeq }: TaskHeader, tailBytes: number, { snapshotBytes, snapshotSeq }: Entry): boolean {
  if (isFinal(state)) return true
  if (isAtRest(state) && tailBytes * restFraction >= snapshotBytes) return true
  return tailBytes >= snapshotBytes && lastSeq - snapshotSeq >= leastTailEvents
}

function isStatus(event: NewEvent): event is NewEvent & { readonly kind: 'created' | 'status' } {
  return event.kind === 'created' || event.kind === 'status'
}
