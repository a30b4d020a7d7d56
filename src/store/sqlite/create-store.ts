/** Puts the rooms of the SQLite store together: every method of the contract, each a few lines. */

import { isFinal } from '../../protocol/states.js'
import type { World } from '../../support/world.js'
import type { TaskEvent } from '../../task/event.js'
import type { CommitListener, Fence, FindRecord, Inbound, Repeated, Store, TaskHeader, TaskRef, TaskWrite } from '../store.js'
import { createAccounts } from './accounts.js'
import { createBatch } from './batch.js'
import { createContexts } from './contexts.js'
import type { Driver } from './driver.js'
import { createInboundMessages } from './inbound.js'
import { createJobs } from './jobs.js'
import { createListing } from './listing.js'
import { createPushConfigs } from './push-configs.js'
import { createPushProgress } from './push-progress.js'
import { createReading } from './reading.js'
import { createRecords } from './records.js'
import { refOf } from './rows.js'
import type { KeySource } from './sealing.js'
import { createSecrets } from './secrets.js'
import { createTasks, type Draft } from './tasks.js'

export interface StoreNeeds {
  /** With the tables in it. */
  readonly driver: Driver
  readonly world: World
  /** Told the rough size of each commit. */
  readonly onWritten: (bytes: number) => void
  readonly sealingKey: KeySource
  /** Called by the first close, after the last commit. */
  readonly release: () => Promise<void>
}

/** Nobody asks for a secret of this name. */
const sealingCheckName = 'sealing-check'
const commitBytes = 32 << 10 // pages of indexes that a commit touches whatever it writes

