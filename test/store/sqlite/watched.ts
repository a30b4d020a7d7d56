/** A SQLite store whose connection is watched: statements are counted and can be made to fail. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Driver, SqlValue, Statement } from '../../../src/store/sqlite/driver.js'
import { openSqlite } from '../../../src/store/sqlite/sqlite.js'
import type { Store } from '../../../src/store/store.js'
import type { World } from '../../../src/support/world.js'
import { virtualWorld } from '../../../src/testing/virtual-world.js'

export interface Ran {
  readonly sql: string
  readonly values: readonly SqlValue[]
}

export interface Watched {
  readonly store: Store
  /** Statements in the order of their runs; emptied at will. */
  readonly ran: Ran[]
  /** Every statement that was prepared. */
  readonly prepared: readonly string[]
  readonly driver: Driver
  /** The next statement that matches throws. */
  failNext(pattern: RegExp): void
  count(pattern: RegExp): number
}

export async function openWatched(file = ':memory:', world: World = virtualWorld()): Promise<Watched> {
  const ran: Ran[] = []
  const prepared: string[] = []
  let failing: RegExp | undefined
  let watched: Driver | undefined

  function wrap(driver: Driver): Driver {
    watched = driver
    return {
      exec: (sql) => driver.exec(sql),
      close: () => driver.close(),
      prepare(sql) {
        prepared.push(sql)
        const statement = driver.prepare(sql)
        const tell = (values: readonly SqlValue[]) => {
          ran.push({ sql, values })
          if (!failing?.test(sql)) return
          failing = undefined
          throw new Error('the disk is full')
        }
        return watch(statement, tell)
      },
    }
  }

  const store = await openSqlite(file, { world, wrap })
  onTestFinished(() => store.close())
  if (watched === undefined) throw new Error('the driver was not wrapped')
  return {
    store,
    ran,
    prepared,
    driver: watched,
    failNext(pattern) {
      failing = pattern
    },
    count: (pattern) => ran.filter(({ sql }) => pattern.test(sql)).length,
  }
}

/** The path of a file that is not there, in a folder that is gone after the test. */
export function freshFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'errand-sqlite-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'tasks.db')
}

function watch(statement: Statement, tell: (values: readonly SqlValue[]) => void): Statement {
  return {
    run(...values) {
      tell(values)
      statement.run(...values)
    },
    get(...values) {
      tell(values)
      return statement.get(...values)
    },
    all(...values) {
      tell(values)
      return statement.all(...values)
    },
    iterate(...values) {
      tell(values)
      return statement.iterate(...values)
    },
  }
}
