/** A client that writes any bytes to a socket and reads HTTP answers one by one, so that nothing between it and the server tidies up. */

import { connect, type Socket } from 'node:net'

export interface RawAnswer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

export interface RawConnection {
  readonly socket: Socket
  /** Settles when the bytes have left, or the peer is gone. */
  write(bytes: string | Uint8Array): Promise<void>
  /** The next answer; undefined when the connection ended before it was whole. */
  next(options?: { readonly hasBody?: boolean }): Promise<RawAnswer | undefined>
  /** Status and headers of the next answer, which stays to be read. */
  head(): Promise<RawAnswer | undefined>
  /** What the next answer holds up to the first `mark` in its body, chunk sizes taken out; the connection is good for nothing more. */
  until(mark: string): Promise<string>
  /** Settles when the socket is closed by either side. */
  readonly closed: Promise<void>
  destroy(): void
}

export async function openRaw(url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port), noDelay: true })
  let received = Buffer.alloc(0)
  let ended = false
  let wake = () => {}
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk])
    wake()
  })
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => {
      ended = true
      wake()
      resolve()
    })
  })
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', reject)
  })
  // A reset is one of the ways in which a connection ends.
  socket.on('error', () => {})
  socket.on('end', () => socket.end())

  /** What `look` finds in the bytes received, as soon as it does. */
  async function wait<T>(look: () => T | undefined): Promise<T | undefined> {
    for (;;) {
      const found = look()
      if (found !== undefined || ended) return found
      await new Promise<void>((resolve) => (wake = resolve))
    }
  }

  async function next({ hasBody = true }: { readonly hasBody?: boolean } = {}): Promise<RawAnswer | undefined> {
    const found = await wait(() => readAnswer(received, hasBody, ended))
    received = received.subarray(found?.length ?? 0)
    return found?.answer
  }

  return {
    socket,
    write: (bytes) => new Promise((resolve) => void (socket.writable ? socket.write(bytes, () => resolve()) : resolve())),
    next,
    head: async () => (await wait(() => readAnswer(received, false, ended)))?.answer,
    async until(mark) {
      const chunks = () => received.toString('utf8', received.indexOf('\r\n\r\n') + 4).replace(/(?:^|\r\n)[0-9a-f]+\r\n/g, '')
      return (await wait(() => (chunks().includes(mark) ? chunks() : undefined))) ?? chunks()
    },
    closed,
    destroy: () => socket.destroy(),
  }
}

function readAnswer(bytes: Buffer, hasBody: boolean, ended: boolean): { readonly answer: RawAnswer; readonly length: number } | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd < 0) return undefined
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n')
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(statusLine)?.[1])
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  )
  const start = headEnd + 4
  const done = (text: string, length: number) => ({ answer: { status, headers, text }, length })
  if (!hasBody || status < 200 || status === 304) return done('', start)
  if (headers['content-length'] !== undefined) {
    const length = start + Number(headers['content-length'])
    return bytes.length < length ? undefined : done(bytes.toString('utf8', start, length), length)
  }
  if (headers['transfer-encoding'] === 'chunked') return readChunks(bytes, start, done)
  return ended ? done(bytes.toString('utf8', start), bytes.length) : undefined
}

function readChunks<T>(bytes: Buffer, start: number, done: (text: string, length: number) => T): T | undefined {
  const chunks: Buffer[] = []
  for (let at = start; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at)
    if (lineEnd < 0) return undefined
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16)
    const end = lineEnd + 2 + size + 2
    if (bytes.length < end) return undefined
    if (size === 0) return done(Buffer.concat(chunks).toString('utf8'), end)
    chunks.push(bytes.subarray(lineEnd + 2, end - 2))
    at = end
  }
}

/** The bytes of a request with a Content-Length, unless the headers say how its body ends. */
export function rawRequest(
  method: string,
  target: string,
  headers: Readonly<Record<string, string>> = {},
  body: string | Uint8Array = '',
): Buffer {
  const bytes = Buffer.from(body)
  const names = Object.keys(headers).map((name) => name.toLowerCase())
  const isFramed = names.includes('content-length') || names.includes('transfer-encoding') || (bytes.length === 0 && method !== 'POST')
  const all = {
    ...(!names.includes('host') && { host: '127.0.0.1' }),
    ...headers,
    ...(!isFramed && { 'content-length': String(bytes.length) }),
  }
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.concat([Buffer.from(`${method} ${target} HTTP/1.1\r\n${head.join('')}\r\n`, 'latin1'), bytes])
}
