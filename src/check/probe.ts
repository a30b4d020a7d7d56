/** The wire reader: one request over one connection, and what came back as it came. */

import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { connect as connectTcp } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect as connectTls } from 'node:tls'
import type { World } from '../support/world.js'
import type { Exchange, Sent } from './exchange.js'

/** Opens a connection to where `url` points. */
export type Dial = (url: URL) => Duplex

export interface Probe {
  /** The whole answer. Never rejects: what went wrong stands in the exchange. */
  send(sent: Sent): Promise<Exchange>
  /** The head of the answer, and its body piece by piece. Rejects never either. */
  open(sent: Sent): Promise<OpenExchange>
  /** Writes bytes of one's own making, and gives what came back until the other side closed or was silent. */
  raw(url: string, bytes: string | Uint8Array): Promise<Exchange>
}

export interface OpenExchange {
  readonly exchange: Exchange
  /** The next piece of the body; undefined at its end, or once the exchange is broken. */
  next(timeoutMs?: number): Promise<Uint8Array | 'timeout' | undefined>
  /** Leaves the connection. */
  close(): void
}

export interface ProbeOptions {
  readonly world: World
  /** For the head of an answer, and for each piece of its body. */
  readonly timeoutMs: number
  readonly dial?: Dial
}

/** Bytes of a body that are kept and looked at: no answer of the protocol needs more, a flood brings it. */
const mostBytes = 4 << 20

/** Sockets of this machine. */
export const systemDial: Dial = (url) => {
  const isTls = url.protocol === 'https:'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const port = Number(url.port) || (isTls ? 443 : 80)
  return isTls ? connectTls({ host, port, servername: /^[\d.]+$|:/.test(host) ? '' : host }) : connectTcp({ host, port })
}

