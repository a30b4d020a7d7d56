/** The client's side of JSON-RPC 2.0. Spec §9. */

import { fromJsonRpcError } from '../protocol/error-wire.js'
import { InvalidAgentResponseError } from '../protocol/errors.js'
import { type Binding, byStatus, parseBody, retryAfter } from './binding.js'
import type { Reply } from './exchange.js'
import { isObject } from './shapes.js'

/** Each request is alone in its exchange, so one id will do for all. */
const id = 1

export function jsonRpc(url: string): Binding {
  return {
    ask: (method, params) => ({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
    }),
    result,
    frame: result,
  }
}

function result(text: string, reply: Reply): unknown {
  const body = parseBody(text, reply)
  if (isObject(body)) {
    if (isObject(body['error'])) throw fromJsonRpcError(body['error'], retryAfter(reply))
    if (reply.status < 400 && body['id'] === id && body['result'] !== undefined) return body['result']
  }
  throw reply.status < 400
    ? new InvalidAgentResponseError(`${reply.said}, which is no JSON-RPC response to request ${id}.`)
    : byStatus(reply)
}
