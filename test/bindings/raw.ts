/** Requests as bare as tests of the bindings need them. */

import type { Server } from '../../src/index.js'

export interface Raw {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Parsed; undefined where it is no JSON. */
  readonly body: any
  /** Of the error's ErrorInfo, on either binding. */
  readonly reason: string | undefined
}

export interface RawOptions {
  readonly method?: string
  readonly body?: string | Uint8Array<ArrayBuffer> | undefined
  /** Added to version, identity and content type; undefined takes one of those away. */
  readonly headers?: Readonly<Record<string, string | undefined>>
}

const usual = { 'a2a-version': '1.0', authorization: 'Bearer alice' }

export async function raw(server: Server, path: string, { method, body, headers = {} }: RawOptions = {}): Promise<Raw> {
  const sent = Object.entries({ ...usual, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers })
  const response = await server.fetch(
    new Request(`http://agent.test${path}`, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: sent.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as [string, string]])),
      // Bytes, because a text would bring a Content-Type of its own.
      ...(body !== undefined && { body: typeof body === 'string' ? new TextEncoder().encode(body) : body }),
    }),
  )
  const text = await response.text()
  const parsed = /json/.test(response.headers.get('content-type') ?? '') ? JSON.parse(text) : undefined
  const details: readonly any[] = parsed?.error?.data ?? parsed?.error?.details ?? []
  return { status: response.status, headers: response.headers, text, body: parsed, reason: details.find((one) => one.reason)?.reason }
}

export const rpcPath = '/a2a/v1'

/** A JSON-RPC request as text; members given as undefined are left out. */
export function envelope(more: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {}, ...more })
}
