/** Wakes readers after commits: streams, blocking sends and inboxes are readers of the log, and this is their doorbell. */

import { isAtRest } from '../protocol/states.js'
import type { Store, TaskRef } from '../store/store.js'
import type { TaskEvent } from '../task/event.js'

/** Newest events of a task that somebody reads, kept once for all its readers. Older ones are read from the log. */
const tailBytes = 256 << 10

interface Topic {
  readers: number
  lastSeq: number
  tail: TaskEvent[]
  bytes: number
  readonly waiting: Set<(interruption?: unknown) => void>
}

export interface Feed {
  /**
   * The committed events after number `after`, then live ones, in batches, without end. A slow reader costs nothing but
   * its own place: what it has not taken stays in the log.
   *
   * @throws the signal's reason once it is aborted
   */
  follow(ref: TaskRef, after: number, signal: AbortSignal): AsyncGenerator<readonly TaskEvent[], never, void>
  /**
   * Settles once an event after number `after` leaves the task at rest (final or interrupted). Events committed before
   * the call are not looked at: the caller does that after calling.
   */
  untilRest(ref: TaskRef, after: number, signal: AbortSignal): Promise<void>
  /** Ends what waits for events of this task with `reason`: nobody knows when the next one comes. */
  interrupt(ref: TaskRef, reason: unknown): void
  close(): void
}

export function createFeed(store: Store): Feed {
  const topics = new Map<TaskRef, Topic>()

  const stop = store.onCommit((ref, lastSeq, events) => {
    const topic = topics.get(ref)
    if (!topic || lastSeq <= topic.lastSeq) return
    keep(topic, events ?? [])
    topic.lastSeq = lastSeq
    for (const wake of [...topic.waiting]) wake()
  })

  function open(ref: TaskRef): Topic {
    let topic = topics.get(ref)
    if (!topic) {
      topic = { readers: 0, lastSeq: 0, tail: [], bytes: 0, waiting: new Set() }
      topics.set(ref, topic)
    }
    topic.readers++
    return topic
  }

  function leave(ref: TaskRef, topic: Topic): void {
    if (--topic.readers === 0) topics.delete(ref)
  }

  async function* follow(ref: TaskRef, after: number, signal: AbortSignal): AsyncGenerator<readonly TaskEvent[], never, void> {
    signal.throwIfAborted()
    const topic = open(ref)
    try {
      for (let cursor = after, isFirst = true; ; isFirst = false) {
        const kept = fromTail(topic, cursor)
        // Who comes late looks for himself: those who are here may not have been told of the last commit.
        const batch = kept === undefined || (isFirst && kept.length === 0) ? await store.events(ref, cursor) : kept
        signal.throwIfAborted()
        const last = batch.at(-1)
        if (last) {
          cursor = last.seq
          yield batch
        } else {
          await nextCommit(topic, cursor, signal)
        }
      }
    } finally {
      leave(ref, topic)
    }
  }

  async function untilRest(ref: TaskRef, after: number, signal: AbortSignal): Promise<void> {
    const topic = open(ref)
    try {
      for (let cursor = after; ; ) {
        await nextCommit(topic, cursor, signal)
        const batch = fromTail(topic, cursor) ?? (await store.events(ref, cursor))
        if (batch.some((event) => event.state !== undefined && isAtRest(event.state))) return
        cursor = Math.max(cursor, batch.at(-1)?.seq ?? 0)
      }
    } finally {
      leave(ref, topic)
    }
  }

  function interrupt(ref: TaskRef, reason: unknown): void {
    for (const wake of [...(topics.get(ref)?.waiting ?? [])]) wake(reason)
  }

  return { follow, untilRest, interrupt, close: stop }
}

function keep(topic: Topic, events: readonly TaskEvent[]): void {
  if (events[0] === undefined || events[0].seq !== topic.lastSeq + 1) {
    topic.tail = []
    topic.bytes = 0
  }
  for (const event of events) {
    topic.tail.push(event)
    topic.bytes += event.body.length
  }
  while (topic.bytes > tailBytes && topic.tail.length > 1) topic.bytes -= topic.tail.shift()?.body.length ?? 0
}

/** Kept events after `cursor`; undefined when only the log knows. */
function fromTail(topic: Topic, cursor: number): readonly TaskEvent[] | undefined {
  const first = topic.tail[0]
  if (first === undefined || first.seq > cursor + 1) return topic.lastSeq > 0 && topic.lastSeq <= cursor ? [] : undefined
  return topic.tail.slice(cursor + 1 - first.seq)
}

function nextCommit(topic: Topic, cursor: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    if (topic.lastSeq > cursor) return resolve()
    const wake = (interruption?: unknown) => {
      topic.waiting.delete(wake)
      signal.removeEventListener('abort', onAbort)
      if (signal.aborted) reject(signal.reason)
      else if (interruption !== undefined) reject(interruption)
      else resolve()
    }
    const onAbort = () => wake()
    topic.waiting.add(wake)
    signal.addEventListener('abort', onAbort, { once: true })
  })
}
