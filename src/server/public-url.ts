/** Under which URL callers reach this server: the configured one, else what a trusted proxy says, else the socket's own. */

import ipaddr from 'ipaddr.js'
import type { RawRequest } from './handler.js'

export type PublicUrl = (request: Pick<RawRequest, 'peer' | 'header'>) => string

interface PublicUrlOptions {
  /** As configured: it wins over everything. */
  readonly url: string | undefined
  /** Addresses and networks whose forwarded headers are believed. */
  readonly trustedProxies: readonly string[]
  /** Where the server listens; never taken from a request, so that a forged Host shows nowhere. */
  readonly own: () => string
}

/** What the URL depends on where proxies are trusted and none is configured; for Vary. */
export const forwardedHeaders = 'X-Forwarded-Host, X-Forwarded-Proto, X-Forwarded-Prefix'

export function createPublicUrl({ url, trustedProxies, own }: PublicUrlOptions): PublicUrl {
  if (url !== undefined) return () => url
  const isTrusted = trusting(trustedProxies)
  return ({ peer, header }) => (peer !== undefined && isTrusted(peer) ? forwardedUrl(header) : undefined) ?? own()
}

/** Whether `value` is an address or a network such as `10.0.0.0/8`, in no form that two readers take for two addresses. */
export function isAddressOrNetwork(value: unknown): boolean {
  if (typeof value !== 'string') return false
  return (value.includes(':') || /^\d+\.\d+\.\d+\.\d+(\/\d+)?$/.test(value)) && (isAddress(value) || ipaddr.isValidCIDR(value))
}

function isAddress(value: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(value) || ipaddr.IPv6.isValid(value)
}

function trusting(proxies: readonly string[]): (peer: string) => boolean {
  const networks = proxies.map((proxy) => (isAddress(proxy) ? wholeAddress(proxy) : ipaddr.parseCIDR(proxy)))
  return (peer) => {
    if (!ipaddr.isValid(peer)) return false
    // `process` takes an IPv4 address out of its IPv6 form.
    const address = ipaddr.process(peer)
    return networks.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits))
  }
}

function wholeAddress(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  const address = ipaddr.process(text)
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}

/**
 * By X-Forwarded-Proto, -Host and -Prefix. Of several values the last is the one that the trusted proxy wrote itself:
 * those before it came with the request, perhaps from a caller who wants others to read a card of theirs.
 */
function forwardedUrl(header: RawRequest['header']): string | undefined {
  const last = (name: string) => header(name)?.split(',').at(-1)?.trim()
  const host = last('x-forwarded-host')
  const protocol = (last('x-forwarded-proto') ?? 'http').toLowerCase()
  const prefix = last('x-forwarded-prefix') ?? ''
  if (host === undefined || !/^https?$/.test(protocol) || !/^(\/[\w.~-]+)*\/?$/.test(prefix)) return undefined
  const text = `${protocol}://${host}${prefix}`
  // A host with a path, a user or a query in it is no host.
  return /^[\w.[\]:-]+$/.test(host) && URL.canParse(text) ? text : undefined
}
