/** What the clients know: what they sent, and what the server has told them since, which it must never take back. */

export interface Sent {
  readonly message: { readonly messageId: string; readonly taskId?: string; readonly parts: readonly [{ readonly text: string }] }
  /** The last attempt: on its way, received by the server, answered (a stream: its first frame), or cut off by the server's end. */
  attempt: 'sent' | 'received' | 'answered' | 'cut'
  /** The task that the server named in its answer. */
  taskId?: string
  /** The error that an attempt was answered with. */
  refused?: string
}

/** A whole task, as it was at some point of its log; `seq` is that point where the answer said so. */
export interface TaskClaim {
  readonly kind: 'task'
  readonly taskId: string
  readonly seq?: number
  readonly body: unknown
}

/** The event of that number. */
export interface EventClaim {
  readonly kind: 'event'
  readonly taskId: string
  readonly seq: number
  readonly body: unknown
}

export type Claim = TaskClaim | EventClaim

/** A stream as it was read: every frame that follows number `after`, without a hole. */
export interface StreamSeen {
  readonly taskId: string
  readonly after: number
  readonly seqs: number[]
}

export interface Ledger {
  readonly sends: Map<string, Sent>
  /** Not compared with the log yet. */
  claims: Claim[]
  streams: StreamSeen[]
  /** Streams that went on from where one of the last server's broke off. */
  resumed: StreamSeen[]
  /** Tasks that sends and cancels were answered with since the last comparison. */
  readonly touched: Set<string>
  /** Tasks that wait for an answer or for a message, as far as is known. */
  readonly open: { readonly asking: Set<string>; readonly holding: Set<string> }
  /** What no server may do. */
  readonly faults: string[]
  /** Events and tasks that were told. */
  acknowledged: number
}

export function createLedger(): Ledger {
  return {
    sends: new Map(),
    claims: [],
    streams: [],
    resumed: [],
    touched: new Set(),
    open: { asking: new Set(), holding: new Set() },
    faults: [],
    acknowledged: 0,
  }
}

export function claim(ledger: Ledger, made: Claim): void {
  ledger.claims.push(made)
  ledger.acknowledged++
}

/** Keeps `open` in step with a state that the server told. */
export function moved(ledger: Ledger, taskId: string, state: string): void {
  const { asking, holding } = ledger.open
  asking.delete(taskId)
  if (state === 'TASK_STATE_INPUT_REQUIRED') asking.add(taskId)
  if (/COMPLETED|FAILED|CANCELED|REJECTED/.test(state)) holding.delete(taskId)
}
