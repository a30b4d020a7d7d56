/** The option `oauth`: providers that people may be sent to for their consent. */

import { checkOptions, isHttpUrl, isPlainObject, isText, type OptionRule } from '../support/options.js'
import { isLoopback } from './neighbours.js'

/** A provider that says itself where its doors are (RFC 8414, OpenID Connect Discovery), or one whose doors are given. */
export interface OAuthProvider {
  /** Its https URL. With `authorizationEndpoint` and `tokenEndpoint` it only has to match what the provider calls itself. */
  readonly issuer?: string
  /** Where people agree. Given together with `tokenEndpoint`, or not at all. */
  readonly authorizationEndpoint?: string
  readonly tokenEndpoint?: string
  /** As the provider knows this server. There, its redirect URI is `<url>/consent/callback`. */
  readonly clientId: string
  readonly clientSecret?: string
  /** How `clientSecret` is shown: in the header Authorization or in the body. RFC 6749 §2.3.1. Default `'basic'`, and `'none'` without a secret. */
  readonly clientAuthentication?: 'basic' | 'post' | 'none'
}

/** By the names that agents use: `task.authorize({ oauth: 'calendar', … })`. */
export type OAuthProviders = Readonly<Record<string, OAuthProvider>>

/** Codes and credentials go to a provider in the clear only where they do not leave the machine. */
export function isProviderUrl(value: unknown): value is string {
  if (typeof value !== 'string' || !URL.canParse(value)) return false
  const { protocol, username, password, hash } = new URL(value)
  return (protocol === 'https:' || (protocol === 'http:' && isLoopback(value))) && username === '' && password === '' && hash === ''
}

const where = 'an https URL, or an http one on a loopback host'

const rules: Readonly<Record<keyof OAuthProvider, OptionRule>> = {
  issuer: { takes: where, ok: (value) => isHttpUrl(value) && isProviderUrl(value) },
  authorizationEndpoint: { takes: where, ok: isProviderUrl },
  tokenEndpoint: { takes: where, ok: isProviderUrl },
  clientId: { takes: 'a text', ok: isText, required: true },
  clientSecret: { takes: 'a text', ok: isText, secret: true },
  clientAuthentication: { takes: "'basic', 'post' or 'none'", ok: (value) => value === 'basic' || value === 'post' || value === 'none' },
}

/** @throws {TypeError} on a provider that could not be used, in one sentence that names it */
export function checkProviders(door: string, providers: OAuthProviders): void {
  for (const [name, provider] of Object.entries(providers)) {
    const at = `${door}: oauth ${JSON.stringify(name)}`
    if (!isPlainObject(provider)) throw new TypeError(`${at} takes an object with ${Object.keys(rules).join(', ')}`)
    checkOptions(at, provider, rules)
    const { issuer, authorizationEndpoint, tokenEndpoint, clientSecret, clientAuthentication } = provider
    if ((authorizationEndpoint === undefined) !== (tokenEndpoint === undefined)) {
      throw new TypeError(`${at} takes authorizationEndpoint and tokenEndpoint together`)
    }
    if (issuer === undefined && tokenEndpoint === undefined) {
      throw new TypeError(`${at} needs issuer, or authorizationEndpoint and tokenEndpoint`)
    }
    if (clientSecret === undefined ? (clientAuthentication ?? 'none') !== 'none' : clientAuthentication === 'none') {
      throw new TypeError(`${at} takes clientSecret with the clientAuthentication 'basic' or 'post', and only then`)
    }
  }
}
