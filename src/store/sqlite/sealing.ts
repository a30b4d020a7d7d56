/** The key that records are sealed with: beside the file of a store and not in it, so that a copy of the one says nothing. */

import { closeSync, fstatSync, fsyncSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { World } from '../../support/world.js'

const keyBytes = 32
const isWindows = process.platform === 'win32'

/** Gives the key; where there is none, it is made, or the function throws. */
export type KeySource = (make: boolean) => Uint8Array

/** A key that lives as long as the returned function does. */
export function keyInMemory(world: World): KeySource {
  let key: Uint8Array | undefined
  return () => {
    key ??= world.randomBytes(keyBytes)
    return new Uint8Array(key)
  }
}

/**
 * The key in `<file>.key`, 64 hex characters and a line break for its owner's eyes alone.
 *
 * @throws {Error} from the returned function, for a key file that is missing and not to be made, that is none, or that others may read
 */
export function keyInFile(file: string, world: World): KeySource {
  const path = `${file}.key`
  let key: Uint8Array | undefined
  return (make) => {
    key ??= readKey(path) ?? (make ? makeKey(path, world) : missing(path))
    return new Uint8Array(key)
  }
}

function readKey(path: string): Uint8Array | undefined {
  let text: string
  let mode: number
  try {
    const handle = openSync(path, 'r')
    try {
      mode = fstatSync(handle).mode
      text = readFileSync(handle, 'utf8')
    } finally {
      closeSync(handle)
    }
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return undefined
    throw new Error(`the sealing key ${path} cannot be read. It has to be a file that this user may read`, { cause })
  }
  // There the bits say nothing of who may read.
  if (!isWindows && (mode & 0o077) !== 0) {
    throw new Error(`the sealing key ${path} is open to other users of this machine (mode ${(mode & 0o777).toString(8)}): chmod 600 it`)
  }
  if (!/^[0-9a-f]{64}\n$/.test(text)) {
    throw new Error(
      `the sealing key ${path} is not ${2 * keyBytes} hex characters and a line break. Put the right one back; ` +
        'or, if nothing is left that was sealed with it, remove the file, and a new one is made',
    )
  }
  return new Uint8Array(Buffer.from(text.trim(), 'hex'))
}

function missing(path: string): never {
  throw new Error(
    `the sealing key ${path} is missing. Put it back, or start with the option secretKey if the store was sealed with that; if it is lost, the option lostKey says what becomes of what was sealed with it`,
  )
}

/** Safe on the disk before anything is sealed with it. */
function makeKey(path: string, world: World): Uint8Array {
  const key = world.randomBytes(keyBytes)
  let handle: number | undefined
  try {
    handle = openSync(path, 'wx', 0o600)
    writeFileSync(handle, `${Buffer.from(key).toString('hex')}\n`)
    fsyncSync(handle)
    syncFolder(dirname(path))
  } catch (cause) {
    // A part of a key would be in the way of the next try.
    if (handle !== undefined) rmSync(path, { force: true })
    throw new Error(`the sealing key ${path} cannot be made. May this user write in its folder?`, { cause })
  } finally {
    if (handle !== undefined) closeSync(handle)
  }
  return key
}

/** A new name in a folder is as safe as the folder. */
function syncFolder(folder: string): void {
  if (isWindows) return
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

function codeOf(thrown: unknown): unknown {
  return thrown instanceof Error && 'code' in thrown ? thrown.code : undefined
}