export function createProbe({ world, timeoutMs, dial = systemDial }: ProbeOptions): Probe {
  function begin(sent: Sent): Exchange {
    return { sent, startedAt: world.now(), durationMs: 0, headers: [], body: '' }
  }

  function fault(exchange: Exchange, broken: NonNullable<Exchange['broken']>, problem: string): void {
    exchange.broken ??= broken
    exchange.problem ??= problem
  }

  async function open(sent: Sent): Promise<OpenExchange> {
    const exchange = begin(sent)
    const url = new URL(sent.url)
    const body = sent.body === undefined ? undefined : Buffer.from(sent.body)
    const given = new Set(sent.headers.map(([name]) => name.toLowerCase()))
    const headers = [
      ...(given.has('host') ? [] : [['Host', url.host]]),
      ...sent.headers.map(([name, value]) => [name, value]),
      ...(body === undefined || given.has('content-length') || given.has('transfer-encoding')
        ? []
        : [['Content-Length', String(body.length)]]),
      ['Connection', 'close'],
    ].flat()
    let answer: IncomingMessage | undefined
    let request: ClientRequest | undefined
    try {
      const socket = dial(url)
      answer = await new Promise<IncomingMessage>((resolve, reject) => {
        const stop = world.timer(timeoutMs, () => reject(new Timeout(`no answer within ${timeoutMs} ms`)), { holds: true })
        const settle = (end: () => void) => {
          stop()
          end()
        }
        socket.once('error', (error) => settle(() => reject(error)))
        request = httpRequest(
          {
            method: sent.method,
            path: url.pathname + url.search,
            // Pairs, written in this order and spelling.
            headers: headers as unknown as readonly string[],
            createConnection: () => socket,
          },
          (response) => settle(() => resolve(response)),
        )
        request.once('error', (error) => settle(() => reject(error)))
        // The answer may come before the whole request was taken, and the connection break then.
        request.on('error', () => {})
        request.end(body)
      })
      exchange.status = answer.statusCode ?? 0
      exchange.headers = pairs(answer.rawHeaders)
    } catch (error) {
      request?.destroy()
      const text = error instanceof Error ? error.message : String(error)
      fault(exchange, error instanceof Timeout ? 'timeout' : wasConnected(error) ? 'cut' : 'unreachable', text)
    }
    exchange.durationMs = world.now() - exchange.startedAt
    return read(exchange, answer, () => request?.destroy())
  }

  function read(exchange: Exchange, answer: IncomingMessage | undefined, leave: () => void): OpenExchange {
    const pieces: Uint8Array[] = []
    let isOver = answer === undefined
    let wake = () => {}
    let length = 0
    const decoder = new TextDecoder()
    const end = () => {
      isOver = true
      exchange.durationMs = world.now() - exchange.startedAt
      wake()
    }
    answer?.on('data', (piece: Uint8Array) => {
      length += piece.length
      if (length > mostBytes) {
        fault(exchange, 'cut', `the body is longer than ${mostBytes} bytes`)
        leave()
        return end()
      }
      exchange.body += decoder.decode(piece, { stream: true })
      pieces.push(piece)
      wake()
    })
    answer?.once('end', end)
    answer?.once('error', (error) => {
      if (!isOver) fault(exchange, 'cut', `the answer broke off: ${error.message}`)
      end()
    })
    answer?.once('close', end)
    return {
      exchange,
      async next(ms = timeoutMs) {
        if (pieces.length === 0 && !isOver) {
          let stop = () => {}
          const isLate = await new Promise<boolean>((resolve) => {
            wake = () => resolve(false)
            stop = world.timer(ms, () => resolve(true), { holds: true })
          })
          stop()
          wake = () => {}
          if (isLate) return 'timeout'
        }
        return pieces.shift()
      },
      close() {
        isOver = true
        leave()
        wake()
      },
    }
  }

  async function send(sent: Sent): Promise<Exchange> {
    const opened = await open(sent)
    for (;;) {
      const piece = await opened.next()
      if (piece === undefined) return opened.exchange
      if (piece === 'timeout') {
        fault(opened.exchange, 'timeout', `the body did not end: silent for ${timeoutMs} ms`)
        opened.close()
      }
    }
  }

  function raw(url: string, bytes: string | Uint8Array): Promise<Exchange> {
    const exchange = begin({ method: 'RAW', url, headers: [], body: bytes })
    return new Promise((resolve) => {
      const socket = dial(new URL(url))
      let text = ''
      const decoder = new TextDecoder()
      const end = () => {
        stop()
        socket.destroy()
        exchange.durationMs = world.now() - exchange.startedAt
        const [head = '', ...rest] = text.split('\r\n\r\n')
        const [start = '', ...lines] = head.split('\r\n')
        const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(start)?.[1])
        if (status) exchange.status = status
        exchange.headers = lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()] as const)
        exchange.body = rest.join('\r\n\r\n')
        resolve(exchange)
      }
      const stop = world.timer(
        timeoutMs,
        () => {
          if (text === '') fault(exchange, 'timeout', `no answer within ${timeoutMs} ms`)
          end()
        },
        { holds: true },
      )
      socket.on('data', (piece: Uint8Array) => {
        text = (text + decoder.decode(piece, { stream: true })).slice(0, mostBytes)
        if (isWhole(text)) end()
      })
      socket.once('error', (error) => {
        if (text === '') fault(exchange, 'cut', error.message)
        end()
      })
      socket.once('close', end)
      socket.write(bytes)
    })
  }

  return { send, open, raw }
}

class Timeout extends Error {}

function wasConnected(error: unknown): boolean {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''
  return /^(ECONNRESET|EPIPE|HPE_|ERR_STREAM)/.test(code)
}

function pairs(flat: readonly string[]): (readonly [string, string])[] {
  return flat.flatMap((name, i) => (i % 2 === 0 ? [[name, flat[i + 1] ?? ''] as const] : []))
}

/** Whether an answer that says its length has come whole. */
function isWhole(text: string): boolean {
  const [head, body] = text.split(/\r\n\r\n([\s\S]*)/)
  const length = /\r\ncontent-length: *(\d+)/i.exec(head ?? '')?.[1]
  return length !== undefined && body !== undefined && Buffer.byteLength(body) >= Number(length)
}
