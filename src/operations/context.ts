/** What every operation may use, made once per server. */

import type { AddressGuard } from '../net/address-guard.js'
import type { Call, Reply } from '../protocol/call.js'
import { UnavailableError } from '../protocol/errors.js'
import type { OperationName } from '../protocol/operations.js'
import type { AgentCard, JsonObject } from '../protocol/wire.js'
import type { Agent } from '../runtime/agent.js'
import type { Feed } from '../runtime/feed.js'
import type { Runs } from '../runtime/runs.js'
import type { User } from '../runtime/task.js'
import type { Caller, Store } from '../store/store.js'
import type { Log } from '../support/log.js'
import type { Vault } from '../support/vault.js'
import type { World } from '../support/world.js'

export interface OperationContext {
  readonly agent: Agent
  readonly store: Store
  readonly feed: Feed
  readonly runs: Runs
  readonly world: World
  readonly log: Log
  /** Seals what is known about callers, for reruns, and the secrets of push configurations. */
  readonly vault: Vault
  /** Keys kept in the store. */
  readonly keys: { readonly contextId: Uint8Array; readonly pageToken: Uint8Array }
  /** D7: whether the same message sent twice is one send; `strict` refuses another content under the same id. */
  readonly idempotency: boolean | 'strict'
  /** D4: whether a client may bring a name of its own for a context. */
  readonly clientContextIds: boolean
  /** Objects and arrays within each other that a request may have. */
  readonly maxDepth: number
  /** Whether push configurations are taken. */
  readonly push: boolean
  /** Judges the addresses that callers want to be notified at. */
  readonly guard: AddressGuard
  /** Looks up the host of such an address. @throws {AddressRefusedError} */
  readonly checkAddresses: (url: URL) => Promise<void>
  /** Scopes needed by operation; those under `*` for the ones that are not named. */
  readonly scopes: { readonly [Name in OperationName | '*']?: readonly string[] }
  /** The server's card under its base URL `url`, with `more` in place of its own members; signed where the server signs. */
  readonly card: (url: string, more: JsonObject) => Promise<AgentCard>
}

export type Operation<Params> = (context: OperationContext, params: Params, call: Call) => Promise<Reply>

/** Whose rows a call may see. */
export function callerOf({ principal, tenant }: Call): Caller {
  return { tenant, owner: principal.id }
}

export function userOf({ principal }: Call): User {
  return { id: principal.id, claims: principal.claims }
}

export function answer(body: object): Reply {
  return { kind: 'one', body: JSON.stringify(body) }
}

/** What a caller reads when the server stops while it waits. A client takes it as: come back (D14). */
export function stopping(): UnavailableError {
  return new UnavailableError('The server is stopping. Try again, or subscribe to the task again.', { retryAfterSeconds: 1 })
}
