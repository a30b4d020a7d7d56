/** The runs of this process: at most so many at a time, one for a task, the rest waiting in order. */

import type { GuardedFetch } from '../net/guarded-fetch.js'
import { UnavailableError } from '../protocol/errors.js'
import { isFinal } from '../protocol/states.js'
import type { Message } from '../protocol/wire.js'
import type { Claimed, Store, TaskHeader, TaskRef } from '../store/store.js'
import type { Log } from '../support/log.js'
import { sleep, uuid, type World } from '../support/world.js'
import { agentMessage, nextTimestamp, statusEvent } from '../task/make-event.js'
import type { Agent, Turn } from './agent.js'
import type { Feed } from './feed.js'
import { Run } from './run.js'
import { historyUpTo } from './task-handle.js'

/** A run that was told to stop keeps its place for so long at most: a hung agent must not stop the others. */
const lingerMs = 10_000
/** Pauses between attempts to record that a run was lost. */
const lostPauseMs = { first: 1_000, most: 30_000 }

interface RunsOptions {
  readonly agent: Agent
  readonly store: Store
  readonly feed: Feed
  readonly world: World
  readonly log: Log
  /** Absent where there are no sockets. */
  readonly fetch?: GuardedFetch | undefined
  readonly concurrency: number
  /** How long running turns may go on at shutdown, in milliseconds. */
  readonly graceMs: number
}

export interface Runs {
  /** Names this process start as the holder of its tasks. */
  readonly holder: string
  /** Takes a free place, if there is one; `begin` or `release` gives it on. */
  reserve(): boolean
  release(): void
  /** Starts the turn of a task that was claimed for `holder`, in the place reserved for it. */
  begin(claimed: Claimed, turn: Turn, history: readonly Message[]): void
  /** Starts the turn as soon as there is a place, unless the task has been claimed or finished by then. */
  enqueue(header: TaskHeader, turn: Turn): void
  /** After CANCELED is committed: nothing more of the run is heard, and its signal fires. */
  cancel(ref: TaskRef): void
  /** No new turns; running ones may go on for `graceMs` and are then told to stop. */
  close(): Promise<void>
}

export function createRuns(options: RunsOptions): Runs {
  const { store, feed, world, log, concurrency } = options
  const holder = uuid(world)
  /** The run that a task has now. One that was told to stop may keep its place beside it for a while. */
  const active = new Map<TaskRef, Run>()
  const placed = new Set<Run>()
  const queue: { readonly header: TaskHeader; readonly turn: Turn }[] = []
  const closing = new AbortController()
  let taken = 0

  function reserve(): boolean {
    if (taken >= concurrency || closing.signal.aborted) return false
    taken++
    return true
  }

  function release(): void {
    taken--
    const next = queue[0]
    if (next && reserve()) {
      queue.shift()
      void startQueued(next.header, next.turn)
    }
  }

  async function startQueued(header: TaskHeader, turn: Turn): Promise<void> {
    try {
      const claimed = await store.claim(header.ref, holder)
      if (claimed) return begin(claimed, turn, historyUpTo(turn.message, (await store.read(header.ref)).text))
    } catch (error) {
      log.error('a waiting task could not be started', { error })
      void recordLost(header)
    }
    release()
  }

  function enqueue(header: TaskHeader, turn: Turn): void {
    if (queue.length === 0 && reserve()) void startQueued(header, turn)
    else queue.push({ header, turn })
  }

  function begin(claimed: Claimed, turn: Turn, history: readonly Message[]): void {
    const { ref } = claimed.header
    const run = new Run({ ...options, claimed, holder, turn, history })
    active.set(ref, run)
    placed.add(run)
    run.signal.addEventListener('abort', () => onDetached(ref, run), { once: true })
    void run.settled.then(() => leave(ref, run))
  }

  function leave(ref: TaskRef, run: Run): void {
    if (!placed.delete(run)) return
    if (active.get(ref) === run) active.delete(ref)
    release()
  }

  function onDetached(ref: TaskRef, run: Run): void {
    if (run.detached === 'lost') void recordLost(run.header)
    world.timer(lingerMs, () => leave(ref, run))
  }

  /** A task whose run was lost is failed as soon as the store is able to say so. */
  async function recordLost({ ref, caller, id }: TaskHeader): Promise<void> {
    for (let pause = lostPauseMs.first; !closing.signal.aborted; pause = Math.min(pause * 2, lostPauseMs.most)) {
      try {
        await sleep(world, pause, closing.signal)
        // What was lost may have been the task itself.
        if (!(await store.find(caller, id))) return
        await store.update(ref, (header) => ({
          result: undefined,
          ...failUnfinished(header, 'The server could not store what the agent did.', world),
        }))
        return
      } catch (error) {
        if (closing.signal.aborted) return
        log.warn('a lost run could not be recorded yet', { error })
        // Whoever waits learns it now, not when the store has recovered.
        feed.interrupt(ref, new UnavailableError('What the agent did could not be stored. Read the task again later.', { cause: error }))
      }
    }
  }

  async function close(): Promise<void> {
    closing.abort('shutdown')
    queue.length = 0
    if (placed.size === 0) return
    const settled = Promise.all([...placed].map((run) => run.settled))
    const grace = new AbortController()
    await Promise.race([settled, sleep(world, options.graceMs, grace.signal, { holds: true }).catch(() => undefined)])
    grace.abort()
    for (const run of placed) run.detach('shutdown')
  }

  return {
    holder,
    reserve,
    release,
    begin,
    enqueue,
    cancel: (ref) => active.get(ref)?.detach('canceled'),
    close,
  }
}

/** The write that fails a task which nobody works on any more; none if it is at rest. */
export function failUnfinished(header: TaskHeader, reason: string, world: World) {
  if (isFinal(header.state) || header.waiting !== undefined) return {}
  const message = agentMessage(header, uuid(world), [{ text: reason }])
  const event = statusEvent(header, 'TASK_STATE_FAILED', nextTimestamp(header.statusTimestamp, world.now()), message)
  return { write: { events: [event], holder: null } }
}
