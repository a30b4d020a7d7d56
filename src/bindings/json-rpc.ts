/** The JSON-RPC 2.0 binding: one address, POST only. Spec §9. */

import type { Invoke, Principal } from '../protocol/call.js'
import { jsonRpcHttpStatus, toJsonRpcError } from '../protocol/error-wire.js'
import { type A2AError, InvalidRequestError, MethodNotFoundError, toA2AError } from '../protocol/errors.js'
import { isOperationName } from '../protocol/operations.js'
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

type Id = string | number | null

interface Envelope {
  readonly id: string | number | null
  readonly method: string
  readonly params: unknown
}

const contentType = 'application/json'

/** Characters of an id: every frame of a stream repeats it. */
const longestId = 1024

export function createJsonRpc(invoke: Invoke, options: BindingOptions): Binding<void> {
  async function respond(request: HttpRequest, principal: Principal): Promise<HttpReply> {
    let id: Id = null
    try {
      checkContentType(request, options)
      const body = parseJson(await request.body())
      id = idOf(body)
      const { method, params } = readEnvelope(body)
      checkVersion(request)
      if (!isOperationName(method)) throw new MethodNotFoundError(method)
      const reply = await invoke(method, () => params, callOf(request, principal))
      const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`
      return replyOf(reply, contentType, {
        data: (body) => `${head}${body}}`,
        error: (error) => sseFrame({ data: errorBody(id, error) }),
        report: options.report,
        signal: request.signal,
      })
    } catch (thrown) {
      const error = toA2AError(thrown)
      if (error !== thrown) options.report(thrown)
      return errorReply(id, error)
    }
  }

  return {
    match({ method, path }) {
      if (path !== '' && path !== '/') throw new MethodNotFoundError(path)
      if (method !== 'POST') throw new MethodNotFoundError(method, ['POST'])
    },
    respond: (_route, request, principal) => respond(request, principal),
    refuse(error) {
      const reply = errorReply(null, error)
      // Before the body is read, what was not found is the address and no method (D18).
      return error.name === 'MethodNotFoundError' ? { ...reply, status: error.httpStatus } : reply
    },
  }
}

function errorReply(id: Id, error: A2AError): HttpReply {
  return { status: jsonRpcHttpStatus(error), headers: { 'content-type': contentType, ...errorHeaders(error) }, body: errorBody(id, error) }
}

function errorBody(id: Id, error: A2AError): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: toJsonRpcError(error) })
}

/** The id to answer under, as far as there is one. */
function idOf(body: unknown): Id {
  const id = isPlainObject(body) ? body['id'] : null
  return (typeof id === 'string' && id.length <= longestId) || (typeof id === 'number' && isExact(id)) ? id : null
}

/** @throws {InvalidRequestError} for whatever is no single request that wants an answer (D19) */
function readEnvelope(body: unknown): Envelope {
  if (Array.isArray(body)) throw new InvalidRequestError('A2A has no batches: send one request object at a time.')
  if (!isPlainObject(body)) throw new InvalidRequestError('A JSON-RPC request is an object with jsonrpc, id, method and params.')
  const { jsonrpc, id, method, params } = body
  if (jsonrpc !== '2.0') throw new InvalidRequestError('The member jsonrpc must be "2.0".')
  if (id === undefined) throw new InvalidRequestError('A request needs an id: A2A has no notifications.')
  if (id !== null && typeof id !== 'string' && typeof id !== 'number')
    throw new InvalidRequestError('The member id must be a string, a number or null.')
  if (typeof id === 'number' && !isExact(id))
    throw new InvalidRequestError('The member id must be a number that can be echoed as it is: send a larger one as a string.')
  if (typeof id === 'string' && id.length > longestId)
    throw new InvalidRequestError(`The member id must have at most ${longestId} characters.`)
  if (typeof method !== 'string' || method === '') throw new InvalidRequestError('The member method must name an operation.')
  return { id, method, params: params ?? {} }
}

/** Whether a number read from JSON is surely the one that was written: a larger integer has lost digits. */
function isExact(id: number): boolean {
  return Number.isFinite(id) && Math.abs(id) <= Number.MAX_SAFE_INTEGER
}
