/** One run of an agent's function on one turn of a task: it pulls what the function puts out into the log. */

import type { GuardedFetch } from '../net/guarded-fetch.js'
import { canMove, IllegalTransitionError, isAtRest, isInterrupted } from '../protocol/states.js'
import type { Artifact, Json, Message, Part, TaskState } from '../protocol/wire.js'
import type { Claimed, Store, TaskHeader, TaskWrite } from '../store/store.js'
import { bindLog, type Log } from '../support/log.js'
import { uuid, type World } from '../support/world.js'
import type { NewEvent } from '../task/event.js'
import { agentMessage, artifactEvent, nextTimestamp, statusEvent } from '../task/make-event.js'
import type { Agent, TaskHandle, Turn } from './agent.js'
import type { Feed } from './feed.js'
import { createInbox, type Inbox } from './inbox.js'
import { endOfTurn, isGenerator, type Output, outputOf, type TurnEnd } from './output.js'
import { createTaskHandle } from './task-handle.js'

/** Outputs that may wait for their commit before the next `yield` waits too. */
const maxUncommitted = 64

const endStates = {
  failed: 'TASK_STATE_FAILED',
  rejected: 'TASK_STATE_REJECTED',
  inputRequired: 'TASK_STATE_INPUT_REQUIRED',
} as const satisfies Record<string, TaskState>

export interface RunOptions {
  readonly agent: Agent
  readonly store: Store
  readonly feed: Feed
  readonly world: World
  readonly log: Log
  readonly fetch?: GuardedFetch | undefined
  readonly claimed: Claimed
  readonly holder: string
  readonly turn: Turn
  readonly history: readonly Message[]
}

/** Why a run is no longer heard: `lost` = a commit failed, and what the run believes may not be what is stored. */
export type DetachReason = 'canceled' | 'fenced' | 'shutdown' | 'lost'

export class Run {
  /** Settles when the function has settled and all it put out is committed or given up. Never rejects. */
  readonly settled: Promise<void>
  readonly header: TaskHeader
  readonly #options: RunOptions
  readonly #log: Log
  readonly #abort = new AbortController()
  readonly #inbox: Inbox
  /** Artifacts of this turn: true once closed by their last chunk. */
  readonly #artifacts = new Map<string, boolean>()
  #pending: NewEvent[] = []
  #uncommitted = 0
  #write: Promise<void> | undefined
  #state: TaskState
  #timestamp: number
  #memory = emptyMemory()
  #end: Partial<TaskWrite> | undefined
  #detached: DetachReason | undefined

  constructor(options: RunOptions) {
    this.#options = options
    this.header = options.claimed.header
    this.#state = this.header.state
    this.#timestamp = this.header.statusTimestamp
    this.#log = bindLog(options.log, { taskId: this.header.id, contextId: this.header.contextId })
    this.#inbox = createInbox({ ...options, header: this.header, signal: this.#abort.signal })
    this.settled = this.#execute()
  }

  get detached(): DetachReason | undefined {
    return this.#detached
  }

