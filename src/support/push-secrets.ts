/** What a push configuration proves itself with to its receiver, and how it is kept: nobody reads it at rest. */

import type { Vault } from './vault.js'

export interface PushSecrets {
  readonly token?: string
  readonly credentials?: string
}

/** Sealed for this configuration and no other; undefined where there is nothing to seal. */
export async function sealSecrets(vault: Vault, where: PushPlace, { token, credentials }: PushSecrets): Promise<string | undefined> {
  if (token === undefined && credentials === undefined) return undefined
  return vault.seal(contextOf(where), JSON.stringify({ token, credentials }))
}

/** @throws {Error} for what was sealed with another key or for another configuration */
export async function openSecrets(vault: Vault, where: PushPlace, sealed: string | undefined): Promise<PushSecrets> {
  // sealSecrets wrote it, or nobody.
  return sealed === undefined ? {} : (JSON.parse(await vault.open(contextOf(where), sealed)) as PushSecrets)
}

export interface PushPlace {
  readonly taskId: string
  readonly id: string
}

const contextOf = ({ taskId, id }: PushPlace) => ['push', taskId, id]
