/** Steps that are under way: each is begun unless the server stops, and recorded when it is done. */

import type { Ledger } from './ledger.js'
import type { RunWriter } from './run-writer.js'

interface StepsInHandOptions {
  readonly ledger: Ledger
  readonly writer: RunWriter
  /** A body as the store keeps it. */
  readonly encode: (key: string, body: object) => Promise<string>
  /** WORKING, and the task itself, are committed: nothing is done for a task that may turn out never to have been. */
  readonly begun: () => Promise<void>
  readonly onRecorded: () => void
  /** One is done, or one was not allowed to begin. */
  readonly onChange: () => void
  /** What was done cannot be recorded. */
  readonly onError: (error: unknown) => void
}

export interface StreamReading {
  /** The function has what there is so far. */
  rest(): void
  /** It asks for more. */
  goOn(): void
  end(): void
}

export class StepsInHand {
  readonly #options: StepsInHandOptions
  /** Settles when the run is told to stop. */
  readonly #stopped: Promise<unknown>
  #stop: (reason: unknown) => void = () => {}
  #isStopped = false
  #isClosing = false
  #isHeldUp = false
  #running = 0
  readonly #tries = new Set<Promise<void>>()
  readonly #streams = new Set<() => void>()
  /** Those of them whose text the function has, and has not asked for more. */
  readonly #resting = new Set<() => void>()
  #onNone: () => void = () => {}

  constructor(options: StepsInHandOptions) {
    this.#options = options
    this.#stopped = new Promise((resolve) => {
      this.#stop = resolve
    })
  }

  get running(): number {
    return this.#running
  }

  /** Without the streams that wait for the function to read on. */
  get working(): number {
    return this.#running - this.#resting.size
  }

  /** Whether a try is under way, also one that nobody waits for any more. */
  get isTrying(): boolean {
    return this.#tries.size > 0
  }

  /** Whether a step waits for the next run of the turn. */
  get isHeldUp(): boolean {
    return this.#isHeldUp
  }

  /** What is recorded under `key`, or what `work` makes of it now. */
  recorded<T>(kind: 'step' | 'stream', key: string, work: () => Promise<object>, read: (body: unknown) => T): Promise<T> {
    const { ledger } = this.#options
    const record = ledger.call(key)
    const settled = ledger.settlement(key, read)
    if (!record) void this.#do(kind, key, work)
    return settled
  }

  /** Settles when a stream may begin, which once the server stops is never. Rejects when the run is told to stop meanwhile. */
  async mayBegin(): Promise<void> {
    if (!this.#allows()) throw await this.#stopped
    await this.#options.begun()
    if (this.#isStopped) throw await this.#stopped
  }

  /** A stream that the function reads. `leave` is called if it returns without having read it to its end. */
  reading(leave: () => void): StreamReading {
    this.#streams.add(leave)
    return {
      rest: () => void this.#resting.add(leave),
      goOn: () => void this.#resting.delete(leave),
      end: () => {
        this.#resting.delete(leave)
        this.#streams.delete(leave)
      },
    }
  }

  /** The function has returned: nobody reads on in its streams. */
  leaveStreams(): void {
    for (const leave of this.#streams) leave()
  }

  /** The server stops: what is under way may end, nothing more begins. */
  close(): void {
    this.#isClosing = true
  }

  stop(reason: unknown): void {
    this.#isStopped = true
    this.#stop(reason)
    this.#onNone()
  }

  /** Until no step is under way, or the run is told to stop. */
  async none(): Promise<void> {
    while (this.#running > 0 && !this.#isStopped) await new Promise<void>((resolve) => (this.#onNone = resolve))
  }

  /** A try of a step: it may go on when the run has been told to stop. */
  follow(made: Promise<unknown>): void {
    const done = made
      .catch(() => undefined)
      .then(() => {
        this.#tries.delete(done)
      })
    this.#tries.add(done)
  }

  /** Until every try has settled, those that nobody waits for any more too. */
  async settled(): Promise<void> {
    while (this.#tries.size > 0) await Promise.all(this.#tries)
  }

  async #do(kind: 'step' | 'stream', key: string, work: () => Promise<object>): Promise<void> {
    if (!this.#allows()) return
    this.#running++
    try {
      await this.#options.begun()
      if (this.#isStopped) return
      // Where it is told to stop, or left by the function, nothing is recorded: it was not done.
      const body = await work().catch(() => undefined)
      const text = body && (await this.#options.encode(key, body))
      if (text !== undefined && !this.#isStopped) await this.#record(kind, key, body ?? {}, text)
    } catch (error) {
      this.#options.onError(error)
    } finally {
      this.#running--
      if (this.#running === 0) this.#onNone()
      this.#options.onChange()
    }
  }

  #allows(): boolean {
    if (!this.#isClosing || this.#isStopped) return !this.#isStopped
    this.#isHeldUp = true
    this.#options.onChange()
    return false
  }

  #record(kind: 'step' | 'stream', key: string, body: object, text: string): Promise<void> {
    const { ledger, writer, onRecorded } = this.#options
    // Where the run is told to stop meanwhile, nobody waits for this any more.
    return new Promise((resolve) => {
      writer.put(
        (draft) => draft.record({ kind, key, n: ledger.nextN(), body: text }),
        () => {
          resolve()
          ledger.settled({ key, body })
          onRecorded()
        },
      )
    })
  }
}
