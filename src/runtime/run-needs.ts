/** What runs need: those of a server in common, and each its own. */

import type { GuardedFetch } from '../net/guarded-fetch.js'
import type { Claimed, Store } from '../store/store.js'
import type { Log } from '../support/log.js'
import type { Vault } from '../support/vault.js'
import type { World } from '../support/world.js'
import type { Agent } from './agent.js'
import type { ConsentDesk } from './authorize.js'
import type { Feed } from './feed.js'
import type { LeftRecord } from './ledger.js'
import type { Place } from './places.js'
import type { BegunTurn } from './turn.js'

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

export interface RunOptions extends RunNeeds {
  readonly claimed: Pick<Claimed, 'header' | 'memory'>
  /** What earlier runs of this turn left, opened. */
  readonly records: readonly LeftRecord[]
  readonly holder: string
  readonly begun: BegunTurn
  /** Whether the task is not committed yet. */
  readonly isNew: boolean
  /** Of the run among those at work. */
  readonly place: Place
  /** A wait is open, until then at the latest. */
  readonly onOpen: (due: number | undefined) => void
  /** The wait is over. */
  readonly onOver: () => void
  /** The server stops, and the run can be handed back without a loss. */
  readonly onReady: () => void
}
