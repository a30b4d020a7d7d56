/** The part of a store's contract that is about push: configurations, how far their receivers have been told, and the attempts to tell them. */

import type { TaskHeader, TaskRef } from './store.js'

/** A push configuration as it is kept: `taskId` and `tenant` are the task's, and what must not be read at rest is sealed. */
export interface StoredPushConfig {
  readonly id: string
  readonly url: string
  /** Of its authentication. */
  readonly scheme?: string
  /** Token and credentials, where it has them; the store does not look into it. */
  readonly sealed?: string
}

declare const pushRef: unique symbol
/** Ties to one making of a configuration: one that takes its place has another. None is given twice while the store is open. */
export type PushRef = number & { readonly [pushRef]: true }

/** How far the receiver of a configuration has been told. */
export interface PushProgress {
  /** Number of the newest event that is done with. */
  readonly after: number
  /** The Task as of `after` is to be posted before the events (D24). */
  readonly opens: boolean
  /** Number of the last event in the next post, where it has been settled that it holds several. */
  readonly until?: number
  /** Attempts of the next post that failed. */
  readonly attempts: number
  /** The next attempt is not made before, in milliseconds. */
  readonly due?: number
  /** Posts dropped in a row. */
  readonly drops: number
  /** D23: a resting one is told of interrupted and final states only, one that has ended of nothing more. */
  readonly state: 'active' | 'resting' | 'ended'
}

/** A configuration with the place where its posts stand. */
export interface Push {
  readonly task: Pick<TaskHeader, 'ref' | 'id' | 'state' | 'lastSeq'>
  readonly config: StoredPushConfig
  readonly progress: PushProgress
}

/** One attempt to post to the receiver of a push configuration. */
export interface Delivery {
  readonly configId: string
  /** Of the newest event in the post: the last part of its `Idempotency-Key`. */
  readonly number: number
  /** 1, 2, …: of this post. */
  readonly attempt: number
  /** When it began, in milliseconds. */
  readonly at: number
  /** `failed`: it is tried again. `dropped`: it is not. `ended`: nor is anything else of this configuration. */
  readonly outcome: 'delivered' | 'failed' | 'dropped' | 'ended'
  /** Of the answer; absent where there was none. */
  readonly status?: number
  /** Why there was none: no connection or a broken one, no answer in time, an address that the guard refuses, or secrets that cannot be opened. */
  readonly failure?: 'connection' | 'timeout' | 'address' | 'secrets'
}

/** A configuration that has not ended. */
export interface OpenPush {
  readonly push: PushRef
  readonly ref: TaskRef
  /** Whether something is left to post. */
  readonly isBehind: boolean
}

export interface PushStore {
  /** Makes or replaces the configuration of that id. It begins with the Task as it is by then. */
  putPushConfig(ref: TaskRef, config: StoredPushConfig): Promise<void>
  getPushConfig(ref: TaskRef, id: string): Promise<StoredPushConfig | undefined>
  /** In the order of their making, after the one with id `after`. */
  listPushConfigs(ref: TaskRef, options: { readonly after?: string; readonly limit: number }): Promise<readonly StoredPushConfig[]>
  /** Deleting what is not there is fine. Its deliveries go with it. */
  deletePushConfig(ref: TaskRef, id: string): Promise<void>

  /** The configuration as long as it is this one: not deleted, not replaced. */
  push(push: PushRef): Promise<Push | undefined>
  /** Those of a task that have not ended. */
  pushes(ref: TaskRef): Promise<readonly PushRef[]>
  /** Those of all tasks that have not ended, `limit` at a time, after `after`. */
  openPushes(options: { readonly after?: PushRef; readonly limit: number }): Promise<readonly OpenPush[]>
  /** Sets how far it is, and keeps `delivery` as the newest of its last 100. Where it is not this one any more nothing is written. */
  advancePush(push: PushRef, progress: PushProgress, delivery?: Omit<Delivery, 'configId'>): Promise<void>
  /** Of the task's configurations, oldest first. */
  deliveries(ref: TaskRef): Promise<readonly Delivery[]>

  /** Told after each commit that made, replaced or deleted a push configuration of this task, or may have. Returns the function that ends it. */
  onPushConfig(listener: (ref: TaskRef) => void): () => void
}
