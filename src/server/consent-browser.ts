/** Whose browser it is: a form counts from our own page only, and a code only in the browser in which its person agreed. */

import { type Consents, consentPath } from '../runtime/consent.js'
import { digestHex, isEqual, toBase64url, utf8 } from '../support/crypto.js'
import type { RawRequest } from './handler.js'

type Secrets = Pick<Consents, 'derive'>

/** How long a person may take at the provider. */
const maxAgeSeconds = 3600

/**
 * Whether a form was sent from a page of ours, or from no page at all: else a page of somebody who knows the link could
 * agree in the name of whoever visits it.
 *
 * @param base URL of the server
 */
export function isOwnForm({ header }: Pick<RawRequest, 'header'>, base: string): boolean {
  // Browsers know best, whatever name a proxy gave the server; older ones do not say.
  const site = header('sec-fetch-site')
  if (site !== undefined) return site === 'same-origin' || site === 'none'
  const origin = header('origin')
  return origin === undefined || origin === new URL(base).origin
}

/**
 * Set-Cookie for a browser in which somebody agreed. Without it, one person could go as far as the provider's address,
 * and hand that to another, who would then never see our page, with the name of the one it is done for.
 *
 * @param base URL of the server
 */
export function browserCookie(secrets: Secrets, state: string, base: string): string {
  const attributes = `Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax`
  const cookie = `${cookieName(state)}=${cookieValue(secrets, state)}`
  // The prefix keeps other hosts of the domain from setting it (RFC 6265bis §4.1.3); it needs https and the path /.
  if (base.startsWith('https:')) return `${securePrefix}${cookie}; Path=/; Secure; ${attributes}`
  return `${cookie}; Path=${new URL(base).pathname.replace(/\/+$/, '')}${consentPath}; ${attributes}`
}

/** @param base URL of the server */
export function isSameBrowser(
  secrets: Secrets,
  state: string,
  { header, base }: { readonly header: RawRequest['header']; readonly base: string },
): boolean {
  const name = (base.startsWith('https:') ? securePrefix : '') + cookieName(state)
  const expected = utf8(cookieValue(secrets, state))
  const cookies = (header('cookie') ?? '').split(';').map((one) => one.trim())
  return cookies.some((one) => one.startsWith(`${name}=`) && isEqual(utf8(one.slice(name.length + 1)), expected))
}

const securePrefix = '__Host-'

/** One for each request: a person may have several open. */
const cookieName = (state: string) => `consent-${digestHex('cookie', state).slice(0, 16)}`

const cookieValue = (secrets: Secrets, state: string) => toBase64url(secrets.derive('browser', state))
