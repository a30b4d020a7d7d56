/** Jobs: one row for each task that anybody may claim, in the order in which they became so. */

import { isFinal } from '../../protocol/states.js'
import type { TaskHeader, TaskRef } from '../store.js'
import type { Part } from './batch.js'
import type { Driver } from './driver.js'
import { refOf } from './rows.js'

export interface Jobs extends Part {
  /** Every change of a header goes by here; `before` is undefined for a new task. For units. */
  follow(before: TaskHeader | undefined, after: TaskHeader): void
  /** The tasks that this turn leaves for anybody to claim, and that were not before. */
  added(): readonly TaskRef[]
  runnable(limit: number): readonly TaskRef[]
}

export function createJobs(driver: Driver): Jobs {
  const insert = driver.prepare('insert into job(task) values (?)')
  const remove = driver.prepare('delete from job where task = ?')
  const page = driver.prepare('select task from job where key > 0 order by key limit ?')
  /** Tasks that changed sides in this turn, with whether they have a row in the table. */
  const hadRow = new Map<TaskRef, boolean>()
  /** Those of them that are runnable by now, the newest last. */
  const runnable = new Set<TaskRef>()

  const added = () => [...runnable].filter((ref) => !hadRow.get(ref))

  return {
    follow(before, after) {
      const was = before !== undefined && isRunnable(before)
      if (was === isRunnable(after)) return
      // The first time, `before` is what the tables have, or as good as that.
      hadRow.set(after.ref, hadRow.get(after.ref) ?? was)
      was ? runnable.delete(after.ref) : runnable.add(after.ref)
    },
    added,
    runnable: (limit) => page.all(limit).map((row) => refOf(row['task'])),
    isDirty: () => hadRow.size > 0,
    write() {
      for (const [ref, had] of hadRow) if (had && !runnable.has(ref)) remove.run(ref)
      for (const ref of added()) insert.run(ref)
    },
    done() {
      hadRow.clear()
      runnable.clear()
    },
  }
}

function isRunnable({ state, holder, waiting }: TaskHeader): boolean {
  return holder === undefined && waiting === undefined && !isFinal(state)
}
