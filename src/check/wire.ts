/** The eleven operations on the two bindings: how a call goes out, and what an answer says. Spec §9, §11. */

import { type ErrorName, errorTable } from '../protocol/error-table.js'
import { type OperationName, operationTable } from '../protocol/operations.js'
import type { Binding } from './check.js'
import { type Exchange, type HeaderList, headerOf, type Sent } from './exchange.js'
import { at, brief, isMembers, listAt, type Members, parsed, textAt } from './json.js'

/** One of the interfaces that the card declares. */
export interface Door {
  readonly binding: Binding
  readonly url: string
  readonly tenant: string
}

export type Headers = Readonly<Record<string, string | undefined>>

/** An error as the binding shows it. */
export interface WireError {
  readonly kind: 'error'
  /** Of the error itself: the JSON-RPC code, or the `code` of HTTP+JSON. */
  readonly code: unknown
  readonly http: number
  /** `reason` of the ErrorInfo. */
  readonly reason: string
  readonly message: string
  readonly details: readonly unknown[]
  readonly body: unknown
  readonly exchange: Exchange
}

export interface WireResult {
  readonly kind: 'result'
  readonly result: unknown
  readonly exchange: Exchange
}

/** An answer that the binding does not know. */
export interface Unreadable {
  readonly kind: 'unreadable'
  readonly why: string
  readonly exchange: Exchange
}

export type Answer = WireResult | WireError | Unreadable

let lastId = 0

/** @param verb where the table has several */
export function encode(door: Door, operation: OperationName, params: Members, headers: Headers, verb?: string): Sent {
  const list = headerList({ Accept: 'application/json, text/event-stream', ...headers })
  if (door.binding === 'JSONRPC') {
    const whole = door.tenant === '' ? params : { tenant: door.tenant, ...params }
    const body = JSON.stringify({ jsonrpc: '2.0', id: ++lastId, method: operation, params: whole })
    return { method: 'POST', url: door.url, headers: withType(list, 'application/json'), body }
  }
  const { method, path, query, body } = httpForm(operation, params, verb)
  const url = addressOf(door, path + query)
  return { method, url, headers: body === undefined ? list : withType(list, 'application/a2a+json'), ...(body !== undefined && { body }) }
}

/** Where a path of HTTP+JSON is found behind a door. */
export function addressOf({ url, tenant }: Door, path: string): string {
  return `${url.replace(/\/$/, '')}${tenant === '' ? '' : `/${encodeURIComponent(tenant)}`}${path}`
}

/** Those that are there, as they go out. */
export function headerList(headers: Headers): HeaderList {
  return Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
}

/** Where and how an operation is asked for on HTTP+JSON. */
export function httpForm(operation: OperationName, params: Members, verb?: string) {
  const row = operationTable[operation]
  const verbs: readonly string[] = row.verbs
  const method = verb ?? verbs[verbs.length - 1] ?? 'GET'
  const rest: Record<string, unknown> = { ...params }
  const path = row.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest[name]
    delete rest[name]
    return encodeURIComponent(String(value ?? ''))
  })
  if (method === 'POST') return { method, path, query: '', body: row.emptyBody ? '' : JSON.stringify(rest) }
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(rest)) if (value !== undefined) query.append(name, String(value))
  return { method, path, query: query.size > 0 ? `?${query}` : '', body: undefined }
}

function withType(list: HeaderList, type: string): HeaderList {
  return list.some(([name]) => name.toLowerCase() === 'content-type') ? list : [...list, ['Content-Type', type] as const]
}

export function readAnswer(binding: Binding, exchange: Exchange): Answer {
  if (exchange.broken) return { kind: 'unreadable', why: exchange.problem ?? exchange.broken, exchange }
  const http = exchange.status ?? 0
  const body = parsed(exchange.body)
  if (binding === 'HTTP+JSON' && http >= 200 && http < 300) {
    if (body === undefined && exchange.body.trim() !== '')
      return { kind: 'unreadable', why: `HTTP ${http} with a body that is no JSON`, exchange }
    return { kind: 'result', result: body ?? {}, exchange }
  }
  if (!isMembers(body)) return { kind: 'unreadable', why: `HTTP ${http} with ${type(exchange)}: ${brief(exchange.body)}`, exchange }
  return binding === 'JSONRPC' ? readEnvelope(body, exchange) : readHttpError(body, exchange)
}

/** What one JSON-RPC response says. */
export function readEnvelope(body: Members, exchange: Exchange): Answer {
  const { error } = body
  if (isMembers(error)) {
    const details = listAt(error, 'data')
    return {
      kind: 'error',
      code: error['code'],
      http: exchange.status ?? 0,
      reason: reasonOf(details),
      message: textAt(error, 'message'),
      details,
      body,
      exchange,
    }
  }
  if ('result' in body) return { kind: 'result', result: body['result'], exchange }
  return { kind: 'unreadable', why: `a JSON-RPC answer with neither result nor error: ${brief(body)}`, exchange }
}

export function readHttpError(body: Members, exchange: Exchange): Answer {
  const http = exchange.status ?? 0
  const error = isMembers(body['error']) ? body['error'] : {}
  const details = listAt(error, 'details')
  return {
    kind: 'error',
    code: error['code'],
    http,
    reason: reasonOf(details),
    message: textAt(error, 'message'),
    details,
    body,
    exchange,
  }
}

function type(exchange: Exchange): string {
  return headerOf(exchange, 'content-type') ?? 'no Content-Type'
}

function reasonOf(details: readonly unknown[]): string {
  return textAt(
    details.find((one) => textAt(one, '@type').endsWith('google.rpc.ErrorInfo')),
    'reason',
  )
}

/** Errors that A2A itself defines: told apart by their reason on HTTP+JSON. */
export const ownErrors: readonly ErrorName[] = Object.keys(errorTable)
  // Keys of this very table.
  .map((name) => name as ErrorName)
  .filter((name) => errorTable[name].jsonRpc <= -32001 && errorTable[name].jsonRpc >= -32099)

/**
 * Whether an error is the one of this name: by its code on JSON-RPC; on HTTP+JSON by its reason where A2A defines it, else
 * by the status. How it looks besides is a matter of other checks.
 */
export function isError(binding: Binding, error: WireError, name: ErrorName): boolean {
  const row = errorTable[name]
  if (binding === 'JSONRPC' && row.jsonRpc !== -32000) return error.code === row.jsonRpc
  if (ownErrors.includes(name)) return error.reason === row.reason
  return error.http === row.http && !ownErrors.some((own) => errorTable[own].reason === error.reason)
}

/** In the order in which an error is taken for one of them: where several look the same, the usual one first. */
const names = Object.keys(errorTable)
  // Keys of this very table.
  .map((name) => name as ErrorName)
  .sort((a, b) => Number(b === 'InvalidParamsError') - Number(a === 'InvalidParamsError'))

/** The error's name, or what can be said of it. */
export function nameOf(binding: Binding, error: WireError): string {
  const name = names.find((one) => errorTable[one].reason === error.reason) ?? names.find((one) => isError(binding, error, one))
  return `${name ?? 'an unknown error'} (code ${brief(error.code)}, HTTP ${error.http}${error.reason === '' ? '' : `, ${error.reason}`}): ${brief(error.message, 100)}`
}

/** What an answer is, in a few words. */
export function tell(binding: Binding, answer: Answer): string {
  if (answer.kind === 'result') return `a result: ${brief(answer.result)}`
  if (answer.kind === 'error') return nameOf(binding, answer)
  return at(answer, 'why') === '' ? 'no answer' : answer.why
}
