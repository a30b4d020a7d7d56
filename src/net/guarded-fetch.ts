/** fetch() for URLs that somebody else wrote: each hop passes the address guard, and time, size and redirects have an end. */

import type { fetch as undiciFetch } from 'undici'
import type { World } from '../support/world.js'
import { type AddressGuard, AddressRefusedError } from './address-guard.js'
import type { Dial, Resolve } from './connector.js'
import { type Hop, redirectOf } from './redirect.js'

/** As the global `fetch`. */
export type GuardedFetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

export interface FetchLimits {
  /** Of an answer's body, after decompression. */
  readonly bytes: number
  /** From the call to the last byte of the body, redirects and all. */
  readonly ms: number
}

export interface GuardedFetchOptions {
  readonly guard: AddressGuard
  readonly world: World
  readonly limits: FetchLimits
  /** Default: the system's resolver. */
  readonly resolve?: Resolve
  /** Default: a socket of the system. */
  readonly dial?: Dial
}

export interface OpenedFetch {
  readonly fetch: GuardedFetch
  /** Ends what is under way, and the connections. */
  close(): Promise<void>
}

/** A call that took more than it may. */
export class FetchLimitError extends Error {
  override readonly name = 'FetchLimitError'
  readonly limit: 'bytes' | 'ms' | 'redirects'

  constructor(limit: FetchLimitError['limit'], most: number) {
    super(
      {
        bytes: `The answer has more than ${most} bytes.`,
        ms: `No whole answer came within ${most} ms.`,
        redirects: `More than ${most} redirects.`,
      }[limit],
    )
    this.limit = limit
  }
}

const mostRedirects = 5
/** To one origin at a time; further requests wait, within their time. */
const mostConnections = 32

export function openGuardedFetch(options: GuardedFetchOptions): OpenedFetch {
  const { guard, world, limits } = options
  let opened: ReturnType<typeof open> | undefined

  // Loaded when first needed: few agents fetch, and every start would pay 130 ms for it.
  async function open() {
    const [{ Agent, fetch }, { guardedConnector }] = await Promise.all([import('undici'), import('./connector.js')])
    // An agent of its own reads no proxy from the environment. Time has one limit here, by the world's clock.
    const dispatcher = new Agent({ connect: guardedConnector(options), connections: mostConnections, headersTimeout: 0, bodyTimeout: 0 })
    return { dispatcher, fetch: (hop: Hop, signal: AbortSignal) => fetch(hop.url, { ...initOf(hop), signal, dispatcher }) }
  }

  async function guardedFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const url = guard.checkUrl(input instanceof Request ? input.url : input)
    const request = new Request(input instanceof Request ? input : url, init)
    if (request.headers.has('host')) throw new TypeError('fetch: the header host is the one of the URL; leave it out')
    const end = new AbortController()
    const takeBack = world.timer(limits.ms, () => end.abort(new FetchLimitError('ms', limits.ms)))
    const signal = AbortSignal.any([request.signal, end.signal])
    try {
      opened ??= open()
      const { fetch } = await opened
      // Kept whole, so that a redirect can send it again.
      const body = request.body ? new Uint8Array(await request.arrayBuffer()) : undefined
      let hop: Hop = { url, method: request.method, headers: request.headers, body }
      for (let redirects = 0; ; redirects++) {
        signal.throwIfAborted()
        const response = await fetch(hop, signal)
        const next = request.redirect === 'manual' ? undefined : redirectOf(hop, response.status, response.headers.get('location'))
        if (!next)
          return boundedResponse(response, { url: hop.url, redirected: redirects > 0, signal, bytes: limits.bytes, done: takeBack })
        await response.body?.cancel()
        if (request.redirect === 'error') throw new TypeError('fetch: the answer is a redirect')
        if (redirects === mostRedirects) throw new FetchLimitError('redirects', mostRedirects)
        guard.checkUrl(next.url)
        hop = next
      }
    } catch (error) {
      takeBack()
      // Whatever of it is still under way ends here.
      end.abort(error)
      throw knownCause(error) ?? error
    }
  }

  return {
    fetch: guardedFetch,
    async close() {
      await (await opened)?.dispatcher.destroy()
    },
  }
}

function initOf({ method, headers, body }: Hop) {
  return { method, headers: [...headers], redirect: 'manual' as const, ...(body !== undefined && { body }) }
}

/** undici wraps what the connector threw. */
function knownCause(error: unknown): Error | undefined {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof AddressRefusedError || cause instanceof FetchLimitError ? cause : undefined
}

interface Bounds {
  readonly url: URL
  readonly redirected: boolean
  readonly signal: AbortSignal
  readonly bytes: number
  /** Called when nothing more is to come. */
  readonly done: () => void
}

/** The answer as the platform's own Response, whose body ends in an error where a bound is passed. */
function boundedResponse(response: Awaited<ReturnType<typeof undiciFetch>>, bounds: Bounds): Response {
  const { status, statusText, headers } = response
  const body = response.body ? boundedBody(response.body.getReader(), bounds) : null
  if (!body) bounds.done()
  const made = new Response(body, { status, statusText, headers: [...headers] })
  return Object.defineProperties(made, { url: { value: bounds.url.href }, redirected: { value: bounds.redirected } })
}

type BodyReader = Pick<ReadableStreamDefaultReader<Uint8Array>, 'read' | 'cancel'>

function boundedBody(reader: BodyReader, { signal, bytes, done }: Bounds): ReadableStream<Uint8Array> {
  let received = 0
  return new ReadableStream({
    async pull(controller) {
      try {
        const step = await reader.read()
        if (step.done) {
          done()
          return controller.close()
        }
        received += step.value.byteLength
        if (received > bytes) throw new FetchLimitError('bytes', bytes)
        controller.enqueue(step.value)
      } catch (error) {
        done()
        void reader.cancel().catch(() => {})
        throw signal.aborted ? signal.reason : error
      }
    },
    cancel(reason) {
      done()
      return reader.cancel(reason)
    },
  })
}
