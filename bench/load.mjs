/** A client that costs little: raw sockets, one request at a time on each, and streams counted by their frames. */

import { once } from 'node:events'
import { connect } from 'node:net'

const endOfHead = '\r\n\r\n'

let count = 0
const start = Math.floor(performance.timeOrigin).toString(36)

export function message(text, more = {}) {
  return { message: { messageId: `m-${start}-${++count}`, role: 'ROLE_USER', parts: [{ text }], ...more } }
}

/** The two ways of asking a server, as bytes ready to send. */
export function requests(url) {
  const { host } = new URL(url)
  const head = (verb, path) => `${verb} ${path} HTTP/1.1\r\nHost: ${host}\r\nA2A-Version: 1.0\r\nAuthorization: Bearer bench\r\n`
  const withBody = (path, body) => {
    const text = JSON.stringify(body)
    return `${head('POST', path)}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
  }
  return {
    rpc: (method, params) => withBody('/a2a/v1', { jsonrpc: '2.0', id: 1, method, params }),
    post: (path, body) => withBody(`/rest${path}`, body),
    get: (path) => `${head('GET', `/rest${path}`)}\r\n`,
  }
}

/**
 * Keeps `connections` busy until `total` requests are answered or `ms` have passed.
 *
 * @param make the bytes of the next request
 * @param onAnswer told the body of each answer
 * @throws on any status but 200 and on an answer in which `expected` does not occur
 */
export async function load(
  url,
  make,
  { connections = 32, total = Number.POSITIVE_INFINITY, ms = Number.POSITIVE_INFINITY, expected = '', onAnswer = () => {} },
) {
  const end = performance.now() + ms
  const begun = performance.now()
  const waits = []
  let sent = 0
  let last = ''
  async function work() {
    const socket = await open(url)
    try {
      while (sent < total && performance.now() < end) {
        sent++
        const at = performance.now()
        last = await exchange(socket, make())
        waits.push(performance.now() - at)
        onAnswer(last)
        if (!last.includes(expected)) throw new Error(`${JSON.stringify(expected)} was expected: ${last}`)
      }
    } finally {
      socket.destroy()
    }
  }
  await Promise.all(Array.from({ length: connections }, work))
  const seconds = (performance.now() - begun) / 1e3
  waits.sort((a, b) => a - b)
  return { answered: waits.length, perSecond: waits.length / seconds, p50: quantile(waits, 0.5), p99: quantile(waits, 0.99), last }
}

/** One answer, parsed. */
export async function ask(url, bytes) {
  return JSON.parse((await load(url, () => bytes, { connections: 1, total: 1 })).last)
}

/** Opens an event stream. `onFrames` is told how many frames have come so far. */
export async function stream(url, bytes, onFrames = () => {}) {
  const socket = await open(url)
  let frames = 0
  let rest = ''
  let isOpen = false
  let opened
  const first = new Promise((resolve) => {
    opened = resolve
  })
  const done = new Promise((resolve, reject) => {
    socket.on('error', reject)
    socket.on('close', () => resolve(frames))
    socket.on('data', (data) => {
      const text = rest + data.toString('latin1')
      if (!isOpen && text.slice(9, 12) !== '200') return reject(new Error(text))
      isOpen = true
      const pieces = text.split('\ndata: ')
      frames += pieces.length - 1
      rest = pieces[pieces.length - 1].slice(-16)
      if (frames > 0) opened()
      onFrames(frames)
      if (rest.endsWith('\r\n0\r\n\r\n')) socket.end()
    })
  })
  socket.write(bytes)
  await Promise.race([first, done])
  return { done, leave: () => socket.destroy() }
}

async function open(url) {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.setNoDelay(true)
  await once(socket, 'connect')
  return socket
}

function exchange(socket, bytes) {
  return new Promise((resolve, reject) => {
    let received = ''
    const settle = (finish, value) => {
      socket.off('data', onData)
      socket.off('error', onError)
      socket.off('close', onClose)
      finish(value)
    }
    const onError = (error) => settle(reject, error)
    const onClose = () => settle(reject, new Error('the server hung up'))
    const onData = (data) => {
      // One byte, one character: lengths are those of the wire.
      received += data.toString('latin1')
      const cut = received.indexOf(endOfHead)
      if (cut < 0) return
      const length = Number(/content-length: *(\d+)/i.exec(received.slice(0, cut))?.[1])
      if (Number.isNaN(length)) return settle(reject, new Error(`an answer without a length: ${received}`))
      if (received.length < cut + endOfHead.length + length) return
      if (received.slice(9, 12) !== '200') return settle(reject, new Error(received))
      settle(resolve, received.slice(cut + endOfHead.length))
    }
    socket.on('data', onData)
    socket.on('error', onError)
    socket.on('close', onClose)
    socket.write(bytes)
  })
}

function quantile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
