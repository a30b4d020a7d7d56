/** What a run puts out, on its way into the log: silently as long as an earlier run has done so already, through the writer from then on. */

import type { Part } from '../protocol/wire.js'
import type { TaskHeader } from '../store/store.js'
import type { World } from '../support/world.js'
import type { Ledger } from './ledger.js'
import type { Output } from './output.js'
import { type ArtifactOutput, isSilent, Outputs } from './outputs.js'
import type { RunWriter } from './run-writer.js'

const maxUncommitted = 64 // outputs that may wait for their commit before the next `yield` waits too

interface EmitterOptions {
  readonly world: World
  readonly header: TaskHeader
  readonly ledger: Ledger
  readonly writer: RunWriter
}

export class Emitter {
  readonly #options: EmitterOptions
  readonly #outputs: Outputs
  /** Outputs of late that wait for no commit. */
  #silent = 0
  #isBegun: boolean

  constructor(options: EmitterOptions) {
    this.#options = options
    this.#outputs = new Outputs(options.header)
    this.#isBegun = options.header.state !== 'TASK_STATE_SUBMITTED'
  }

  /** Whether the task is at work: it cannot be declined any more. */
  get isBegun(): boolean {
    return this.#isBegun
  }

  /** WORKING is written before the first output and before the first step. */
  begin(): void {
    if (!this.#isBegun) this.#options.writer.put((draft) => draft.begin())
    this.#isBegun = true
  }

  /** A wait writes it with its own commit. */
  begins(): void {
    this.#isBegun = true
  }

  /** @throws {TypeError} for an output that is not allowed here */
  put(output: Output): void {
    if (output.kind === 'working') this.#note(output.parts)
    else this.#artifact(output)
  }

  /** The function has come to its end: sooner than the run before if it is silent still, and whatever it made on the way is its result. */
  end(): void {
    if (this.#options.ledger.isLive) return
    for (const event of this.#outputs.unsent()) this.#options.writer.put((draft) => draft.add(event))
  }

  /** Until the function may put out more. What is put out silently waits for no commit, and must not keep everybody else waiting. */
  async room(): Promise<void> {
    await this.#options.writer.below(maxUncommitted)
    if (this.#silent < maxUncommitted) return
    this.#silent = 0
    await new Promise<void>((resolve) => this.#options.world.defer(resolve))
  }

  #artifact(output: ArtifactOutput): void {
    this.#outputs.check(output)
    const event = this.#outputs.put(output, isSilent(output, this.#options.ledger.isLive))
    if (!event) {
      this.#silent++
      return
    }
    this.#isBegun = true
    this.#options.writer.put((draft) => {
      draft.begin()
      draft.add(event)
    })
  }

  #note(parts: readonly Part[]): void {
    if (!this.#options.ledger.isLive) {
      this.#silent++
      return
    }
    this.#isBegun = true
    // A note would take the state of a question away.
    this.#options.writer.put((draft) => void (draft.waiting?.question ?? draft.status('TASK_STATE_WORKING', parts)))
  }
}
