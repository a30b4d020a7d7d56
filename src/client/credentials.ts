/** Who may see a credential, and what it looks like in a request. */

import type { ClientAuth, Credential, CredentialRequest } from './options.js'

/** Origins that may be shown a credential: that of `home`, and the trusted hosts. */
export function credentialRule(home: string, trustHosts: readonly string[]): (url: string) => boolean {
  const { origin, protocol } = new URL(home)
  const trusted = new Set(trustHosts.map((host) => host.toLowerCase()))
  return (url) => {
    const target = new URL(url)
    if (target.origin === origin) return true
    // A host that is trusted by name proves it by https, unless the card itself came without.
    return trusted.has(target.host) && (target.protocol === 'https:' || protocol === 'http:')
  }
}

/** Headers that carry what `auth` gives now. */
export async function credentialHeaders(auth: ClientAuth, about: CredentialRequest): Promise<Readonly<Record<string, string>>> {
  const credential: Credential = typeof auth === 'function' ? await auth(about) : auth
  if (typeof credential !== 'string') return credential
  // A token has no space in it (RFC 6750 §2.1); a scheme is followed by one.
  return { authorization: credential.includes(' ') ? credential : `Bearer ${credential}` }
}