  /** Fires when the run is detached. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** From now on nothing of this run is committed; only then does its signal fire. */
  detach(reason: DetachReason): void {
    if (this.#detached) return
    this.#detached = reason
    this.#pending = []
    this.#abort.abort(reason)
  }

  async #execute(): Promise<void> {
    try {
      const returned = await this.#drive()
      if (!this.#detached) this.#finish(endOfTurn(returned))
    } catch (error) {
      if (!this.#detached) this.#fail(error)
    }
    while (this.#write) await this.#write
  }

  async #drive(): Promise<unknown> {
    const { agent, world } = this.#options
    const handle: TaskHandle = createTaskHandle({
      ...this.#options,
      log: this.#log,
      signal: this.#abort.signal,
      inbox: this.#inbox,
      world,
      remember: (key, value) => {
        this.#memory[key] = value
        if (!this.#detached) this.#commit()
      },
      beforeWait: () => this.#begin(),
    })
    const returned: unknown = await agent.run(handle)
    return isGenerator(returned) ? this.#pull(returned) : returned
  }

  /** Yield by yield. An output that is not allowed is thrown into the function, which may catch it. */
  async #pull(outputs: AsyncGenerator | Generator): Promise<unknown> {
    let step = await outputs.next()
    while (!step.done) {
      if (this.#detached) {
        // The function's own `finally` still runs; what it returns or throws concerns nobody.
        await outputs.return(undefined)
        return undefined
      }
      try {
        this.#put(outputOf(step.value))
      } catch (error) {
        step = await outputs.throw(error)
        continue
      }
      while (this.#uncommitted >= maxUncommitted && this.#write) await this.#write
      step = await outputs.next()
    }
    return step.value
  }

  #put(output: Output): void {
    if (output.kind === 'working') {
      this.#move('TASK_STATE_WORKING', output.parts)
      return
    }
    const closed = this.#artifacts.get(output.artifactId)
    if (output.kind === 'chunk' && closed === true) {
      throw new TypeError(
        `chunk('${output.artifactId}') after its last chunk: the artifact was closed in this turn; give the new one another name`,
      )
    }
    this.#begin()
    const append = output.kind === 'chunk' && closed === false
    const last = output.kind === 'artifact' || output.last
    const description = output.kind === 'artifact' ? output.description : undefined
    const artifact: Artifact = {
      artifactId: output.artifactId,
      name: output.name,
      ...(description !== undefined && { description }),
      parts: output.parts,
    }
    this.#artifacts.set(output.artifactId, last)
    this.#enqueue(artifactEvent(this.header, artifact, { append, last }))
  }

  /** WORKING is written before the first output and the first wait. */
  #begin(): void {
    if (this.#state === 'TASK_STATE_SUBMITTED' && !this.#detached) this.#move('TASK_STATE_WORKING', [])
  }

  /** @throws {IllegalTransitionError} and nothing has changed */
  #move(state: TaskState, parts: readonly Part[]): void {
    if (!canMove(this.#state, state)) throw new IllegalTransitionError(this.#state, state)
    const { world } = this.#options
    const message = parts.length > 0 ? agentMessage(this.header, uuid(world), parts) : undefined
    const timestamp = nextTimestamp(this.#timestamp, world.now())
    const event = statusEvent(this.header, state, timestamp, message)
    this.#state = state
    this.#timestamp = timestamp
    if (isAtRest(state)) this.#end = { holder: null, waiting: isInterrupted(state) ? (message?.messageId ?? null) : null }
    this.#enqueue(event)
  }

  #finish(end: TurnEnd): void {
    if (end.kind !== 'completed') {
      this.#move(endStates[end.kind], end.parts)
      return
    }
    if (end.result) this.#put({ kind: 'artifact', artifactId: 'result', name: 'result', description: undefined, parts: end.result })
    this.#move('TASK_STATE_COMPLETED', end.note)
  }

  /** What was thrown goes to the log; the caller reads a text that is the same for every fault. */
  #fail(error: unknown): void {
    this.#log.error('the agent failed', { error })
    this.#move('TASK_STATE_FAILED', [{ text: 'The agent failed because of an internal error.' }])
  }

  #enqueue(event: NewEvent): void {
    if (this.#detached) return
    this.#pending.push(event)
    this.#uncommitted++
    this.#commit()
  }

  /** One append at a time; what is put out while it is under way goes into the next one. */
  #commit(): void {
    this.#write ??= this.#append().finally(() => {
      this.#write = undefined
      if (this.#pending.length > 0 || Object.keys(this.#memory).length > 0) this.#commit()
    })
  }

  async #append(): Promise<void> {
    const { store, holder } = this.#options
    let count = 0
    try {
      const { outcome } = await store.append(this.header.ref, { epoch: this.header.epoch, holder }, () => {
        const write = this.#takePending()
        count = write?.events.length ?? 0
        return write
      })
      if (outcome === 'fenced') this.detach('fenced')
    } catch (error) {
      this.#log.error('what the agent put out could not be committed', { error })
      this.detach('lost')
    }
    this.#uncommitted -= count
  }

  #takePending(): TaskWrite | undefined {
    const inboxSeq = this.#inbox.takenSeq()
    if (this.#detached || (this.#pending.length === 0 && Object.keys(this.#memory).length === 0)) return undefined
    const write: TaskWrite = { events: this.#pending, memory: this.#memory, ...(inboxSeq !== undefined && { inboxSeq }), ...this.#end }
    this.#pending = []
    this.#memory = emptyMemory()
    return write
  }
}

/** Without a prototype, so that `__proto__` is a key like any other. */
function emptyMemory(): Record<string, Json> {
  return Object.create(null)
}
