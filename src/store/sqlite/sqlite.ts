/** A store in one SQLite file, or in memory: the default, and the one that tests use. */

import { existsSync } from 'node:fs'
import { checkOptions, show } from '../../support/options.js'
import type { World } from '../../support/world.js'
import type { Store, StoreSource } from '../store.js'
import { type Checkpoints, createCheckpoints } from './checkpoint.js'
import { createStore } from './create-store.js'
import { type Driver, loadSqlite, type OpenDriver } from './driver.js'
import { canonical, lockFile } from './lock.js'
import { checkFile, migrate } from './schema.js'
import { type KeySource, keyInFile, keyInMemory } from './sealing.js'

export interface SqliteOptions {
  /**
   * What an acknowledged write survives: `power` the loss of power (default), `process` only the end of the process,
   * at about three times the rate.
   */
  readonly durability?: 'power' | 'process'
}

export const defaultSqliteOptions = Object.freeze({ durability: 'power' } as const)

/**
 * Keeps tasks in `file`, made if it is not there. `:memory:` keeps them until the store is closed.
 *
 * One process at a time may have the file open.
 *
 * @throws {TypeError} for an option that does not exist
 */
export function sqlite(file: string, options: SqliteOptions = {}): StoreSource {
  if (typeof file !== 'string' || file === '')
    throw new TypeError(`sqlite(file) takes the path of a file, or ":memory:"; it got ${show(file)}`)
  checkOptions('sqlite()', options, {
    durability: { takes: '"power" or "process"', ok: (value) => value === 'power' || value === 'process' },
  })
  return { open: ({ world }) => openSqlite(file, { ...options, world }) }
}

export interface OpenSqliteOptions extends SqliteOptions {
  readonly world: World
  /** Wraps the connection that writes: where tests count statements and make commits fail. */
  readonly wrap?: (driver: Driver) => Driver
  /** A connection to use instead of opening the file: it is open when the store is closed again. */
  readonly driver?: Driver
  /** Where the sealing key is. Default: beside the file, or else in memory. */
  readonly sealingKey?: KeySource
}

/**
 * Opens `file` at once.
 *
 * @throws {Error} when another process has the file, a newer version wrote it, or there is no driver
 */
export async function openSqlite(file: string, options: OpenSqliteOptions): Promise<Store> {
  if (options.driver !== undefined) return openOn(options.driver, file, options)
  const { open, source } = await loadSqlite()
  const isFile = file !== ':memory:'
  if (isFile) checkBefore(open, file)
  const unlock = isFile ? lockFile(open, file) : () => {}
  try {
    const driver = connect(open, file, options)
    let checkpoints: Checkpoints | undefined
    if (isFile) {
      checkpoints = createCheckpoints({ file, source, fallBack: () => driver.exec('pragma wal_autocheckpoint = 1000') })
    }
    return createStore({
      driver: options.wrap?.(driver) ?? driver,
      world: options.world,
      onWritten: (bytes) => checkpoints?.written(bytes),
      sealingKey: options.sealingKey ?? (isFile ? keyInFile(canonical(file), options.world) : keyInMemory(options.world)),
      async release() {
        await checkpoints?.close()
        driver.close()
        unlock()
      },
    })
  } catch (cause) {
    unlock()
    throw cause
  }
}

/** On a connection that outlives the store. */
function openOn(driver: Driver, file: string, options: OpenSqliteOptions): Store {
  setUp(driver, file, options)
  return createStore({
    driver: options.wrap?.(driver) ?? driver,
    world: options.world,
    onWritten() {},
    sealingKey: options.sealingKey ?? keyInMemory(options.world),
    async release() {},
  })
}

/** Before a lock is laid beside it: a file that is somebody else's stays as it was, and so does its folder. */
function checkBefore(open: OpenDriver, file: string): void {
  if (!existsSync(file)) return
  const driver = openFile(open, file)
  try {
    checkFile(driver, file)
  } finally {
    driver.close()
  }
}

function openFile(open: OpenDriver, file: string): Driver {
  try {
    return open(file)
  } catch (cause) {
    throw new Error(
      `${file} cannot be opened: ${cause instanceof Error ? cause.message : String(cause)}. Is it a file that this user may write?`,
      { cause },
    )
  }
}

function connect(open: OpenDriver, file: string, options: SqliteOptions): Driver {
  const driver = openFile(open, file)
  try {
    setUp(driver, file, options)
    return driver
  } catch (cause) {
    driver.close()
    throw cause
  }
}

function setUp(driver: Driver, file: string, { durability = defaultSqliteOptions.durability }: SqliteOptions): void {
  driver.exec('pragma busy_timeout = 5000; pragma journal_mode = wal; pragma wal_autocheckpoint = 0; pragma temp_store = memory')
  driver.exec(`pragma synchronous = ${durability === 'power' ? 'full' : 'normal'}; pragma cache_size = -65536`)
  migrate(driver, file)
}