export function createStore({ driver, world, onWritten, sealingKey, release }: StoreNeeds): Store {
  const reading = createReading(driver)
  const accounts = createAccounts(driver)
  const contexts = createContexts(driver)
  const inboundMessages = createInboundMessages(driver, world)
  const pushConfigs = createPushConfigs(driver)
  const pushProgress = createPushProgress(driver)
  const secrets = createSecrets(driver, world)
  const tasks = createTasks(driver, reading)
  const records = createRecords(driver)
  const jobs = createJobs(driver)
  const listing = createListing(driver, { accounts, reading, revision: tasks.revision })
  const listeners = new Set<CommitListener>()
  const runnableListeners = new Set<(ref: TaskRef) => void>()
  const pushListeners = new Set<(ref: TaskRef) => void>()
  // Progress before configurations: what was posted for one that is replaced in the same turn counts for its successor.
  const parts = [accounts, tasks, records, jobs, contexts, inboundMessages, pushProgress, pushConfigs, secrets]
  const batch = createBatch({ driver, world, parts, onCommit, onFailure })
  let released: Promise<void> | undefined

  function onCommit(): () => void {
    const told: (readonly [ref: TaskRef, lastSeq: number, events: readonly TaskEvent[]])[] = []
    const hasWritten = parts.some((part) => part.isDirty())
    let bytes = commitBytes + records.bytes()
    for (const { header, events } of tasks.changed()) {
      if (events.length === 0) continue
      told.push([header.ref, header.lastSeq, events.map(bare)])
      bytes += events.reduce((sum, { body }) => sum + body.length, 0) * 2
    }
    const runnable = jobs.added()
    const configured = pushConfigs.changed()
    return () => {
      if (hasWritten) onWritten(bytes)
      const calls = told.flatMap((commit) => [...listeners].map((listener) => () => listener(...commit)))
      callAll([...calls, ...runnable.flatMap(tellRunnable), ...configured.flatMap(tellConfigured)])
    }
  }

  /** Readers look for themselves what became of the tasks in it; whether they are runnable, too. */
  function onFailure(): () => void {
    const touched = Array.from(tasks.changed(), ({ header }) => header.ref)
    const configured = pushConfigs.changed()
    return () => {
      const calls = touched.flatMap((ref) => {
        const header = headerNow(ref)
        if (header === undefined) return []
        return [...[...listeners].map((listener) => () => listener(ref, header.lastSeq)), ...tellRunnable(ref)]
      })
      callAll([...calls, ...configured.flatMap(tellConfigured)])
    }
  }

  const tellRunnable = (ref: TaskRef) => [...runnableListeners].map((listener) => () => listener(ref))
  const tellConfigured = (ref: TaskRef) => [...pushListeners].map((listener) => () => listener(ref))

  function headerNow(ref: TaskRef): TaskHeader | undefined {
    try {
      return reading.header(ref)
    } catch {
      // The file cannot be read either: then there is nothing to tell.
      return undefined
    }
  }

  function draftOf(ref: TaskRef): Draft {
    const draft = tasks.draft(ref)
    if (draft === undefined) throw new Error(`the store has no task with the key ${ref}`)
    return draft
  }

  function repeated(account: number, inbound: Inbound | undefined): Repeated | undefined {
    const found = inbound && inboundMessages.find(account, inbound)
    if (found === undefined || found === 'conflict') return found && { outcome: 'conflict' }
    // The table holds keys that this store made.
    return { outcome: 'duplicate', header: draftOf(found.task as TaskRef).header, seq: found.seq }
  }

  function change(draft: Draft, write: TaskWrite): TaskHeader {
    // Whatever can fail does so before anything is changed.
    const before = draft.header
    const remember = write.memory && contexts.merge(draft.account, before.contextId, write.memory)
    const record = write.records && records.stage(draft, write.turn ?? before.turn, write.records)
    const header = tasks.change(draft, write)
    remember?.()
    if (!isFinal(header.state)) record?.(draft)
    else if (!isFinal(before.state)) records.end(draft)
    jobs.follow(before, header)
    if (write.pushConfig !== undefined) pushConfigs.putSent(header.ref, write.pushConfig, seqOfMessage(write, before.lastSeq))
    return header
  }

  function finding(draft: Draft): FindRecord {
    return (turn, key) => records.find(draft, turn, key)
  }

  /** For reads: what is committed, at once. */
  async function read<Result>(select: () => Result): Promise<Result> {
    batch.assertOpen()
    return select()
  }

  return {
    create(task, onAccepted) {
      return batch.unit(() => {
        const account = accounts.key(task.caller)
        const earlier = repeated(account, task.inbound)
        if (earlier !== undefined) {
          onAccepted?.(earlier)
          return earlier
        }
        const memory = contexts.memory(account, task.contextId)
        const record = task.records && records.stage(undefined, 1, task.records)
        const draft = tasks.add(account, task)
        const { header } = draft
        record?.(draft)
        jobs.follow(undefined, header)
        if (task.inbound !== undefined) inboundMessages.add(account, task.inbound, { task: header.ref, seq: 1 })
        if (task.pushConfig !== undefined) pushConfigs.putSent(header.ref, task.pushConfig, header.lastSeq)
        const created = { outcome: 'created', header, memory } as const
        onAccepted?.(created)
        return created
      })
    },

    accepted: (caller, inbound) =>
      read(() => {
        const account = accounts.find(caller)
        const found = account === undefined ? undefined : inboundMessages.find(account, inbound)
        if (found === undefined || found === 'conflict') return found && { outcome: 'conflict' }
        // What this turn has accepted is not committed yet, and has no header to be read: `create` will find it.
        const header = reading.header(refOf(found.task))
        return header && { outcome: 'duplicate', header, seq: found.seq }
      }),

    find: (caller, id) => read(() => reading.find(caller, id)),
    header: (ref) => read(() => reading.header(ref)),
    locate: (id) => read(() => reading.locate(id)),

    update(ref, decide, inbound) {
      return batch.unit(() => {
        const draft = draftOf(ref)
        const earlier = repeated(draft.account, inbound)
        if (earlier !== undefined) return earlier
        const { write, result } = decide(draft.header, finding(draft))
        if (write === undefined) return { outcome: 'updated', header: draft.header, result }
        const before = draft.header.lastSeq
        const header = change(draft, write)
        if (inbound !== undefined) inboundMessages.add(draft.account, inbound, { task: ref, seq: seqOfMessage(write, before) })
        return { outcome: 'updated', header, result }
      })
    },

    append(ref, fence, produce) {
      return batch.lastUnit(() => {
        const draft = tasks.draft(ref)
        if (draft === undefined || isFenced(draft.header, fence)) return { outcome: 'fenced' }
        const write = produce(draft.header, finding(draft))
        // Again, since produce may itself have changed what the task is.
        if (isFenced(draft.header, fence)) return { outcome: 'fenced' }
        return { outcome: 'committed', lastSeq: write === undefined ? draft.header.lastSeq : change(draft, write).lastSeq }
      })
    },

    claim(ref, holder) {
      return batch.unit(() => {
        const draft = tasks.draft(ref)
        if (draft === undefined) return undefined
        const { epoch, state, holder: other, waiting, contextId } = draft.header
        const isWaiting = waiting !== undefined && !(waiting.due !== undefined && waiting.due <= world.now())
        if (other !== undefined || isWaiting || isFinal(state)) return undefined
        const header = change(draft, { events: [], epoch: epoch + 1, holder })
        return { header, memory: contexts.memory(draft.account, contextId), records: records.all(draft, header.turn) }
      })
    },

    records: (ref, turn) => read(() => records.list(ref, turn)),
    read: (ref) => read(() => reading.text(ref)),
    events: (ref, after, options) => read(() => reading.events(ref, after, options)),
    list: (query) => read(() => listing.list(query)),
    unfinished: ({ after, limit }) => read(() => reading.unfinished(after ?? 0, limit)),
    runnable: (limit) => read(() => jobs.runnable(limit)),
    due: (now, limit) => read(() => reading.due(now, limit)),
    nextDue: () => read(() => reading.nextDue()),

    putPushConfig: (ref, config) => batch.unit(() => pushConfigs.put(ref, config, draftOf(ref).header.lastSeq)),
    getPushConfig: (ref, id) => read(() => pushConfigs.get(ref, id)),
    listPushConfigs: (ref, { after, limit }) => read(() => pushConfigs.list(ref, after, limit)),
    deletePushConfig: (ref, id) => batch.unit(() => pushConfigs.remove(ref, id)),
    push: (push) => read(() => pushProgress.get(push)),
    pushes: (ref) => read(() => pushProgress.ofTask(ref)),
    openPushes: ({ after, limit }) => read(() => pushProgress.open(after ?? 0, limit)),
    advancePush: (push, progress, delivery) => batch.unit(() => pushProgress.advance(push, progress, delivery)),
    deliveries: (ref) => read(() => pushProgress.deliveries(ref)),

    secret: (name) => batch.unit(() => secrets.get(name)),
    sealingKey: ({ make = true } = {}) => read(() => sealingKey(make)),
    sealingCheck: () => read(() => secrets.find(sealingCheckName)),
    keepSealingCheck: (check) => batch.unit(() => secrets.put(sealingCheckName, check)),

    onCommit(listener) {
      // A function of its own, so that the same one given twice is told twice and taken back once.
      const own: CommitListener = (...told) => listener(...told)
      listeners.add(own)
      return () => void listeners.delete(own)
    },
    onRunnable(listener) {
      const own = (ref: TaskRef) => listener(ref)
      runnableListeners.add(own)
      return () => void runnableListeners.delete(own)
    },
    onPushConfig(listener) {
      const own = (ref: TaskRef) => listener(ref)
      pushListeners.add(own)
      return () => void pushListeners.delete(own)
    },

    close() {
      if (released !== undefined) return released
      batch.close()
      released = release()
      return released
    },
  }
}

/** Number of the event that the message became: its own, or the last one where it left none in the log. */
function seqOfMessage({ events }: TaskWrite, before: number): number {
  const place = events.findIndex(({ kind }) => kind === 'turn' || kind === 'answer' || kind === 'message')
  return before + (place === -1 ? events.length : place + 1)
}

function bare({ seq, kind, state, body }: TaskEvent): TaskEvent {
  return state === undefined ? { seq, kind, body } : { seq, kind, state, body }
}

function isFenced({ epoch, holder, state }: TaskHeader, fence: Fence): boolean {
  return epoch !== fence.epoch || holder !== fence.holder || isFinal(state)
}

/** One listener's mistake is not the others' loss, but it does not go unseen. */
function callAll(calls: readonly (() => void)[]): void {
  const thrown: unknown[] = []
  for (const call of calls) {
    try {
      call()
    } catch (cause) {
      thrown.push(cause)
    }
  }
  if (thrown.length > 0) throw thrown[0]
}
