/** The events of an answer that is an event stream, however its bytes are cut. Spec §9.4.2, §11.7. */

import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { InvalidAgentResponseError } from '../protocol/errors.js'
import type { Reply } from './exchange.js'

export interface StreamEvent extends EventSourceMessage {
  /** What the agent said in `retry:`, if it did: milliseconds before the next connection. */
  readonly retryMs: number | undefined
}

/**
 * Events with content, one by one. Comments, empty events and unknown fields are passed over.
 *
 * @param maxLength characters of one event
 * @throws {InvalidAgentResponseError} for bytes that are no UTF-8, and for an event that is too long
 */
export async function* eventsOf(reply: Reply, maxLength: number): AsyncGenerator<StreamEvent, void, void> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const events: StreamEvent[] = []
  let retryMs: number | undefined
  let tooLong = false
  const parser = createParser({
    maxBufferSize: maxLength,
    onRetry: (ms) => {
      retryMs = ms
    },
    onEvent: (event) => {
      if (event.data.length > maxLength) tooLong = true
      else if (event.data !== '') events.push({ ...event, retryMs })
    },
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded') tooLong = true
    },
  })
  for await (const chunk of reply.chunks()) {
    parser.feed(decode(decoder, chunk, reply))
    yield* events.splice(0)
    if (tooLong) throw new InvalidAgentResponseError(`${reply.said}, in which an event has more than ${maxLength} characters.`)
  }
}

function decode(decoder: TextDecoder, chunk: Uint8Array, reply: Reply): string {
  try {
    return decoder.decode(chunk, { stream: true })
  } catch (cause) {
    throw new InvalidAgentResponseError(`${reply.said} that is not UTF-8.`, { cause })
  }
}
