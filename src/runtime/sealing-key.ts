/** The key that a server seals with: the same at each start, for as long as anything depends on it. */

import type { PushRef, Store, TaskRef } from '../store/store.js'
import { hmac, isEqual } from '../support/crypto.js'
import { isSealedBody, keyFromSecret } from '../support/vault.js'

const page = 500

export interface SealingOptions {
  readonly secretKey: string | undefined
  /** What becomes of tasks that were sealed with another key: the start is refused, or it is given up and they fail. */
  readonly lostKey: 'refuse' | 'fail'
}

/**
 * The key from `secretKey`, or else the store's own. Which one it is is kept with the store, so that a run never begins
 * that could not read what it recorded.
 *
 * @throws {Error} while the store holds what was sealed with another key, or with one that is missing or cannot be read;
 * with `lostKey: 'fail'` only where the key that is there cannot be read
 */
export async function sealingKeyOf(store: Store, { secretKey, lostKey }: SealingOptions): Promise<Uint8Array> {
  const key = async (make: boolean) => (secretKey === undefined ? store.sealingKey({ make }) : keyFromSecret(secretKey))
  const kept = await store.sealingCheck()
  if (kept !== undefined) {
    try {
      const found = await key(false)
      if (isEqual(checkOf(found), kept)) return found
      throw wrongKey(secretKey)
    } catch (error) {
      if (lostKey === 'refuse' && (await holdsSealed(store))) throw error
    }
  }
  const chosen = await key(true)
  await store.keepSealingCheck(checkOf(chosen))
  return chosen
}

/** Says nothing of the key, whoever has it. */
const checkOf = (key: Uint8Array) => hmac(key, 'errand sealing check 1')

function wrongKey(secretKey: string | undefined): Error {
  return new Error(
    secretKey === undefined
      ? 'the key beside the store is not the one that its tasks were sealed with. Put the right one back, or start with the option secretKey if they were sealed with that; if it is lost, the option lostKey says what becomes of them'
      : 'the option secretKey is not the key that the tasks in the store were sealed with. Start with the one before it, or without the option if there was none, until those tasks have ended; if it is lost, the option lostKey says what becomes of them',
  )
}

/** Whether something that goes on needs what only the key opens. */
async function holdsSealed(store: Store): Promise<boolean> {
  return (await hasSealedTask(store)) || hasSealedPush(store)
}

async function hasSealedPush(store: Store): Promise<boolean> {
  for (let after: PushRef | undefined; ; ) {
    const found = await store.openPushes({ limit: page, ...(after !== undefined && { after }) })
    for (const { push } of found) if ((await store.push(push))?.config.sealed !== undefined) return true
    after = found.at(-1)?.push
    if (after === undefined) return false
  }
}

async function hasSealedTask(store: Store): Promise<boolean> {
  for (let after: TaskRef | undefined; ; ) {
    const found = await store.unfinished({ limit: page, ...(after !== undefined && { after }) })
    for (const { ref, turn, sealed } of found) {
      if (sealed || (await store.records(ref, turn)).some(({ body }) => isSealedBody(body))) return true
    }
    after = found.at(-1)?.ref
    if (after === undefined) return false
  }
}
