/** What people have been asked and have allowed: requests, codes and tokens, each for its time only. */

import { createHash, randomBytes } from 'node:crypto'
import type { Client, Scope } from './service.js'

/** How long each is good for, in seconds. */
export const lifetimes = Object.freeze({ request: 600, code: 60, token: 3600 })

/** What an application asks for. RFC 6749 §4.1.1, RFC 7636 §4.3. */
export interface AuthorizationRequest {
  readonly client: Client
  readonly scopes: readonly Scope[]
  readonly codeChallenge: string
  readonly state?: string
}

export interface Token {
  readonly clientId: string
  readonly scopes: readonly Scope[]
}

export type Grants = ReturnType<typeof createGrants>

export function createGrants(now: () => number) {
  const requests = createExpiring<AuthorizationRequest & { readonly visitor: string }>(now, lifetimes.request)
  const codes = createExpiring<AuthorizationRequest & { issued?: string }>(now, lifetimes.code)
  const tokens = createExpiring<Token>(now, lifetimes.token)
  return {
    /** Keeps `request` until `visitor`, the browser that was shown the page, decides. */
    ask: (request: AuthorizationRequest, visitor: string) => requests.add({ ...request, visitor }),

    /** The request that `visitor` decides, once. */
    decide(id: string, visitor: string): AuthorizationRequest | undefined {
      const request = requests.get(id)
      if (request === undefined || request.visitor !== visitor) return undefined
      requests.remove(id)
      return request
    },

    /** A code for what was allowed. */
    allow: (request: AuthorizationRequest) => codes.add(request),

    /** A token for a code, once: whoever shows a code again makes its token worthless. RFC 6749 §4.1.2. */
    redeem(code: string, shown: { readonly clientId: string; readonly redirectUri: string; readonly codeVerifier: string }) {
      const allowed = codes.get(code)
      if (allowed === undefined) return undefined
      if (allowed.issued !== undefined) {
        tokens.remove(allowed.issued)
        return undefined
      }
      const { client, scopes } = allowed
      const isTheirs = client.id === shown.clientId && client.redirectUri === shown.redirectUri
      // A code has one try: a wrong one spends it too.
      allowed.issued = ''
      if (!isTheirs || allowed.codeChallenge !== challengeOf(shown.codeVerifier)) return undefined
      const token = tokens.add({ clientId: client.id, scopes })
      allowed.issued = token
      return { token, scopes }
    },

    token: (token: string) => tokens.get(token),
  }
}

/** Method S256. RFC 7636 §4.2. */
function challengeOf(codeVerifier: string): string {
  return createHash('sha256').update(codeVerifier).digest('base64url')
}

/** Nobody guesses it. */
export const randomName = () => randomBytes(32).toString('base64url')

/** Values under names that nobody guesses, each gone after `seconds`. */
function createExpiring<T>(now: () => number, seconds: number) {
  const entries = new Map<string, { readonly value: T; readonly until: number }>()
  return {
    add(value: T): string {
      // In a map the oldest stand first.
      for (const [name, { until }] of entries) {
        if (until > now()) break
        entries.delete(name)
      }
      const name = randomName()
      entries.set(name, { value, until: now() + seconds * 1000 })
      return name
    },
    get(name: string): T | undefined {
      const entry = entries.get(name)
      return entry !== undefined && entry.until > now() ? entry.value : undefined
    },
    remove: (name: string) => void entries.delete(name),
  }
}
