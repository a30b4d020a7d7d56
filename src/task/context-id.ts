/** Ids of contexts: ours name their owner in a way that only we can write and read. Spec §3.4, D4. */

import { hmac, isEqual, toBase64url, utf8 } from '../support/crypto.js'
import { uuid, type World } from '../support/world.js'

export interface ContextOwner {
  readonly tenant: string
  readonly owner: string
}

/**
 * - `own`: made by the server for this caller
 * - `foreign`: of the server's form, but not this caller's, whether it exists or not
 * - `named`: any other form: the caller's own name for a context of its own
 */
export type ContextJudgement = 'own' | 'foreign' | 'named'

const serverForm = /^ctx-([0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})-([A-Za-z0-9_-]{22})$/

/** A new id of the form `ctx-<UUIDv7>-<authenticator over tenant, owner and the UUID>`. */
export function makeContextId(key: Uint8Array, caller: ContextOwner, world: World): string {
  const name = uuid(world)
  return `ctx-${name}-${authenticator(key, caller, name)}`
}

export function judgeContextId(key: Uint8Array, caller: ContextOwner, id: string): ContextJudgement {
  const [, name, given] = serverForm.exec(id) ?? []
  if (name === undefined || given === undefined) return 'named'
  return isEqual(utf8(given), utf8(authenticator(key, caller, name))) ? 'own' : 'foreign'
}

function authenticator(key: Uint8Array, caller: ContextOwner, name: string): string {
  return toBase64url(hmac(key, 'context', caller.tenant, caller.owner, name).subarray(0, 16))
}
