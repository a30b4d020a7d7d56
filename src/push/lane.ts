/**
 * The posts of one configuration, one after the other.
 *
 *   idle ──wake──► posting ──► idle (nothing left, or a pause until the next attempt) ──► over (ended, deleted, replaced)
 *
 * How far it is stands in the store alone and moves by commits after answers; so whatever dies, at most the post that was not
 * answered is made again.
 */

import type { Delivery, Push, PushProgress, PushRef, Store } from '../store/store.js'
import type { Log } from '../support/log.js'
import { openSecrets, type PushSecrets } from '../support/push-secrets.js'
import type { Vault } from '../support/vault.js'
import { sleep, type World } from '../support/world.js'
import { attempt } from './attempt.js'
import { backoff } from './backoff.js'
import type { Answer } from './judge-answer.js'
import { type NextPost, nextPost, smallBytes } from './next-post.js'
import type { Places } from './places.js'
import type { Post, PostRequest } from './post.js'
import { postHeaders } from './post-headers.js'
import { progressAfter } from './progress-after.js'
import type { PushSettings } from './push-options.js'

export interface LaneNeeds {
  readonly store: Store
  readonly world: World
  readonly log: Log
  readonly vault: Vault
  readonly places: Places
  readonly largePlaces: Places
  /** Does one thing at a time: what is read is small or waits outside, so one large post is in memory that has no place yet. */
  readonly inTurn: <T>(read: () => Promise<T>) => Promise<T>
  readonly post: Post
  readonly settings: PushSettings
}

export interface Lane {
  /** There may be something to post. */
  wake(): void
  /** Begins no post any more; settles when the one that is under way is over. */
  close(): Promise<void>
  /** The same, and the post that is under way is given up. */
  stop(): void
}

/** What the store could not do is tried again after so long. */
const againMs = 1_000

