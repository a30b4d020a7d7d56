/** The HTTP+JSON binding: an address and a verb for each operation. Spec §11. */

import type { Invoke, Principal } from '../protocol/call.js'
import { toHttpError, toStatus } from '../protocol/error-wire.js'
import { type A2AError, InvalidParamsError, InvalidRequestError, toA2AError } from '../protocol/errors.js'
import { a2aJson } from '../protocol/media-types.js'
import { protoName } from '../protocol/model.js'
import { operationTable } from '../protocol/operations.js'
import { fromQuery } from '../protocol/query.js'
import { sseFrame } from '../protocol/sse.js'
import { isPlainObject } from '../support/options.js'
import {
  type Binding,
  type BindingOptions,
  callOf,
  checkContentType,
  checkVersion,
  errorHeaders,
  type HttpReply,
  type HttpRequest,
  parseJson,
  replyOf,
} from './http.js'
import { findRoute, type Route } from './routes.js'

export function createHttpJson(invoke: Invoke, options: BindingOptions): Binding<Route> {
  async function respond({ operation, members }: Route, request: HttpRequest, principal: Principal): Promise<HttpReply> {
    try {
      const params = request.method === 'POST' ? await readBody(operationTable[operation].emptyBody, request, options) : undefined
      checkVersion(request)
      const call = callOf(request, principal)
      const reply = await invoke(
        operation,
        () => withMembers(params ?? fromQuery(operationTable[operation].request, request.query), members),
        call,
      )
      return replyOf(reply, a2aJson, {
        data: (body) => body,
        error: (error) => sseFrame({ event: 'error', data: JSON.stringify(toStatus(error)) }),
        report: options.report,
        signal: request.signal,
      })
    } catch (thrown) {
      const error = toA2AError(thrown)
      if (error !== thrown) options.report(thrown)
      return errorReply(error)
    }
  }

  return { match: ({ method, path }) => findRoute(method, path), respond, refuse: errorReply }
}

function errorReply(error: A2AError): HttpReply {
  const { status, body } = toHttpError(error)
  return { status, headers: { 'content-type': a2aJson, ...errorHeaders(error) }, body: JSON.stringify(body) }
}

async function readBody(emptyBody: boolean, request: HttpRequest, options: BindingOptions): Promise<Readonly<Record<string, unknown>>> {
  const contentType = request.header('content-type')
  // Nothing to be told the type of; a body that does come is checked all the same.
  if (!emptyBody || contentType !== undefined) checkContentType(request, options)
  const bytes = await request.body()
  if (emptyBody && bytes.length === 0) return {}
  if (contentType === undefined) checkContentType(request, options)
  const body = parseJson(bytes)
  if (emptyBody && body === null) return {}
  if (!isPlainObject(body)) throw new InvalidRequestError('The body must be one JSON object.')
  return body
}

/** What stands in the path counts; a body may say the same, but nothing else. */
function withMembers(params: Readonly<Record<string, unknown>>, members: Readonly<Record<string, string>>): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...params }
  for (const [name, value] of Object.entries(members)) {
    for (const spelling of new Set([name, protoName(name)])) {
      const given = merged[spelling]
      if (given !== undefined && given !== null && given !== '' && given !== value) {
        throw new InvalidParamsError([{ field: name, description: 'must be the one in the path, or be left out' }])
      }
      delete merged[spelling]
    }
    merged[name] = value
  }
  return merged
}
