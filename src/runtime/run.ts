/** One run of an agent's function on one turn of a task: it pulls what the function puts out into the log. */

import { IllegalTransitionError, isInterrupted } from '../protocol/states.js'
import type { Part, TaskState } from '../protocol/wire.js'
import type { Fence, TaskHeader } from '../store/store.js'
import { durationMs } from '../support/duration.js'
import { bindLog, type Log } from '../support/log.js'
import { redactedLog } from '../support/redact.js'
import { openBody, sealBody } from '../support/vault.js'
import { type ContextView, createContextView } from './context-view.js'
import { createDoor, type Door, never } from './door.js'
import { createDoors } from './doors.js'
import { Emitter } from './emitter.js'
import { createIdleWatch, type IdleWatch } from './idle-watch.js'
import { createInbox, type Inbox } from './inbox.js'
import { Ledger } from './ledger.js'
import { endOfTurn, isGenerator, type Output, type TurnEnd } from './output.js'
import { pull } from './pull.js'
import { causeForCaller, RunStoppedError, reasonOf } from './run-errors.js'
import type { RunOptions } from './run-needs.js'
import { RunWriter } from './run-writer.js'
import { StepsInHand } from './steps-in-hand.js'
import type { StopReason, TaskHandle } from './task.js'
import { createTaskHandle } from './task-handle.js'
import { Waits } from './waits.js'

const endStates = {
  completed: 'TASK_STATE_COMPLETED',
  failed: 'TASK_STATE_FAILED',
  rejected: 'TASK_STATE_REJECTED',
  inputRequired: 'TASK_STATE_INPUT_REQUIRED',
} as const satisfies Record<TurnEnd['kind'], TaskState>

export class Run {
  /** Settles when the function has settled and all it put out is committed or given up. Never rejects. */
  readonly settled: Promise<void>
  readonly header: TaskHeader
  readonly #options: RunOptions
  readonly #log: Log
  /** Credentials: they are kept out of the log. */
  readonly #entrusted = new Set<string>()
  readonly #fence: Fence
  readonly #abort = new AbortController()
  readonly #ledger: Ledger
  readonly #writer: RunWriter
  readonly #emitter: Emitter
  readonly #door: Door
  readonly #steps: StepsInHand
  readonly #waits: Waits
  readonly #view: ContextView
  readonly #inbox: Inbox
  readonly #idle: IdleWatch | undefined
  #isSealed: boolean
  #isCommitted = false
  #isEnded = false
  #isClosing = false
  /** Whether something was recorded since the server began to stop. */
  #hasRecorded = false
  #detached: StopReason | undefined

