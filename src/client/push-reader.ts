/** A loop that waits for what is to come. */

import type { PushEvent } from './push-event.js'

export interface Reader {
  /** There may be something new. */
  wake(): void
  events(): AsyncGenerator<PushEvent, void, void>
}

export interface ReaderOptions {
  readonly next: () => PushEvent | undefined
  /** Nothing will come any more. */
  readonly isOver: () => boolean
  /** Called when the loop has ended, whatever ended it. */
  readonly left: () => void
  /** Each of them ends the loop with its reason. */
  readonly signals: readonly (AbortSignal | undefined)[]
}

export function createReader({ next, isOver, left, signals }: ReaderOptions): Reader {
  let wake = () => {}
  const onAbort = () => wake()
  return {
    wake: () => wake(),
    async *events() {
      for (const signal of signals) signal?.addEventListener('abort', onAbort)
      try {
        for (;;) {
          for (const signal of signals) signal?.throwIfAborted()
          const event = next()
          if (event !== undefined) yield event
          else if (isOver()) return
          else {
            await new Promise<void>((resolve) => {
              wake = resolve
            })
          }
        }
      } finally {
        for (const signal of signals) signal?.removeEventListener('abort', onAbort)
        left()
      }
    },
  }
}
