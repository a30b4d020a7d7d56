/** Servers and bare clients for tests: an agent behind both bindings, over the Fetch handler or over a real socket. */

import {
  type Agent,
  bearerTokens,
  type RunningServer,
  type ServeOptions,
  type Server,
  type ServerOptions,
  serve,
  sqlite,
} from '../../src/index.js'
import { openGuardedFetch } from '../../src/net/guarded-fetch.js'
import { type OperationName, operationTable } from '../../src/protocol/operations.js'
import type { OpenedPost } from '../../src/push/post.js'
import { mountServer } from '../../src/server/create-server.js'

export type BindingName = 'JSONRPC' | 'HTTP+JSON'
export const bindingNames: readonly BindingName[] = ['JSONRPC', 'HTTP+JSON']

/** Alice, Bob, and Carol of the tenants red and blue: each token is the name. */
export const people = bearerTokens({ alice: 'alice', bob: 'bob', carol: { id: 'carol', tenants: ['red', 'blue'] } })

/** In memory, without a socket; what it pushes reaches nobody. Close it when the test ends. */
export function openServer(agent: Agent, options: Partial<ServerOptions> = {}): Promise<Server> {
  const given = { store: sqlite(':memory:'), auth: people, url: 'http://agent.test', ...options }
  return mountServer(agent, given, { openFetch: openGuardedFetch, openPost: () => unreachable })
}

const unreachable: OpenedPost = {
  post: () => Promise.reject(new Error('nobody is there')),
  checkAddresses: async () => {},
  close: async () => {},
}

/** In memory, on a free port of 127.0.0.1. */
export function openSocket(agent: Agent, options: ServeOptions = {}): Promise<RunningServer> {
  return serve(agent, { store: sqlite(':memory:'), auth: people, log: quiet, ...options })
}

const nothing = () => {}
export const quiet = { debug: nothing, info: nothing, warn: nothing, error: nothing }

export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** Parsed body of the answer; for a stream, its text is in `frames`. */
  readonly body: unknown
  readonly text: string
}

type Fetching = (request: Request) => Promise<Response>

export interface CallOptions {
  readonly as?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
  /** Base URL of the server. Default the one of `openServer`. */
  readonly url?: string
}

/** The request for an operation on a binding. `params` are those of the JSON-RPC method. */
export function requestFor(
  binding: BindingName,
  operation: OperationName,
  params: Readonly<Record<string, unknown>>,
  options: CallOptions = {},
): Request {
  const { as = 'alice', url = 'http://agent.test', signal } = options
  const headers = { 'a2a-version': '1.0', authorization: `Bearer ${as}`, ...options.headers }
  const withJson = { ...headers, 'content-type': 'application/json' }
  const init = signal ? { signal } : {}
  if (binding === 'JSONRPC') {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: operation, params })
    return new Request(`${url}/a2a/v1`, { method: 'POST', headers: withJson, body, ...init })
  }
  const { verbs, path } = operationTable[operation]
  const rest: Record<string, unknown> = { ...params }
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest[name]
    delete rest[name]
    return encodeURIComponent(String(value))
  })
  const tenant = typeof rest['tenant'] === 'string' && rest['tenant'] !== '' ? `/${encodeURIComponent(rest['tenant'])}` : ''
  delete rest['tenant']
  const verb = verbs[verbs.length - 1] ?? 'GET'
  if (verb === 'POST')
    return new Request(`${url}/rest${tenant}${filled}`, { method: 'POST', headers: withJson, body: JSON.stringify(rest), ...init })
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(rest)) if (value !== undefined) query.append(name, String(value))
  const search = query.size > 0 ? `?${query}` : ''
  return new Request(`${url}/rest${tenant}${filled}${search}`, { method: verb, headers, ...init })
}

/** One answer, whole. */
export async function call(
  fetching: Fetching,
  binding: BindingName,
  operation: OperationName,
  params: Readonly<Record<string, unknown>>,
  options: CallOptions = {},
): Promise<Answer> {
  const response = await fetching(requestFor(binding, operation, params, options))
  const text = await response.text()
  const isJson = /json/.test(response.headers.get('content-type') ?? '')
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined }
}

/** The result of an operation that is expected to succeed, without the binding's envelope. */
export async function result(
  fetching: Fetching,
  binding: BindingName,
  operation: OperationName,
  params: Readonly<Record<string, unknown>>,
  options: CallOptions = {},
): Promise<any> {
  const answer = await call(fetching, binding, operation, params, options)
  const body = answer.body as any
  if (binding === 'JSONRPC' ? body?.error : answer.status >= 400) throw new Error(`${operation} over ${binding}: ${answer.text}`)
  return binding === 'JSONRPC' ? body.result : body
}

/** The error of an operation that is expected to fail, in one form for both bindings. */
export async function refusal(
  fetching: Fetching,
  binding: BindingName,
  operation: OperationName,
  params: Readonly<Record<string, unknown>>,
  options: CallOptions = {},
) {
  const answer = await call(fetching, binding, operation, params, options)
  const error = (answer.body as any)?.error
  if (!error) throw new Error(`${operation} over ${binding} was expected to fail: ${answer.text}`)
  const details: readonly any[] = binding === 'JSONRPC' ? error.data : error.details
  const info = details?.find((detail) => detail['@type'].endsWith('ErrorInfo'))
  const bad = details?.find((detail) => detail['@type'].endsWith('BadRequest'))
  return {
    status: answer.status,
    code: error.code as number,
    reason: info?.reason as string,
    message: error.message as string,
    fields: (bad?.fieldViolations ?? []).map((one: any) => one.field) as string[],
  }
}

export interface SseFrame {
  readonly id?: string
  readonly event?: string
  /** StreamResponse, or the error of an error frame, without the binding's envelope. */
  readonly data: any
}

/** Opens a stream and reads its frames one by one; leaving the loop cancels it. */
export async function* frames(
  fetching: Fetching,
  binding: BindingName,
  operation: OperationName,
  params: Readonly<Record<string, unknown>>,
  options: CallOptions = {},
): AsyncGenerator<SseFrame> {
  const response = await fetching(requestFor(binding, operation, params, options))
  if (!/event-stream/.test(response.headers.get('content-type') ?? ''))
    throw new Error(`${operation} over ${binding} opened no stream: ${await response.text()}`)
  yield* readFrames(response, binding)
}

/** Frames of an open event stream. Comments are passed over. */
export async function* readFrames(response: Response, binding: BindingName): AsyncGenerator<SseFrame> {
  let rest = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body as ReadableStream<Uint8Array>) {
    rest += decoder.decode(chunk, { stream: true })
    const blocks = rest.split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const fields = Object.fromEntries(
        block
          .split('\n')
          .filter((line) => !line.startsWith(':'))
          .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
      )
      if (fields['data'] === undefined) continue
      const data = JSON.parse(fields['data'])
      yield { ...fields, data: binding === 'JSONRPC' ? (data.result ?? data) : data }
    }
  }
}

let count = 0
/** A user's message under a fresh id. */
export function userMessage(text: string, more: Readonly<Record<string, unknown>> = {}) {
  return { messageId: `m-${++count}`, role: 'ROLE_USER', parts: [{ text }], ...more }
}
