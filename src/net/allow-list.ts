/** What an operator opens to outgoing calls beyond the public internet: hosts and networks, each named. */

import { type Address, isWithin, type Network, parseAddress, parseNetwork, standingOf } from './address-ranges.js'

/** A host that may be called whatever its addresses are, short of the closed ones. */
interface OpenHost {
  readonly protocol: string
  readonly hostname: string
  /** As in `URL.port`; undefined opens the ports that are open anyway. */
  readonly port: string | undefined
}

export interface AllowList {
  readonly hosts: readonly OpenHost[]
  readonly networks: readonly Network[]
}

/** @param entries all of them `isAllowEntry` */
export function parseAllowList(entries: readonly string[]): AllowList {
  return {
    networks: entries.map(parseNetwork).filter((network) => network !== undefined),
    hosts: entries
      .filter((entry) => !parseNetwork(entry))
      .map(parseHost)
      .filter((host) => host !== undefined),
  }
}

/**
 * Whether `value` is an address, a network such as `10.1.0.0/16`, a host such as `files.internal` or
 * `files.internal:8443`, or an origin such as `http://127.0.0.1:3000`. What can never be opened is no entry.
 */
export function isAllowEntry(value: unknown): boolean {
  if (typeof value !== 'string') return false
  const network = parseNetwork(value)
  if (network) return standingOf(network[0]) !== 'closed'
  const host = parseHost(value)
  if (!host) return false
  const address = parseAddress(bare(host.hostname))
  return !address || standingOf(address) !== 'closed'
}

export function opensHost({ hosts }: AllowList, url: URL): boolean {
  const hostname = bare(url.hostname)
  return hosts.some(
    ({ protocol, hostname: name, port }) =>
      protocol === url.protocol && name === hostname && (port === undefined ? isUsualPort(url.port) : port === url.port),
  )
}

export function opensAddress({ networks }: AllowList, address: Address): boolean {
  return isWithin(address, networks)
}

/** Below 1024 other services than the web's listen, and would be spoken to as if they were one. */
export function isUsualPort(port: string): boolean {
  return port === '' || Number(port) >= 1024
}

/** A host name without the dots of its root, an address without its brackets. */
export function bare(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname.replace(/\.+$/, '')
}

function parseHost(entry: string): OpenHost | undefined {
  // A star would look like a pattern, and match nothing.
  if (/[\s*\\@/?#]/.test(entry.replace(/^https?:\/\//, ''))) return undefined
  const isOrigin = /^https?:\/\//.test(entry)
  const text = isOrigin ? entry : `https://${entry}`
  if (!URL.canParse(text)) return undefined
  const { protocol, hostname, port } = new URL(text)
  const saysPort = isOrigin || /:\d+$/.test(entry.replace(/^\[.*\]/, ''))
  return { protocol, hostname: bare(hostname), port: saysPort ? port : undefined }
}
