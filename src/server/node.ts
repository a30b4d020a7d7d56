/** The room of sockets: the server on node:http. */

import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { HttpReply } from '../bindings/http.js'
import { openGuardedFetch } from '../net/guarded-fetch.js'
import { openPost } from '../push/post.js'
import type { Agent } from '../runtime/agent.js'
import { sqlite } from '../store/sqlite/sqlite.js'
import { checkOptions, isText, isWhole, type OptionRule } from '../support/options.js'
import { anonymous } from './authenticate.js'
import { type Core, createCore, mountServer, type Server, type Sockets } from './create-server.js'
import { createFetch } from './fetch.js'
import { gone, hasNoBody } from './handler.js'
import { createKeepAlive, type KeepAlive } from './keep-alive.js'
import { isLoopback } from './neighbours.js'
import { pinoLog } from './node-log.js'
import { endConnection, isEnding, nodeRequest } from './node-request.js'
import { checkServerOptions, type ServerOptions, serverRules } from './options.js'

export interface ServeOptions extends ServerOptions {
  /** Default 0: any free one. */
  readonly port?: number
  /** Default 127.0.0.1. Another address than a loopback one needs `auth`. */
  readonly host?: string
}

export interface RunningServer extends Server {
  /** Base URL, without a slash at its end. */
  readonly url: string
}

const sockets: Sockets = { openFetch: openGuardedFetch, openPost }

export const serveDefaults = Object.freeze({ port: 0, host: '127.0.0.1', store: 'errand.db' })

const socketRules: Readonly<Record<string, OptionRule>> = {
  port: { takes: 'a whole number from 0 to 65535', ok: isWhole(0, 65_535) },
  host: { takes: 'a host name or address', ok: isText },
}

/**
 * Serves an agent on a socket. Tasks are kept in `errand.db` in the current folder unless `store` says otherwise.
 *
 * @throws {TypeError} on a wrong option, or a host that is not loopback without `auth`
 */
export async function serve(agent: Agent, options: ServeOptions = {}): Promise<RunningServer> {
  checkOptions('serve', options, { ...serverRules, ...socketRules })
  const { port = serveDefaults.port, host = serveDefaults.host, store = sqlite(serveDefaults.store), log = pinoLog(), ...rest } = options
  checkServerOptions('serve', rest)
  if (!options.auth && !isLoopback(`http://${bracketed(host)}`)) {
    throw new TypeError(
      `serve: without the option auth the host must be a loopback address; it is ${JSON.stringify(host)}. Give auth: bearerTokens(…), or anonymous() if everybody may call`,
    )
  }
  let own = ''
  const core = await createCore(agent, {
    ...rest,
    store,
    log,
    auth: options.auth ?? anonymous(),
    own: () => own,
    neighbours: !options.auth,
    ...sockets,
  })
  const keepAlive = createKeepAlive(core.world, core.limits.keepAliveMs)
  const http = createHttpServer((request, response) => void exchange(core, keepAlive, request, { response, waits: false }))
  http.on(
    'checkContinue',
    (request: IncomingMessage, response: ServerResponse) => void exchange(core, keepAlive, request, { response, waits: true }),
  )
  // Every request that is under way in a connection listens for its end; their number is the client's affair.
  http.on('connection', (socket: Socket) => void socket.setMaxListeners(0))
  try {
    await new Promise<void>((resolve, reject) => {
      http.once('error', reject)
      http.listen(port, host, resolve)
    })
  } catch (cause) {
    await core.close()
    throw new Error(
      `serve: cannot listen on ${host}, port ${port} (${cause instanceof Error ? cause.message : String(cause)}). Choose another with the options host and port`,
      { cause },
    )
  }
  // Listening on a port, the address is one of host and port.
  const address = http.address() as AddressInfo
  own = `http://${bracketed(host)}:${address.port}`
  // What is taken up may tell people where to come to.
  core.start()

  async function close(): Promise<void> {
    const drained = new Promise<void>((resolve) => http.close(() => resolve()))
    await core.close()
    // Streams and waiting calls say their last word within this turn of the event loop.
    await new Promise<void>((resolve) => core.world.defer(resolve))
    http.closeIdleConnections()
    // Whoever has not read the last word of a stream by now is cut off.
    http.closeAllConnections()
    await drained
  }
  let closed: Promise<void> | undefined
  return {
    url: (options.url ?? own).replace(/\/+$/, ''),
    fetch: createFetch(core),
    signal: core.signal,
    deliveries: core.deliveries,
    close: () => (closed ??= close()),
  }
}

