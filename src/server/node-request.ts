/** Requests of node:http as the handler takes them, and what becomes of a connection whose request was not read to its end. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { World } from '../support/world.js'
import { createBody } from './body.js'
import { gone, type RawRequest } from './handler.js'

export interface NodeRequest extends RawRequest {
  /** Whether the connection can be used again after an answer given now. */
  isInOrder(): boolean
}

/** A request that `waits` sends its body when it has been told to continue (RFC 9110 §10.1.1): that is, when somebody reads it. */
export function nodeRequest(request: IncomingMessage, response: ServerResponse, waits: boolean, mostBytes: number): NodeRequest {
  const { headers, method = '', url = '/' } = request
  let isWaiting = waits
  return {
    method,
    target: url.startsWith('/') ? url : pathOf(url),
    peer: request.socket.remoteAddress,
    header: (name) => {
      const value = headers[name]
      return Array.isArray(value) ? value.join(', ') : value
    },
    body(limit) {
      if (isWaiting) response.writeContinue()
      isWaiting = false
      return readBody(request, limit)
    },
    // What is left of a body of known length is passed over. Whether one that waits still comes, nobody knows.
    isInOrder: () => request.complete || (!isWaiting && Number(headers['content-length']) <= mostBytes),
  }
}

/** A request may name its target in full, as for a proxy (RFC 9112 §3.2.2); what counts is the path. */
function pathOf(target: string): string {
  if (!/^https?:\/\//i.test(target) || !URL.canParse(target)) return target
  const { pathname, search } = new URL(target)
  return pathname + search
}

function readBody(request: IncomingMessage, limit: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const body = createBody(limit)
    const add = (piece: Buffer) => {
      try {
        body.add(piece)
      } catch (error) {
        request.off('data', add).pause()
        reject(error)
      }
    }
    request.on('data', add)
    request.once('end', () => resolve(body.whole()))
    request.once('error', () => reject(gone))
    request.once('close', () => reject(gone))
  })
}

/** How long a client may take to stop sending what nobody reads, once it has its answer. */
const lingerMs = 2_000

const ending = new WeakSet<Socket>()

/** Whether the connection has had its last answer: what still comes over it is no request. */
export function isEnding(request: IncomingMessage): boolean {
  return ending.has(request.socket)
}

/** Ends the connection with an answer that is written already, but lets the client read it: a socket with bytes unread is reset. */
export function endConnection(request: IncomingMessage, response: ServerResponse, world: World): void {
  ending.add(request.socket)
  const end = () => {
    stop()
    request.off('close', end)
    response.end()
  }
  const stop = world.timer(lingerMs, end)
  request.once('close', end)
  request.resume()
}
