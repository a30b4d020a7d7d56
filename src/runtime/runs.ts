/** The runs of this process: at most so many at work, one for a task, the waiting ones beside them. */

import { UnavailableError } from '../protocol/errors.js'
import type { Claimed, TaskHeader, TaskRef } from '../store/store.js'
import { sleep, uuid } from '../support/world.js'
import { createDispatcher } from './dispatch.js'
import type { LeftRecord } from './ledger.js'
import { createPlaces, type Places, placeAmong, type RunPlace } from './places.js'
import { Run } from './run.js'
import type { RunNeeds } from './run-needs.js'
import type { StopReason } from './task.js'
import type { BegunTurn } from './turn.js'

/** A run that was told to stop keeps its place for so long at most: a hung agent must not stop the others. */
const lingerMs = 10_000
/** Pauses between attempts to give a task back. */
const pauseMs = { first: 1_000, most: 30_000 }

export interface RunsOptions extends RunNeeds {
  /** Runs at work at a time. */
  readonly concurrency: number
  /** Waiting runs that are kept in memory; beyond that the longest waiting one is given back and rerun when its time comes. */
  readonly waitingRuns: number
  /** How long runs may go on at shutdown, in milliseconds. */
  readonly graceMs: number
}

export interface Runs {
  /** Names this process start as the holder of its tasks. */
  readonly holder: string
  /** Takes a free place, if there is one; `begin` or `release` gives it on. */
  reserve(): boolean
  release(): void
  /** Starts the first turn of a task that is being created, claimed for `holder`, in the place reserved for it. */
  begin(claimed: Pick<Claimed, 'header' | 'memory'>, begun: BegunTurn): void
  /** From here on, whatever task is runnable is taken up as soon as there is a place. */
  start(): void
  /** After CANCELED is committed: nothing more of the run is heard, and its signal fires. */
  cancel(ref: TaskRef): void
  /** After something was committed that the task's run may wait for. */
  wake(ref: TaskRef): void
  /** No new turns; runs are handed back as soon as that loses nothing, at the latest after `graceMs`. */
  close(): Promise<void>
}

