/** Which web pages may call, by the origin they come from (Fetch standard, section CORS). Off unless asked for. */

import type { HttpReply } from '../bindings/http.js'
import { extensionsHeader, versionHeader } from '../protocol/service-parameters.js'
import type { RawRequest } from './handler.js'

export interface Cors {
  /** Origins such as `https://app.example`, or `*` alone for every page, which only a server with `auth` takes. */
  readonly origins: readonly string[]
  /** Whether pages may use the cookies of their visitors; not with `*`. Tokens in headers need no credentials. Default false. */
  readonly credentials?: boolean
}

const allowedHeaders = ['Authorization', 'Content-Type', versionHeader, extensionsHeader, 'Last-Event-ID', 'Cache-Control'].join(', ')
const exposedHeaders = [extensionsHeader, 'WWW-Authenticate', 'Retry-After', 'ETag', 'Allow'].join(', ')
const preflightSeconds = 600

export interface CorsDoor {
  /** The answer to a preflight request, still to be marked; undefined for any other request. */
  preflight(request: RawRequest): HttpReply | undefined
  /** The same reply, readable for the page that asked if it may read it. */
  mark(request: RawRequest, reply: HttpReply): HttpReply
}

export function createCors(cors: Cors): CorsDoor {
  const allowed = new Set(cors.origins)
  const isOpen = allowed.has('*')

  function headersFor(request: RawRequest): Readonly<Record<string, string>> {
    if (isOpen) return { 'access-control-allow-origin': '*', 'access-control-expose-headers': exposedHeaders }
    const origin = request.header('origin')
    // A cache must not hand one page's permission to another, not even the lack of one.
    if (origin === undefined || !allowed.has(origin)) return { vary: 'Origin' }
    return {
      vary: 'Origin',
      'access-control-allow-origin': origin,
      'access-control-expose-headers': exposedHeaders,
      ...(cors.credentials && { 'access-control-allow-credentials': 'true' }),
    }
  }

  return {
    preflight(request) {
      if (request.method !== 'OPTIONS' || request.header('access-control-request-method') === undefined) return undefined
      if (headersFor(request)['access-control-allow-origin'] === undefined) return { status: 403, headers: {}, body: '' }
      return {
        status: 204,
        headers: {
          'access-control-allow-methods': 'GET, POST, DELETE',
          'access-control-allow-headers': allowedHeaders,
          'access-control-max-age': String(preflightSeconds),
        },
        body: '',
      }
    },
    mark(request, reply) {
      const headers = headersFor(request)
      const vary = [reply.headers['vary'], headers['vary']].filter((name) => name !== undefined).join(', ')
      return { ...reply, headers: { ...reply.headers, ...headers, ...(vary !== '' && { vary }) } }
    },
  }
}
