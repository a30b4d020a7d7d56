/** The seam at which defects are planted: between a server's socket and its handler, with small words for what they change. */

import { type ErrorName, errorTable } from '../../protocol/error-table.js'
import { type OperationName, operationNames, operationTable } from '../../protocol/operations.js'
import type { Handler, RawRequest } from '../../server/handler.js'
import type { Binding } from '../check.js'
import { cardPath } from '../discover.js'
import { isMembers, type Members, parsed, put } from '../json.js'
import { httpForm } from '../wire.js'

export type Reply = Awaited<ReturnType<Handler['handle']>>

/** A request as a defect sees it. */
export interface Incoming {
  readonly raw: RawRequest
  /** Absent for the card, and for what is no address of a binding. */
  readonly binding: Binding | undefined
  /** Absent where the request is none. */
  readonly operation: OperationName | undefined
  readonly params: Members
  /** Of a JSON-RPC request. */
  readonly id: unknown
  /** The bearer token. */
  readonly who: string
  readonly text: string
}

export type Next = (incoming: Incoming) => Promise<Reply>
/** Answers by itself, or hands on to `next` and changes what goes in or comes out. */
export type Layer = (incoming: Incoming, next: Next) => Promise<Reply>

export const mounts = { jsonRpc: '/a2a/v1', httpJson: '/rest' }

/** A longer body is handed on unread. */
const mostBytes = 1 << 20

/** The handler with a layer before it. */
export function layered(handler: Pick<Handler, 'handle'>, layer: Layer): Handler['handle'] {
  return async (raw, call) => layer(await readIncoming(raw), (incoming) => handler.handle(incoming.raw, call))
}

async function readIncoming(raw: RawRequest): Promise<Incoming> {
  const [path = ''] = raw.target.split('?')
  const binding = path.startsWith(mounts.jsonRpc) ? 'JSONRPC' : path.startsWith(mounts.httpJson) ? 'HTTP+JSON' : undefined
  const who = /^bearer (.*)$/i.exec(raw.header('authorization') ?? '')?.[1] ?? ''
  const known = { raw, binding, operation: undefined, params: {}, id: null, who, text: '' } as const
  const hasBody = raw.method === 'POST' || raw.method === 'PUT'
  if (binding === undefined || (hasBody && Number(raw.header('content-length') ?? 0) > mostBytes)) return known
  const bytes = hasBody ? await raw.body(mostBytes).catch(() => new Uint8Array()) : new Uint8Array()
  const text = new TextDecoder().decode(bytes)
  const kept: RawRequest = { ...raw, body: async () => bytes }
  const body = parsed(text)
  if (binding === 'JSONRPC') {
    const { method, params, id } = isMembers(body) ? body : {}
    // What is no request to the letter goes on as it came: written again, it would be one.
    const isRequest = (params === undefined || isMembers(params)) && !text.includes('\ufffd')
    const operation = isRequest ? operationNames.find((one) => one === method) : undefined
    return { ...known, raw: kept, operation, params: isMembers(params) ? params : {}, id, text }
  }
  const found = findOperation(raw)
  const members = Object.fromEntries(new URLSearchParams(raw.target.split('?')[1] ?? ''))
  return { ...known, raw: kept, operation: found?.operation, params: { ...(isMembers(body) ? body : members), ...found?.members }, text }
}

const patterns = operationNames.map((operation) => {
  const { path, verbs } = operationTable[operation]
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const source = path.replace(/\{\w+\}(:)?/g, (_, colon = '') => `([^/:]+)${colon}`)
  return { operation, names, pattern: new RegExp(`^${source}$`), verbs: verbs as readonly string[] }
})

function findOperation({ method, target }: RawRequest) {
  const [path = ''] = target.slice(mounts.httpJson.length).split('?')
  for (const { operation, names, pattern, verbs } of patterns) {
    const match = pattern.exec(path)
    if (!match || !verbs.includes(method)) continue
    return { operation, members: Object.fromEntries(names.map((name, i) => [name, decodeURIComponent(match[i + 1] ?? '')])) }
  }
  return undefined
}

/** The same request with other parameters. */
export function withParams(incoming: Incoming, params: Members): Incoming {
  const { raw, binding, operation, text } = incoming
  if (operation === undefined) return incoming
  if (binding === 'JSONRPC') return withText({ ...incoming, params }, JSON.stringify(put(parsed(text), 'params', params)))
  const { path, query, body } = httpForm(operation, params, raw.method)
  const moved = { ...incoming, params, raw: { ...raw, target: mounts.httpJson + path + query } }
  return body === undefined ? moved : withText(moved, body)
}

export function withText(incoming: Incoming, text: string): Incoming {
  const bytes = new TextEncoder().encode(text)
  return { ...incoming, text, raw: { ...incoming.raw, body: async () => bytes } }
}

/** The same request with other headers; undefined takes one away. */
export function withHeaders(incoming: Incoming, headers: Readonly<Record<string, string | undefined>>): Incoming {
  const { raw } = incoming
  return { ...incoming, raw: { ...raw, header: (name) => (Object.hasOwn(headers, name) ? headers[name] : raw.header(name)) } }
}

type Operations = OperationName | readonly OperationName[] | 'any'

export function isOf(incoming: Incoming, operations: Operations): boolean {
  const { operation } = incoming
  return operation !== undefined && (operations === 'any' || operations === operation || operations.includes(operation))
}

export const sends = ['SendMessage', 'SendStreamingMessage'] as const
export const streams = ['SendStreamingMessage', 'SubscribeToTask'] as const

/** Changes what is asked for, before the server sees it; undefined leaves it. */
export function onParams(operations: Operations, change: (params: Members, incoming: Incoming) => Members | undefined): Layer {
  return (incoming, next) => {
    const changed = isOf(incoming, operations) ? change(incoming.params, incoming) : undefined
    return next(changed === undefined ? incoming : withParams(incoming, changed))
  }
}

