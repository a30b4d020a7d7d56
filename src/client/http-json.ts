/** The client's side of HTTP+JSON. Spec §11. */

import { fromHttpError } from '../protocol/error-wire.js'
import { type Binding, byStatus, type ClientOperation, parseBody, retryAfter } from './binding.js'
import type { Reply } from './exchange.js'
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
    ask(operation, params) {
      const { tenant, ...rest }: Record<string, unknown> = { ...params }
      const [method = '', path = ''] = httpRoutes[operation].split(' ')
      const filled = path.replace('{id}', () => {
        const id = encodeURIComponent(String(rest['id']))
        delete rest['id']
        return id
      })
      const address = base + (tenant ? `/${encodeURIComponent(String(tenant))}` : '') + filled
      if (method === 'POST')
        return { method, url: address, headers: { 'content-type': 'application/a2a+json' }, body: JSON.stringify(rest) }
      // Members that go into a query are texts, numbers and flags.
      const query = new URLSearchParams(
        Object.entries(rest).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
      )
      return { method, url: query.size > 0 ? `${address}?${query}` : address, headers: {} }
    },
    result,
    frame: result,
  }
}

function result(text: string, reply: Reply): unknown {
  const body = parseBody(text, reply)
  // In a stream the HTTP status is that of its beginning.
  if (isObject(body) && isObject(body['error']))
    throw fromHttpError(reply.status < 400 ? Number(body['error']['code']) : reply.status, body, retryAfter(reply))
  if (reply.status >= 400) throw byStatus(reply)
  return body
}
