/** What people have been asked and have allowed: requests, codes and tokens, each for its time only. */

import { createHash, randomBytes } from 'node:crypto'
import type { CalendarMemory } from './memory.js'
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

export function createGrants(now: () => number, memory: Pick<CalendarMemory, 'tokens' | 'save'>) {
  const requests = createExpiring<AuthorizationRequest & { readonly visitor: string }>(now, lifetimes.request)
  const codes = createExpiring<AuthorizationRequest & { issued?: string }>(now, lifetimes.code)
  const tokens = createExpiring<Token>(now, lifetimes.token, memory.tokens)
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
        memory.save()
        return undefined
      }
      const { client, scopes } = allowed
      const isTheirs = client.id === shown.clientId && client.redirectUri === shown.redirectUri
      // A code has one try: a wrong one spends it too.
      allowed.issued = ''
      // The method S256. RFC 7636 §4.2.
      if (!isTheirs || allowed.codeChallenge !== digestOf(shown.codeVerifier)) return undefined
      const token = tokens.add({ clientId: client.id, scopes })
      allowed.issued = token
      memory.save()
      return { token, scopes }
    },

    token: (token: string) => tokens.get(token),
  }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

/** Nobody guesses it. */
export const randomName = () => randomBytes(32).toString('base64url')

export interface Expiring<T> {
  readonly value: T
  /** Milliseconds since 1970. */
  readonly until: number
}

/** Values under names that nobody guesses, each gone after `seconds`. Who reads `entries` reads the digests of the names. */
function createExpiring<T>(now: () => number, seconds: number, entries = new Map<string, Expiring<T>>()) {
  return {
    add(value: T): string {
      // In a map the oldest stand first.
      for (const [digest, { until }] of entries) {
        if (until > now()) break
        entries.delete(digest)
      }
      const name = randomName()
      entries.set(digestOf(name), { value, until: now() + seconds * 1000 })
      return name
    },
    get(name: string): T | undefined {
      const entry = entries.get(digestOf(name))
      return entry !== undefined && entry.until > now() ? entry.value : undefined
    },
    remove: (name: string) => void entries.delete(digestOf(name)),
  }
}
