/** The contract of a store: a task is a header and a log, and whatever belongs together is one transaction. */

import type { Json, TaskState } from '../protocol/wire.js'
import type { World } from '../support/world.js'
import type { EventKind, NewEvent, TaskEvent } from '../task/event.js'
import type { PushStore, StoredPushConfig } from './push-store.js'

export type { Delivery, OpenPush, Push, PushProgress, PushRef, PushStore, StoredPushConfig } from './push-store.js'

/** Whose rows are meant. Part of every key that a caller can name. */
export interface Caller {
  /** `''` where the agent has no tenants. */
  readonly tenant: string
  readonly owner: string
}

declare const taskRef: unique symbol
/** Ties the rows of one task together inside one store. It never leaves the process and no caller can name it. */
export type TaskRef = number & { readonly [taskRef]: true }

/** The row that is read and tested before anything is appended. */
export interface TaskHeader {
  readonly ref: TaskRef
  readonly caller: Caller
  readonly id: string
  readonly contextId: string
  readonly state: TaskState
  /** Milliseconds. */
  readonly statusTimestamp: number
  /** Number of the newest event. */
  readonly lastSeq: number
  /** Raised by each claim; a run that holds an older one is fenced. */
  readonly epoch: number
  /** The process start whose run holds the task. */
  readonly holder: string | undefined
  /** Takeovers from a dead holder since the last sign of progress. */
  readonly attempt: number
  /** 1, 2, …: raised by each message that begins a turn. */
  readonly turn: number
  /** What has to come before anybody may go on with the task. */
  readonly waiting: Waiting | undefined
  /** Number of the newest inbox message that the agent has taken. */
  readonly inboxSeq: number
  /** Whether the bodies of the task's records are sealed: it has been entrusted with a credential. */
  readonly sealed: boolean
}

/** What a task waits for. */
export interface Waiting {
  /** `turn`: the message that begins the next turn. The others are open records of this turn. */
  readonly kind: 'turn' | 'ask' | 'authorize' | 'wait' | 'sleep'
  /** Of the open record; absent for `turn`. */
  readonly key?: string
  /** `messageId` of the status message that asked; absent for `wait` and `sleep`. */
  readonly question?: string
  /** Of the signal that `wait` waits for. */
  readonly name?: string
  /** When the waiting ends by itself, in milliseconds: from then on the task may be claimed. Default: never. */
  readonly due?: number
}

/**
 * What a run of a turn may rely on when the turn is run again. `turn` is how the turn began, `context` the memory it
 * saw, `signal` what came before anybody waited for it.
 */
export type RecordKind = 'step' | 'stream' | 'ask' | 'authorize' | 'wait' | 'sleep' | 'take' | 'context' | 'turn' | 'signal'

export interface RunRecord {
  readonly kind: RecordKind
  /** One of a kind within the turn. */
  readonly key: string
  /** Place in the order of settling, 1, 2, …; absent as long as the record is open, or waits to be judged. */
  readonly n?: number
  /** JSON text; the store does not look into it. */
  readonly body: string
}

export interface RecordWrite extends RunRecord {
  /** Default: the turn that the task is in after this write. 0 for what belongs to the whole task. */
  readonly turn?: number
}

/** The record of a turn as it is by now, writes of the same commit included. */
export type FindRecord = (turn: number, key: string) => RunRecord | undefined

/** What one transaction does to a task. Members left out stay as they are. */
export interface TaskWrite {
  readonly events: readonly NewEvent[]
  /** `null` clears it. */
  readonly holder?: string | null
  readonly waiting?: Waiting | null
  readonly turn?: number
  readonly epoch?: number
  readonly attempt?: number
  readonly inboxSeq?: number
  readonly sealed?: true
  /** Each made, or put in the place of the one with its turn and key. All records of a task go with its end. */
  readonly records?: readonly RecordWrite[]
  /** Merged member by member into the memory of the task's context. */
  readonly memory?: Readonly<Record<string, Json>>
  /**
   * Made, or put in the place of the one with its id. Its events are those after the message in this write; one that takes
   * the place of another goes on where that one was, so that nothing is skipped, unless that one had ended.
   */
  readonly pushConfig?: StoredPushConfig
}

