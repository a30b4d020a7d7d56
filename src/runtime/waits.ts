/**
 * What a run waits for: an answer, a consent, a signal, a time. One wait is open at a time, as an open record and as what the
 * task is waiting for; answers, callbacks and signals close it in the store, and the run, if it is there, finds it closed.
 */

import type { Fence, RunRecord, Store, TaskHeader, Waiting } from '../store/store.js'
import type { World } from '../support/world.js'
import type { Ledger } from './ledger.js'
import type { Place } from './places.js'
import type { Draft, RunWriter } from './run-writer.js'

/** An open record, its body as the store keeps it, with what the task waits for; or the body of a record that settles at once. */
export type Opening = { readonly waiting: Omit<Waiting, 'kind' | 'key'>; readonly body: string } | Settled

interface Settled {
  readonly settled: object
  /** As the store keeps it. Default: its JSON text. */
  readonly text?: string
}

/** What is made of a wait that somebody closed: the body of its settled record, or the same question again. */
export type Verdict = { readonly settled: object } | { readonly again: (draft: Draft) => Opening }

export interface Wait<T> {
  readonly kind: 'ask' | 'authorize' | 'wait' | 'sleep'
  readonly key: string
  /** Whatever takes time before it can be opened. What it returns opens it in a commit. */
  readonly prepare: () => Promise<(draft: Draft) => Opening>
  /** @param body of the record as it was closed */
  readonly judge: (body: unknown) => Promise<Verdict>
  /** Body of the record when the time is over. */
  readonly overdue: object
  /** What the function gets, or throws. */
  readonly read: (body: unknown) => T | Promise<T>
}

interface WaitsOptions {
  readonly store: Store
  readonly world: World
  readonly header: TaskHeader
  readonly fence: Fence
  readonly ledger: Ledger
  readonly writer: RunWriter
  readonly place: Place
  /** What is in the body of a record, whether it is sealed or not. */
  readonly openBody: (record: RunRecord) => Promise<unknown>
  /** A body as the store keeps it. */
  readonly encode: (key: string, body: object) => Promise<string>
  /** A wait is open, until then at the latest. */
  readonly onOpen: (due: number | undefined) => void
  readonly onOver: () => void
  /** Rejects with an error of the author's, when the function may get it. */
  readonly refuse: (error: unknown) => Promise<never>
  /** The function has the outcome of a wait. */
  readonly onReturned: () => void
  readonly onFenced: () => void
  /** The store did not say what became of a wait: no answer to it. */
  readonly onLost: (error: unknown) => void
}

interface Request {
  readonly wait: Wait<unknown>
  /** Whether an earlier run opened it. */
  readonly isOpened: boolean
  readonly fail: (error: unknown) => void
}

export class Waits {
  readonly #options: WaitsOptions
  readonly #queue: Request[] = []
  #current: Request | undefined
  /** Whether the current one is open in the store, and nothing is being done about it. */
  #isIdle = false
  #isStopped = false
  #isWoken = false

  constructor(options: WaitsOptions) {
    this.#options = options
  }

  /** Whether there is nothing to do until something comes from outside. */
  get isIdle(): boolean {
    return this.#isIdle
  }

  call<T>(wait: Wait<T>): Promise<T> {
    const { ledger } = this.#options
    const record = ledger.call(wait.key)
    let fail: (error: unknown) => void = () => {}
    const settled = ledger.settlement(wait.key, (body) => wait.read(body))
    const answered = new Promise<T>((resolve, reject) => {
      fail = reject
      settled.then(resolve, reject)
    })
    answered.catch(() => undefined)
    if (record?.n !== undefined) return answered
    const request = { wait, isOpened: record !== undefined, fail }
    this.#queue.push(request)
    // It is with the function now, and only then the next one is opened.
    const returned = () => this.#returned(request)
    answered.then(returned, returned)
    this.#advance()
    return answered
  }

