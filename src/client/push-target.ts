/**
 * One credential, and what came by it.
 *
 *   unbound ──► bound to the task of its first event ──► over, with the final one
 *      └───────────────┴─────────────────┴──► closed: nobody reads it any more
 */

import { digestHex } from '../support/crypto.js'
import type { World } from '../support/world.js'
import { isLast, type PushEvent } from './push-event.js'

/**
 * - `taken`: its reader gets it
 * - `known`: it came before, is overtaken by a later one, or comes after the last
 * - `foreign`: it is of another task than the credential is bound to
 * - `full`: too much waits for the reader
 */
export type Verdict = 'taken' | 'known' | 'foreign' | 'full'

export interface Arrival {
  readonly event: PushEvent
  readonly idempotencyKey: string | undefined
  /** Characters of the post. */
  readonly size: number
}

export interface TargetLimits {
  readonly world: World
  readonly postsPerSecond: number
  readonly waitingEvents: number
  readonly waitingLength: number
}

export interface Target {
  readonly id: string
  isClosed(): boolean
  /** Nothing would be lost with it but what it is bound to. */
  isIdle(): boolean
  /** Counts a post; false for one too many. */
  admit(): boolean
  /** Runs `work` when all that came before it is done. */
  inTurn<Result>(work: () => Promise<Result>): Promise<Result>
  take(arrival: Arrival): Verdict
  /** The oldest event that waits. */
  next(): PushEvent | undefined
  isEmpty(): boolean
  /** The last event has been taken. */
  isOver(): boolean
  close(): void
}

/** Keys of other agents, which have no order, are remembered in this number. */
const mostKeys = 1000
/** Posts of one target that are read or wait for their turn. */
const mostUnderWay = 32
/** Of an event that waits, beside what its text takes. */
const overhead = 1024

export function createTarget(id: string, { world, postsPerSecond, waitingEvents, waitingLength }: TargetLimits): Target {
  const mail: Arrival[] = []
  const keys = new Set<string>()
  let length = 0
  let taskId: string | undefined
  let lastNumber = -1
  let isOver = false
  let isClosed = false
  let underWay = 0
  let before: Promise<unknown> = Promise.resolve()
  let tokens = postsPerSecond
  let since = world.now()

  const isKnown = (mark: Mark) => (typeof mark === 'number' ? mark <= lastNumber : mark !== undefined && keys.has(mark))

  function remember(mark: Mark): void {
    if (typeof mark === 'number') lastNumber = mark
    else if (mark !== undefined) keys.add(mark)
    const [oldest] = keys
    if (oldest !== undefined && keys.size > mostKeys) keys.delete(oldest)
  }

  return {
    id,
    isClosed: () => isClosed,
    isIdle: () => mail.length === 0 && underWay === 0,
    admit() {
      const now = world.now()
      // A clock that is set back gives nothing.
      tokens = Math.min(postsPerSecond, tokens + (Math.max(0, now - since) * postsPerSecond) / 1000)
      since = now
      if (tokens < 1 || underWay >= mostUnderWay) return false
      tokens--
      return true
    },
    async inTurn(work) {
      underWay++
      const done = before.then(work)
      before = done.catch(() => {})
      try {
        return await done
      } finally {
        underWay--
      }
    },
    take(arrival) {
      const { event, idempotencyKey, size } = arrival
      const of = event.taskId ?? taskId
      if (taskId !== undefined && of !== taskId) return 'foreign'
      const mark = markOf(idempotencyKey, of)
      if (isOver || isKnown(mark)) return 'known'
      if (mail.length >= waitingEvents || (mail.length > 0 && length + size + overhead > waitingLength)) return 'full'
      remember(mark)
      taskId = of
      isOver = isLast(event)
      mail.push(arrival)
      length += size + overhead
      return 'taken'
    },
    next() {
      const arrival = mail.shift()
      if (arrival) length -= arrival.size + overhead
      return arrival?.event
    },
    isEmpty: () => mail.length === 0,
    isOver: () => isOver,
    close() {
      isClosed = true
      mail.length = 0
      length = 0
    },
  }
}

/** What an event is known again by. */
type Mark = number | string | undefined

/**
 * The number of the event, where the key is built `<task>:<config>:<number>` as our own server builds it: numbers only grow,
 * whatever the configuration. Else a digest of the key, since a key is as long as its agent likes.
 */
function markOf(key: string | undefined, taskId: string | undefined): Mark {
  if (key === undefined) return undefined
  const [, number] = taskId !== undefined && key.startsWith(`${taskId}:`) ? (/:(\d{1,15})$/.exec(key) ?? []) : []
  return number === undefined ? digestHex(key) : Number(number)
}