/** A message as the idempotency table knows it: the same caller, id and content within 24 h mean the same send. */
export interface Inbound {
  readonly messageId: string
  /** Digest of the canonical message, at least 128 bits, as hex. */
  readonly contentHash: string
  /** Refuse another content under the same id instead of taking it for a new message. Default false. */
  readonly strict?: boolean
}

export interface NewTask {
  readonly caller: Caller
  readonly id: string
  readonly contextId: string
  readonly created: NewEvent & { readonly kind: 'created' }
  /** Claims the task for this process start in the same transaction (epoch 1). Without it the task has epoch 0. */
  readonly holder?: string
  readonly inbound?: Inbound
  readonly pushConfig?: StoredPushConfig
  readonly records?: readonly RecordWrite[]
}

/** `duplicate`: this message was accepted before, by task `header`, as event `seq`. `conflict`: strict, other content. */
export type Repeated =
  | { readonly outcome: 'duplicate'; readonly header: TaskHeader; readonly seq: number }
  | { readonly outcome: 'conflict' }

export type Created =
  | { readonly outcome: 'created'; readonly header: TaskHeader; readonly memory: Readonly<Record<string, Json>> }
  | Repeated

export type Updated<R> =
  | {
      readonly outcome: 'updated'
      /** As it is after the write. */
      readonly header: TaskHeader
      readonly result: R
    }
  | Repeated

export interface Decision<R> {
  readonly write?: TaskWrite
  readonly result: R
}

export type Appended =
  | { readonly outcome: 'committed'; readonly lastSeq: number }
  /** Nothing was written: another holder or epoch, or the task is final. */
  | { readonly outcome: 'fenced' }

/** Which run is meant. */
export interface Fence {
  readonly epoch: number
  readonly holder: string
}

export interface Claimed {
  readonly header: TaskHeader
  readonly memory: Readonly<Record<string, Json>>
  /** Those of the turn that the task is in. */
  readonly records: readonly RunRecord[]
}

/** Where a walk through the list stands. All of it travels in the page token. */
export interface ListPosition {
  /** The revision at which the walk began: filter, order and status are as of then. */
  readonly revision: number
  /** Sort key of the last task given out. */
  readonly statusTimestamp: number
  readonly id: string
  /** `totalSize` of the first page. */
  readonly total: number
}

export interface ListQuery {
  readonly caller: Caller
  readonly contextId?: string
  readonly state?: TaskState
  /** Only tasks whose status is at least this new, in milliseconds. */
  readonly since?: number
  readonly pageSize: number
  /** Absent on the first page. */
  readonly from?: ListPosition
}

export interface ListedTask {
  /** Canonical JSON text of the Task as it is now. */
  readonly text: string
  /** Canonical JSON text of the TaskStatus as of the walk's revision. */
  readonly status: string
}

export interface ListPage {
  /** Newest status first, ties by id downwards. */
  readonly tasks: readonly ListedTask[]
  readonly total: number
  /** Absent on the last page. */
  readonly next?: ListPosition
}

export interface TaskText {
  /** Canonical JSON text of the whole Task: the fold of its events. */
  readonly text: string
  /** Number of the newest event in it. */
  readonly seq: number
  readonly state: TaskState
}

/** Told after each commit. Without `events` (a commit of another process, or of unknown outcome) the log has to be read. */
export type CommitListener = (ref: TaskRef, lastSeq: number, events?: readonly TaskEvent[]) => void

/**
 * Every promise of a write settles after its commit; until then no reader sees anything of it. A commit that fails
 * rejects every write that was in it with {@link UnavailableError} and leaves the store as it was.
 */
export interface Store extends PushStore {
  /** A task with its first event. `onAccepted` is called as soon as the write is sure to stand or fall with its
   * commit, at the latest right after it: what it starts may append to the same commit, and must bear its failure. */
  create(task: NewTask, onAccepted?: (created: Created) => void): Promise<Created>

