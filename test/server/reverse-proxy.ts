/** A small reverse proxy on loopback, as they stand before servers: it rewrites, adds headers, and cuts what is idle. */

import { createServer, type IncomingHttpHeaders, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { World } from '../../src/support/world.js'

export interface ProxyOptions {
  /** Base URL of the server behind it. */
  readonly upstream: string
  /** Path and query as they are passed on; undefined is answered with 404 by the proxy. */
  readonly rewrite?: (target: string) => string | undefined
  /** Headers that the proxy sets, by those that it got. */
  readonly set?: (headers: IncomingHttpHeaders) => Readonly<Record<string, string>>
  /** An answer that has been silent for `ms` of the world's clock is cut. */
  readonly idle?: { readonly world: World; readonly ms: number }
}

export interface ReverseProxy {
  readonly url: string
  /** How many answers were cut for being idle. */
  readonly cuts: () => number
}

/** Closed when the test ends. */
export async function openProxy({ upstream, rewrite = (target) => target, set = () => ({}), idle }: ProxyOptions): Promise<ReverseProxy> {
  const { hostname, port: upstreamPort } = new URL(upstream)
  let cuts = 0
  const proxy = createServer((incoming, outgoing) => {
    const path = rewrite(incoming.url ?? '/')
    if (path === undefined) return void outgoing.writeHead(404).end()
    const headers = { ...incoming.headers, ...set(incoming.headers) }
    const passed = send({ host: hostname, port: upstreamPort, method: incoming.method, path, headers }, (answer) => {
      let takeBack = () => {}
      const watch = () => {
        takeBack()
        if (!idle) return
        takeBack = idle.world.timer(idle.ms, () => {
          cuts++
          passed.destroy()
          outgoing.destroy()
        })
      }
      watch()
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      outgoing.flushHeaders()
      answer.on('data', watch)
      answer.on('close', () => takeBack())
      answer.pipe(outgoing)
    })
    passed.on('error', () => outgoing.destroy())
    outgoing.on('close', () => passed.destroy())
    incoming.pipe(passed)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    const closed = new Promise<void>((resolve) => proxy.close(() => resolve()))
    proxy.closeAllConnections()
    await closed
  })
  // Listening on a port, the address is one of host and port.
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, cuts: () => cuts }
}

/** Takes `prefix` off; what does not begin with it is not passed on. */
export const stripped = (prefix: string) => (target: string) => (target.startsWith(`${prefix}/`) ? target.slice(prefix.length) : undefined)

/** As a proxy reports the request that it got. */
export const forwarded =
  (prefix?: string) =>
  ({ host = '' }: IncomingHttpHeaders) => ({
    'x-forwarded-host': host,
    'x-forwarded-proto': 'http',
    ...(prefix !== undefined && { 'x-forwarded-prefix': prefix }),
  })
