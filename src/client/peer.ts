/** The agent at the other end: its operations, whatever binding it speaks. */

import { A2AError, InvalidAgentResponseError, UnauthenticatedError } from '../protocol/errors.js'
import { extensionsHeader, formatExtensions, versionHeader } from '../protocol/service-parameters.js'
import type { StreamResponse } from '../protocol/wire.js'
import type { Binding, ClientOperation } from './binding.js'
import { ConnectionError } from './errors.js'
import { eventsOf } from './event-stream.js'
import { exchange, type Line, type Reply } from './exchange.js'
import type { CallOptions } from './options.js'
import { withRetries } from './retry.js'
import { read, type Shapes } from './shapes.js'

export interface PeerFrame {
  readonly id?: string | undefined
  readonly retryMs?: number | undefined
  readonly response: StreamResponse
}

/** What is answered at once. */
const answers = {
  SendMessage: 'SendMessageResponse',
  GetTask: 'Task',
  ListTasks: 'ListTasksResponse',
  CancelTask: 'Task',
} as const satisfies Partial<Record<ClientOperation, keyof Shapes>>
type Answers = typeof answers

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
  /** One answer. Tried again where that is safe, and only then. */
  call<Name extends keyof Answers>(operation: Name, params: object, options?: CallOptions): Promise<Shapes[Answers[Name]]>
  /** The frames of a stream, tried once. An agent that says UNAVAILABLE within it has cut it. */
  stream(operation: ClientOperation, params: object, options?: StreamOptions): AsyncGenerator<PeerFrame, void, void>
}

export interface PeerOptions {
  readonly address: string
  readonly tenant: string | undefined
  readonly streams: boolean
  readonly resend: boolean
  readonly extensions: readonly string[]
}

export function createPeer(line: Line, binding: Binding, { address, tenant, streams, resend, extensions }: PeerOptions): Peer {
  const { limits } = line
  const always = { [versionHeader]: '1.0', ...(extensions.length > 0 && { [extensionsHeader]: formatExtensions(extensions) }) }

  async function ask(operation: ClientOperation, params: object, accept: string, options: StreamOptions, waitMs?: number): Promise<Reply> {
    const request = binding.ask(operation, { ...params, tenant })
    const { lastEventId } = options
    const headers = { ...request.headers, ...always, accept, ...(lastEventId !== undefined && { 'last-event-id': lastEventId }) }
    const reply = await exchange(line, { ...request, headers }, options, waitMs)
    const { status, said } = reply
    // A status of 0 is how browsers hide a redirect.
    if (status >= 200 && (status < 300 || status >= 400)) return reply
    reply.close()
    throw new InvalidAgentResponseError(`${said}, a redirect to ${reply.headers.get('location')}: correct the card.`)
  }

  async function result(reply: Reply): Promise<unknown> {
    const text = await reply.text()
    if (reply.status === 401 && reply.withheld)
      throw new UnauthenticatedError(`${reply.said}. It saw no credentials: its origin is not the card's, nor is its host in trustHosts.`)
    return binding.result(text, reply)
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
        return read(answers[operation], await result(reply), reply.said)
      }
      const repeatable = resend || /^Get|^List/.test(operation)
      return isSend ? run() : withRetries(line, run, { repeatable, signal: options.signal })
    },
    async *stream(operation, params, options = {}) {
      const reply = await ask(operation, params, 'text/event-stream', options, limits.firstByteMs)
      const response = (value: unknown) => read('StreamResponse', value, reply.said)
      // An agent that has all there is may answer it plainly.
      if (!reply.isStream) return yield { response: response(await result(reply)) }
      for await (const { id, retryMs, data } of eventsOf(reply, limits.eventLength))
        yield { id, retryMs, response: response(frame(data, reply)) }
    },
  }

  function frame(data: string, reply: Reply): unknown {
    try {
      return binding.frame(data, reply)
    } catch (error) {
      // D14: how a server that stops ends its streams.
      if (error instanceof A2AError && error.name === 'UnavailableError')
        throw new ConnectionError('cut', reply.address, 'ended the stream for now', error)
      throw error
    }
  }
}
