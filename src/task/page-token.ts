/** Page tokens: where a walk through the list stands, sealed for the caller and the filters it began with. Spec §3.1.4, D20. */

import { fromBase64url, type Piece, seal, toBase64url, unseal, utf8 } from '../support/crypto.js'

/** Where a walk stands after a page. */
export interface PagePosition {
  readonly revision: number
  /** Sort key of the last task given out, in milliseconds. */
  readonly statusTimestamp: number
  readonly id: string
  readonly total: number
}

/** What a token is good for: the same caller asking for the same list. */
export interface PageScope {
  readonly caller: { readonly tenant: string; readonly owner: string }
  readonly contextId?: string
  readonly state?: string
  /** Milliseconds. */
  readonly since?: number
}

/** Characters; ours have half as many at most. What is longer is not worth the time to unseal it. */
const longestToken = 512

/**
 * Opaque text. The position is not readable from it: revisions count the commits of all callers, which are no
 * business of this one.
 */
export function encodePageToken(key: Uint8Array, scope: PageScope, position: PagePosition): string {
  const plain = JSON.stringify([position.revision, position.statusTimestamp, position.id, position.total])
  return toBase64url(seal(key, bindings(scope), utf8(plain)))
}

/** The position in a token made for this very scope; undefined for everything else. */
export function decodePageToken(key: Uint8Array, scope: PageScope, token: string): PagePosition | undefined {
  const sealed = token.length <= longestToken ? fromBase64url(token) : undefined
  const plain = sealed && unseal(key, bindings(scope), sealed)
  if (plain === undefined) return undefined
  // Only encodePageToken has the key, so this is what it wrote.
  const [revision, statusTimestamp, id, total] = JSON.parse(new TextDecoder().decode(plain)) as [number, number, string, number]
  return { revision, statusTimestamp, id, total }
}

function bindings({ caller, contextId, state, since }: PageScope): readonly Piece[] {
  return ['page', caller.tenant, caller.owner, contextId ?? '', state ?? '', since === undefined ? '' : String(since)]
}
