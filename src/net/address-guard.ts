/** Decides where this process may be sent by what a caller wrote: https to the public internet, and what the operator opened. */

import { parseAddress, standingOf } from './address-ranges.js'
import { bare, isUsualPort, opensAddress, opensHost, parseAllowList } from './allow-list.js'

/** Completes the sentence “The URL …”. */
const demands = Object.freeze({
  form: 'must be an absolute URL of at most 4096 characters, without blanks and backslashes',
  scheme: 'must be an https URL',
  'user-info': 'must not hold a user name or password',
  port: 'must name port 443 or one from 1024',
  name: 'must name a host of the public internet',
  address: 'must lead to public addresses only',
})

export type RefusalReason = keyof typeof demands

/** A URL, or an address behind it, that the guard does not let through. The message holds nothing that was looked up. */
export class AddressRefusedError extends Error {
  override readonly name = 'AddressRefusedError'
  readonly reason: RefusalReason
  /** “must be an https URL” */
  readonly demand: string

  constructor(reason: RefusalReason) {
    super(`The URL ${demands[reason]}.`)
    this.reason = reason
    this.demand = demands[reason]
  }
}

export interface AddressGuard {
  /**
   * The URL as it will be called, if its form, and its address where it names one, may pass. A name is not looked up.
   *
   * @throws {AddressRefusedError}
   */
  checkUrl(url: string | URL): URL
  /**
   * Lets the addresses of the host of `url` pass, all of them or none.
   *
   * @throws {AddressRefusedError}
   */
  checkAddresses(url: URL, addresses: readonly string[]): void
}

const longestUrl = 4096

/** Names that are never of the public DNS: RFC 6761, 6762, 7686, 8375, and `internal`, which ICANN keeps for private use. */
const localNames = /(^|\.)(localhost|local|localdomain|internal|home\.arpa|onion|invalid)$/

/** @param allow hosts and networks that are open beyond the public internet; all of them `isAllowEntry` */
export function createAddressGuard(allow: readonly string[] = []): AddressGuard {
  const list = parseAllowList(allow)

  function checkUrl(given: string | URL): URL {
    const text = String(given)
    // The parser would drop line breaks and take a backslash for a slash; whoever wrote them counts on two readings.
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    if (text.length > longestUrl || /[\u0000-\u0020\u007f\\]/.test(text) || !URL.canParse(text)) throw new AddressRefusedError('form')
    // Octal, hexadecimal, short, percent-encoded and wide forms of a host are one form from here on.
    const url = new URL(text)
    if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new AddressRefusedError('scheme')
    if (url.username !== '' || url.password !== '') throw new AddressRefusedError('user-info')
    const host = bare(url.hostname)
    const isAddress = parseAddress(host) !== undefined
    if (!opensHost(list, url)) {
      if (url.protocol === 'http:') throw new AddressRefusedError('scheme')
      // A name without a dot is one of the local network, or of the resolver's search list.
      if (!isAddress && (!host.includes('.') || localNames.test(host))) throw new AddressRefusedError('name')
      if (!isUsualPort(url.port)) throw new AddressRefusedError('port')
    }
    if (isAddress) checkAddresses(url, [host])
    return url
  }

  function checkAddresses(url: URL, addresses: readonly string[]): void {
    const isOpen = opensHost(list, url)
    for (const text of addresses) {
      const address = parseAddress(text)
      const standing = address ? standingOf(address) : 'closed'
      const isOpened = standing === 'local' && (isOpen || (address !== undefined && opensAddress(list, address)))
      if (standing !== 'public' && !isOpened) throw new AddressRefusedError('address')
    }
  }

  return { checkUrl, checkAddresses }
}
