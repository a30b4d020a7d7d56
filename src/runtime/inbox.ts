/** Messages that reach a task while it is at work, handed to its run one by one. */

import type { Message } from '../protocol/wire.js'
import type { Store, TaskHeader } from '../store/store.js'
import { type Duration, durationMs } from '../support/duration.js'
import { checkOptions, isString } from '../support/options.js'
import type { World } from '../support/world.js'
import { messageOf } from '../task/make-event.js'
import type { Feed } from './feed.js'

export interface Inbox {
  take(): Promise<Message | undefined>
  next(options?: { readonly timeout?: Duration }): Promise<Message | undefined>
  /** Number of the newest message taken, if one was: written with the run's next commit. */
  takenSeq(): number | undefined
}

interface InboxOptions {
  readonly store: Store
  readonly feed: Feed
  readonly world: World
  readonly header: TaskHeader
  readonly signal: AbortSignal
}

export function createInbox({ store, feed, world, header, signal }: InboxOptions): Inbox {
  let taken = header.inboxSeq
  // Two callers of take() at once must not get the same message.
  let turn: Promise<unknown> = Promise.resolve()

  const take = (): Promise<Message | undefined> => {
    const mine = turn.then(async () => {
      signal.throwIfAborted()
      const [event] = await store.events(header.ref, taken, { maxBytes: 1, kinds: ['message'] })
      if (!event) return undefined
      taken = event.seq
      return messageOf(event.body)
    })
    turn = mine.catch(() => undefined)
    return mine
  }

  async function next(options: { readonly timeout?: Duration } = {}): Promise<Message | undefined> {
    checkOptions('inbox.next', options, {
      timeout: { takes: "milliseconds or a text such as '20s'", ok: (value) => isString(value) || typeof value === 'number' },
    })
    const waiting = new AbortController()
    const stop = () => waiting.abort(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    let late = false
    const expire = () => {
      late = true
      waiting.abort()
    }
    const clear = options.timeout === undefined ? undefined : world.timer(durationMs(options.timeout, 'inbox.next: timeout'), expire)
    try {
      const first = await take()
      if (first) return first
      for await (const batch of feed.follow(header.ref, taken, waiting.signal)) {
        if (!batch.some((event) => event.kind === 'message' && event.seq > taken)) continue
        const message = await take()
        if (message) return message
      }
      return undefined
    } catch (error) {
      if (late) return undefined
      throw error
    } finally {
      clear?.()
      signal.removeEventListener('abort', stop)
    }
  }

  return { take, next, takenSeq: () => (taken === header.inboxSeq ? undefined : taken) }
}