  /** A record's body as the store keeps it. */
  readonly #encode = async (key: string, body: object): Promise<string> => {
    if (!this.#isSealed) return JSON.stringify(body)
    return sealBody(this.#options.vault, { taskId: this.header.id, turn: this.header.turn, key }, body)
  }

  constructor(options: RunOptions) {
    const { store, world, claimed, records, holder, agent } = options
    const { header } = claimed
    this.#options = options
    this.header = header
    this.#isSealed = header.sealed
    this.#fence = { epoch: header.epoch, holder }
    this.#log = redactedLog(bindLog(options.log, { taskId: header.id, contextId: header.contextId }), this.#entrusted)
    const passedOver = (key: string) => this.#log.warn('a record is not asked for any more: the agent was changed', { key })
    this.#ledger = new Ledger({ world, records, passedOver })
    this.#door = createDoor({
      world,
      isStopped: () => this.#ledger.isStopped,
      onLate: () => this.#late(),
      fail: (error) => this.#failAuthor(error),
    })
    const fate = { onFenced: () => void this.#onFenced(), onLost: (error: unknown) => this.#onLost(error) }
    this.#writer = new RunWriter({ store, world, header, fence: this.#fence, ...fate })
    const ways = { header, ledger: this.#ledger, writer: this.#writer, encode: this.#encode }
    this.#emitter = new Emitter({ world, ...ways })
    this.#steps = new StepsInHand({
      ...ways,
      begun: () => this.#begun(),
      onRecorded: () => this.#recorded(),
      onChange: () => this.#look(),
      onError: (error) => this.#failAuthor(error),
    })
    this.#waits = new Waits({
      ...options,
      ...ways,
      ...fate,
      fence: this.#fence,
      refuse: this.#door.refuse,
      onReturned: () => world.defer(() => this.#look()),
      openBody: ({ key, body }) => openBody(options.vault, { taskId: header.id, turn: header.turn, key }, body),
      onOpen: (due) => {
        options.onOpen(due)
        this.#look()
      },
    })
    this.#view = createContextView({
      ...ways,
      memory: claimed.memory,
      records,
      isSealed: () => this.#isSealed,
      fail: (error) => this.#failAuthor(error),
    })
    this.#inbox = createInbox({
      ...options,
      ...ways,
      reading: this.#reading,
      onWaiting: () => this.#look(),
      onRecorded: () => this.#recorded(),
    })
    if (agent.inactivity !== undefined) {
      const limitMs = durationMs(agent.inactivity)
      this.#idle = createIdleWatch(world, { limitMs, isWaiting: () => this.#isIdle, onIdle: () => this.#failIdle() })
    }
    this.settled = this.#execute()
  }

  get detached(): StopReason | undefined {
    return this.#detached
  }

  /** Fires when the run is detached. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** Whether there is nothing to do for it until something comes from outside, and nothing would be lost with it. */
  get isWaiting(): boolean {
    return this.#waits.isIdle && this.#steps.working === 0 && this.#writer.uncommitted === 0
  }

  /** Something happened to the task, or its time has come. */
  wake(): void {
    this.#waits.wake()
  }

  /** The server stops: no step begins from here on, and `onReady` is called as soon as the run can be handed back. */
  close(): void {
    this.#isClosing = true
    this.#steps.close()
    this.#look()
  }

  /** From now on nothing of this run is committed; only then does its signal fire. */
  detach(why: StopReason): void {
    if (this.#detached) return
    this.#detached = why
    const reason = new RunStoppedError(why)
    this.#idle?.stop()
    this.#writer.stop()
    this.#waits.stop()
    this.#abort.abort(reason)
    this.#inbox.stop(reason)
    this.#ledger.stop(reason)
    this.#steps.stop(reason)
  }

  /** The task is somebody else's, or over. */
  async #onFenced(): Promise<void> {
    this.#writer.stop()
    const now = await this.#options.store.header(this.header.ref).catch(() => undefined)
    this.detach(now?.state === 'TASK_STATE_CANCELED' ? 'canceled' : 'fenced')
  }

  #onLost(error: unknown): void {
    if (this.#detached) return
    this.#log.error('what the agent did could not be stored, or what it asked for not be read', { error })
    this.detach('lost')
  }

  /** What the store gives. Where it gives nothing, that is no outcome of what the function awaits: the run is lost. */
  readonly #reading = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (error) {
      this.#onLost(error)
      return never()
    }
  }

  async #execute(): Promise<void> {
    try {
      const returned = await this.#drive()
      const end = endOfTurn(returned)
      await this.#stepsDone()
      this.#finish(end)
    } catch (error) {
      await this.#stepsDone()
      if (!this.#detached && !this.#isEnded) this.#fail(error)
    }
    await this.#writer.rest()
    this.#idle?.stop()
    // A step that does not look at its signal keeps the run's place, for a while.
    if (this.#detached) await this.#steps.settled()
  }

  /** The function has returned. Steps that it did not await are done and recorded all the same. */
  async #stepsDone(): Promise<void> {
    this.#steps.leaveStreams()
    await this.#steps.none()
  }

  async #drive(): Promise<unknown> {
    const { agent, begun, fetch } = this.#options
    if (this.#isSealed) await this.#view.prepare()
    const handle: TaskHandle = createTaskHandle({
      ...begun,
      header: this.header,
      fetch,
      log: this.#log,
      signal: this.#abort.signal,
      inbox: this.#inbox,
      door: this.#door,
      doors: createDoors({
        ...this.#options,
        header: this.header,
        signal: this.#abort.signal,
        door: this.#door,
        reading: this.#reading,
        ledger: this.#ledger,
        waits: this.#waits,
        steps: this.#steps,
        encode: this.#encode,
        onWait: () => {
          this.#idle?.touch()
          this.#emitter.begins()
        },
        onGranted: (token) => void this.#entrusted.add(token),
        onAuthorize: () => {
          this.#isSealed = true
          return this.#view.prepare()
        },
        fail: (error) => this.#failAuthor(error),
      }),
      memory: () => this.#view.look(),
      remember: (key, value) => this.#writer.remember(key, value),
      beforeWait: () => this.#emitter.begin(),
    })
    const returned: unknown = await agent.run(handle)
    if (!isGenerator(returned)) return returned
    return pull(returned, {
      put: (output) => this.#put(output),
      isStopped: () => this.#writer.isClosed,
      room: () => this.#emitter.room(),
      refuse: this.#door.refuse,
    })
  }

  #put(output: Output): void {
    this.#idle?.touch()
    this.#emitter.put(output)
  }

  async #begun(): Promise<void> {
    this.#emitter.begin()
    if (this.#options.isNew && !this.#isCommitted) await this.#writer.rest()
    this.#isCommitted = true
    await this.#options.place.enter()
  }

  #recorded(): void {
    this.#idle?.touch()
    if (this.#isClosing) this.#hasRecorded = true
    this.#look()
  }

  /** Whether the function can only wait for somebody else. */
  get #isIdle(): boolean {
    return this.#steps.working === 0 && (this.#waits.isIdle || this.#inbox.isWaiting)
  }

  /** It was told to stop, and comes for more: what it waits for now never comes. */
  #late(): void {
    this.#options.world.defer(() => this.#steps.isTrying || this.#options.place.leave())
  }

  /** Whether the place is of no use to the run, or the run can go. */
  #look(): void {
    if (this.#isIdle) this.#options.place.leave()
    if (!this.#isClosing || this.#detached || this.#writer.uncommitted > 0) return
    if (this.#isIdle || (this.#steps.running === 0 && (this.#hasRecorded || this.#steps.isHeldUp))) this.#options.onReady()
  }

  #finish(end: TurnEnd): void {
    if (this.#detached || this.#isEnded) return
    const state = endStates[end.kind]
    if (end.kind === 'rejected' && this.#emitter.isBegun) throw new IllegalTransitionError('TASK_STATE_WORKING', state)
    if (end.kind === 'completed' && end.result)
      this.#put({ kind: 'artifact', artifactId: 'result', name: 'result', description: undefined, parts: end.result })
    this.#emitter.end()
    this.#end(state, end.kind === 'completed' ? end.note : end.parts)
  }

  /** What was thrown goes to the log; the caller reads a text that is the same for every fault of a kind. */
  #fail(error: unknown): void {
    this.#end('TASK_STATE_FAILED', [{ text: causeForCaller(error) }])
    try {
      this.#log.error('the agent failed', { error })
    } catch {
      // What was thrown throws itself when somebody looks at it.
      this.#log.error('the agent failed', { error: reasonOf(error) })
    }
  }

  #end(state: TaskState, parts: readonly Part[]): void {
    this.#isEnded = true
    const over = new Error('the turn is over: nothing more of it is recorded')
    this.#steps.stop(over)
    this.#waits.stop()
    this.#inbox.stop(over)
    this.#ledger.stop(over)
    this.#writer.putLast((draft) => {
      const question = draft.status(state, parts)
      const isTurn = isInterrupted(state)
      draft.end(isTurn ? { kind: 'turn', ...(question !== undefined && { question }) } : null)
    })
  }

  /** An error that the function may not talk its way out of. */
  #failAuthor(error: unknown): void {
    if (this.#detached || this.#isEnded) return
    this.#fail(error)
    this.#detachAfter('failed')
  }

  #failIdle(): void {
    if (this.#detached || this.#isEnded) return
    const { inactivity } = this.#options.agent
    this.#log.error('the agent put nothing out for too long', { inactivity })
    this.#end('TASK_STATE_FAILED', [{ text: `Inactivity timeout: the agent put nothing out for ${inactivity}.` }])
    this.#detachAfter('inactive')
  }

  #detachAfter(reason: StopReason): void {
    void this.#writer.rest().then(() => this.detach(reason))
  }
}
