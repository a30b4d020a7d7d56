/**
 * Lists as consistent snapshots (D20): a walk shows places, filter and status as of the revision it began at.
 *
 * A task whose status is not newer than that revision stands where it stood. One that has moved since is found through
 * the index of moved tasks and shown at its old place, which its status events tell. The cost of a page grows with the
 * page and with the number of tasks that were unfinished when the walk began and have moved since, not with the list.
 */

import type { Task, TaskStatus, TaskStatusUpdateEvent } from '../../protocol/wire.js'
import type { ListPage, ListQuery } from '../store.js'
import type { Accounts } from './accounts.js'
import type { Driver, Row, SqlValue } from './driver.js'
import type { Reading } from './reading.js'
import { eventKey, kindOf, refOf, stateCode, textOf } from './rows.js'

/** Where a task stood at the revision of the walk, and which of its events put it there. */
interface Place {
  readonly task: number
  readonly statusTimestamp: number
  readonly id: string
  readonly statusSeq: number
}

interface Bounds {
  readonly account: number
  readonly revision: number
  readonly before: { readonly statusTimestamp: number; readonly id: string }
}

// No place comes after this one, and none is older than the second.
const top = { statusTimestamp: Number.MAX_SAFE_INTEGER, id: '' }
const oldest = Number.MIN_SAFE_INTEGER

export interface Listing {
  list(query: ListQuery): ListPage
}

export function createListing(
  driver: Driver,
  needs: { readonly accounts: Accounts; readonly reading: Reading; readonly revision: () => number },
): Listing {
  const standing = filtered((filter, index) =>
    driver.prepare(
      `select key, status_ts, id, status_seq from task indexed by ${index}
        where account = ? and status_rev <= ? and (status_ts, id) < (?, ?) and status_ts >= ?${filter} order by status_ts desc, id desc limit ?`,
    ),
  )
  const counting = filtered((filter, index) =>
    driver.prepare(`select count(*) as n from task indexed by ${index} where account = ? and status_ts >= ?${filter}`),
  )
  const moved = driver.prepare(
    `select key, id, context_id, status_seq from task indexed by task_moved
      where account = ? and status_rev > ? and status_rev > created_rev and created_rev <= ?`,
  )
  const statusEvent = driver.prepare(`select ts, rev, previous, kind, body from task_event where key = ${eventKey}`)
  const counters = driver.prepare('select coalesce(sum(n), 0) as n from task_count where account = ? and state between ? and ?')

  function placesThatStand(query: ListQuery, { account, revision, before }: Bounds): readonly Place[] {
    const { statement, values } = standing(query)
    const position = [before.statusTimestamp, before.id, query.since ?? oldest]
    return statement.all(account, revision, ...position, ...values, query.pageSize + 1).map((row) => ({
      task: Number(row['key']),
      statusTimestamp: Number(row['status_ts']),
      id: textOf(row['id']),
      statusSeq: Number(row['status_seq']),
    }))
  }

  function placesThatMoved(query: ListQuery, { account, revision, before }: Bounds): readonly Place[] {
    if (revision >= needs.revision()) return []
    const places: Place[] = []
    for (const row of moved.all(account, revision, revision)) {
      if (query.contextId !== undefined && row['context_id'] !== query.contextId) continue
      const [statusSeq, status] = statusAt(row, revision)
      const place = { task: Number(row['key']), statusTimestamp: Number(status['ts']), id: textOf(row['id']), statusSeq }
      if (query.state !== undefined && (Number(status['kind']) & 7) !== stateCode(query.state)) continue
      if (place.statusTimestamp < (query.since ?? oldest) || order(before, place) >= 0) continue
      places.push(place)
    }
    return places
  }

  /** Back along the status events to the last one that the walk could see; the task's first is one of those. */
  function statusAt(task: Row, revision: number): readonly [seq: number, row: Row] {
    for (let seq = Number(task['status_seq']); seq > 0; ) {
      const row = statusEvent.get(task['key'] ?? null, seq)
      if (row === undefined) break
      if (Number(row['rev']) <= revision) return [seq, row]
      seq = Number(row['previous'])
    }
    throw new Error(`the store has no status of task ${textOf(task['id'])} at revision ${revision}`)
  }

  function total({ state, contextId, since, ...query }: ListQuery, account: number): number {
    if (contextId === undefined && since === undefined) {
      const [first, last] = state === undefined ? [0, 7] : [stateCode(state), stateCode(state)]
      return Number(counters.get(account, first, last)?.['n'])
    }
    const { statement, values } = counting({ ...query, ...(state && { state }), ...(contextId !== undefined && { contextId }) })
    return Number(statement.get(account, since ?? oldest, ...values)?.['n'])
  }

  return {
    list(query) {
      const account = needs.accounts.find(query.caller)
      if (account === undefined) return { tasks: [], total: 0 }
      const revision = query.from?.revision ?? needs.revision()
      const bounds = { account, revision, before: query.from ?? top }
      const places = [...placesThatStand(query, bounds), ...placesThatMoved(query, bounds)].sort(order)
      const page = places.slice(0, query.pageSize)
      const tasks = page.map(({ task, statusSeq }) => ({
        text: needs.reading.text(refOf(task)).text,
        status: statusText(statusEvent.get(task, statusSeq)),
      }))
      const last = page.at(-1)
      const all = query.from?.total ?? total(query, account)
      if (last === undefined || places.length <= page.length) return { tasks, total: all }
      return { tasks, total: all, next: { revision, statusTimestamp: last.statusTimestamp, id: last.id, total: all } }
    },
  }
}

/** One statement for each combination of filters, each with the index that has its order. */
function filtered<Statement>(prepare: (filter: string, index: string) => Statement) {
  const plain = prepare('', 'task_place')
  const byState = prepare(' and state = ?', 'task_state')
  const byContext = prepare(' and context_id = ?', 'task_context')
  const byBoth = prepare(' and context_id = ? and state = ?', 'task_context')
  return ({
    state,
    contextId,
  }: Pick<ListQuery, 'state' | 'contextId'>): { readonly statement: Statement; readonly values: readonly SqlValue[] } => {
    const code = state === undefined ? [] : [stateCode(state)]
    if (contextId === undefined) return { statement: state === undefined ? plain : byState, values: code }
    return { statement: state === undefined ? byContext : byBoth, values: [contextId, ...code] }
  }
}

/** Newest first, ties by id downwards, as the indexes have it. */
function order(a: Pick<Place, 'statusTimestamp' | 'id'>, b: Pick<Place, 'statusTimestamp' | 'id'>): number {
  return b.statusTimestamp - a.statusTimestamp || compareUtf8(b.id, a.id)
}

/** SQLite compares the bytes of UTF-8, which is the order of code points and not that of JavaScript's `<`. */
function compareUtf8(a: string, b: string): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    if (a[i] === b[i]) continue
    // Where the second half of a pair differs the first ones are equal, so the halves have the order of the points.
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)]
    const [isHighX, isHighY] = [isSurrogate(x), isSurrogate(y)]
    return isHighX === isHighY ? x - y : isHighX ? 1 : -1
  }
  return a.length - b.length
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff
}

function statusText(row: Row | undefined): string {
  if (row === undefined) throw new Error('the store lacks the event that a status came with')
  // A status event's body is a StreamResponse with the member that its kind names.
  const body = JSON.parse(textOf(row['body'])) as { readonly task: Task; readonly statusUpdate: TaskStatusUpdateEvent }
  const status: TaskStatus = kindOf(Number(row['kind'])) === 'created' ? body.task.status : body.statusUpdate.status
  return JSON.stringify(status)
}
