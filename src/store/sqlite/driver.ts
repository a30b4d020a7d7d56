/** The one interface to SQLite, and the two libraries behind it. */

import { createRequire } from 'node:module'

export type SqlValue = string | number | null | Uint8Array
export type Row = Readonly<Record<string, SqlValue>>

/** A prepared statement. Rows come as objects by column name. */
export interface Statement {
  run(...values: readonly SqlValue[]): void
  get(...values: readonly SqlValue[]): Row | undefined
  all(...values: readonly SqlValue[]): readonly Row[]
  /** Leaving the loop early ends the statement. */
  iterate(...values: readonly SqlValue[]): Iterable<Row>
}

/** A connection. Everything in it is synchronous. */
export interface Driver {
  exec(sql: string): void
  prepare(sql: string): Statement
  close(): void
}

export type OpenDriver = (file: string) => Driver

export interface Sqlite {
  readonly open: OpenDriver
  /** CommonJS source of an expression `(file) => Driver` for a thread of its own. */
  readonly source: string
}

/**
 * `node:sqlite` where this Node has it whole (22.13 and newer), else `better-sqlite3`.
 *
 * @throws {Error} when there is neither
 */
export async function loadSqlite(): Promise<Sqlite> {
  const builtin = silently(() => process.getBuiltinModule('node:sqlite') as unknown)
  if (isNodeSqlite(builtin)) {
    return { open: (file) => new builtin.DatabaseSync(file), source: `((file) => new (require('node:sqlite').DatabaseSync)(file))` }
  }
  try {
    // @ts-expect-error: the package comes without types
    const loaded: unknown = await import('better-sqlite3')
    // The constructor is its default export.
    const { default: Database } = loaded as { readonly default: new (file: string) => Driver }
    const path = createRequire(import.meta.url).resolve('better-sqlite3')
    return { open: (file) => new Database(file), source: `((file) => new (require(${JSON.stringify(path)}))(file))` }
  } catch (cause) {
    throw new Error('SQLite needs a driver: npm install better-sqlite3, or run Node 22.13 or newer', { cause })
  }
}

interface NodeSqlite {
  readonly DatabaseSync: new (file: string) => Driver
}

function isNodeSqlite(loaded: unknown): loaded is NodeSqlite {
  if (typeof loaded !== 'object' || loaded === null || !('StatementSync' in loaded)) return false
  const { StatementSync } = loaded
  // Older versions of the module lack iterate() and sit behind a flag.
  return typeof StatementSync === 'function' && 'iterate' in StatementSync.prototype
}

/** Loads a module without the warning that it is experimental; every other warning goes its way. */
function silently<Loaded>(load: () => Loaded): Loaded {
  const { emitWarning } = process
  const quiet = (warning: string | Error, ...rest: readonly unknown[]) => {
    const isAboutThis = rest[0] === 'ExperimentalWarning' && /sqlite/i.test(String(warning))
    if (!isAboutThis) Reflect.apply(emitWarning, process, [warning, ...rest])
  }
  // Assigned for the length of one synchronous call.
  process.emitWarning = quiet as typeof emitWarning
  try {
    return load()
  } finally {
    process.emitWarning = emitWarning
  }
}
