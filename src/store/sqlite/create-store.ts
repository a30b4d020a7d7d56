/** Puts the rooms of the SQLite store together: every method of the contract, each a few lines. */

import { isFinal } from '../../protocol/states.js'
import type { World } from '../../support/world.js'
import type { TaskEvent } from '../../task/event.js'
import type { CommitListener, Inbound, Repeated, Store, TaskHeader, TaskRef, TaskWrite } from '../store.js'
import { createAccounts } from './accounts.js'
import { createBatch } from './batch.js'
import { createContexts } from './contexts.js'
import type { Driver } from './driver.js'
import { createInboundMessages } from './inbound.js'
import { createListing } from './listing.js'
import { createPushConfigs } from './push-configs.js'
import { createReading } from './reading.js'
import { refOf } from './rows.js'
import { createSecrets } from './secrets.js'
import { createTasks, type Draft } from './tasks.js'

export interface StoreNeeds {
  /** With the tables in it. */
  readonly driver: Driver
  readonly world: World
  /** Told the rough size of each commit. */
  readonly onWritten: (bytes: number) => void
  /** Called by the first close, after the last commit. */
  readonly release: () => Promise<void>
}

const commitBytes = 32 << 10 // pages of indexes that a commit touches whatever it writes

export function createStore({ driver, world, onWritten, release }: StoreNeeds): Store {
  const reading = createReading(driver)
  const accounts = createAccounts(driver)
  const contexts = createContexts(driver)
  const inboundMessages = createInboundMessages(driver, world)
  const pushConfigs = createPushConfigs(driver)
  const secrets = createSecrets(driver, world)
  const tasks = createTasks(driver, reading)
  const listing = createListing(driver, { accounts, reading, revision: tasks.revision })
  const listeners = new Set<CommitListener>()
  const parts = [accounts, tasks, contexts, inboundMessages, pushConfigs, secrets]
  const batch = createBatch({ driver, world, parts, onCommit })
  let released: Promise<void> | undefined

  function onCommit(): () => void {
    const told: (readonly [ref: TaskRef, lastSeq: number, events: readonly TaskEvent[]])[] = []
    let bytes = commitBytes
    for (const { header, events } of tasks.changed()) {
      if (events.length === 0) continue
      told.push([header.ref, header.lastSeq, events.map(bare)])
      bytes += events.reduce((sum, { body }) => sum + body.length, 0) * 2
    }
    return () => {
      if (told.length > 0) onWritten(bytes)
      const thrown: unknown[] = []
      for (const [ref, lastSeq, events] of told) {
        for (const listener of [...listeners]) {
          try {
            listener(ref, lastSeq, events)
          } catch (cause) {
            thrown.push(cause)
          }
        }
      }
      // One listener's mistake is not the others' loss, but it does not go unseen.
      if (thrown.length > 0) throw thrown[0]
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
    const remember = write.memory && contexts.merge(draft.account, draft.header.contextId, write.memory)
    const header = tasks.change(draft, write)
    remember?.()
    if (write.pushConfig !== undefined) pushConfigs.put(draft.header.ref, write.pushConfig)
    return header
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
        const { header } = tasks.add(account, task)
        if (task.inbound !== undefined) inboundMessages.add(account, task.inbound, { task: header.ref, seq: 1 })
        if (task.pushConfig !== undefined) pushConfigs.put(header.ref, task.pushConfig)
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

    update(ref, decide, inbound) {
      return batch.unit(() => {
        const draft = draftOf(ref)
        const earlier = repeated(draft.account, inbound)
        if (earlier !== undefined) return earlier
        const { write, result } = decide(draft.header)
        if (write === undefined) return { outcome: 'updated', header: draft.header, result }
        const before = draft.header.lastSeq
        const header = change(draft, write)
        if (inbound !== undefined) inboundMessages.add(draft.account, inbound, { task: ref, seq: seqOfMessage(write, before) })
        return { outcome: 'updated', header, result }
      })
    },

    append(ref, { epoch, holder }, produce) {
      return batch.lastUnit(() => {
        const write = produce()
        // Looked at after produce, which may itself have changed what the task is.
        const draft = tasks.draft(ref)
        const header = draft?.header
        if (!draft || !header || header.epoch !== epoch || header.holder !== holder || isFinal(header.state)) return { outcome: 'fenced' }
        return { outcome: 'committed', lastSeq: write === undefined ? header.lastSeq : change(draft, write).lastSeq }
      })
    },

    claim(ref, holder) {
      return batch.unit(() => {
        const draft = tasks.draft(ref)
        if (draft === undefined) return undefined
        const { epoch, state, holder: other, waiting, contextId } = draft.header
        if (other !== undefined || waiting !== undefined || isFinal(state)) return undefined
        const header = change(draft, { events: [], epoch: epoch + 1, holder })
        return { header, memory: contexts.memory(draft.account, contextId) }
      })
    },

    read: (ref) => read(() => reading.text(ref)),
    events: (ref, after, options) => read(() => reading.events(ref, after, options)),
    list: (query) => read(() => listing.list(query)),
    unfinished: ({ after, limit }) => read(() => reading.unfinished(after ?? 0, limit)),

    putPushConfig: (ref, config) => batch.unit(() => pushConfigs.put(ref, config)),
    getPushConfig: (ref, id) => read(() => pushConfigs.get(ref, id)),
    listPushConfigs: (ref, { after, limit }) => read(() => pushConfigs.list(ref, after, limit)),
    deletePushConfig: (ref, id) => batch.unit(() => pushConfigs.remove(ref, id)),

    secret: (name) => batch.unit(() => secrets.get(name)),

    onCommit(listener) {
      // A function of its own, so that the same one given twice is told twice and taken back once.
      const own: CommitListener = (...told) => listener(...told)
      listeners.add(own)
      return () => void listeners.delete(own)
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
  const place = events.findIndex(({ kind }) => kind === 'turn' || kind === 'message')
  return before + (place === -1 ? events.length : place + 1)
}

function bare({ seq, kind, state, body }: TaskEvent): TaskEvent {
  return state === undefined ? { seq, kind, body } : { seq, kind, state, body }
}
