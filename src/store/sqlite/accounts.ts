/** Accounts: one integer key for each (tenant, owner), so that every index of a caller's lookups is short. */

import type { Caller } from '../store.js'
import type { Part } from './batch.js'
import type { Driver } from './driver.js'

export interface Accounts extends Part {
  /** The key of the caller's account, or undefined if nothing was ever written for it. */
  find(caller: Caller): number | undefined
  /** The same, made if there is none. For units. */
  key(caller: Caller): number
}

const remembered = 4096 // accounts; more are looked up again

export function createAccounts(driver: Driver): Accounts {
  const select = driver.prepare('select key from account where tenant = ? and owner = ?')
  const insert = driver.prepare('insert into account(key, tenant, owner) values (?, ?, ?)')
  const known = new Map<string, number>()
  const made = new Map<string, { readonly key: number; readonly caller: Caller }>()
  let nextKey = Number(driver.prepare('select coalesce(max(key), 0) as last from account').get()?.['last']) + 1

  function find(caller: Caller): number | undefined {
    const name = nameOf(caller)
    const cached = known.get(name)
    if (cached !== undefined) return cached
    const row = select.get(caller.tenant, caller.owner)
    if (row === undefined) return undefined
    const key = Number(row['key'])
    if (known.size >= remembered) known.clear()
    known.set(name, key)
    return key
  }

  return {
    find,
    key(caller) {
      const name = nameOf(caller)
      const found = find(caller) ?? made.get(name)?.key
      if (found !== undefined) return found
      const key = nextKey++
      made.set(name, { key, caller })
      return key
    },
    isDirty: () => made.size > 0,
    write() {
      for (const { key, caller } of made.values()) insert.run(key, caller.tenant, caller.owner)
    },
    done: () => made.clear(),
  }
}

/** No two callers have the same name: a tenant's length comes before it. */
function nameOf({ tenant, owner }: Caller): string {
  return `${tenant.length}:${tenant}${owner}`
}
