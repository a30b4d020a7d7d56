/** Messages that reach a task while it is at work, handed to its run one by one: each is taken once, by a record. */

import type { Message } from '../protocol/wire.js'
import type { Store, TaskHeader } from '../store/store.js'
import { type Duration, durationMs } from '../support/duration.js'
import { checkOptions } from '../support/options.js'
import type { World } from '../support/world.js'
import type { Feed } from './feed.js'
import type { Ledger } from './ledger.js'
import type { Place } from './places.js'
import type { TakeBody } from './record-bodies.js'
import type { RunWriter } from './run-writer.js'
import { timeRule } from './steps.js'
import { messageAt } from './turn.js'

export interface Inbox {
  take(): Promise<Message | undefined>
  next(options?: { readonly timeout?: Duration }): Promise<Message | undefined>
  /** Whether a call of `next` waits for a message. */
  readonly isWaiting: boolean
  /** Nobody listens any more: who waits here gets `reason`. */
  stop(reason: unknown): void
}

interface InboxOptions {
  readonly store: Store
  readonly feed: Feed
  readonly world: World
  readonly header: TaskHeader
  readonly ledger: Ledger
  readonly writer: RunWriter
  readonly place: Place
  /** What the store gives; does not settle where it gives nothing. */
  readonly reading: <T>(work: Promise<T>) => Promise<T>
  readonly onWaiting: () => void
  readonly onRecorded: () => void
}

export function createInbox(options: InboxOptions): Inbox {
  const { store, feed, world, header, ledger, writer, place, reading, onWaiting, onRecorded } = options
  let taken = header.inboxSeq
  // Two callers at once must not get the same message.
  let turn: Promise<unknown> = Promise.resolve()
  let calls = 0
  const over = new AbortController()
  let waiting = 0

  /** What an earlier run took at this place, or what `find` finds. */
  function recorded(find: () => Promise<number | undefined>): Promise<Message | undefined> {
    const key = `take#${++calls}`
    const read = async (given: unknown) => {
      const { seq } = given as TakeBody // Only this function writes it.
      return seq === undefined ? undefined : reading(messageAt(store, header.ref, seq))
    }
    const isRecorded = ledger.call(key) !== undefined
    const settled = ledger.settlement(key, read)
    if (isRecorded) return settled
    return Promise.race([
      settled,
      find()
        .then((seq) => record(key, seq))
        .then(() => settled),
    ])
  }

  function record(key: string, seq: number | undefined): void {
    const body: TakeBody = seq === undefined ? {} : { seq }
    writer.put(
      (draft) => {
        draft.begin()
        if (seq !== undefined) draft.take(seq)
        draft.record({ kind: 'take', key, n: ledger.nextN(), body: JSON.stringify(body) })
      },
      () => {
        ledger.settled({ key, body })
        onRecorded()
      },
    )
  }

  /** The number of the next message that nobody took. It is taken from here on. */
  function claimNext(): Promise<number | undefined> {
    const mine = turn.then(async () => {
      over.signal.throwIfAborted()
      const [event] = await reading(store.events(header.ref, taken, { maxBytes: 1, kinds: ['message'] }))
      if (event) taken = event.seq
      return event?.seq
    })
    turn = mine.catch(() => undefined)
    return mine
  }

  async function awaitNext(timeoutMs: number | undefined): Promise<number | undefined> {
    const first = await claimNext()
    if (first !== undefined) return first
    const found = await listen(timeoutMs)
    await place.enter()
    return found
  }

  async function listen(timeoutMs: number | undefined): Promise<number | undefined> {
    over.signal.throwIfAborted()
    const listening = new AbortController()
    const stop = () => listening.abort(over.signal.reason)
    over.signal.addEventListener('abort', stop, { once: true })
    let late = false
    const expire = () => {
      late = true
      listening.abort()
    }
    const clear = timeoutMs === undefined ? undefined : world.timer(timeoutMs, expire)
    waiting++
    onWaiting()
    try {
      for await (const batch of feed.follow(header.ref, taken, listening.signal)) {
        if (!batch.some((event) => event.kind === 'message' && event.seq > taken)) continue
        const seq = await claimNext()
        if (seq !== undefined) return seq
      }
      return undefined
    } catch (error) {
      if (late) return undefined
      throw error
    } finally {
      waiting--
      clear?.()
      over.signal.removeEventListener('abort', stop)
    }
  }

  return {
    take: () => recorded(claimNext),
    next(options = {}) {
      checkOptions('inbox.next', options, { timeout: timeRule })
      const timeoutMs = options.timeout === undefined ? undefined : durationMs(options.timeout, 'inbox.next: timeout')
      return recorded(() => awaitNext(timeoutMs))
    },
    get isWaiting() {
      return waiting > 0
    },
    stop: (reason) => over.abort(reason),
  }
}
