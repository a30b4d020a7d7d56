/** Finds the tasks that somebody has to take up, and takes them up as there are places: from job rows, and from times that have come. */

import { isFinal } from '../protocol/states.js'
import type { Claimed, Store, TaskHeader, TaskRef } from '../store/store.js'
import type { Log } from '../support/log.js'
import { openBody, type Vault } from '../support/vault.js'
import type { World } from '../support/world.js'
import { failTask, unreadable } from './fail-task.js'
import type { LeftRecord } from './ledger.js'
import type { Places } from './places.js'
import { type BegunTurn, readTurn } from './turn.js'

/** Tasks that are taken up in one turn of the event loop: after a restart requests are answered between them. */
const batch = 16
/** What no wake-up told of is found after so long. */
const pollMs = 60_000
/** A due time that nobody could look after is looked after again. */
const againMs = 1_000

interface DispatchOptions {
  readonly store: Store
  readonly world: World
  readonly log: Log
  readonly vault: Vault
  readonly holder: string
  readonly places: Places
  readonly begin: (claimed: Claimed, begun: BegunTurn, records: readonly LeftRecord[]) => void
  /** Wakes the run that the task has here; false where it has none. */
  readonly wakeRun: (ref: TaskRef) => boolean
  readonly wakeAll: () => void
  /** How many runs there are, waiting ones too. */
  readonly running: () => number
  /** A task of ours that has no run after all. */
  readonly giveBack: (header: TaskHeader) => void
}

export interface Dispatcher {
  start(): void
  /** There is a place, or something to do. */
  wake(): void
  /** Something is due then. */
  dueAt(ms: number): void
  /** Takes up nothing more; settles when what was being taken up is a run, or was given back. */
  close(): Promise<void>
}

export function createDispatcher(options: DispatchOptions): Dispatcher {
  const { store, world, log, vault, holder, places } = options
  const starting = new Map<TaskRef, Promise<void>>()
  /** Those that became runnable again while they were being taken up. */
  const skipped = new Set<TaskRef>()
  let isStarted = false
  let isClosed = false
  let isScheduled = false
  let clearDue = () => {}
  let armedFor = Number.POSITIVE_INFINITY
  /** Whether something is due that nobody looks after yet, for want of a place. */
  let isDueLeft = false
  let clearPoll = () => {}
  const stopListening = store.onRunnable(wake)

  function wake(): void {
    if (isScheduled || isClosed || !isStarted) return
    isScheduled = true
    world.defer(() => {
      isScheduled = false
      pump().catch((error) => log.warn('tasks that could be taken up were not found', { error }))
    })
  }

  async function pump(): Promise<void> {
    if (isClosed) return
    if (isDueLeft || armedFor <= world.now()) await takeDue()
    const refs = await store.runnable(batch + starting.size)
    for (const ref of refs) {
      if (starting.has(ref)) skipped.add(ref)
      else if (isClosed || !places.take()) return
      else takeUp(ref)
    }
    if (refs.length >= batch) wake()
  }

  async function takeDue(): Promise<void> {
    disarm()
    isDueLeft = false
    const now = world.now()
    // Those that are being looked after are due until they have closed their wait.
    const limit = batch + starting.size + options.running()
    const refs = await store.due(now, limit)
    for (const ref of refs) {
      if (starting.has(ref) || options.wakeRun(ref)) continue
      if (isClosed) return
      if (!places.take()) {
        isDueLeft = true
        break
      }
      takeUp(ref)
    }
    isDueLeft ||= refs.length === limit
    const next = await store.nextDue()
    if (next !== undefined) dueAt(next > now ? next : now + againMs)
  }

  function takeUp(ref: TaskRef): void {
    const done = claim(ref).finally(() => {
      starting.delete(ref)
      if (skipped.delete(ref)) wake()
    })
    starting.set(ref, done)
  }

  async function claim(ref: TaskRef): Promise<void> {
    let claimed: Claimed | undefined
    try {
      claimed = await store.claim(ref, holder)
    } catch (error) {
      // Nobody knows whether it is ours now.
      log.error('a task could not be taken up', { error })
      places.give()
      const header = await store.header(ref).catch(() => undefined)
      if (header) options.giveBack(header)
      return
    }
    if (!claimed) return places.give()
    const { header } = claimed
    try {
      const records = await opened(claimed)
      const begun = records && (await readTurn(store, header, records))
      if (begun && !isClosed) {
        // It may have been canceled meanwhile, when nobody here could be told.
        if (isStillOurs(await store.header(ref), header)) return options.begin(claimed, begun, records)
        return places.give()
      }
    } catch (error) {
      log.error('a task could not be taken up', { taskId: header.id, error })
    }
    places.give()
    options.giveBack(header)
  }

  /** The records with what is in them; undefined where they cannot be opened, and the task has been failed for that. */
  async function opened({ header, records }: Claimed): Promise<readonly LeftRecord[] | undefined> {
    const { id: taskId, turn, ref } = header
    try {
      return await Promise.all(
        records.map(async ({ kind, key, n, body }) => ({
          kind,
          key,
          ...(n !== undefined && { n }),
          body: await openBody(vault, { taskId, turn, key }, body),
        })),
      )
    } catch (error) {
      log.error('the records of a task cannot be read, and the task is failed', { taskId, error })
      await store.update(ref, (now) => ({
        result: undefined,
        ...failTask(now, unreadable, world),
      }))
      return undefined
    }
  }

  function dueAt(ms: number): void {
    if (ms >= armedFor || isClosed) return
    clearDue()
    armedFor = ms
    clearDue = world.timer(ms - world.now(), () => {
      // A timer counts from when the turn of the event loop began, and so may fire before the clock says so.
      isDueLeft = true
      wake()
    })
  }

  function disarm(): void {
    clearDue()
    armedFor = Number.POSITIVE_INFINITY
  }

  function poll(): void {
    if (isClosed) return
    clearPoll = world.timer(pollMs, () => {
      options.wakeAll()
      armedFor = Math.min(armedFor, world.now())
      wake()
      poll()
    })
  }

  return {
    start() {
      isStarted = true
      armedFor = world.now()
      wake()
      poll()
    },
    wake,
    dueAt,
    async close() {
      isClosed = true
      stopListening()
      clearPoll()
      clearDue()
      await Promise.all(starting.values())
    },
  }
}

function isStillOurs(now: TaskHeader | undefined, { epoch, holder }: TaskHeader): boolean {
  return now !== undefined && now.epoch === epoch && now.holder === holder && !isFinal(now.state)
}
