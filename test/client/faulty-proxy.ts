/** A proxy on a socket of 127.0.0.1 before a server, which goes wrong by chance: each way in which a network does. */

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { virtualWorld } from '../../src/testing/virtual-world.js'

/**
 * - `refuses`: it hangs up before the request has been passed on
 * - `loses`: it passes the request on and hangs up without the answer
 * - `repeats`: it passes the request on twice, and answers with what came the second time
 * - `busy`: it answers 503 itself
 * - `resets`: it breaks the connection in the middle of the answer
 * - `half-closes`: its side of the connection ends in the middle of the answer, the other side stays
 * - `ends`: the answer is shorter than it was, and well-formed
 * - `stalls`: in the middle of the answer it falls silent
 */
const faults = ['refuses', 'loses', 'repeats', 'busy', 'resets', 'half-closes', 'ends', 'stalls'] as const
export type Fault = (typeof faults)[number]

export interface FaultyProxy {
  readonly url: string
  /** How often it went wrong in each way since the beginning. */
  readonly count: Map<Fault, number>
  /** Where requests go, and by which chances they go wrong from now on. */
  begin(options: { readonly seed: number; readonly keepsIds: boolean }): void
  close(): Promise<void>
}

export interface FaultyProxyOptions {
  readonly upstream: (request: Request) => Promise<Response>
  /** Called again and again while a connection is silent that should not be: the time to let limits pass. */
  readonly onSilence: () => void
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

export async function openFaultyProxy({ upstream, onSilence }: FaultyProxyOptions): Promise<FaultyProxy> {
  const count = new Map<Fault, number>()
  let chance = random(1)
  let keepsIds = true

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket } = request
    const fault = chance() < 0.6 ? faults[Math.floor(chance() * faults.length)] : undefined
    if (fault) count.set(fault, (count.get(fault) ?? 0) + 1)
    const body = await bytesOf(request)
    if (fault === 'refuses') return void socket.destroy()
    if (fault === 'busy') return void response.writeHead(503, { 'retry-after': '1' }).end('busy')
    const leaving = new AbortController()
    response.once('close', () => leaving.abort())
    const ask = () => upstream(copyOf(request, url, body, leaving.signal))
    if (fault === 'repeats') await (await ask()).body?.cancel()
    const answer = await ask()
    if (fault === 'loses') {
      await answer.body?.cancel()
      return void socket.destroy()
    }
    let left =
      fault === 'resets' || fault === 'half-closes' || fault === 'ends' || fault === 'stalls' ? chance() * 2500 : Number.POSITIVE_INFINITY
    const headers = Object.fromEntries(answer.headers)
    // Shorter than it says would be another fault: that of a wrong length.
    if (fault === 'ends') delete headers['content-length']
    response.writeHead(answer.status, headers).flushHeaders()
    const isStream = headers['content-type']?.includes('event-stream') ?? false
    for await (const bytes of piecesOf(answer, isStream && !keepsIds)) {
      for (let rest = bytes; rest.length > 0; ) {
        const size = Math.min(1 + Math.floor(chance() ** 3 * 1500), Math.floor(left))
        response.write(rest.subarray(0, size))
        rest = rest.subarray(size)
        left -= size
        if (left < 1) return breakOff(fault, response)
        for (let turns = Math.floor(chance() * 3); turns > 0; turns--) await turn()
      }
    }
    response.end()
  }

  async function breakOff(fault: Fault | undefined, response: ServerResponse): Promise<void> {
    // What was written is on its way.
    await turn()
    if (fault === 'ends') response.end()
    else if (fault === 'half-closes') response.socket?.end()
    else if (fault === 'resets') response.socket?.resetAndDestroy()
    else
      while (!response.closed) {
        onSilence()
        await turn()
      }
  }

  const http = createServer((request, response) => {
    pass(request, response).catch(() => request.socket.destroy())
  })
  // Whoever hangs up on it has their reasons.
  http.on('connection', (socket) => socket.on('error', () => {}))
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  // Listening on a port, the address is one of host and port.
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  return {
    url,
    count,
    begin(options) {
      chance = random(options.seed)
      keepsIds = options.keepsIds
    },
    async close() {
      http.close().closeAllConnections()
    },
  }
}

/** Numbers from 0 to 1 that follow from the seed. */
function random(seed: number): () => number {
  const world = virtualWorld({ seed })
  return () => {
    const [a = 0, b = 0] = world.randomBytes(2)
    return (a * 256 + b) / 65_536
  }
}

async function bytesOf(request: IncomingMessage): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = []
  for await (const piece of request) pieces.push(piece)
  return Uint8Array.from(Buffer.concat(pieces))
}

function copyOf({ url = '', method = 'GET', headers }: IncomingMessage, base: string, body: Uint8Array<ArrayBuffer>, signal: AbortSignal) {
  const named = Object.entries(headers).flatMap(([name, value]): [string, string][] => (typeof value === 'string' ? [[name, value]] : []))
  return new Request(base + url, { method, headers: named, signal, ...(body.length > 0 && { body }) })
}

async function* piecesOf({ body }: Response, withoutIds: boolean): AsyncGenerator<Uint8Array> {
  if (!body) return
  if (!withoutIds) return yield* body
  let line = ''
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    const lines = (line + text).split('\n')
    line = lines.pop() ?? ''
    for (const one of lines) if (!one.startsWith('id:')) yield Buffer.from(`${one}\n`)
  }
}
