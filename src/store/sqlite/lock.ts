/** One process owns a database file: a lock beside it that the system takes back when the process ends, however it ends. */

import { closeSync, existsSync, openSync, readSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type { Driver, OpenDriver } from './driver.js'

// Opening and closing a file gives up every lock that this process has on it (POSIX), so its own locks are known from here.
const held = new Set<string>()

/**
 * Takes the lock of `file`, which is itself a tiny SQLite database `<file>.lock` under an exclusive lock. Its
 * user_version is the pid of the owner: bytes 60 to 63 of the file, readable for everybody.
 *
 * @returns lets go of it
 * @throws {Error} when somebody has it, naming the pid
 */
export function lockFile(open: OpenDriver, file: string): () => void {
  const lock = `${canonical(file)}.lock`
  if (held.has(lock)) throw taken(file, process.pid)
  let driver: Driver | undefined
  try {
    driver = open(lock)
    driver.exec('pragma busy_timeout = 0; pragma locking_mode = exclusive; pragma synchronous = off')
    // The lock is taken by a write and, in this mode, kept until the connection is closed.
    driver.exec(`begin exclusive; pragma user_version = ${process.pid}; commit`)
  } catch (cause) {
    driver?.close()
    throw isBusy(cause)
      ? taken(file, readPid(lock), cause)
      : new Error(
          `${file} cannot be opened: its lock ${lock} cannot be taken (${cause instanceof Error ? cause.message : String(cause)}). May this user write here?`,
          { cause },
        )
  }
  const owned = driver
  held.add(lock)
  return () => {
    if (held.delete(lock)) owned.close()
  }
}

/** The one path of `file`, whichever links lead to it. */
export function canonical(file: string): string {
  const path = resolve(file)
  const folder = dirname(path)
  if (!existsSync(folder)) throw new Error(`${file} cannot be opened: there is no folder ${folder}. Make it first, or use another file`)
  // A link and what it leads to are one file. One that is not there yet has its folder's name.
  return existsSync(path) ? realpathSync(path) : join(realpathSync(folder), basename(path))
}

function isBusy(thrown: unknown): boolean {
  return thrown instanceof Error && /locked|busy/i.test(thrown.message)
}

function readPid(lock: string): number {
  const bytes = Buffer.alloc(4)
  const handle = openSync(lock, 'r')
  try {
    readSync(handle, bytes, 0, 4, 60)
  } finally {
    closeSync(handle)
  }
  return bytes.readUInt32BE(0)
}

function taken(file: string, pid: number, cause?: unknown): Error {
  const owner = pid === process.pid ? `this process (pid ${pid})` : pid === 0 ? 'another process' : `the process with pid ${pid}`
  return new Error(`${file} is in use by ${owner}: one process at a time owns a store. Stop that one, or use another file`, { cause })
}
