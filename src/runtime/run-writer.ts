/** What a run puts into the store, in order: all that came together in one commit, and nothing after one that failed. */

import type { Json, Message, Part, TaskState } from '../protocol/wire.js'
import type { Fence, FindRecord, RecordWrite, Store, TaskHeader, TaskWrite, Waiting } from '../store/store.js'
import { uuid, type World } from '../support/world.js'
import type { NewEvent } from '../task/event.js'
import { agentMessage, nextTimestamp, statusEvent } from '../task/make-event.js'

type Writable<T> = { -readonly [Name in keyof T]: T[Name] }

/** The task as the parts of a commit leave it, one after the other. */
export class Draft {
  readonly find: FindRecord
  readonly #world: World
  readonly #header: TaskHeader
  readonly #events: NewEvent[] = []
  readonly #records: RecordWrite[] = []
  readonly #rest: Writable<Omit<TaskWrite, 'events' | 'records'>> = {}
  #state: TaskState
  #timestamp: number
  #waiting: Waiting | undefined

  constructor(header: TaskHeader, find: FindRecord, world: World) {
    this.#header = header
    this.#world = world
    this.find = find
    this.#state = header.state
    this.#timestamp = header.statusTimestamp
    this.#waiting = header.waiting
  }

  get waiting(): Waiting | undefined {
    return this.#waiting
  }

  /** WORKING before anything else is done. */
  begin(): void {
    if (this.#state === 'TASK_STATE_SUBMITTED') this.status('TASK_STATE_WORKING')
  }

  /** Returns the id of the message that says `parts`, if there are any: `messageId`, or a new one. */
  status(state: TaskState, parts: readonly Part[] = [], messageId?: string): string | undefined {
    const message: Message | undefined = parts.length > 0 ? agentMessage(this.#header, messageId ?? uuid(this.#world), parts) : undefined
    this.#timestamp = nextTimestamp(this.#timestamp, this.#world.now())
    this.#state = state
    this.#events.push(statusEvent(this.#header, state, this.#timestamp, message))
    return message?.messageId
  }

  add(event: NewEvent): void {
    this.#events.push(event)
  }

  record(record: RecordWrite): void {
    this.#records.push(record)
    this.#rest.attempt = 0
  }

  wait(waiting: Waiting): void {
    this.#waiting = waiting
    this.#rest.waiting = waiting
  }

  /** The wait is over; a question's state goes with it. */
  endWait(): void {
    if (!this.#waiting) return
    this.#waiting = undefined
    this.#rest.waiting = null
    if (this.#state !== 'TASK_STATE_WORKING') this.status('TASK_STATE_WORKING')
  }

  /** The last write of the run: somebody else may go on from here, or nobody. */
  end(waiting: Waiting | null): void {
    Object.assign(this.#rest, { holder: null, waiting, attempt: 0 })
  }

  take(inboxSeq: number): void {
    this.#rest.inboxSeq = inboxSeq
  }

  seal(): void {
    this.#rest.sealed = true
  }

  remember(memory: Readonly<Record<string, Json>>): void {
    this.#rest.memory = memory
  }

  toWrite(): TaskWrite | undefined {
    const hasRecords = this.#records.length > 0
    if (this.#events.length === 0 && !hasRecords && Object.keys(this.#rest).length === 0) return undefined
    return { events: this.#events, ...(hasRecords && { records: this.#records }), ...this.#rest }
  }
}

/** One thing to be written; `committed` is called after its commit, in order. */
interface Piece {
  readonly write: (draft: Draft) => void
  readonly committed: (() => void) | undefined
}

interface RunWriterOptions {
  readonly store: Store
  readonly world: World
  readonly header: TaskHeader
  readonly fence: Fence
  /** The task is somebody else's, or over. */
  readonly onFenced: () => void
  /** A commit failed, or nobody knows what became of it. */
  readonly onLost: (error: unknown) => void
}

export class RunWriter {
  readonly #options: RunWriterOptions
  #pending: Piece[] = []
  #uncommitted = 0
  #memory: Record<string, Json> = emptyMemory()
  #append: Promise<void> | undefined
  #isStopped = false
  #hasLast = false

  constructor(options: RunWriterOptions) {
    this.#options = options
  }

  /** Whether what is put from here on is not written. */
  get isClosed(): boolean {
    return this.#isStopped || this.#hasLast
  }

  /** Pieces that are not committed yet. */
  get uncommitted(): number {
    return this.#uncommitted
  }

  /** `write` is called when the commit is made up: with the task as it is by then, and as the pieces before leave it. */
  put(write: (draft: Draft) => void, committed?: () => void): void {
    if (this.isClosed) return
    this.#pending.push({ write, committed })
    this.#uncommitted++
    this.#begin()
  }

  /** As {@link put}, and whatever is put later is not written. */
  putLast(write: (draft: Draft) => void): void {
    this.put(write)
    this.#hasLast = true
  }

  /** Goes out with the next commit. */
  remember(key: string, value: Json): void {
    if (this.isClosed) return
    this.#memory[key] = value
  }

  /** Nothing is written any more. */
  stop(): void {
    this.#isStopped = true
    this.#pending = []
  }

  /** Until fewer than `count` pieces are uncommitted. */
  async below(count: number): Promise<void> {
    while (this.#uncommitted >= count && this.#append) await this.#append
  }

  /** Until everything is committed or given up. */
  async rest(): Promise<void> {
    while (this.#append) await this.#append
  }

  /** One append at a time; what is put meanwhile goes into the next one. */
  #begin(): void {
    this.#append ??= this.#commit().finally(() => {
      this.#append = undefined
      if (this.#pending.length > 0) this.#begin()
    })
  }

  async #commit(): Promise<void> {
    const { store, world, header, fence, onFenced, onLost } = this.#options
    let pieces: readonly Piece[] = []
    try {
      const { outcome } = await store.append(header.ref, fence, (now, find) => {
        if (this.#isStopped) return undefined
        pieces = this.#pending
        this.#pending = []
        const draft = new Draft(now, find, world)
        for (const { write } of pieces) write(draft)
        if (Object.keys(this.#memory).length > 0) draft.remember(this.#memory)
        this.#memory = emptyMemory()
        return draft.toWrite()
      })
      this.#uncommitted -= pieces.length
      if (this.#isStopped) return
      if (outcome === 'fenced') onFenced()
      else for (const { committed } of pieces) committed?.()
    } catch (error) {
      this.#uncommitted -= pieces.length
      if (!this.#isStopped) onLost(error)
    }
  }
}

/** Without a prototype, so that `__proto__` is a key like any other. */
function emptyMemory(): Record<string, Json> {
  return Object.create(null)
}
