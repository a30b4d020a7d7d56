/** The client's side of HTTP+JSON. Spec §11. */

import { fromHttpError } from '../protocol/error-wire.js'
import type { Json } from '../protocol/wire.js'
import { type Binding, byStatus, type ClientOperation, parseBody, retryAfter } from './binding.js'
import { isObject } from './shapes.js'

/**
 * Where each operation of the client is found. The table of all operations would weigh more than this binding does.
 * D1: of the two verbs of SubscribeToTask, POST is the one that the .proto file has.
 */
export const httpRoutes: Readonly<Record<ClientOperation, string>> = {
  SendMessage: 'POST /message:send',
  SendStreamingMessage: 'POST /message:stream',
  GetTask: 'GET /tasks/{id}',
  ListTasks: 'GET /tasks',
  CancelTask: 'POST /tasks/{id}:cancel',
  SubscribeToTask: 'POST /tasks/{id}:subscribe',
}

export function httpJson(url: string): Binding {
  const base = url.replace(/\/$/, '')
  return {
    ask(operation, { tenant, ...members }) {
      const rest: Record<string, Json> = { ...members }
      const [method = '', path = ''] = httpRoutes[operation].split(' ')
      const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
        const value = String(rest[name])
        delete rest[name]
        return encodeURIComponent(value)
      })
      const address = `${base}${typeof tenant === 'string' && tenant !== '' ? `/${encodeURIComponent(tenant)}` : ''}${filled}`
      if (method === 'POST')
        return { method, url: address, headers: { 'content-type': 'application/a2a+json' }, body: JSON.stringify(rest) }
      const query = new URLSearchParams(Object.entries(rest).map(([name, value]): [string, string] => [name, text(value)]))
      return { method, url: query.size > 0 ? `${address}?${query}` : address, headers: {} }
    },
    result(body, reply) {
      if (reply.status < 400) return body
      throw isObject(body) && isObject(body['error']) ? fromHttpError(reply.status, body, retryAfter(reply)) : byStatus(reply)
    },
    frame({ data }, reply) {
      const body = parseBody(data, reply)
      if (!isObject(body) || !isObject(body['error'])) return body
      throw fromHttpError(Number(body['error']['code']), body)
    },
  }
}

// Members that go into a query are texts, numbers and flags.
function text(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
