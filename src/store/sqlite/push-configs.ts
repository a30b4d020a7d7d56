/** Push configurations of tasks, in the order of their making. */

import type { StoredPushConfig, TaskRef } from '../store.js'
import type { Part } from './batch.js'
import type { Driver } from './driver.js'
import { textOf } from './rows.js'

export interface PushConfigs extends Part {
  /** For units. */
  put(ref: TaskRef, config: StoredPushConfig): void
  /** For units. */
  remove(ref: TaskRef, id: string): void
  get(ref: TaskRef, id: string): StoredPushConfig | undefined
  list(ref: TaskRef, after: string | undefined, limit: number): readonly StoredPushConfig[]
}

export function createPushConfigs(driver: Driver): PushConfigs {
  // A configuration that is replaced keeps its key, and with it its place.
  const upsert = driver.prepare(
    'insert into push_config(task, id, body) values (?, ?, ?) on conflict(task, id) do update set body = excluded.body',
  )
  const remove = driver.prepare('delete from push_config where task = ? and id = ?')
  const select = driver.prepare('select body from push_config where task = ? and id = ?')
  // Where the one to go on after is gone the list starts anew: a walker that deletes what it was shown misses nothing.
  const page = driver.prepare(
    `select body from push_config indexed by push_config_order where task = ? and key > coalesce((select key from push_config where task = ? and id = ?), 0)
      order by key limit ?`,
  )
  const pending: (() => void)[] = []

  // Only `put` fills this column.
  const parse = (body: string) => JSON.parse(body) as StoredPushConfig

  return {
    put(ref, config) {
      const body = JSON.stringify(config)
      pending.push(() => upsert.run(ref, config.id, body))
    },
    remove: (ref, id) => void pending.push(() => remove.run(ref, id)),
    get(ref, id) {
      const row = select.get(ref, id)
      return row && parse(textOf(row['body']))
    },
    list: (ref, after, limit) => page.all(ref, ref, after ?? null, limit).map((row) => parse(textOf(row['body']))),
    isDirty: () => pending.length > 0,
    write() {
      for (const write of pending) write()
    },
    done() {
      pending.length = 0
    },
  }
}
