/** Lets a machine go on until what is waited for has come, or nothing more can come: time moves by itself here. */

import type { TaskHeader } from '../store/store.js'
import { systemWorld } from '../support/world.js'
import { type Machine, neverMs } from './machine.js'

/** A machine on which something goes on for ever, or waits for what never comes. */
export class NoRestError extends Error {
  override readonly name = 'NoRestError'
}

/** Real time, in milliseconds, that is left to what no clock here tells of: a scenario that is busy with something else. */
export const defaultPatienceMs = 1_000

/** Timers that fire without anything coming of them before the machine counts as stuck: a week of looks every half a minute. */
const mostIdleTimers = 20_000
/** Timers that fire in all. */
const mostTimers = 500_000
const mostTasks = 10_000
/** When nothing has happened for so long to a task at work, and again after twice that, a step may take real time: it is left some. */
const firstLookMs = 60_000
const lookMs = 20

/**
 * What `work` gives. Whenever everything has settled and a caller waits for the agent, the clock moves on to the next timer.
 *
 * @throws {NoRestError} when nothing can come of it any more
 */
export async function outcomeOf<Result>(machine: Machine, work: Promise<Result>, patienceMs: number): Promise<Result> {
  let isDone = false
  const done = () => {
    isDone = true
  }
  work.then(done, done)
  await moveOn(machine, patienceMs, {
    isDone: async () => isDone,
    mayMove: () => machine.network.open() > 0 || machine.callers.pending() > 0,
  })
  return work
}

/**
 * Settles when no task is at work any more: each is final, waits for somebody, or for a signal.
 *
 * @throws {NoRestError} when one is at work for ever
 */
export function tasksAtRest(machine: Machine, patienceMs: number): Promise<void> {
  const isDone = async () => !(await isAny(machine, ({ waiting }) => waiting === undefined || waiting.kind === 'sleep'))
  return moveOn(machine, patienceMs, { isDone, mayMove: () => true })
}

interface Goal {
  readonly isDone: () => Promise<boolean>
  /** Whether anybody waits for time to pass. */
  readonly mayMove: () => boolean
}

async function moveOn(machine: Machine, patienceMs: number, { isDone, mayMove }: Goal): Promise<void> {
  let fired = 0
  let waitedMs = 0
  let last = { activity: machine.activity(), at: machine.now(), fired: 0, lookAfterMs: firstLookMs }
  for (;;) {
    await machine.advance(0)
    // A process that starts may have to ask others for keys, which no clock tells of.
    await machine.ask(() => {})
    if (await isDone()) return
    if (machine.activity() !== last.activity) last = { activity: machine.activity(), at: machine.now(), fired, lookAfterMs: firstLookMs }
    const due = machine.nextDue() ?? Number.POSITIVE_INFINITY
    if (!mayMove() || due - machine.now() > neverMs / 2) {
      if (waitedMs++ >= patienceMs) throw new NoRestError('nothing goes on that the clock could move')
      await realPause()
      continue
    }
    if (due - last.at > last.lookAfterMs && (await isAny(machine, ({ waiting }) => waiting === undefined))) {
      if (!(await isQuiet(machine))) continue
      last.lookAfterMs *= 2
    }
    if (fired++ >= mostTimers) throw new NoRestError(`something goes on for ever: ${mostTimers} timers fired`)
    if (fired - last.fired > mostIdleTimers) {
      if (!(await isAnythingDue(machine))) throw new NoRestError('nothing goes on, and no task waits for a time to come')
      last.fired = fired
    }
    await machine.advance(Math.max(0, due - machine.now()))
  }
}

/** Whether any task that is not final is `so`. */
function isAny(machine: Machine, so: (header: TaskHeader) => boolean): Promise<boolean> {
  return machine.ask(async ({ store }) => (await store.unfinished({ limit: mostTasks })).some(so))
}

function isAnythingDue(machine: Machine): Promise<boolean> {
  return machine.ask(async ({ store }) => ((await store.nextDue()) ?? 0) > machine.now())
}

/** Whether nothing happens for a while of real time. */
async function isQuiet(machine: Machine): Promise<boolean> {
  const before = machine.activity()
  for (let ms = 0; ms < lookMs; ms++) {
    await realPause()
    if (machine.activity() !== before) return false
  }
  return true
}

/** A millisecond of the host's clock, during which other threads and sockets come to their turn. */
function realPause(): Promise<void> {
  return new Promise((resolve) => void systemWorld.timer(1, resolve, { holds: true }))
}
