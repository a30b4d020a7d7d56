/** Frames as server-sent events, up to their end or the error that ends them (D14). */

import type { Frame } from '../protocol/call.js'
import { A2AError, toA2AError } from '../protocol/errors.js'
import { sseFrame } from '../protocol/sse.js'

export interface EventStreamForm {
  /** The data of a frame, from the text of its StreamResponse. */
  readonly data: (body: string) => string
  /** The frame that tells of an error. */
  readonly error: (error: A2AError) => string
  readonly report: (error: unknown) => void
  readonly signal: AbortSignal
}

/** One text for each batch of frames. */
export async function* eventStream(
  frames: AsyncIterable<readonly Frame[]>,
  { data, error, report, signal }: EventStreamForm,
): AsyncGenerator<string, void, void> {
  try {
    for await (const batch of frames) {
      let text = ''
      for (const { seq, body } of batch) text += sseFrame({ ...(seq !== undefined && { id: seq }), data: data(body) })
      yield text
    }
  } catch (thrown) {
    // Nobody is there any more to be told.
    if (signal.aborted && !(signal.reason instanceof A2AError)) return
    const known = toA2AError(thrown)
    if (known !== thrown) report(thrown)
    yield error(known)
  }
}