/** @param onOver called once there is nothing more to post for ever */
export function createLane(push: PushRef, needs: LaneNeeds, onOver: () => void): Lane {
  const { store, world, log, settings } = needs
  /** For what is under way, and for what is to begin. */
  const end = new AbortController()
  const closing = new AbortController()
  let isAwake = false
  let running: Promise<void> | undefined
  let clearPause: (() => void) | undefined

  function wake(): void {
    if (closing.signal.aborted || clearPause) return
    isAwake = true
    running ??= run().finally(() => {
      running = undefined
      // Woken between its last look and here.
      if (isAwake) wake()
    })
  }

  async function run(): Promise<void> {
    try {
      while (isAwake) {
        isAwake = false
        while (await step()) {}
      }
    } catch (error) {
      isAwake = false
      if (closing.signal.aborted) return
      log.error('a push could not be made; it is tried again', { error })
      pause(againMs)
    }
  }

  function pause(ms: number): void {
    if (closing.signal.aborted) return
    clearPause = world.timer(ms, () => {
      clearPause = undefined
      wake()
    })
  }

  /** Whether there may be more to do. */
  async function step(): Promise<boolean> {
    closing.signal.throwIfAborted()
    const found = await store.push(push)
    if (!found || found.progress.state === 'ended') {
      onOver()
      return false
    }
    const { opens, after, due = 0 } = found.progress
    if (due > world.now()) {
      pause(due - world.now())
      return false
    }
    if (!opens && after >= found.task.lastSeq) return false
    return (await postFrom(needs.places, found, smallBytes)) ?? (await postFrom(needs.largePlaces, found)) ?? false
  }

  /** Undefined for a post of more than `mostBytes`: it is read again when it has a place, so that none waits in memory. */
  async function postFrom(places: Places, found: Push, mostBytes = Number.POSITIVE_INFINITY): Promise<boolean | undefined> {
    const { host } = new URL(found.config.url)
    const leave = await places.take(host, { isFailing: isFailing(found.progress), signal: closing.signal })
    try {
      const next = await needs.inTurn(() => nextPost(store, found, settings.coalesce))
      if (next && next.body.length > mostBytes) return undefined
      return next !== undefined && (await post(found, next))
    } finally {
      leave()
    }
  }

  async function post(found: Push, next: NextPost): Promise<boolean> {
    const secrets = await secretsOf(found)
    if (!secrets) {
      await settle(found, next.number, world.now(), { failure: 'secrets' })
      return true
    }
    const progress = next.isOpen ? { ...found.progress, until: next.number } : found.progress
    if (next.isOpen) await advance(progress)
    await makeAttempt({ ...found, progress }, next.number, requestOf(found, next, secrets))
    return true
  }

  async function secretsOf({ task: { id: taskId }, config: { id, sealed } }: Push): Promise<PushSecrets | undefined> {
    try {
      return await openSecrets(needs.vault, { taskId, id }, sealed)
    } catch (error) {
      log.error('the secrets of a push configuration cannot be opened, and it ends', { taskId, configId: id, error })
      return undefined
    }
  }

  function requestOf({ task, config }: Push, { number, body }: NextPost, secrets: PushSecrets): PostRequest {
    const { id, url, scheme } = config
    return { url, body, headers: postHeaders({ taskId: task.id, configId: id, number }, { scheme, ...secrets }, world) }
  }

  async function makeAttempt(found: Push, number: number, request: PostRequest): Promise<void> {
    const at = world.now()
    const answer = await attempt(request, { post: needs.post, world, timeoutMs: settings.timeoutMs, signal: end.signal })
    await settle(found, number, at, answer)
  }

  async function settle(found: Push, number: number, at: number, answer: Answer): Promise<void> {
    const made = found.progress.attempts + 1
    const retryAt = world.now() + backoff(world, settings.backoffMs, made)
    const { progress, outcome } = progressAfter(found, { number, answer, attempts: settings.attempts, retryAt })
    const delivery: Omit<Delivery, 'configId'> = { number, attempt: made, at, outcome, ...answer }
    await advance(progress, delivery)
    tell(found, delivery, progress)
  }

  /** Until it is committed: what is answered is not posted again. */
  async function advance(progress: PushProgress, delivery?: Omit<Delivery, 'configId'>): Promise<void> {
    for (;;) {
      try {
        return await store.advancePush(push, progress, delivery)
      } catch (error) {
        end.signal.throwIfAborted()
        log.warn('what came of a push could not be kept; it is tried again', { error })
        await sleep(world, againMs, end.signal)
        // It may have taken effect all the same.
        const now = await store.push(push).catch(() => undefined)
        if (now && isSame(now.progress, progress)) return
      }
    }
  }

  /** Never with the URL, which may hold what nobody else should read. */
  function tell({ task, config }: Push, { number, outcome, status, failure }: Omit<Delivery, 'configId'>, { state, drops }: PushProgress) {
    const fields = { taskId: task.id, configId: config.id, number, ...(status !== undefined && { status }), ...(failure && { failure }) }
    if (outcome === 'ended' && status !== undefined) log.info('a receiver of pushes wants no more', fields)
    if (outcome !== 'dropped') return
    log.warn('a push was dropped', fields)
    if (state === 'resting') log.warn('a receiver of pushes is told of interrupted and final states only', { ...fields, drops })
  }

  function beginNothing(): void {
    closing.abort(new Error('nothing more is posted to this configuration'))
    clearPause?.()
  }

  return {
    wake,
    async close() {
      beginNothing()
      await running
    },
    stop() {
      beginNothing()
      end.abort(closing.signal.reason)
    },
  }
}

function isFailing({ attempts, drops }: PushProgress): boolean {
  return attempts > 0 || drops > 0
}

function isSame(a: PushProgress, b: PushProgress): boolean {
  return (['after', 'opens', 'until', 'attempts', 'drops', 'state'] as const).every((name) => a[name] === b[name])
}
