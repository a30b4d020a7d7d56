/**
 * Hands records to the function of a run, in the order in which they were settled, first those that earlier runs of the turn
 * left, then live ones. One at a time, a turn of the event loop each: so `Promise.all` and `Promise.race` go the same way again.
 */

import type { RecordKind } from '../store/store.js'
import type { World } from '../support/world.js'

/** A record that an earlier run left, with what is in its body. */
export interface LeftRecord {
  readonly kind: RecordKind
  readonly key: string
  /** Absent while it is open. */
  readonly n?: number
  readonly body: unknown
}

/** A settled record on its way to the function. */
interface Settled {
  readonly key: string
  readonly n: number
  readonly body: unknown
}

/** After so long without a sign of its key, a record is taken for one that the function does not ask for any more. */
const uncalledMs = 1_000

/** Kinds that no call of the function stands for. */
const background: ReadonlySet<RecordKind> = new Set(['context', 'turn', 'signal'])

interface LedgerOptions {
  readonly world: World
  /** Of the turn, as earlier runs left them. */
  readonly records: readonly LeftRecord[]
  /** Told of a record that the function does not ask for any more: another program than the one that left it. */
  readonly passedOver: (key: string) => void
}

interface Handle {
  readonly hand: (record: Settled) => Promise<void>
  readonly reject: (reason: unknown) => void
}

export class Ledger {
  readonly #options: LedgerOptions
  readonly #records: ReadonlyMap<string, LeftRecord>
  /** Recorded keys that the function has not called yet. */
  readonly #uncalled: Set<string>
  /** Settled records that were not handed over yet, in the order of their settling. */
  readonly #queue: Settled[]
  readonly #handles = new Map<string, Handle>()
  /** Settled records that were taken for ones that nobody asks for. */
  readonly #passed = new Map<string, Settled>()
  #isLive: boolean
  #isHanding = false
  #lastN: number
  #clearTimer = () => {}
  #isStopped = false

  constructor(options: LedgerOptions) {
    this.#options = options
    const called = options.records.filter(({ kind }) => !background.has(kind))
    this.#records = new Map(called.map((record) => [record.key, record]))
    this.#uncalled = new Set(this.#records.keys())
    this.#isLive = this.#uncalled.size === 0
    this.#queue = called.flatMap(({ key, n, body }) => (n === undefined ? [] : [{ key, n, body }])).sort((a, b) => a.n - b.n)
    this.#lastN = this.#queue.at(-1)?.n ?? 0
  }

  /** Whether the function has come past all that earlier runs recorded: only from then on what it puts out goes out. */
  get isLive(): boolean {
    return this.#isLive
  }

  /** Whether nothing is handed over any more. */
  get isStopped(): boolean {
    return this.#isStopped
  }

  /** Whether an earlier run left something under `key`. */
  has(key: string): boolean {
    return this.#records.has(key)
  }

  /** The function calls `key`. What an earlier run left there, if anything: settled, or still open. */
  call(key: string): LeftRecord | undefined {
    const record = this.#records.get(key)
    this.#uncalled.delete(key)
    if (!record || this.#uncalled.size === 0) this.#isLive = true
    return record
  }

  /** The place that the next record to settle takes. */
  nextN(): number {
    return ++this.#lastN
  }

  /** What `read` makes of the record of `key`, once it is its turn to be handed over. */
  settlement<T>(key: string, read: (body: unknown) => T | Promise<T>): Promise<T> {
    const settled = new Promise<T>((resolve, reject) => {
      if (this.#isStopped) return
      const hand = async (record: Settled) => {
        try {
          resolve(await read(record.body))
        } catch (error) {
          reject(error)
        }
      }
      this.#handles.set(key, { hand, reject })
    })
    // A function may forget to await it, and that is no reason for the process to end.
    settled.catch(() => undefined)
    const passed = this.#passed.get(key)
    if (passed && this.#passed.delete(key)) this.#putBack(passed)
    if (this.#queue.length > 0 && !this.#isHanding) this.#later()
    return settled
  }

  /** A live record is committed. Called in the order of the places. */
  settled(record: Omit<Settled, 'n'>): void {
    // Behind all that earlier runs left, and behind the live ones before it.
    this.#queue.push({ ...record, n: this.#lastN })
    if (!this.#isHanding) void this.#next()
  }

  /** Nothing is handed over any more. Whoever waits gets `reason`; who comes later gets nothing. */
  stop(reason: unknown): void {
    if (this.#isStopped) return
    this.#isStopped = true
    this.#clearTimer()
    this.#queue.length = 0
    for (const { reject } of this.#handles.values()) reject(reason)
    this.#handles.clear()
  }

  #putBack(record: Settled): void {
    const place = this.#queue.findIndex(({ n }) => n > record.n)
    this.#queue.splice(place < 0 ? this.#queue.length : place, 0, record)
  }

  #later(): void {
    this.#isHanding = true
    this.#options.world.defer(() => {
      this.#isHanding = false
      void this.#next()
    })
  }

  async #next(): Promise<void> {
    this.#clearTimer()
    const [first] = this.#queue
    if (!first) return
    const handle = this.#handles.get(first.key)
    if (!handle) return this.#stall()
    this.#queue.shift()
    this.#handles.delete(first.key)
    this.#isHanding = true
    await handle.hand(first)
    this.#later()
  }

  /** The function may be about to call it, after something of its own; one that was changed, and waits for another, never will. */
  #stall(): void {
    if (this.#handles.size === 0) return
    this.#clearTimer = this.#options.world.timer(uncalledMs, () => {
      const called = this.#queue.findIndex(({ key }) => this.#handles.has(key))
      for (const passed of this.#queue.splice(0, called < 0 ? this.#queue.length : called)) {
        this.#passed.set(passed.key, passed)
        this.#options.passedOver(passed.key)
      }
      void this.#next()
    })
  }
}
