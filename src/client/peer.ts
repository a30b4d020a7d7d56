/** The agent at the other end: its operations, whatever binding it speaks. */

import { type A2AError, InvalidAgentResponseError, UnauthenticatedError } from '../protocol/errors.js'
import { extensionsHeader, formatExtensions, versionHeader } from '../protocol/service-parameters.js'
import type { JsonObject, StreamResponse } from '../protocol/wire.js'
import { type Binding, byStatus, type ClientOperation, parseBody } from './binding.js'
import { ConnectionError } from './errors.js'
import { eventsOf } from './event-stream.js'
import { exchange, type Line, type Reply } from './exchange.js'
import type { CallOptions } from './options.js'
import { withRetries } from './retry.js'
import { read } from './shapes.js'

export interface PeerFrame {
  readonly id: string | undefined
  readonly retryMs: number | undefined
  readonly response: StreamResponse
}

export interface StreamOptions extends CallOptions {
  readonly lastEventId?: string | undefined
}

export interface Peer {
  readonly line: Line
  /** Where the interface is. */
  readonly address: string
  /** Whether the card allows the streaming operations. */
  readonly streams: boolean
  readonly resend: boolean
  /** One answer. `said` begins a sentence about it. Tried again where that is safe, and only then. */
  call(operation: ClientOperation, params: JsonObject, options?: CallOptions): Promise<{ readonly result: unknown; readonly said: string }>
  /** The frames of a stream, tried once. An agent that says UNAVAILABLE within it has cut it. */
  stream(operation: ClientOperation, params: JsonObject, options?: StreamOptions): AsyncGenerator<PeerFrame, void, void>
}

export interface PeerOptions {
  readonly address: string
  readonly tenant: string | undefined
  readonly streams: boolean
  readonly resend: boolean
  readonly extensions: readonly string[]
}

export function createPeer(line: Line, binding: Binding, { address, tenant, streams, resend, extensions }: PeerOptions): Peer {
  const { world, limits } = line
  const always = { [versionHeader]: '1.0', ...(extensions.length > 0 && { [extensionsHeader]: formatExtensions(extensions) }) }

  async function ask(operation: ClientOperation, params: JsonObject, accept: string, options: StreamOptions, waitMs: number | undefined) {
    const { url, method, headers, body } = binding.ask(operation, tenant === undefined ? params : { ...params, tenant })
    const { lastEventId } = options
    const all = { ...headers, ...always, accept, ...(lastEventId !== undefined && { 'last-event-id': lastEventId }) }
    const reply = await exchange(line, { method, url, headers: all, ...(body !== undefined && { body }) }, options, waitMs)
    // A status of 0 is how browsers hide a redirect.
    if (reply.status >= 300 && reply.status < 400) throw left(reply, `, a redirect to ${reply.headers.get('location')}: correct the card.`)
    if (reply.status < 200) throw left(reply, ', which is no answer.')
    return reply
  }

  function left(reply: Reply, what: string): A2AError {
    reply.close()
    return new InvalidAgentResponseError(reply.said + what)
  }

  async function whole(reply: Reply): Promise<unknown> {
    const text = await reply.text()
    if (reply.status === 401 && reply.withheld)
      throw new UnauthenticatedError(`${reply.said}. It saw no credentials: its origin is not the card's, nor is its host in trustHosts.`)
    return binding.result(text === '' && reply.status >= 400 ? refuse(reply) : parseBody(text, reply), reply)
  }

  return {
    line,
    address,
    streams,
    resend,
    call(operation, params, options = {}) {
      // What a blocking send waits for takes as long as it takes.
      const isSend = operation === 'SendMessage'
      const run = async () => {
        const reply = await ask(operation, params, 'application/json, application/a2a+json', options, isSend ? undefined : limits.connectMs)
        return { result: await whole(reply), said: reply.said }
      }
      const repeatable = resend || operation.startsWith('Get') || operation.startsWith('List')
      return isSend ? run() : withRetries(run, { world, retries: limits.retries, repeatable, signal: options.signal })
    },
    async *stream(operation, params, options = {}) {
      const reply = await ask(operation, params, 'text/event-stream', options, limits.firstByteMs)
      if (!reply.isStream) {
        // An agent that has all there is may answer it plainly.
        yield { id: undefined, retryMs: undefined, response: read('StreamResponse', await whole(reply), reply.said) }
        return
      }
      for await (const event of eventsOf(reply, limits.eventLength)) {
        yield { id: event.id, retryMs: event.retryMs, response: read('StreamResponse', frame(event, reply), reply.said) }
      }
    },
  }

  function frame(event: Parameters<Binding['frame']>[0], reply: Reply): unknown {
    try {
      return binding.frame(event, reply)
    } catch (error) {
      // D14: how a server that stops ends its streams.
      if (error instanceof Error && error.name === 'UnavailableError')
        throw new ConnectionError('cut', reply.address, 'ended the stream for now', error)
      throw error
    }
  }
}

function refuse(reply: Reply): never {
  throw byStatus(reply)
}
