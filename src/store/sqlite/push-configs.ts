/** Push configurations of tasks, in the order of their making. */

import type { StoredPushConfig, TaskRef } from '../store.js'
import type { Part } from './batch.js'
import type { Driver } from './driver.js'
import { textOf } from './rows.js'

export interface PushConfigs extends Part {
  /** One that begins with the Task as of event `after`. For units. */
  put(ref: TaskRef, config: StoredPushConfig, after: number): void
  /** One that came with the message that is event `after`. For units. */
  putSent(ref: TaskRef, config: StoredPushConfig, after: number): void
  /** For units. */
  remove(ref: TaskRef, id: string): void
  /** Tasks whose configurations this turn makes, replaces or deletes. */
  changed(): readonly TaskRef[]
  get(ref: TaskRef, id: string): StoredPushConfig | undefined
  list(ref: TaskRef, after: string | undefined, limit: number): readonly StoredPushConfig[]
}

export function createPushConfigs(driver: Driver): PushConfigs {
  // A configuration that is replaced keeps its key, and with it its place and its deliveries.
  const upsert = `insert into push_config(task, id, body, ref, after_seq, opens, attempts, drops, state, deliveries) values (?, ?, ?, ?, ?, ?, 0, 0, 0, 0)
    on conflict(task, id) do update set body = excluded.body, ref = excluded.ref, attempts = 0, due = null, drops = 0, state = 0`
  const put = driver.prepare(`${upsert}, after_seq = excluded.after_seq, opens = excluded.opens, until_seq = null`)
  // What the one before it had not posted yet is not lost; what came after its end was never to be posted.
  const putSent = driver.prepare(`${upsert}, after_seq = iif(state = 2, excluded.after_seq, after_seq), opens = iif(state = 2, 0, opens)`)
  const clear = driver.prepare('delete from push_delivery where config = (select key from push_config where task = ? and id = ?)')
  const remove = driver.prepare('delete from push_config where task = ? and id = ?')
  const select = driver.prepare('select body from push_config where task = ? and id = ?')
  // Where the one to go on after is gone the list starts anew: a walker that deletes what it was shown misses nothing.
  const page = driver.prepare(
    `select body from push_config indexed by push_config_order where task = ? and key > coalesce((select key from push_config where task = ? and id = ?), 0)
      order by key limit ?`,
  )
  let nextRef = Number(driver.prepare('select coalesce(max(ref), 0) as last from push_config').get()?.['last']) + 1
  const pending: (() => void)[] = []
  const changed = new Set<TaskRef>()

  function enter(ref: TaskRef, write: () => void): void {
    changed.add(ref)
    pending.push(write)
  }

  // Only `put` and `putSent` fill this column.
  const parse = (body: string) => JSON.parse(body) as StoredPushConfig

  return {
    put(ref, config, after) {
      const values = [ref, config.id, JSON.stringify(config), nextRef++, after, 1]
      enter(ref, () => put.run(...values))
    },
    putSent(ref, config, after) {
      const values = [ref, config.id, JSON.stringify(config), nextRef++, after, 0]
      enter(ref, () => putSent.run(...values))
    },
    remove(ref, id) {
      enter(ref, () => {
        clear.run(ref, id)
        remove.run(ref, id)
      })
    },
    changed: () => [...changed],
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
      changed.clear()
    },
  }
}
