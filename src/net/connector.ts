/** Connects to a checked address and no other: one look-up, every answer checked, and the socket opened to what was checked. */

import { lookup } from 'node:dns/promises'
import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import type { buildConnector } from 'undici'
import type { World } from '../support/world.js'
import type { AddressGuard } from './address-guard.js'
import { parseAddress } from './address-ranges.js'
import { bare } from './allow-list.js'

export interface Target {
  readonly address: string
  readonly port: number
  /** The host that must prove who it is; undefined without TLS. Equal to `address` where the URL names no host. */
  readonly tlsHost: string | undefined
}

/** Opens a connection; given up when `signal` fires. */
export type Dial = (target: Target, signal: AbortSignal) => Promise<Socket>

/** All addresses of a name. */
export type Resolve = (hostname: string) => Promise<readonly string[]>

interface ConnectorOptions {
  readonly guard: AddressGuard
  readonly world: World
  readonly resolve?: Resolve
  readonly dial?: Dial
}

/** For the look-up and all attempts together. */
const connectMs = 10_000

/** A connector for undici. Whatever asks it, by whatever way it came to its URL, is checked here. */
export function guardedConnector({ guard, world, resolve = addressesOf, dial = dialAddress }: ConnectorOptions): buildConnector.connector {
  async function connect({ protocol, hostname, port }: buildConnector.Options): Promise<Socket> {
    const url = guard.checkUrl(`${protocol}//${hostname.includes(':') ? `[${hostname}]` : hostname}${port ? `:${port}` : ''}`)
    const host = bare(url.hostname)
    const limit = new AbortController()
    const takeBack = world.timer(connectMs, () => limit.abort(new Error(`no connection within ${connectMs} ms`)))
    try {
      const addresses = parseAddress(host) ? [host] : await within(resolve(url.hostname), limit.signal)
      guard.checkAddresses(url, addresses)
      const isTls = url.protocol === 'https:'
      return await firstToAnswer(addresses, (address) =>
        dial({ address, port: Number(url.port || (isTls ? 443 : 80)), tlsHost: isTls ? host : undefined }, limit.signal),
      )
    } finally {
      takeBack()
    }
  }

  return (options, callback) =>
    void connect(options).then(
      // One of the two kinds of socket that undici knows, by what `dial` was asked for.
      (socket) => callback(null, socket as Socket | TLSSocket),
      (error: unknown) => callback(error instanceof Error ? error : new Error('the connection failed', { cause: error }), null),
    )
}

/** For the look-up of a name that nothing is sent to yet. */
const lookUpMs = 2_000

/**
 * Lets the addresses of the host of `url` pass as they are now. A name that cannot be looked up passes, since each connection
 * checks it again.
 *
 * @throws {AddressRefusedError}
 */
export async function checkHost(url: URL, { guard, world, resolve = addressesOf }: ConnectorOptions): Promise<void> {
  if (parseAddress(bare(url.hostname))) return
  const limit = new AbortController()
  const takeBack = world.timer(lookUpMs, () => limit.abort())
  const addresses = await within(resolve(url.hostname), limit.signal).catch(() => [])
  takeBack()
  guard.checkAddresses(url, addresses)
}

/** IPv4 first: a host that cannot speak it says so at once, while a broken way over IPv6 often says nothing. */
const addressesOf: Resolve = async (hostname) => (await lookup(hostname, { all: true, verbatim: false })).map(({ address }) => address)

/** Opens a connection to an address. */
export function dialAddress(
  { address, port, tlsHost }: Target,
  signal: AbortSignal,
  { ca }: { readonly ca?: string } = {},
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const socket =
      tlsHost === undefined
        ? connectTcp({ host: address, port })
        : connectTls({
            host: address,
            port,
            // An address is no server name (RFC 6066 §3); the certificate is then held against `host`.
            servername: tlsHost === address ? '' : tlsHost,
            ALPNProtocols: ['http/1.1'],
            // Said here because an environment variable would switch it off.
            rejectUnauthorized: true,
            ...(ca !== undefined && { ca }),
          })
    const giveUp = () => socket.destroy(signal.reason)
    const settle = () => {
      signal.removeEventListener('abort', giveUp)
      socket.off('error', onError)
    }
    const onError = (error: Error) => {
      settle()
      reject(error)
    }
    signal.addEventListener('abort', giveUp, { once: true })
    socket.setNoDelay(true)
    socket.once('error', onError)
    socket.once(tlsHost === undefined ? 'connect' : 'secureConnect', () => {
      settle()
      resolve(socket)
    })
  })
}

async function firstToAnswer(addresses: readonly string[], dial: (address: string) => Promise<Socket>): Promise<Socket> {
  let failure: unknown = new Error('the host has no address')
  for (const address of addresses) {
    try {
      return await dial(address)
    } catch (error) {
      failure = error
    }
  }
  throw failure
}

/** `promise`, or the signal's reason if that comes first. */
function within<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(signal.reason)
    signal.addEventListener('abort', giveUp, { once: true })
    void promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp))
  })
}
