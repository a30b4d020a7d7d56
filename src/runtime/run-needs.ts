/** What every run of a server needs. */

import type { GuardedFetch } from '../net/guarded-fetch.js'
import type { Store } from '../store/store.js'
import type { Log } from '../support/log.js'
import type { Vault } from '../support/vault.js'
import type { World } from '../support/world.js'
import type { Agent } from './agent.js'
import type { ConsentDesk } from './authorize.js'
import type { Feed } from './feed.js'

export interface RunNeeds {
  readonly agent: Agent
  readonly store: Store
  readonly feed: Feed
  readonly world: World
  readonly log: Log
  readonly vault: Vault
  /** Absent where nobody can be asked for consent. */
  readonly desk: ConsentDesk | undefined
  /** Absent where there are no sockets. */
  readonly fetch: GuardedFetch | undefined
}
