/** Which messages were accepted within the last 24 hours: the memory behind idempotent sends. D7. */

import type { World } from '../../support/world.js'
import type { Inbound } from '../store.js'
import type { Part } from './batch.js'
import type { Driver } from './driver.js'
import { storedNumber } from './numbers.js'

/** Where a message was accepted. */
export interface Accepted {
  readonly task: number
  readonly seq: number
}

export interface InboundMessages extends Part {
  /** What became of the same message, `conflict` for another content under its id if it is strict, else undefined. */
  find(account: number, inbound: Inbound): Accepted | 'conflict' | undefined
  add(account: number, inbound: Inbound, accepted: Accepted): void
}

interface Pending extends Accepted {
  readonly account: number
  readonly message: number
  readonly contentHash: string
  readonly at: number
}

const keptMs = 24 * 60 * 60 * 1000

/**
 * Two tables with the same columns: one takes new rows, and when it has been doing that for 24 hours the other one, by
 * then expired as a whole, is emptied and takes over. Nothing is ever deleted row by row, and random keys meet small trees.
 */
export function createInboundMessages(driver: Driver, world: World): InboundMessages {
  const tables = ['inbound_0', 'inbound_1'].map((table) => ({
    exact: driver.prepare(`select task, seq from ${table} where account = ? and message = ? and content = ? and at >= ?`),
    other: driver.prepare(`select 1 as found from ${table} where account = ? and message = ? and content <> ? and at >= ? limit 1`),
    insert: driver.prepare(`insert or replace into ${table}(account, message, content, task, seq, at) values (?, ?, ?, ?, ?, ?)`),
    clear: driver.prepare(`delete from ${table}`),
  }))
  const currentNumber = storedNumber(driver, 'inbound_current', 0)
  const sinceNumber = storedNumber(driver, 'inbound_since', world.now())
  const pending = new Map<number, Pending[]>()

  function rotate(now: number): number {
    const current = currentNumber.get()
    if (now - sinceNumber.get() <= keptMs) return current
    const next = 1 - current
    tables[next]?.clear.run()
    currentNumber.write(next)
    sinceNumber.write(now)
    return next
  }

  return {
    find(account, { messageId, contentHash, strict }) {
      const message = hash(messageId)
      const oldest = world.now() - keptMs
      const content = contentKey(contentHash)
      const same = pending.get(message)?.filter((row) => row.account === account) ?? []
      const repeated = same.find((row) => row.contentHash === contentHash)
      if (repeated !== undefined) return repeated
      for (const { exact } of tables) {
        const row = exact.get(account, message, content, oldest)
        if (row !== undefined) return { task: Number(row['task']), seq: Number(row['seq']) }
      }
      if (!strict) return undefined
      return same.length > 0 || tables.some(({ other }) => other.get(account, message, content, oldest) !== undefined)
        ? 'conflict'
        : undefined
    },
    add(account, { messageId, contentHash }, { task, seq }) {
      const message = hash(messageId)
      const row = { account, message, contentHash, task, seq, at: world.now() }
      const others = pending.get(message)
      others === undefined ? pending.set(message, [row]) : others.push(row)
    },
    isDirty: () => pending.size > 0,
    write() {
      const table = tables[rotate(world.now())]
      for (const rows of pending.values()) {
        for (const row of rows) table?.insert.run(row.account, row.message, contentKey(row.contentHash), row.task, row.seq, row.at)
      }
    },
    done(isCommitted) {
      pending.clear()
      for (const number of [currentNumber, sinceNumber]) isCommitted ? number.keep() : number.forget()
    },
  }
}

/** Half the size of the hex. */
function contentKey(hex: string): Uint8Array {
  return Buffer.from(hex, 'hex')
}

/**
 * 53 bits of a message id. It need not withstand an attacker: what it finds must also have the account and the digest of
 * the content, so a made collision can only hit the messages of whoever made it.
 */
function hash(text: string): number {
  let low = 0x811c9dc5
  let high = 0x2c1b3c6d
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    low = Math.imul(low ^ unit, 0x01000193)
    high = Math.imul(high ^ (unit + i), 0x297a2d39)
    high ^= high >>> 15
  }
  low ^= Math.imul(high ^ (high >>> 13), 0x85ebca6b)
  return ((high >>> 0) & 0x1f_ffff) * 0x1_0000_0000 + (low >>> 0)
}