/** Changes the result of an operation that succeeded; undefined leaves it. */
export function onResult(operations: Operations, change: (result: unknown, incoming: Incoming) => unknown): Layer {
  return async (incoming, next) => {
    const reply = await next(incoming)
    if (!isOf(incoming, operations) || typeof reply.body !== 'string' || reply.status >= 300) return reply
    const body = parsed(reply.body)
    if (incoming.binding !== 'JSONRPC') return withBody(reply, (await change(body, incoming)) ?? body)
    if (!isMembers(body) || !('result' in body)) return reply
    return withBody(reply, { ...body, result: (await change(body['result'], incoming)) ?? body['result'] })
  }
}

/** Changes the error object of answers; undefined leaves it. */
export function onError(reason: string | 'any', change: (error: Members, incoming: Incoming, reply: Reply) => unknown): Layer {
  return async (incoming, next) => {
    const reply = await next(incoming)
    const body = typeof reply.body === 'string' ? parsed(reply.body) : undefined
    if (incoming.binding === undefined || !isMembers(body) || !isMembers(body['error'])) return reply
    if (reason !== 'any' && !JSON.stringify(body).includes(`"reason":"${reason}"`)) return reply
    const changed = change(body['error'], incoming, reply)
    return changed === undefined ? reply : withBody(reply, { ...body, error: changed })
  }
}

/** Changes the whole answer; undefined leaves it. */
export function onReply(change: (reply: Reply, incoming: Incoming) => Reply | undefined | Promise<Reply | undefined>): Layer {
  return async (incoming, next) => {
    const reply = await next(incoming)
    return (await change(reply, incoming)) ?? reply
  }
}

/** Answers instead of the server; undefined hands on. */
export function instead(answer: (incoming: Incoming, next: Next) => Reply | undefined | Promise<Reply | undefined>): Layer {
  return async (incoming, next) => (await answer(incoming, next)) ?? next(incoming)
}

/** Changes the public card. */
export function onCard(change: (card: unknown) => unknown): Layer {
  return onReply((reply, { raw }) => {
    if (!raw.target.startsWith(cardPath) || reply.status !== 200 || typeof reply.body !== 'string') return undefined
    return withBody(reply, change(parsed(reply.body)))
  })
}

/** One frame of a stream: its StreamResponse, and the fields beside it. */
export interface SeamFrame {
  body: unknown
  id: string | undefined
}

/** Changes the frames of a stream one by one: none, one or several come out. */
export function onFrames(operations: Operations, create: (incoming: Incoming) => (frame: SeamFrame) => readonly SeamFrame[]): Layer {
  return onReply((reply, incoming) => {
    if (!isOf(incoming, operations) || typeof reply.body === 'string') return undefined
    const change = create(incoming)
    return { ...reply, body: mapped(reply.body, incoming, change) }
  })
}

async function* mapped(
  texts: AsyncIterable<string>,
  incoming: Incoming,
  change: (frame: SeamFrame) => readonly SeamFrame[],
): AsyncGenerator<string> {
  for await (const text of texts) {
    let out = ''
    for (const block of text.split('\n\n')) {
      const data = /^data: (.*)$/m.exec(block)?.[1]
      if (data === undefined) continue
      const whole = parsed(data)
      const isRpc = incoming.binding === 'JSONRPC' && isMembers(whole)
      const frame: SeamFrame = { body: isRpc ? whole['result'] : whole, id: /^id: (.*)$/m.exec(block)?.[1] }
      for (const { body, id } of change(frame)) {
        const head = id === undefined ? '' : `id: ${id}\n`
        out += `${head}data: ${JSON.stringify(isRpc ? { ...whole, result: body } : body)}\n\n`
      }
    }
    if (out !== '') yield out
  }
}

export function withBody(reply: Reply, body: unknown): Reply {
  return { ...reply, body: JSON.stringify(body) }
}

/** A result in the form of the binding. */
export function resultReply({ binding, id }: Incoming, result: unknown): Reply {
  if (binding === 'JSONRPC')
    return withBody({ status: 200, headers: { 'content-type': 'application/json' }, body: '' }, { jsonrpc: '2.0', id, result })
  return withBody({ status: 200, headers: { 'content-type': 'application/a2a+json' }, body: '' }, result)
}

/** An error in the form of the binding, as the table has it. */
export function errorReply({ binding, id }: Incoming, name: ErrorName, message = 'Not possible.'): Reply {
  const row = errorTable[name]
  const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: row.reason, domain: 'a2a-protocol.org', metadata: {} }
  if (binding === 'JSONRPC') {
    const error = { code: row.jsonRpc, message, data: [info] }
    const status = row.jsonRpc === -32000 ? row.http : 200
    return withBody({ status, headers: { 'content-type': 'application/json' }, body: '' }, { jsonrpc: '2.0', id: id ?? null, error })
  }
  const error = { code: row.http, status: row.grpc, message, details: [info] }
  return withBody({ status: row.http, headers: { 'content-type': 'application/a2a+json' }, body: '' }, { error })
}

/** What an answer says, whatever the binding: the result, or undefined for an error or a stream. */
export function resultOf({ binding }: Incoming, reply: Reply): unknown {
  const body = typeof reply.body === 'string' ? parsed(reply.body) : undefined
  if (binding !== 'JSONRPC') return reply.status < 300 ? body : undefined
  return isMembers(body) ? body['result'] : undefined
}

/** The reason of an error; `''` for anything else. */
export function reasonOf(reply: Reply): string {
  return (typeof reply.body === 'string' && /"reason":"([A-Z_]+)"/.exec(reply.body)?.[1]) || ''
}
