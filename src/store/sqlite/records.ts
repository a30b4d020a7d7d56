/** Records of runs: what a turn may rely on when it is run again. They go with the end of their task. */

import { isFinal } from '../../protocol/states.js'
import type { RecordKind, RecordWrite, RunRecord, TaskRef } from '../store.js'
import type { Part } from './batch.js'
import type { Driver, Row } from './driver.js'
import { textOf } from './rows.js'
import type { Draft } from './tasks.js'

export interface Records extends Part {
  /** As it will be after the units so far. */
  find(draft: Draft, turn: number, key: string): RunRecord | undefined
  /** Those of a turn, as they will be after the units so far. */
  all(draft: Draft, turn: number): readonly RunRecord[]
  /** Those of a turn that are committed. */
  list(ref: TaskRef, turn: number): readonly RunRecord[]
  /**
   * Checks writes to a task that is not made yet if there is no `draft`; `turn` is the one that it is in after them.
   * They are taken when the returned function is called.
   *
   * @throws {Error} at once, for a record that is settled already, and for a task that is final
   */
  stage(draft: Draft | undefined, turn: number, writes: readonly RecordWrite[]): (draft: Draft) => void
  /** The task has become final. For units. */
  end(draft: Draft): void
  /** Of what this turn writes. */
  bytes(): number
}

interface Changed {
  readonly isNew: boolean
  readonly isOver: boolean
  /** By turn and key. */
  readonly records: Map<string, RunRecord & { readonly turn: number }>
}

export function createRecords(driver: Driver): Records {
  const select = driver.prepare('select kind, key, n, body from run_record where task = ? and turn = ? and key = ?')
  const page = driver.prepare('select kind, key, n, body from run_record where task = ? and turn = ? order by key')
  const upsert = driver.prepare(
    `insert into run_record(task, turn, key, kind, n, body) values (?, ?, ?, ?, ?, ?)
      on conflict do update set kind = excluded.kind, n = excluded.n, body = excluded.body`,
  )
  const clear = driver.prepare('delete from run_record where task = ?')
  const changed = new Map<TaskRef, Changed>()

  function find({ header: { ref }, isNew }: Draft, turn: number, key: string): RunRecord | undefined {
    const known = changed.get(ref)
    const pending = known?.records.get(nameOf(turn, key))
    if (pending !== undefined) return bare(pending)
    const row = isNew || known?.isOver ? undefined : select.get(ref, turn, key)
    return row === undefined ? undefined : recordOf(row)
  }

  const list = (ref: TaskRef, turn: number) => page.all(ref, turn).map(recordOf)

  return {
    find,
    list,
    all({ header: { ref }, isNew }, turn) {
      const known = changed.get(ref)
      const stored = isNew || known?.isOver ? [] : list(ref, turn)
      if (known === undefined) return stored
      const byKey = new Map(stored.map((record) => [record.key, record]))
      for (const record of known.records.values()) if (record.turn === turn) byKey.set(record.key, bare(record))
      return [...byKey.values()]
    },
    stage(draft, turn, writes) {
      if (draft !== undefined && isFinal(draft.header.state)) throw new Error('the task is final and takes no records')
      const staged = new Map<string, RunRecord & { readonly turn: number }>()
      for (const write of writes) {
        const record = { ...write, turn: write.turn ?? turn }
        const name = nameOf(record.turn, record.key)
        const earlier = staged.get(name) ?? (draft && find(draft, record.turn, record.key))
        if (earlier?.n !== undefined) throw new Error(`the record ${JSON.stringify(record.key)} of turn ${record.turn} is settled already`)
        staged.set(name, record)
      }
      return ({ header: { ref }, isNew }) => {
        const known = changed.get(ref) ?? { isNew, isOver: false, records: new Map() }
        changed.set(ref, known)
        for (const [name, record] of staged) known.records.set(name, record)
      }
    },
    end({ header: { ref }, isNew }) {
      changed.set(ref, { isNew, isOver: true, records: new Map() })
    },
    bytes() {
      let sum = 0
      for (const { records } of changed.values()) for (const { body } of records.values()) sum += body.length
      return sum
    },
    isDirty: () => changed.size > 0,
    write() {
      for (const [ref, { isNew, isOver, records }] of changed) {
        if (isOver && !isNew) clear.run(ref)
        for (const { turn, key, kind, n, body } of records.values()) upsert.run(ref, turn, key, kind, n ?? null, body)
      }
    },
    done: () => changed.clear(),
  }
}

function nameOf(turn: number, key: string): string {
  return `${turn}:${key}`
}

function bare({ kind, key, n, body }: RunRecord): RunRecord {
  return n === undefined ? { kind, key, body } : { kind, key, n, body }
}

function recordOf(row: Row): RunRecord {
  // Only `write` above fills this column.
  const kind = textOf(row['kind']) as RecordKind
  const record = { kind, key: textOf(row['key']), body: textOf(row['body']) }
  return row['n'] === null ? record : { ...record, n: Number(row['n']) }
}
