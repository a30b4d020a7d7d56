/** A post as it comes in by either door, and the answers that are not “taken”. */

import type { World } from '../support/world.js'

export interface Post {
  readonly method: string
  header(name: string): string | undefined
  /** The body. @throws {PostRefusal} for one that is too large, too slow, broken off, or no UTF-8 */
  text(limits: BodyLimits): Promise<string>
}

export interface BodyLimits {
  readonly world: World
  readonly bodyBytes: number
  readonly bodyMs: number
}

/** An answer in words that only those can read who have shown a credential; to others there are none. */
export class PostRefusal extends Error {
  override readonly name = 'PostRefusal'
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, text = '', headers: Readonly<Record<string, string>> = {}) {
    super(text)
    this.status = status
    this.headers = headers
  }
}

/** As much of a request of node:http, or of Express, as is looked at. */
export interface NodePost {
  readonly method?: string | undefined
  readonly url?: string | undefined
  /** Express: the path before the one that the middleware is mounted at was taken off. */
  readonly originalUrl?: string | undefined
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** What a body parser made of the body, if one has read it before. */
  readonly body?: unknown
  readonly readableEnded: boolean
  on(event: 'data', listener: (piece: Uint8Array) => void): unknown
  on(event: 'end' | 'error' | 'close', listener: () => void): unknown
}

export function webPost(request: Request): Post {
  return {
    method: request.method,
    header: (name) => request.headers.get(name) ?? undefined,
    text: (limits) =>
      gather(limits, ({ add, end, fail }) => {
        const reader = request.body?.getReader()
        async function pump(): Promise<void> {
          for (;;) {
            const { done = true, value } = (await reader?.read()) ?? {}
            if (done || value === undefined) return end()
            add(value)
          }
        }
        pump().catch(fail)
        return () => void reader?.cancel().catch(() => {})
      }),
  }
}

export function nodePost(request: NodePost): Post {
  return {
    method: request.method ?? '',
    header(name) {
      const value = request.headers[name]
      return typeof value === 'string' ? value : value?.join(', ')
    },
    async text(limits) {
      if (request.readableEnded) return textOf(request.body)
      return gather(limits, ({ add, end, fail }) => {
        request.on('data', add)
        request.on('end', end)
        request.on('error', fail)
        request.on('close', fail)
        // What is left is still listened to, and so passed over: the connection can be used again.
        return () => {}
      })
    },
  }
}

function textOf(body: unknown): string {
  if (typeof body === 'string') return body
  return body instanceof Uint8Array ? decode(body) : JSON.stringify(body ?? null)
}

interface Sink {
  readonly add: (piece: Uint8Array) => void
  readonly end: () => void
  readonly fail: () => void
}

/** Collects what `pour` pours, within the limits. `pour` gives what stops it, which is called in every case. */
function gather({ world, bodyBytes, bodyMs }: BodyLimits, pour: (sink: Sink) => () => void): Promise<string> {
  // Pieces are copied together as they come: kept one by one, a body sent byte by byte would take many times its size.
  let bytes = new Uint8Array(4096)
  let length = 0
  return new Promise<Uint8Array>((resolve, reject) => {
    let isSettled = false
    let stop = () => {}
    const refuse = (status: number, text: string) => settle(() => reject(new PostRefusal(status, text)))
    const takeBack = world.timer(bodyMs, () => refuse(408, `The body took longer than ${bodyMs} ms.`))
    function settle(tell: () => void): void {
      isSettled = true
      takeBack()
      stop()
      tell()
    }
    stop = pour({
      add(piece) {
        if (isSettled) return
        const end = length + piece.length
        if (end > bodyBytes) return refuse(413, `The body has more than ${bodyBytes} bytes.`)
        if (end > bytes.length) {
          const larger = new Uint8Array(Math.max(end, 2 * bytes.length))
          larger.set(bytes.subarray(0, length))
          bytes = larger
        }
        bytes.set(piece, length)
        length = end
      },
      end: () => settle(() => resolve(bytes.subarray(0, length))),
      fail: () => refuse(400, 'The body broke off.'),
    })
  }).then(decode)
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new PostRefusal(400, 'The body is no UTF-8.')
  }
}
