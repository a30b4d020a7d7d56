/** What a store's file holds, read from a copy of it and of its write-ahead log: the original stays as the dead server left it. */

import { copyFileSync, existsSync, rmSync } from 'node:fs'
import type { TaskState } from '../../src/protocol/wire.js'
import { loadSqlite } from '../../src/store/sqlite/driver.js'
import { eventOf, stateOf, textOf } from '../../src/store/sqlite/rows.js'
import type { PushProgress, RunRecord, Waiting } from '../../src/store/store.js'
import type { TaskEvent } from '../../src/task/event.js'
import type { Answer, Outcome } from '../simulation/push-reference.js'

export interface LoggedEvent extends TaskEvent {
  readonly epoch: number
  readonly timestamp: number | null
}

export interface LoggedRecord extends RunRecord {
  readonly turn: number
}

/** A push configuration, how far it is, and all that was kept of the attempts to post to it. */
export interface LoggedPush {
  readonly id: string
  readonly url: string
  readonly progress: Pick<PushProgress, 'after' | 'opens' | 'attempts' | 'drops' | 'state'>
  readonly deliveries: LoggedDelivery[]
}

export interface LoggedDelivery {
  readonly number: number
  readonly attempt: number
  readonly outcome: Outcome
  readonly answer: Answer
}

export interface LoggedTask {
  readonly id: string
  readonly state: TaskState
  readonly lastSeq: number
  readonly epoch: number
  readonly holder: string | undefined
  readonly attempt: number
  readonly turn: number
  readonly waiting: Waiting | undefined
  readonly events: LoggedEvent[]
  readonly records: LoggedRecord[]
  readonly pushes: LoggedPush[]
  /** Whether there is a job for it. */
  readonly hasJob: boolean
  readonly snapshot: { readonly seq: number; readonly body: string } | undefined
}

export interface Log {
  readonly tasks: ReadonlyMap<string, LoggedTask>
  /** What SQLite says of the file; `ok` when it is whole. */
  readonly integrity: string
  /** Tasks in each state by the store's own counters, and counted. */
  readonly counters: Readonly<Record<string, number>>
  readonly counted: Readonly<Record<string, number>>
  readonly jobs: number
}

const empty: Log = { tasks: new Map(), integrity: 'ok', counters: {}, counted: {}, jobs: 0 }

/** The copy is at `to`. Its parts fit each other only if nothing is checkpointed meanwhile: the server is dead, or has written little. */
export function copyStore(file: string, to: string): void {
  for (const end of ['', '-wal', '-shm']) rmSync(to + end, { force: true })
  for (const end of ['', '-wal']) if (existsSync(file + end)) copyFileSync(file + end, to + end)
}

/** Opens a copy, which becomes a database like any other by that. */
export async function readLog(copy: string): Promise<Log> {
  const { open } = await loadSqlite()
  const driver = open(copy)
  try {
    // Its server was killed before it had made the last of its tables.
    if (driver.prepare("select 1 from sqlite_master where name = 'push_delivery'").get() === undefined) return empty
    const tasks = new Map<number, LoggedTask>()
    const rows = driver
      .prepare(
        `select t.*, s.seq as at, s.body, exists (select 1 from job j where j.task = t.key) as has_job
          from task t left join snapshot s on s.task = t.key order by t.key`,
      )
      .all()
    for (const row of rows) {
      tasks.set(Number(row['key']), {
        id: textOf(row['id']),
        state: stateOf(row['state']),
        lastSeq: Number(row['last_seq']),
        epoch: Number(row['epoch']),
        holder: row['holder'] === null ? undefined : textOf(row['holder']),
        attempt: Number(row['attempt']),
        turn: Number(row['turn']),
        waiting: row['waiting'] === null ? undefined : JSON.parse(textOf(row['waiting'])),
        events: [],
        records: [],
        pushes: [],
        hasJob: row['has_job'] === 1,
        snapshot: row['body'] === null ? undefined : { seq: Number(row['at']), body: textOf(row['body']) },
      })
    }
    const columns = 'key >> 30 as task, key & 0x3fffffff as seq, epoch, kind, ts, body'
    for (const row of driver.prepare(`select ${columns} from task_event order by key`).all()) {
      const task = tasks.get(Number(row['task']))
      if (task === undefined) throw new Error(`there are events of a task ${Number(row['task'])} that does not exist`)
      task.events.push({ ...eventOf(row), epoch: Number(row['epoch']), timestamp: row['ts'] === null ? null : Number(row['ts']) })
    }
    for (const row of driver.prepare('select task, turn, kind, key, n, body from run_record order by task, turn, key').all()) {
      const task = tasks.get(Number(row['task']))
      if (task === undefined) throw new Error(`there are records of a task ${Number(row['task'])} that does not exist`)
      const n = row['n'] === null ? {} : { n: Number(row['n']) }
      // Only the store writes the kinds of its records.
      const kind = textOf(row['kind']) as LoggedRecord['kind']
      task.records.push({ turn: Number(row['turn']), kind, key: textOf(row['key']), ...n, body: textOf(row['body']) })
    }
    const pushes = new Map<number, LoggedPush>()
    for (const row of driver.prepare('select * from push_config order by key').all()) {
      const { id, url } = JSON.parse(textOf(row['body']))
      const [after, attempts, drops] = [Number(row['after_seq']), Number(row['attempts']), Number(row['drops'])]
      const state = (['active', 'resting', 'ended'] as const)[Number(row['state'])] ?? 'active'
      const push: LoggedPush = { id, url, progress: { after, opens: row['opens'] === 1, attempts, drops, state }, deliveries: [] }
      tasks.get(Number(row['task']))?.pushes.push(push)
      pushes.set(Number(row['key']), push)
    }
    for (const row of driver.prepare('select * from push_delivery order by config, n').all()) {
      const outcome = (['delivered', 'failed', 'dropped', 'ended'] as const)[Number(row['outcome'])] ?? 'failed'
      const answer =
        row['status'] === null
          ? { failure: (['connection', 'timeout', 'address'] as const)[Number(row['failure'])] ?? 'connection' }
          : { status: Number(row['status']) }
      pushes.get(Number(row['config']))?.deliveries.push({ number: Number(row['seq']), attempt: Number(row['attempt']), outcome, answer })
    }
    const sums = (sql: string) =>
      Object.fromEntries(
        driver
          .prepare(sql)
          .all()
          .map((row) => [stateOf(row['state']), Number(row['n'])]),
      )
    return {
      tasks: new Map([...tasks.values()].map((task) => [task.id, task])),
      integrity: String(driver.prepare('pragma integrity_check').get()?.['integrity_check']),
      counters: sums('select state, sum(n) as n from task_count group by state having sum(n) <> 0 order by state'),
      counted: sums('select state, count(*) as n from task group by state order by state'),
      jobs: Number(driver.prepare('select count(*) as n from job').get()?.['n']),
    }
  } finally {
    driver.close()
  }
}
