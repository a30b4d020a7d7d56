/** Comment lines for streams that have nothing to say, so that proxies keep them open. One timer for all. */

import { keepAlive } from '../protocol/sse.js'
import type { World } from '../support/world.js'

export interface KeepAlive {
  /** Watches a stream; `beat` writes the comment unless the stream wrote by itself. */
  watch(beat: (comment: string) => void): WatchedStream
}

export interface WatchedStream {
  wrote(): void
  end(): void
}

/** @param idleMs longest silence of a stream */
export function createKeepAlive(world: World, idleMs: number): KeepAlive {
  const streams = new Map<WatchedStream, { last: number; readonly beat: (comment: string) => void }>()
  // Looking three times as often keeps the longest silence within the limit without a timer per stream.
  const lookMs = Math.max(1, Math.floor(idleMs / 3))
  let looking = false

  function look(): void {
    const now = world.now()
    for (const stream of streams.values()) {
      // A clock that was set back says nothing of the silence: it is taken for long enough.
      if (now >= stream.last && now - stream.last < idleMs - lookMs) continue
      stream.last = now
      stream.beat(keepAlive)
    }
    if (streams.size > 0) world.timer(lookMs, look)
    else looking = false
  }

  return {
    watch(beat) {
      const state = { last: world.now(), beat }
      const stream: WatchedStream = {
        wrote() {
          state.last = world.now()
        },
        end: () => void streams.delete(stream),
      }
      streams.set(stream, state)
      if (!looking) {
        looking = true
        world.timer(lookMs, look)
      }
      return stream
    },
  }
}
