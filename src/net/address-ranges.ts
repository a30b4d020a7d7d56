/** Which addresses belong to the public internet, by the registries of special-purpose addresses (RFC 6890 and its updates). */

import ipaddr from 'ipaddr.js'

export type Address = ipaddr.IPv4 | ipaddr.IPv6
export type Network = readonly [network: Address, bits: number]

/**
 * - `public`: anybody may be sent there
 * - `local`: of a private network, this machine, or nobody; an operator may open it
 * - `closed`: where clouds keep the credentials of their machines, and IPv6 forms that carry an IPv4 address and would be
 *   a second name for any of the others; nobody can open it
 */
export type Standing = 'public' | 'local' | 'closed'

const closed = networks(
  // Link-local. Most clouds serve metadata and credentials at 169.254.169.254, some at its neighbours.
  '169.254.0.0/16',
  'fe80::/10',
  // Metadata elsewhere: Alibaba, Azure, Oracle; AWS, Google and Scaleway over IPv6.
  '100.100.100.200/32',
  '168.63.129.16/32',
  '192.0.0.192/32',
  'fd00:ec2::/32',
  'fd20:ce::/32',
  'fd00:42::42/128',
  // IPv4 inside: mapped, translated, NAT64 (RFC 6052, RFC 8215), 6to4, Teredo.
  '::ffff:0:0/96',
  '::ffff:0:0:0/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '2002::/16',
  '2001::/32',
)

/** Inside of ::/96, whose other addresses carry an IPv4 address. */
const plain = networks('::/128', '::1/128')
const compatible = networks('::/96')

const local = networks(
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // shared by the customers of a carrier
  '127.0.0.0/8', // loopback
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // AMT
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
  '2001::/23', // protocol assignments: benchmarks, ORCHID, drones
  '2001:db8::/32', // documentation
  '2620:4f:8000::/48', // AS112
  '3fff::/20', // documentation
)

/** The only part of IPv6 that is given out as global unicast (RFC 4291 §2.4). */
const globalUnicast = networks('2000::/3')

export function standingOf(address: Address): Standing {
  if (isWithin(address, closed) || carriesIPv4(address)) return 'closed'
  const isGlobal = address.kind() === 'ipv4' || isWithin(address, globalUnicast)
  return isGlobal && !isWithin(address, local) ? 'public' : 'local'
}

/** Addresses of the deprecated ::/96, and interface ids of ISATAP (RFC 5214 §6.1). */
function carriesIPv4(address: Address): boolean {
  if (!('parts' in address)) return false
  if (isWithin(address, compatible)) return !isWithin(address, plain)
  const [high = 0, low = 0] = address.parts.slice(4)
  return (high & 0xfdff) === 0 && low === 0x5efe
}

export function isWithin(address: Address, list: readonly Network[]): boolean {
  return list.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits))
}

/** An address in the one form that nobody reads as another one; undefined for any other text, and for one with a zone. */
export function parseAddress(text: string): Address | undefined {
  const isAddress = ipaddr.IPv4.isValidFourPartDecimal(text) || (text.includes(':') && !text.includes('%') && ipaddr.IPv6.isValid(text))
  return isAddress ? ipaddr.parse(text) : undefined
}

/** An address, or a network such as `10.0.0.0/8`; undefined for any other text. */
export function parseNetwork(text: string): Network | undefined {
  const [base = '', bits, ...more] = text.split('/')
  const address = parseAddress(base)
  if (!address || more.length > 0) return undefined
  const most = address.kind() === 'ipv4' ? 32 : 128
  if (bits === undefined) return [address, most]
  return /^\d{1,3}$/.test(bits) && Number(bits) <= most ? [address, Number(bits)] : undefined
}

function networks(...list: readonly string[]): readonly Network[] {
  return list.map((text) => ipaddr.parseCIDR(text))
}