/**
 * An agent's server for any host that speaks Fetch; `serve()` is this with a socket.
 *
 * @throws {TypeError} on a wrong option, and without `store`, `url` or `auth`: who may call is to be said, if only `anonymous()`
 */
export function createServer(agent: Agent, options: ServerOptions): Promise<Server> {
  return mountServer(agent, options, sockets)
}

interface Answering {
  readonly response: ServerResponse
  /** The client sends its body when it has been told to continue. */
  readonly waits: boolean
}

async function exchange(core: Core, keepAlive: KeepAlive, request: IncomingMessage, { response, waits }: Answering): Promise<void> {
  if (isEnding(request)) return
  const { handler, limits, log } = core
  const call = new AbortController()
  response.on('error', () => response.destroy())
  const { socket } = request
  const leave = () => {
    socket.off('close', leave)
    call.abort(gone)
    handler.done(call)
  }
  response.once('close', leave)
  // An answer that stands behind another one in its connection is never told that it was closed.
  socket.once('close', leave)
  try {
    const raw = nodeRequest(request, response, waits, limits.bodyBytes)
    const { status, headers, body } = await handler.handle(raw, call)
    if (response.destroyed) return
    if (typeof body === 'string') sendText(core, request, response, { status, headers, body, isLast: !raw.isInOrder() })
    else await sendStream(core, keepAlive, response, status, headers, body)
  } catch (error) {
    log.error('an answer could not be sent', { error })
    response.destroy()
  }
}

interface TextAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** The connection ends with it. */
  readonly isLast: boolean
}

function sendText(
  { world }: Core,
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body, isLast }: TextAnswer,
): void {
  const length = hasNoBody(status) ? {} : { 'content-length': Buffer.byteLength(body) }
  response.writeHead(status, { ...headers, ...length, ...(isLast && { connection: 'close' }) })
  if (request.method === 'HEAD') response.end()
  else if (!isLast) response.end(body)
  else {
    response.write(body)
    endConnection(request, response, world)
  }
}

async function sendStream(
  { limits, world }: Core,
  keepAlive: KeepAlive,
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: Exclude<HttpReply['body'], string>,
): Promise<void> {
  response.writeHead(status, headers)
  response.flushHeaders()
  const watched = keepAlive.watch((comment) => {
    if (response.writableLength === 0) response.write(comment)
  })
  try {
    for await (const text of body) {
      if (response.destroyed) return
      const hasRoom = response.write(text)
      watched.wrote()
      // A socket that has room for more, however little the limit is, will never tell that it has drained.
      if (!hasRoom && response.writableLength > limits.unsentBytes && !(await drained(response, world, limits.drainMs))) {
        response.destroy()
        return
      }
    }
    response.end()
  } finally {
    watched.end()
  }
}

/** Whether the reader has taken everything within `ms`. */
function drained(response: ServerResponse, world: Core['world'], ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (taken: boolean) => {
      stop()
      response.off('drain', onDrain)
      response.off('close', onClose)
      resolve(taken)
    }
    const onDrain = () => settle(true)
    const onClose = () => settle(false)
    const stop = world.timer(ms, () => settle(false))
    response.once('drain', onDrain)
    response.once('close', onClose)
  })
}

function bracketed(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
}
