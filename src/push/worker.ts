/** The outbox: watches the configurations that are open, and wakes each of them when its task's log has grown. */

import type { PushRef, Store, TaskRef } from '../store/store.js'
import type { Log } from '../support/log.js'
import type { Vault } from '../support/vault.js'
import type { World } from '../support/world.js'
import { chance } from './backoff.js'
import { createLane, type Lane, type LaneNeeds } from './lane.js'
import { createPlaces, largePlaceLimits, placeLimits } from './places.js'
import type { Post } from './post.js'
import type { PushSettings } from './push-options.js'

/** What no wake-up told of is found after so long. */
const pollMs = 60_000
/** After a start those that are behind begin within so long, each by chance: their receivers may be few. */
const spreadMs = 1_000
const page = 500

interface PushWorkerOptions {
  readonly store: Store
  readonly world: World
  readonly log: Log
  readonly vault: Vault
  readonly post: Post
  readonly settings: PushSettings
  /** Posts that are under way when the worker is closed may take so long. */
  readonly graceMs: number
}

export interface PushWorker {
  start(): void
  /** No post begins any more; settles when those under way are answered and kept, or were given up unanswered. */
  close(): Promise<void>
}

export function createPushWorker({ graceMs, ...options }: PushWorkerOptions): PushWorker {
  const { store, world, log } = options
  const needs: LaneNeeds = {
    ...options,
    places: createPlaces(world, placeLimits),
    largePlaces: createPlaces(world, largePlaceLimits),
    inTurn,
  }
  const watched = new Map<TaskRef, Map<PushRef, Lane>>()
  /** Tasks whose configurations are being looked up; true where that has to be done again. */
  const looking = new Map<TaskRef, boolean>()
  let turn: Promise<unknown> = Promise.resolve()
  let clearPoll = () => {}
  let isClosed = false

  // A task without configurations costs one look into a map.
  const stopCommits = store.onCommit((ref) => {
    for (const lane of watched.get(ref)?.values() ?? []) lane.wake()
  })
  const stopConfigs = store.onPushConfig((ref) => void look(ref))

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = turn.then(work)
    turn = done.catch(() => {})
    return done
  }

  function laneOf(ref: TaskRef, push: PushRef): Lane {
    const lanes = watched.get(ref) ?? new Map<PushRef, Lane>()
    watched.set(ref, lanes)
    const lane = lanes.get(push) ?? createLane(push, needs, () => leave(ref, push))
    lanes.set(push, lane)
    return lane
  }

  function leave(ref: TaskRef, push: PushRef): void {
    const lanes = watched.get(ref)
    lanes?.delete(push)
    if (lanes?.size === 0) watched.delete(ref)
  }

  async function look(ref: TaskRef): Promise<void> {
    if (looking.has(ref)) return void looking.set(ref, true)
    do {
      looking.set(ref, false)
      try {
        await follow(ref)
      } catch (error) {
        if (!isClosed) log.warn('the push configurations of a task were not found; they are looked for again', { error })
      }
    } while (looking.get(ref))
    looking.delete(ref)
  }

  async function follow(ref: TaskRef): Promise<void> {
    const open = new Set(await store.pushes(ref))
    for (const [push, lane] of watched.get(ref) ?? []) {
      if (open.has(push)) continue
      lane.stop()
      leave(ref, push)
    }
    if (isClosed) return
    for (const push of open) if (!watched.get(ref)?.has(push)) laneOf(ref, push).wake()
  }

  async function lookAtAll(): Promise<void> {
    for (let after: PushRef | undefined; !isClosed; ) {
      const found = await store.openPushes({ limit: page, ...(after !== undefined && { after }) })
      // The store is about to be closed.
      if (isClosed) return
      for (const { push, ref, isBehind } of found) {
        const lane = laneOf(ref, push)
        if (isBehind) world.timer(chance(world) * spreadMs, lane.wake)
      }
      after = found.at(-1)?.push
      if (after === undefined) return
    }
  }

  function poll(): void {
    lookAtAll().catch((error) => {
      if (!isClosed) log.warn('the push configurations that are behind were not found; they are looked for again', { error })
    })
    clearPoll = world.timer(pollMs, poll)
  }

  return {
    start: poll,
    async close() {
      isClosed = true
      stopCommits()
      stopConfigs()
      clearPoll()
      const lanes = [...watched.values()].flatMap((ofTask) => [...ofTask.values()])
      const clear = world.timer(graceMs, () => {
        for (const lane of lanes) lane.stop()
      })
      await Promise.all(lanes.map((lane) => lane.close()))
      clear()
    },
  }
}
