/** HTTP as the bindings see it, whatever carries it: a request that is read when asked, and an answer in text. */

import type { IncomingCall, Principal, Reply } from '../protocol/call.js'
import { type A2AError, ContentTypeNotSupportedError, ParseError } from '../protocol/errors.js'
import { a2aJson, isJsonContentType } from '../protocol/media-types.js'
import { extensionsHeader, formatExtensions, parseExtensions, parseVersion, versionHeader } from '../protocol/service-parameters.js'
import { type EventStreamForm, eventStream } from './event-stream.js'

export interface HttpRequest {
  readonly method: string
  /** Still percent-encoded, from the binding's mount on: `/tasks/1`. */
  readonly path: string
  readonly query: URLSearchParams
  /** Values of a repeated header come joined by commas. */
  readonly header: (name: string) => string | undefined
  /** @throws {ResourceExhaustedError} when there is more of it than the server takes */
  readonly body: () => Promise<Uint8Array>
  /** The base URL of the server, as this caller knows it. */
  readonly publicUrl: () => string
  /** Fires when the client is gone or the server stops. */
  readonly signal: AbortSignal
}

export interface HttpReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** A stream is one of server-sent events, in whole frames. */
  readonly body: string | AsyncIterable<string>
}

export interface BindingOptions {
  /** Refuse a body without Content-Type: where nobody proves who they are, it is what a foreign web page could send. */
  readonly requireContentType: boolean
  /** Told what stands behind an internal error; the caller is not. */
  readonly report: (error: unknown) => void
}

/** How a binding stands in the order of checks: `match` before anybody is identified, `respond` after. */
export interface Binding<Route> {
  /** @throws {MethodNotFoundError} for a path or verb that is not there */
  match(request: HttpRequest): Route
  respond(route: Route, request: HttpRequest, principal: Principal): Promise<HttpReply>
  /** An error that was found before `respond`, in the form of this binding. */
  refuse(error: A2AError): HttpReply
}

/** @throws {ContentTypeNotSupportedError} for a body that does not say it is JSON */
export function checkContentType(request: HttpRequest, { requireContentType }: BindingOptions): void {
  const contentType = request.header('content-type')
  if (contentType === undefined ? !requireContentType : isJsonContentType(contentType)) return
  const got =
    contentType === undefined ? 'the request has no Content-Type' : `the Content-Type is ${JSON.stringify(contentType.slice(0, 100))}`
  throw new ContentTypeNotSupportedError(`A body must be application/json or ${a2aJson}; ${got}.`)
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

/** @throws {ParseError} for bytes that are no UTF-8 or no JSON */
export function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(body))
  } catch (cause) {
    throw new ParseError(undefined, { cause })
  }
}

/** @throws {VersionNotSupportedError} */
export function checkVersion({ header, query }: HttpRequest): void {
  parseVersion(header(versionHeader) ?? query.get(versionHeader))
}

export function callOf({ header, signal, publicUrl }: HttpRequest, principal: Principal): IncomingCall {
  return { principal, signal, publicUrl, extensions: parseExtensions(header(extensionsHeader)), lastEventId: header('last-event-id') }
}

/** What a server tells one caller is for no cache to keep, wherever the credentials were (RFC 9111 §3.5 knows one header only). */
const noStore = 'no-store'

/** A successful answer: `form.data` is how the binding wraps one body as well as each frame. */
export function replyOf(reply: Reply, contentType: string, form: EventStreamForm): HttpReply {
  return {
    status: 200,
    headers: headersOf(reply, contentType),
    body: reply.kind === 'one' ? form.data(reply.body) : eventStream(reply.frames, form),
  }
}

function headersOf({ kind, extensions }: Reply, contentType: string): Record<string, string> {
  return {
    ...(kind === 'stream'
      ? // A proxy that gathers frames before it passes them on, or repacks them, breaks a stream.
        { 'content-type': 'text/event-stream', 'cache-control': `${noStore}, no-transform`, 'x-accel-buffering': 'no' }
      : { 'content-type': contentType, 'cache-control': noStore }),
    ...(extensions && { [extensionsHeader.toLowerCase()]: formatExtensions(extensions) }),
  }
}

/** Headers of an error's answer: those that it asks for among them. */
export function errorHeaders(error: A2AError): Record<string, string> {
  const { allow, retryAfterSeconds, scopes, name } = error
  const retryAfter = retryAfterSeconds ?? (name === 'UnavailableError' ? 1 : undefined)
  return {
    'cache-control': noStore,
    ...(allow && { allow: allow.join(', ') }),
    ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
    // RFC 6750 §3.1
    ...(scopes && { 'www-authenticate': `Bearer error="insufficient_scope", scope="${scopes.join(' ')}"` }),
  }
}
