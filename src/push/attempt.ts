/** One attempt to post: its answer, or why there was none within its time. */

import { AddressRefusedError } from '../net/address-guard.js'
import type { World } from '../support/world.js'
import type { Answer } from './judge-answer.js'
import type { Post, PostRequest } from './post.js'

interface AttemptOptions {
  readonly post: Post
  readonly world: World
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/** @throws the signal's reason when it is aborted: then nobody knows what came of it */
export function attempt(request: PostRequest, { post, world, timeoutMs, signal }: AttemptOptions): Promise<Answer> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const end = new AbortController()
    const settle = (how: () => void) => {
      clear()
      signal.removeEventListener('abort', leave)
      how()
    }
    // Whoever posts may be slow to notice, and nothing waits for that.
    const giveUp = (how: () => void) => {
      settle(how)
      end.abort()
    }
    const leave = () => giveUp(() => reject(signal.reason))
    const clear = world.timer(timeoutMs, () => giveUp(() => resolve({ failure: 'timeout' })))
    signal.addEventListener('abort', leave, { once: true })
    post(request, end.signal).then(
      (status) => settle(() => resolve({ status })),
      (error: unknown) => settle(() => resolve({ failure: error instanceof AddressRefusedError ? 'address' : 'connection' })),
    )
  })
}
