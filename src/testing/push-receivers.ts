/** Whoever is told by push notifications in a sandbox: each post arrives, whatever its address, and is kept to be looked at. */

import { type Assembly, assemble } from '../client/assemble.js'
import type { TaskEvent } from '../client/task-event.js'
import type { StreamResponse } from '../protocol/wire.js'
import type { OpenedPost, PostRequest } from '../push/post.js'
import type { MortalWorld } from './mortal-world.js'

export interface RecordedPush {
  /** Of the push configuration. */
  readonly url: string
  /** 1, 2, …: an event is posted again where a post was refused, or the server died over it. */
  readonly attempt: number
  readonly event: TaskEvent
}

export interface PushReceivers {
  readonly pushes: readonly RecordedPush[]
  /** The next `times` posts are refused. */
  fail(times: number): void
  /** The way to the receivers, for a process that lives in `world`. */
  open(world: Pick<MortalWorld, 'isDead'>): OpenedPost
}

/** @param onUse told of each post */
export function createPushReceivers(onUse: () => void): PushReceivers {
  const pushes: RecordedPush[] = []
  const events = new Map<string, { readonly event: TaskEvent; attempts: number }>()
  const assemblies = new Map<string, Assembly>()
  let failing = 0

  /** What the receiver of one configuration makes of a post; the same post again tells nothing new. */
  function hear(key: string, body: string) {
    const post = `${key} ${body}`
    const known = events.get(post)
    if (known) return known
    const config = key.slice(0, key.lastIndexOf(':'))
    // What the server has written.
    const frame = JSON.parse(body) as StreamResponse
    // A whole task is a beginning.
    const assembly = (frame.task ? undefined : assemblies.get(config)) ?? assemble()
    assemblies.set(config, assembly)
    const [event] = assembly.take(frame)
    if (!event) throw new Error(`a post told of nothing: ${body}`)
    const heard = { event, attempts: 0 }
    events.set(post, heard)
    return heard
  }

  async function post({ url, headers, body }: PostRequest): Promise<number> {
    onUse()
    const heard = hear(headers['idempotency-key'] ?? '', body)
    pushes.push({ url, attempt: ++heard.attempts, event: heard.event })
    if (failing === 0) return 204
    failing--
    return 503
  }

  return {
    pushes,
    fail(times) {
      failing = times
    },
    open: (world) => ({
      post: (request) => (world.isDead ? new Promise<never>(() => {}) : post(request)),
      async checkAddresses() {},
      async close() {},
    }),
  }
}
