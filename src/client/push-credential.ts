/** Credentials that show by themselves who made them: nothing is kept, so that a receiver that starts anew still knows its own. */

import { hmac, isEqual, toBase64url, utf8 } from '../support/crypto.js'
import type { World } from '../support/world.js'

export interface PushCredentials {
  make(): { readonly id: string; readonly credential: string }
  /** The id in a credential of this maker's; undefined for any other text, found out in the same time. */
  idOf(credential: string): string | undefined
}

const idBytes = 16

/** @param secret what nobody can guess; credentials made under another one are strangers */
export function pushCredentials(secret: string, world: Pick<World, 'randomBytes'>): PushCredentials {
  const key = utf8(secret)
  const withProof = (id: string) => `${id}.${toBase64url(hmac(key, 'push credential', id))}`
  return {
    make() {
      const id = toBase64url(world.randomBytes(idBytes))
      return { id, credential: withProof(id) }
    },
    idOf(credential) {
      // Ids are of one length, so that no long one costs a long digest.
      const [, id] = /^([\w-]{22})\./.exec(credential) ?? []
      return id !== undefined && isEqual(utf8(withProof(id)), utf8(credential)) ? id : undefined
    },
  }
}
