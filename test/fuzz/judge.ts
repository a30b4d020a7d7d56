/** Whether an answer is one that the protocol knows, whatever the request was: form, code, reason and status of one row of the error table. */

import { type ErrorName, errorTable } from '../../src/protocol/error-table.js'
import type { Log } from '../../src/support/log.js'
import type { BindingName } from '../harness/server.js'

export interface Heard {
  readonly status: number
  readonly contentType: string
  readonly text: string
}

/** What an answer says of how far its request came. */
export interface Verdict {
  /** Absent on success. */
  readonly reason?: string
  /** What is wrong with the answer itself. */
  readonly faults: readonly string[]
}

const jsonTypes = { JSONRPC: 'application/json', 'HTTP+JSON': 'application/a2a+json' }
const leak =
  /\n\s+at |node_modules|node:internal|[\w/-]\.[tj]s:\d|\/(?:work|tmp|home|root|usr)\/|sqlite|TypeError|RangeError|ECONN|is not a function|undefined/i

export function judge(binding: BindingName, { status, contentType, text }: Heard): Verdict {
  if (status === 200 && contentType === 'text/event-stream') return judgeFrames(binding, text)
  if (contentType !== jsonTypes[binding]) return { faults: [`content type ${JSON.stringify(contentType)} with status ${status}`] }
  return judgeBody(binding, parse(text), status)
}

function judgeFrames(binding: BindingName, text: string): Verdict {
  // The last block may be cut off where the reader left.
  const blocks = text
    .split('\n\n')
    .slice(0, -1)
    .filter((block) => !block.startsWith(':'))
  if (blocks.length === 0) return { faults: ['a stream without a frame'] }
  const verdicts = blocks.map((block): Verdict => {
    const lines = block.split('\n')
    const isError = lines.includes('event: error')
    const data = lines.find((line) => line.startsWith('data: '))
    if (data === undefined || !lines.every((line) => /^(?:id: \d+|event: error|data: .*)$/.test(line)))
      return { faults: [`a frame of another form: ${block.slice(0, 200)}`] }
    const body = parse(data.slice('data: '.length))
    if (binding === 'HTTP+JSON')
      return isError ? judgeBody(binding, body, body?.error?.code) : { faults: isMember(body) ? [] : [`frame ${data.slice(0, 200)}`] }
    return judgeBody(binding, body, 200, true)
  })
  const reason = verdicts.find((verdict) => verdict.reason !== undefined)?.reason
  return { ...(reason !== undefined && { reason }), faults: verdicts.flatMap(({ faults }) => faults) }
}

function isMember(body: any): boolean {
  return (
    typeof body === 'object' &&
    body !== null &&
    Object.keys(body).length === 1 &&
    ['task', 'message', 'statusUpdate', 'artifactUpdate'].includes(Object.keys(body)[0] ?? '')
  )
}

function judgeBody(binding: BindingName, body: any, status: number, isFrame = false): Verdict {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return { faults: ['the body is no JSON object'] }
  if (binding === 'HTTP+JSON') {
    if (status === 200) return { faults: 'error' in body ? ['an error with status 200'] : [] }
    const { error, ...rest } = body
    const faults = Object.keys(rest).length > 0 ? [`members beside error: ${Object.keys(rest).join()}`] : []
    if (error?.code !== status) faults.push(`code ${error?.code} in status ${status}`)
    return judgeError(error?.details, error?.message, faults, (row) => row.grpc === error?.status && isStatus(row, status))
  }
  const { jsonrpc, id, result, error, ...rest } = body
  const faults = jsonrpc === '2.0' && Object.keys(rest).length === 0 && id !== undefined ? [] : ['no JSON-RPC response']
  if ((result === undefined) === (error === undefined)) faults.push('neither or both of result and error')
  if (error === undefined) {
    if (status !== 200) faults.push(`a result with status ${status}`)
    if (isFrame && !isMember(result)) faults.push('a frame without its one member')
    return { faults }
  }
  return judgeError(error.data, error.message, faults, (row) => {
    if (row.jsonRpc !== error.code) return false
    return isFrame || row.jsonRpc === -32000
      ? isFrame || isStatus(row, status)
      : status === 200 || (row.reason === 'METHOD_NOT_FOUND' && (status === 404 || status === 405))
  })
}

type Row = (typeof errorTable)[ErrorName]

function isStatus({ http, reason }: Row, status: number): boolean {
  return http === status || (reason === 'RESOURCE_EXHAUSTED' && status === 413) || (reason === 'METHOD_NOT_FOUND' && status === 405)
}

function judgeError(details: any, message: unknown, faults: string[], fits: (row: Row) => boolean): Verdict {
  const [info, bad, ...more] = Array.isArray(details) ? details : []
  const reason = String(info?.reason)
  const row = Object.values(errorTable).find((one) => one.reason === reason)
  if (info?.['@type'] !== 'type.googleapis.com/google.rpc.ErrorInfo' || info?.domain !== 'a2a-protocol.org' || more.length > 0)
    faults.push('no ErrorInfo')
  if (!row || !fits(row)) faults.push(`code, status and reason ${reason} are of no one row`)
  if (reason === 'INTERNAL') faults.push('an internal error')
  if (bad !== undefined && (bad['@type'] !== 'type.googleapis.com/google.rpc.BadRequest' || reason !== 'INVALID_PARAMS'))
    faults.push('a detail that does not belong here')
  if (typeof message !== 'string' || message === '') faults.push('no message')
  // What the caller sent may stand in the answer; the words below are in nothing that the tests send.
  const found = leak.exec(JSON.stringify([message, details]))
  if (found) faults.push(`an answer shows ${JSON.stringify(found[0])}: ${String(message).slice(0, 200)}`)
  return { reason, faults }
}

function parse(text: string): any {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A log whose errors are findings. */
export function findingLog(): Log & { readonly findings: string[] } {
  const findings: string[] = []
  const nothing = () => {}
  return {
    findings,
    debug: nothing,
    info: nothing,
    warn: nothing,
    error: (message, fields) => {
      const { error } = fields ?? {}
      findings.push(`${message}: ${error instanceof Error ? (error.stack ?? error.message) : JSON.stringify(fields)}`)
    },
  }
}