  /** What became of this caller's message before, or undefined if it is a new one: what `create` would find. */
  accepted(caller: Caller, inbound: Inbound): Promise<Repeated | undefined>

  /** The task `id` of this caller, or undefined: somebody else's is no other case than none. */
  find(caller: Caller, id: string): Promise<TaskHeader | undefined>

  /** The header as it is now. */
  header(ref: TaskRef): Promise<TaskHeader | undefined>

  /** The task `id`, whoever's it is: for the operator's own side, never for what a caller named. */
  locate(id: string): Promise<TaskHeader | undefined>

  /**
   * A write that depends on what the task is by then. `decide` is pure and may be called again if the task moved
   * meanwhile; what it throws rejects the promise, and nothing is written. A final task refuses events (an error of
   * the caller of this method: `decide` sees the state).
   */
  update<R>(ref: TaskRef, decide: (header: TaskHeader, find: FindRecord) => Decision<R>, inbound?: Inbound): Promise<Updated<R>>

  /**
   * What a run puts out. `produce` is called once, when the store is about to write at the end of this turn of the
   * event loop, so that all that was put out by then shares one write; returning undefined writes nothing. Where the
   * run is fenced it is not called. One append of a run may be under way at a time.
   */
  append(ref: TaskRef, fence: Fence, produce: (header: TaskHeader, find: FindRecord) => TaskWrite | undefined): Promise<Appended>

  /** Takes a task that nobody holds, that is not final, and that waits for nothing or for what is due; else undefined. */
  claim(ref: TaskRef, holder: string): Promise<Claimed | undefined>

  /** Records of a turn; of turn 0 those of the whole task. */
  records(ref: TaskRef, turn: number): Promise<readonly RunRecord[]>

  read(ref: TaskRef): Promise<TaskText>

  /** Events after number `after`, in order, about `maxBytes` of them at a time (at least one if there is one). */
  events(
    ref: TaskRef,
    after: number,
    options?: { readonly maxBytes?: number; readonly kinds?: readonly EventKind[] },
  ): Promise<readonly TaskEvent[]>

  list(query: ListQuery): Promise<ListPage>

  /** Tasks that are not final, oldest first, `limit` at a time, after `after`. */
  unfinished(options: { readonly after?: TaskRef; readonly limit: number }): Promise<readonly TaskHeader[]>

  /**
   * Tasks that anybody may claim now: not final, held by nobody, waiting for nothing. Each has a job row, written and
   * removed by the very commits that make it so; those that became so first come first.
   */
  runnable(limit: number): Promise<readonly TaskRef[]>

  /** Tasks whose `waiting.due` is not after `now`, earliest first, held or not. */
  due(now: number, limit: number): Promise<readonly TaskRef[]>

  /** The earliest `waiting.due` of all tasks. */
  nextDue(): Promise<number | undefined>

  /** 32 random bytes kept in the store under `name`, made when first asked for. */
  secret(name: string): Promise<Uint8Array>

  /** Returns the function that ends it. */
  onCommit(listener: CommitListener): () => void

  /** Told after each commit that left this task, or may have left it, for anybody to claim. Returns the function that ends it. */
  onRunnable(listener: (ref: TaskRef) => void): () => void

  /**
   * 32 bytes that are kept apart from the tasks: what is sealed with them is safe with who has the tasks alone.
   *
   * @param options `make`: where there are none, they are made. Default true.
   * @throws {Error} where they are missing and not to be made, or cannot be read
   */
  sealingKey(options?: { readonly make?: boolean }): Promise<Uint8Array>

  /** What was last kept by `keepSealingCheck`, with the tasks: it tells the key that they are sealed with from others. */
  sealingCheck(): Promise<Uint8Array | undefined>
  keepSealingCheck(check: Uint8Array): Promise<void>

  /** Commits what is under way and lets go of everything held. A second call does nothing. */
  close(): Promise<void>
}

/** A store that is not open yet, as options take it: `sqlite('tasks.db')`. */
export interface StoreSource {
  open(options: OpenOptions): Promise<Store>
}

export interface OpenOptions {
  readonly world: World
}
