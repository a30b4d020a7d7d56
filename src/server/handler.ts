/** Every request's way through the checks that come before its binding: size, neighbours, route, identity (D16). */

import type { Binding, HttpReply, HttpRequest } from '../bindings/http.js'
import type { Principal } from '../protocol/call.js'
import { type A2AError, MethodNotFoundError, ResourceExhaustedError, toA2AError, UnauthenticatedError } from '../protocol/errors.js'
import type { Auth } from './authenticate.js'
import { type CardDoor, cardPath } from './card-door.js'
import { type ConsentDoor, isConsentPath } from './consent-door.js'
import type { CorsDoor } from './cors.js'
import { checkNeighbour } from './neighbours.js'
import type { Mounts } from './options.js'
import type { PublicUrl } from './public-url.js'

/** Why a call ends whose client went away: nobody's fault, so it is reported to nobody. */
export const gone = new Error('the client is gone')

/** A request as sockets or Fetch bring it. */
export interface RawRequest {
  readonly method: string
  /** Path and query, still percent-encoded. */
  readonly target: string
  /** `name` in lower case. */
  readonly header: (name: string) => string | undefined
  /** Address of the other end of the connection, where that is known. */
  readonly peer?: string | undefined
  /** @throws {ResourceExhaustedError} beyond `limit` bytes, without reading on */
  readonly body: (limit: number) => Promise<Uint8Array>
}

export interface Handler {
  /** Answers a request; never rejects. `call` is aborted by whoever brought the request when the client is gone. */
  handle(request: RawRequest, call: AbortController): Promise<HttpReply>
  /** The answer has been sent, or nobody takes it any more. */
  done(call: AbortController): void
  /** Ends all calls that are under way, with `reason` as their last word. */
  stop(reason: A2AError): void
}

interface HandlerOptions {
  readonly auth: Auth
  /** Check Host, Origin and Sec-Fetch-Site; pages of these origins may call all the same. */
  readonly neighbours: { readonly origins: readonly string[] } | undefined
  readonly mounts: Required<Mounts>
  readonly bodyBytes: number
  readonly card: CardDoor
  readonly consent: ConsentDoor
  readonly cors: CorsDoor | undefined
  readonly now: () => number
  /** The base URL under which the caller of this request reaches the server. */
  readonly publicUrl: PublicUrl
  /** Told of callers that were turned away (§13.4), with the status of the answer: 401 or 403. */
  readonly refused: (status: number, request: RawRequest) => void
  readonly jsonRpc: Binding<unknown>
  readonly httpJson: Binding<unknown>
  readonly report: (error: unknown) => void
}

export function createHandler(options: HandlerOptions): Handler {
  const { auth, mounts, bodyBytes } = options
  const calls = new Set<AbortController>()
  let stopped: A2AError | undefined
  const bindings = [
    { mount: mounts.jsonRpc, binding: options.jsonRpc },
    { mount: mounts.httpJson, binding: options.httpJson },
  ]

  async function handle(raw: RawRequest, call: AbortController): Promise<HttpReply> {
    calls.add(call)
    const reply = options.cors?.preflight(raw) ?? (await answer(raw, call))
    if (reply.status === 401 || reply.status === 403) options.refused(reply.status, raw)
    return options.cors?.mark(raw, reply) ?? reply
  }

  async function answer(raw: RawRequest, call: AbortController): Promise<HttpReply> {
    const cut = raw.target.indexOf('?')
    const path = cut < 0 ? raw.target : raw.target.slice(0, cut)
    const at = bindings.find(({ mount }) => path === mount || path.startsWith(`${mount}/`))
    const binding = at?.binding ?? options.httpJson
    try {
      if (stopped) throw stopped
      if (Number(raw.header('content-length') ?? 0) > bodyBytes) throw tooLarge(bodyBytes)
      // Before the neighbours are looked at: people come here by a link, from whatever page shows it.
      if (isConsentPath(path)) return await options.consent(raw)
      if (options.neighbours) checkNeighbour(raw.header, options.neighbours.origins)
      if (!at) {
        if (path.replace(/\/$/, '') !== cardPath) throw new MethodNotFoundError(path)
        return await options.card(raw)
      }
      const request: HttpRequest = {
        method: raw.method,
        path: path.slice(at.mount.length),
        query: new URLSearchParams(cut < 0 ? '' : raw.target.slice(cut + 1)),
        header: (name) => raw.header(name.toLowerCase()),
        body: () => raw.body(bodyBytes),
        publicUrl: () => options.publicUrl(raw),
        signal: call.signal,
      }
      const route = binding.match(request)
      const identified = auth.identify({ header: raw.header, now: options.now })
      const principal: Principal | undefined = identified instanceof Promise ? await identified : identified
      if (!principal) throw new UnauthenticatedError()
      return withChallenge(await binding.respond(route, request, principal), raw)
    } catch (thrown) {
      const error = toA2AError(thrown)
      // Beside what nobody expected: that callers cannot be identified at the moment, and why.
      if (error !== thrown || error.cause !== undefined) options.report(thrown)
      return withChallenge(binding.refuse(error), raw)
    }
  }

  function withChallenge(reply: HttpReply, raw: RawRequest): HttpReply {
    if (reply.status !== 401) return reply
    return { ...reply, headers: { ...reply.headers, 'www-authenticate': auth.challenge({ header: raw.header, now: options.now }) } }
  }

  return {
    handle,
    done: (call) => void calls.delete(call),
    stop(reason) {
      stopped = reason
      for (const call of calls) call.abort(reason)
    },
  }
}

export function tooLarge(limit: number): ResourceExhaustedError {
  return new ResourceExhaustedError('size', `The body is larger than ${limit} bytes. Send less at a time, or give large files by URL.`)
}

/** Whether an answer of this status has no body, and no length of one either. RFC 9110 §8.6. */
export function hasNoBody(status: number): boolean {
  return status === 204 || status === 304
}
