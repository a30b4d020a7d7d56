/** Servers on loopback, and a record of what was dialled. */

import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { onTestFinished } from 'vitest'
import { createAddressGuard } from '../../src/net/address-guard.js'
import { type Dial, dialAddress, type Target } from '../../src/net/connector.js'
import { type GuardedFetch, type GuardedFetchOptions, openGuardedFetch } from '../../src/net/guarded-fetch.js'
import { type VirtualWorld, virtualWorld } from '../../src/testing/virtual-world.js'
import vectors from '../../vectors/ssrf.json' with { type: 'json' }
import { certificate, key } from './certificate.js'

export interface Vector {
  readonly id: number
  readonly url: string
  /** What the resolver answers. */
  readonly dns?: readonly string[]
  readonly comment: string
  readonly result: string
  readonly reason?: string
}

export const ssrfVectors: readonly Vector[] = vectors.tests

/** What must never see a connection. */
export const honeypots: readonly string[] = ['10.0.0.5', '169.254.169.254', '127.0.0.1']

export interface Recorder {
  readonly dial: Dial
  readonly dialled: Target[]
}

/** Notes each target and goes on to `dial`; without one nothing answers. */
export function recorder(dial?: Dial): Recorder {
  const dialled: Target[] = []
  return {
    dialled,
    dial: async (target, signal) => {
      dialled.push(target)
      if (!dial) throw new Error('nothing answers')
      return dial(target, signal)
    },
  }
}

/** A connection that trusts the certificate of these tests. */
export const dialTrusting: Dial = (target, signal) => dialAddress(target, signal, { ca: certificate })

export interface Opened {
  readonly fetch: GuardedFetch
  readonly world: VirtualWorld
  readonly dialled: readonly Target[]
  readonly resolved: readonly string[]
}

interface OpenOptions {
  readonly allow?: readonly string[]
  /** What the names resolve to; any other name does not resolve. */
  readonly names?: Readonly<Record<string, readonly string[]>>
  readonly limits?: Partial<GuardedFetchOptions['limits']>
  readonly dial?: Dial
}

/** A guarded fetch whose clock stands still, closed after the test. */
export function openFetch({ allow = [], names = {}, limits = {}, dial = dialTrusting }: OpenOptions = {}): Opened {
  const world = virtualWorld()
  const record = recorder(dial)
  const resolved: string[] = []
  const resolve = async (name: string) => {
    resolved.push(name)
    const answers = names[name]
    if (!answers) throw new Error('no such name')
    return answers
  }
  const guard = createAddressGuard(allow)
  const opened = openGuardedFetch({ guard, world, limits: { bytes: 1 << 20, ms: 30_000, ...limits }, resolve, dial: record.dial })
  onTestFinished(() => opened.close())
  return { fetch: opened.fetch, world, dialled: record.dialled, resolved }
}

export interface Heard {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  /** What TLS asked for. */
  readonly serverName: string | false | undefined
  readonly body: string
}

export interface Listening {
  readonly port: number
  readonly heard: readonly Heard[]
  readonly server: Server
}

/** A server on 127.0.0.1, closed after the test; it keeps what it hears. */
export async function listen(answer: RequestListener, { tls = false }: { readonly tls?: boolean } = {}): Promise<Listening> {
  const heard: Heard[] = []
  const listener: RequestListener = async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const { method = '', url = '', headers, socket } = request
    // With TLS the socket is one of TLS.
    heard.push({
      method,
      path: url,
      headers,
      serverName: tls ? (socket as TLSSocket & { servername: string | false }).servername : undefined,
      body,
    })
    answer(request, response)
  }
  const server = tls ? createTlsServer({ key, cert: certificate }, listener) : createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeAllConnections()
    await closed
  })
  // Listening on a port, the address is one of host and port.
  return { port: (server.address() as AddressInfo).port, heard, server }
}

/** What a promise is refused with. */
export const failureOf = (promise: Promise<unknown>): Promise<any> =>
  promise.then(
    (value) => {
      throw new Error(`it was not refused: ${String(value)}`)
    },
    (error: unknown) => error,
  )