export function createRuns(options: RunsOptions): Runs {
  const { store, feed, world, log } = options
  const holder = uuid(world)
  /** The run that a task has now. One that was told to stop may keep its place beside it for a while. */
  const active = new Map<TaskRef, Run>()
  const waiting = new Set<Run>()
  const handing = new WeakSet<Run>()
  const leaving = new Set<Promise<void>>()
  const places: Places = createPlaces(options.concurrency, () => dispatcher.wake())
  /** The run of a task, unless it was told to stop. */
  const liveRun = (ref: TaskRef) => {
    const run = active.get(ref)
    return run?.detached === undefined ? run : undefined
  }
  const dispatcher = createDispatcher({
    ...options,
    holder,
    places,
    begin: (claimed, begun, records) => beginRun(claimed, begun, { records, isNew: false }),
    wakeRun: (ref) => {
      const run = liveRun(ref)
      run?.wake()
      return run !== undefined
    },
    giveBack: (header) => giveBack(header),
    running: () => active.size,
    wakeAll: () => {
      for (const run of waiting) run.wake()
    },
  })
  const stopListening = store.onCommit((ref) => active.get(ref)?.wake())
  const closing = new AbortController()
  /** Places that are reserved for tasks which are being created. */
  let reserved = 0
  let onReserved = () => {}
  const reservation = () => {
    reserved--
    onReserved()
  }

  function beginRun(
    claimed: Pick<Claimed, 'header' | 'memory'>,
    begun: BegunTurn,
    more: { readonly records: readonly LeftRecord[]; readonly isNew: boolean },
  ): void {
    const { ref } = claimed.header
    const place = placeAmong(places)
    const run: Run = new Run({
      ...options,
      claimed,
      begun,
      ...more,
      holder,
      place,
      onOpen: (due) => {
        waiting.add(run)
        evict()
        if (due !== undefined) dispatcher.dueAt(due)
      },
      onOver: () => void waiting.delete(run),
      onReady: () => handBack(run, 'shutdown'),
    })
    // Whoever had the task before has lost it, and may not know yet.
    active.get(ref)?.detach('fenced')
    active.set(ref, run)
    run.signal.addEventListener('abort', () => onDetached(run, place), { once: true })
    void run.settled.then(() => leave(run, place))
    if (closing.signal.aborted) run.close()
  }

  function leave(run: Run, place: RunPlace): void {
    place.end()
    waiting.delete(run)
    if (active.get(run.header.ref) === run) active.delete(run.header.ref)
  }

  function onDetached(run: Run, place: RunPlace): void {
    if (run.detached === 'lost') giveBack(run.header)
    waiting.delete(run)
    const clear = world.timer(lingerMs, () => leave(run, place))
    // Until then the timer would keep all of the run in memory.
    void run.settled.then(clear)
  }

  /** Beyond the bound, those that have waited longest go. */
  function evict(): void {
    let over = waiting.size - options.waitingRuns
    for (const run of waiting) {
      if (over <= 0) return
      if (!run.isWaiting) continue
      over--
      waiting.delete(run)
      handBack(run, 'evicted')
    }
  }

  /** By a commit; only then the run is told. */
  function handBack(run: Run, reason: StopReason): void {
    if (handing.has(run)) return
    handing.add(run)
    // A step that it calls meanwhile is the next run's to do: the wait that it rests on may have lost a race.
    run.close()
    const { ref, epoch } = run.header
    const given = clearHolder(ref, epoch).then(
      () => run.detach(reason),
      (error) => {
        log.warn('a run could not be handed back', { error })
        run.detach('lost')
      },
    )
    track(given)
  }

  /** Of the run of that epoch, or else of whatever has no run here. */
  async function clearHolder(ref: TaskRef, epoch?: number): Promise<void> {
    await store.update(ref, (header) => {
      const isMeant = epoch === undefined ? liveRun(ref)?.header.epoch !== header.epoch : header.epoch === epoch
      return header.holder === holder && isMeant ? { result: undefined, write: { events: [], holder: null } } : { result: undefined }
    })
  }

  /** A task of ours that has no run: given back as soon as the store is able to do so. */
  function giveBack(header: TaskHeader): void {
    track(untilGivenBack(header))
  }

  async function untilGivenBack({ ref, caller, id }: TaskHeader): Promise<void> {
    for (let pause = pauseMs.first; ; pause = Math.min(pause * 2, pauseMs.most)) {
      try {
        await sleep(world, pause, closing.signal).catch(() => undefined)
        // What was lost may have been the task itself.
        if (await store.find(caller, id)) await clearHolder(ref)
        return
      } catch (error) {
        log.warn('a task could not be given back yet', { error })
        // Whoever waits learns it now, not when the store has recovered.
        feed.interrupt(ref, new UnavailableError('What the agent did could not be stored. Read the task again later.', { cause: error }))
        if (closing.signal.aborted) return
      }
    }
  }

  /** A stop waits for it. It does not reject. */
  function track(work: Promise<void>): void {
    leaving.add(work)
    void work.then(() => leaving.delete(work))
  }

  async function close(): Promise<void> {
    closing.abort()
    await dispatcher.close()
    const runs = () => [...active.values()].filter((run) => run.detached === undefined)
    for (const run of runs()) run.close()
    const grace = new AbortController()
    const gone = (async () => {
      // A task that is just being created is claimed in that very commit, and its run is yet to come.
      while (reserved > 0) await new Promise<void>((resolve) => (onReserved = resolve))
      await Promise.all(runs().map((run) => Promise.race([run.settled, detached(run)])))
    })()
    await Promise.race([gone, sleep(world, options.graceMs, grace.signal, { holds: true }).catch(() => undefined)])
    grace.abort()
    for (const run of runs()) handBack(run, 'shutdown')
    await Promise.all(leaving)
    stopListening()
  }

  return {
    holder,
    reserve() {
      if (closing.signal.aborted || !places.take()) return false
      reserved++
      return true
    },
    release() {
      places.give()
      reservation()
    },
    begin(claimed, begun) {
      beginRun(claimed, begun, { records: [], isNew: true })
      reservation()
    },
    start: dispatcher.start,
    cancel: (ref) => active.get(ref)?.detach('canceled'),
    wake: (ref) => active.get(ref)?.wake(),
    close,
  }
}

function detached(run: Run): Promise<void> {
  return new Promise((resolve) => {
    if (run.signal.aborted) resolve()
    else run.signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
