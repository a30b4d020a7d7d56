/** Errors as they travel on JSON-RPC and HTTP+JSON, and back. Spec §5.4, §9.5, §11.6. */

import { type ErrorName, errorTable } from './error-table.js'
import type { A2AError, ErrorDetails, Violation } from './errors.js'
import * as errors from './errors.js'
import type { JsonObject } from './wire.js'

const errorInfoType = 'type.googleapis.com/google.rpc.ErrorInfo'
const badRequestType = 'type.googleapis.com/google.rpc.BadRequest'
const domain = 'a2a-protocol.org'

/** The `error` member of a JSON-RPC response. */
export interface JsonRpcError {
  readonly code: number
  readonly message: string
  /** Always made by us, not by every peer. */
  readonly data?: readonly JsonObject[]
}

/** Body of an HTTP+JSON error answer: google.rpc.Status in JSON. */
export interface HttpErrorBody {
  readonly error: {
    /** The HTTP status. */
    readonly code: number
    /** Name of the gRPC code. */
    readonly status: string
    readonly message: string
    readonly details: readonly JsonObject[]
  }
}

/** Beside what the peer's error says: its surroundings. */
export interface ReceivedWith {
  /** HTTP status of the answer that carried a JSON-RPC error. */
  readonly httpStatus?: number
  readonly retryAfterSeconds?: number
}

/** The `error` member of a JSON-RPC response. */
export function toJsonRpcError(error: A2AError): JsonRpcError {
  return { code: errorTable[error.name].jsonRpc, message: error.message, data: details(error) }
}

/** HTTP status that carries the JSON-RPC error: 200, since the transport worked, but for the refusals of D18. */
export function jsonRpcHttpStatus(error: A2AError): number {
  return errorTable[error.name].jsonRpc === -32000 || error.allow !== undefined ? error.httpStatus : 200
}

/** Status and body of an HTTP+JSON error answer. */
export function toHttpError(error: A2AError): { readonly status: number; readonly body: HttpErrorBody } {
  return { status: error.httpStatus, body: toStatus(error) }
}

/** Data of an `event: error` frame inside a stream on HTTP+JSON (D14). */
export function toStatus(error: A2AError): HttpErrorBody {
  return { error: { code: error.httpStatus, status: errorTable[error.name].grpc, message: error.message, details: details(error) } }
}

/** The error that a JSON-RPC response carries: by reason first, else by code, else by HTTP status. */
export function fromJsonRpcError(received: unknown, surroundings: ReceivedWith = {}): A2AError {
  const { code, message, data } = asRecord(received)
  const read = readDetails(data)
  const name = read.name ?? nameByCode(code) ?? nameByStatus(surroundings.httpStatus) ?? 'InternalError'
  return restore(name, text(message) ?? `The agent answered with JSON-RPC error ${String(code)}.`, read, surroundings)
}

/** The error that an HTTP+JSON answer, or an error frame, carries: by reason first, else by its codes. */
export function fromHttpError(status: number, body: unknown, surroundings: ReceivedWith = {}): A2AError {
  const { status: grpc, message, details } = asRecord(asRecord(body)['error'])
  const read = readDetails(details)
  const name = read.name ?? nameByGrpc(grpc) ?? nameByStatus(status) ?? 'InternalError'
  return restore(name, text(message) ?? `The agent answered with HTTP status ${status}.`, read, { ...surroundings, httpStatus: status })
}

function details({ reason, metadata, violations }: A2AError): readonly JsonObject[] {
  const info = { '@type': errorInfoType, reason, domain, metadata }
  if (violations === undefined) return [info]
  return [info, { '@type': badRequestType, fieldViolations: violations.map(({ field, description }) => ({ field, description })) }]
}

// The table has a class per row, and no class is left without one.
const classes: Readonly<Record<ErrorName, abstract new (...args: never[]) => A2AError>> = errors

// Object.keys gives the keys of this very table.
const names = Object.keys(errorTable) as readonly ErrorName[]
const byReason: ReadonlyMap<unknown, ErrorName> = new Map(names.map((name) => [errorTable[name].reason, name]))
const byCode: ReadonlyMap<unknown, ErrorName> = new Map(
  names.filter((name) => errorTable[name].jsonRpc !== -32000).map((name) => [errorTable[name].jsonRpc, name]),
)

interface ReadDetails {
  readonly name?: ErrorName
  readonly metadata: Readonly<Record<string, string>>
  readonly violations?: readonly Violation[]
}

// A peer may put anything here: what does not have the right form is passed over.
function readDetails(received: unknown): ReadDetails {
  const list = Array.isArray(received) ? received.map(asRecord) : []
  const info = list.find((detail) => detail['@type'] === errorInfoType && detail['domain'] === domain)
  const name = byReason.get(info?.['reason'])
  const bad = list.find((detail) => detail['@type'] === badRequestType)
  const violations = Array.isArray(bad?.['fieldViolations'])
    ? bad['fieldViolations'].map(asRecord).map((violation) => ({
        field: text(violation['field']) ?? '',
        description: text(violation['description']) ?? '',
      }))
    : undefined
  const metadata = Object.fromEntries(
    Object.entries(asRecord(info?.['metadata'])).flatMap(([key, value]) => (typeof value === 'string' ? [[key, value]] : [])),
  )
  return { metadata, ...(name !== undefined && { name }), ...(violations !== undefined && { violations }) }
}

function nameByCode(code: unknown): ErrorName | undefined {
  return byCode.get(code)
}

// Rows share these names. The one taken is what they mean where no reason is given.
function nameByGrpc(grpc: unknown): ErrorName | undefined {
  if (grpc === 'NOT_FOUND') return 'TaskNotFoundError'
  if (grpc === 'FAILED_PRECONDITION') return 'UnsupportedOperationError'
  if (grpc === 'INVALID_ARGUMENT') return 'InvalidParamsError'
  if (grpc === 'INTERNAL') return 'InternalError'
  return names.find((name) => errorTable[name].grpc === grpc)
}

function nameByStatus(status: number | undefined): ErrorName | undefined {
  if (status === undefined || status < 400) return undefined
  if (status === 401) return 'UnauthenticatedError'
  if (status === 403) return 'PermissionDeniedError'
  if (status === 404 || status === 405 || status === 501) return 'MethodNotFoundError'
  if (status === 413 || status === 429) return 'ResourceExhaustedError'
  if (status === 415) return 'ContentTypeNotSupportedError'
  if (status === 408 || (status >= 502 && status <= 504)) return 'UnavailableError'
  return status < 500 ? 'InvalidRequestError' : 'InternalError'
}

function restore(name: ErrorName, message: string, read: ReadDetails, { httpStatus, retryAfterSeconds }: ReceivedWith): A2AError {
  const details: ErrorDetails = {
    metadata: read.metadata,
    ...(read.violations !== undefined && { violations: read.violations }),
    ...(httpStatus !== undefined && httpStatus >= 400 && { httpStatus }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  }
  // The constructors below A2AError make our own texts; here the peer's stands, in an object of the same class.
  return Reflect.construct(errors.A2AError, [name, message, details], classes[name])
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  // Any object can be read member by member.
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
