/** How far the receivers of push configurations have been told, and the attempts to tell them. */

import type { Delivery, OpenPush, Push, PushProgress, PushRef, StoredPushConfig, TaskRef } from '../store.js'
import type { Part } from './batch.js'
import type { Driver, Row, SqlValue } from './driver.js'
import { refOf, stateOf, textOf } from './rows.js'

export interface PushProgresses extends Part {
  get(push: PushRef): Push | undefined
  ofTask(ref: TaskRef): readonly PushRef[]
  open(after: number, limit: number): readonly OpenPush[]
  deliveries(ref: TaskRef): readonly Delivery[]
  /** For units. */
  advance(push: PushRef, progress: PushProgress, delivery: Omit<Delivery, 'configId'> | undefined): void
}

/** Deliveries that are kept of each configuration. */
const keptDeliveries = 100

// The numbers are in files; the index of open ones relies on 2.
const states = ['active', 'resting', 'ended'] as const satisfies readonly PushProgress['state'][]
const outcomes = ['delivered', 'failed', 'dropped', 'ended'] as const satisfies readonly Delivery['outcome'][]
const failures = ['connection', 'timeout', 'address', 'secrets'] as const satisfies readonly NonNullable<Delivery['failure']>[]

export function createPushProgress(driver: Driver): PushProgresses {
  const select = driver.prepare(
    `select c.body, c.after_seq, c.opens, c.until_seq, c.attempts, c.due, c.drops, c.state, t.key as task, t.id, t.state as task_state, t.last_seq
      from push_config c indexed by push_config_ref join task t on t.key = c.task where c.ref = ?`,
  )
  const ofTask = driver.prepare('select ref from push_config indexed by push_config_order where task = ? and state < 2 order by key')
  const open = driver.prepare(
    `select c.ref, c.task, c.opens or c.after_seq < t.last_seq as behind
      from push_config c indexed by push_config_open join task t on t.key = c.task where c.state < 2 and c.ref > ? order by c.ref limit ?`,
  )
  const update = driver.prepare(
    `update push_config set after_seq = ?, opens = ?, until_seq = ?, attempts = ?, due = ?, drops = ?, state = ?, deliveries = deliveries + ? where ref = ?`,
  )
  const insert = driver.prepare(
    `insert into push_delivery select key, deliveries, ?, ?, ?, ?, ?, ? from push_config indexed by push_config_ref where ref = ?`,
  )
  const trim = driver.prepare(
    `delete from push_delivery where config = (select key from push_config where ref = ?)
      and n <= (select deliveries - ${keptDeliveries} from push_config where ref = ?)`,
  )
  const page = driver.prepare(
    `select c.id, d.seq, d.attempt, d.at, d.outcome, d.status, d.failure from push_config c indexed by push_config_order
      join push_delivery d on d.config = c.key where c.task = ? order by c.key, d.n`,
  )
  const pending: (() => void)[] = []

  return {
    get(push) {
      const row = select.get(push)
      return row && pushOf(row)
    },
    ofTask: (ref) => ofTask.all(ref).map((row) => pushRefOf(row['ref'])),
    open: (after, limit) =>
      open.all(after, limit).map((row) => ({ push: pushRefOf(row['ref']), ref: refOf(row['task']), isBehind: row['behind'] === 1 })),
    deliveries: (ref) =>
      page
        .all(ref)
        .map(deliveryOf)
        .sort((a, b) => a.at - b.at),
    advance(push, { after, opens, until, attempts, due, drops, state }, delivery) {
      const values = [after, opens ? 1 : 0, until ?? null, attempts, due ?? null, drops, states.indexOf(state), delivery ? 1 : 0, push]
      pending.push(() => {
        update.run(...values)
        if (delivery === undefined) return
        const { number, attempt, at, outcome, status, failure } = delivery
        const code = failure === undefined ? null : failures.indexOf(failure)
        insert.run(number, attempt, at, outcomes.indexOf(outcome), status ?? null, code, push)
        trim.run(push, push)
      })
    },
    isDirty: () => pending.length > 0,
    write() {
      for (const write of pending) write()
    },
    done() {
      pending.length = 0
    },
  }
}

function pushOf(row: Row): Push {
  const [until, due] = [numberOf(row['until_seq']), numberOf(row['due'])]
  return {
    task: { ref: refOf(row['task']), id: textOf(row['id']), state: stateOf(row['task_state']), lastSeq: Number(row['last_seq']) },
    // Only the JSON of a configuration is ever written into this column.
    config: JSON.parse(textOf(row['body'])) as StoredPushConfig,
    progress: {
      after: Number(row['after_seq']),
      opens: row['opens'] === 1,
      ...(until !== undefined && { until }),
      attempts: Number(row['attempts']),
      ...(due !== undefined && { due }),
      drops: Number(row['drops']),
      state: nameOf(states, row['state']),
    },
  }
}

function deliveryOf(row: Row): Delivery {
  const [status, failure] = [numberOf(row['status']), numberOf(row['failure'])]
  return {
    configId: textOf(row['id']),
    number: Number(row['seq']),
    attempt: Number(row['attempt']),
    at: Number(row['at']),
    outcome: nameOf(outcomes, row['outcome']),
    ...(status !== undefined && { status }),
    ...(failure !== undefined && { failure: nameOf(failures, failure) }),
  }
}

function pushRefOf(value: SqlValue | undefined): PushRef {
  // A PushRef is the number in this column.
  return Number(value) as PushRef
}

function numberOf(value: SqlValue | undefined): number | undefined {
  return value === null || value === undefined ? undefined : Number(value)
}

function nameOf<Name>(names: readonly Name[], code: SqlValue | undefined): Name {
  const name = names[Number(code)]
  if (name === undefined) throw new Error(`the store has a number ${String(code)} that this version does not know`)
  return name
}