  /** Something happened to the task, or its time has come: looks whether the open wait is over. */
  wake(): void {
    if (!this.#isIdle) {
      this.#isWoken = true
      return
    }
    this.#isIdle = false
    this.#isWoken = false
    this.#lookAgain()
  }

  stop(): void {
    this.#isStopped = true
    this.#isIdle = false
    this.#queue.length = 0
  }

  #returned(request: Request): void {
    if (this.#current !== request) return
    this.#current = undefined
    this.#isIdle = false
    this.#options.onReturned()
    this.#advance()
  }

  #advance(): void {
    if (this.#current || this.#isStopped) return
    this.#current = this.#queue.shift()
    const request = this.#current
    if (!request) return
    if (request.isOpened) this.#lookAgain()
    else void this.#open(request)
  }

  async #open({ wait, fail }: Request): Promise<void> {
    try {
      const opens = await wait.prepare()
      if (!this.#isStopped) this.#put(wait, opens)
    } catch (error) {
      // Such as a link that cannot be made: the author gets it where it was asked for.
      await this.#options.refuse(error).catch(fail)
    }
  }

  #lookAgain(): void {
    this.#look().catch((error) => this.#options.onLost(error))
  }

  #put(wait: Wait<unknown>, opens: (draft: Draft) => Opening): void {
    const { writer, ledger } = this.#options
    let opening: Opening | undefined
    const { kind, key } = wait
    const write = (draft: Draft) => {
      draft.begin()
      opening = opens(draft)
      if ('settled' in opening) {
        draft.record({ kind, key, n: ledger.nextN(), body: opening.text ?? JSON.stringify(opening.settled) })
      } else {
        draft.record({ kind, key, body: opening.body })
        draft.wait({ kind, key, ...opening.waiting })
      }
    }
    writer.put(write, () => {
      if (!opening) return
      if ('settled' in opening) return ledger.settled({ key, body: opening.settled })
      this.#rest(opening.waiting.due)
    })
  }

  /** It is open: the run has nothing to do here until it is woken. */
  #rest(due: number | undefined): void {
    this.#isIdle = true
    this.#options.onOpen(due)
    if (this.#isWoken) this.wake()
  }

  async #look(): Promise<void> {
    const { store, world, header, fence, place, openBody, encode } = this.#options
    const wait = this.#current?.wait
    if (!wait) return
    const now = await store.header(header.ref)
    if (this.#isStopped) return
    if (!now || now.epoch !== fence.epoch || now.holder !== fence.holder) return this.#options.onFenced()
    const { waiting } = now
    const isOpen = waiting !== undefined && waiting.key === wait.key
    if (isOpen && (waiting.due === undefined || waiting.due > world.now())) return this.#rest(waiting.due)
    this.#options.onOver()
    await place.enter()
    if (this.#isStopped) return
    if (isOpen) return this.#expire(wait, waiting)
    const record = (await store.records(header.ref, header.turn)).find(({ key }) => key === wait.key)
    if (!record) throw new Error(`the record ${wait.key} is gone`)
    const verdict = await wait.judge(await openBody(record))
    const text = 'again' in verdict ? undefined : await encode(wait.key, verdict.settled)
    if (this.#isStopped) return
    if ('again' in verdict) this.#put(wait, verdict.again)
    else this.#put(wait, () => ({ ...verdict, ...(text !== undefined && { text }) }))
  }

  /** The time is over, unless an answer is quicker. */
  #expire(wait: Wait<unknown>, waiting: Waiting): void {
    const { writer, ledger } = this.#options
    const { kind, key } = wait
    let isOver = false
    const write = (draft: Draft) => {
      if (draft.waiting?.key !== key || draft.waiting.question !== waiting.question) return
      draft.endWait()
      isOver = true
      draft.record({ kind, key, n: ledger.nextN(), body: JSON.stringify(wait.overdue) })
    }
    writer.put(write, () => {
      if (!isOver) this.#lookAgain()
      else ledger.settled({ key, body: wait.overdue })
    })
  }
}
