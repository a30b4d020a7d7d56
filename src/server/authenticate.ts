/** Who is calling: the ways to prove it that a server knows, and what its card says of them. */

import type { Principal } from '../protocol/call.js'
import type { SecurityScheme } from '../protocol/wire.js'
import { digestHex } from '../support/crypto.js'
import { isPlainObject, isText, isTextList, kindOf, show } from '../support/options.js'

/** What an auth looks at. */
export interface Credentials {
  readonly header: (name: string) => string | undefined
  /** The server's clock, in milliseconds. */
  readonly now: () => number
}

export interface Auth {
  /** False where everybody is the same anonymous caller. */
  readonly authenticates: boolean
  /** The caller, or undefined when nothing valid was shown. */
  identify(credentials: Credentials): Promise<Principal | undefined> | Principal | undefined
  /** Called once before the server starts. @throws {TypeError} for keys that nobody could use */
  prepare?(): Promise<void>
  /** Value of WWW-Authenticate in a refusal (RFC 9110 §11.6.1). */
  challenge(credentials: Credentials): string
  /** For the card: schemes by name; one of them is enough. Spec §4.5. */
  readonly schemes: Readonly<Record<string, SecurityScheme>>
}

/** Who a token stands for. */
export interface TokenUser {
  readonly id: string
  readonly scopes?: readonly string[]
  /** Tenants that the user may name. */
  readonly tenants?: readonly string[]
}

const realm = 'a2a'

/**
 * Bearer tokens known in advance: `bearerTokens({ [process.env.TOKEN]: 'alice' })`.
 *
 * @throws {TypeError} on an empty table, an empty token or a wrong user
 */
export function bearerTokens(tokens: Readonly<Record<string, string | TokenUser>>): Auth {
  if (!isPlainObject(tokens)) throw new TypeError(`bearerTokens takes an object from token to user; it got ${kindOf(tokens)}`)
  const users = new Map<string, Principal>()
  for (const [token, user] of Object.entries(tokens)) users.set(digestHex(checkToken(token)), toPrincipal(user))
  if (users.size === 0) throw new TypeError('bearerTokens takes an object from token to user; it got none')
  return Object.freeze({
    authenticates: true,
    // Looked up by digest: how long the look-up takes says nothing about the tokens.
    identify: (credentials: Credentials) => {
      const token = bearerOf(credentials)
      return token === undefined ? undefined : users.get(digestHex(token))
    },
    challenge: bearerChallenge,
    schemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
  })
}

/** Everybody is one and the same caller, and sees whatever anybody of them began. To be said aloud, never assumed. */
export function anonymous(): Auth {
  const principal: Principal = Object.freeze({ id: 'anonymous', claims: {}, scopes: [], tenants: [], authenticated: false })
  return Object.freeze({ authenticates: false, identify: () => principal, challenge: bearerChallenge, schemes: {} })
}

export function isAuth(value: unknown): value is Auth {
  return (
    isPlainObject(value) &&
    typeof value['identify'] === 'function' &&
    typeof value['challenge'] === 'function' &&
    isPlainObject(value['schemes'])
  )
}

/** The token of an `Authorization: Bearer` header. RFC 6750 §2.1. */
export function bearerOf({ header }: Credentials): string | undefined {
  return /^bearer +([^\s,]+) *$/i.exec(header('authorization') ?? '')?.[1]
}

/** RFC 6750 §3. */
export function bearerChallenge(credentials: Credentials): string {
  return `Bearer realm="${realm}"${bearerOf(credentials) === undefined ? '' : ', error="invalid_token"'}`
}

function checkToken(token: string): string {
  // What an environment variable becomes that was not set; everybody could guess it. A wrong token is never shown: it may be nearly right.
  if (token === 'undefined' || token === 'null') throw new TypeError(`bearerTokens: a token is ${token}; is a variable not set?`)
  if (/^[^\s,]+$/.test(token)) return token
  throw new TypeError(`bearerTokens: a token is a text without spaces and commas; it got one of ${token.length} characters that is not`)
}

function toPrincipal(user: string | TokenUser): Principal {
  const given: unknown = typeof user === 'string' ? { id: user } : user
  if (!isPlainObject(given) || !isText(given['id']))
    throw new TypeError(`bearerTokens: a user is an id, or an object with id, scopes and tenants; it got ${show(user)}`)
  const { id, scopes = [], tenants = [], ...rest } = given
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined) throw new TypeError(`bearerTokens: a user has id, scopes and tenants; there is no ${JSON.stringify(unknown)}`)
  for (const [name, list] of Object.entries({ scopes, tenants })) {
    if (!isTextList(list))
      throw new TypeError(`bearerTokens: ${name} of user ${JSON.stringify(id)} takes a list of texts; it got ${show(list)}`)
  }
  // Checked the lines before.
  return Object.freeze({
    id: id as string,
    claims: {},
    scopes: scopes as readonly string[],
    tenants: tenants as readonly string[],
    authenticated: true,
  })
}
