/** What an agent keeps for a context: one JSON object for each (account, context id). */

import type { Json, JsonObject } from '../../protocol/wire.js'
import type { Part } from './batch.js'
import type { Driver } from './driver.js'
import { textOf } from './rows.js'

export interface Contexts extends Part {
  /** The memory as it will be after the units so far. A context nobody wrote to has an empty one, and no row. */
  memory(account: number, contextId: string): JsonObject
  /**
   * Merges member by member, when the returned function is called.
   *
   * @throws {TypeError} at once, when a value is no JSON
   */
  merge(account: number, contextId: string, members: Readonly<Record<string, Json>>): () => void
}

interface Changed {
  readonly account: number
  readonly contextId: string
  readonly memory: JsonObject
  readonly text: string
}

export function createContexts(driver: Driver): Contexts {
  const select = driver.prepare('select memory from context where account = ? and id = ?')
  const upsert = driver.prepare(
    'insert into context(account, id, memory) values (?, ?, ?) on conflict do update set memory = excluded.memory',
  )
  const changed = new Map<string, Changed>()

  function memory(account: number, contextId: string): JsonObject {
    const pending = changed.get(`${account}:${contextId}`)
    if (pending !== undefined) return pending.memory
    const row = select.get(account, contextId)
    // Only `write` below fills this column, with an object.
    return row === undefined ? {} : (JSON.parse(textOf(row['memory'])) as JsonObject)
  }

  return {
    memory,
    merge(account, contextId, members) {
      const merged = { ...memory(account, contextId), ...members }
      const change = { account, contextId, memory: merged, text: JSON.stringify(merged) }
      return () => void changed.set(`${account}:${contextId}`, change)
    },
    isDirty: () => changed.size > 0,
    write() {
      for (const { account, contextId, text } of changed.values()) upsert.run(account, contextId, text)
    },
    done: () => changed.clear(),
  }
}
