/** What the clients know: what they sent, and what the server has told them since, which it must never take back. */

export interface Sent {
  readonly message: {
    readonly messageId: string
    readonly taskId?: string
    readonly parts: readonly [{ readonly text: string }]
    readonly metadata?: Readonly<Record<string, string>>
  }
  /** The last attempt: on its way, received by the server, answered (a stream: its first frame), or cut off by the server's end. */
  attempt: 'sent' | 'received' | 'answered' | 'cut'
  /** The task that the server named in its answer. */
  taskId?: string
  /** The error that an attempt was answered with. */
  refused?: string
  /** The push configuration that it brings. */
  readonly push?: PushAsked
}

/** A push configuration as it was asked for, once: inside a message, or by its own operation. */
export interface PushAsked {
  readonly url: string
  /** Without one it is made up by the server. */
  readonly id?: string
  readonly token: string
  readonly credentials?: string
  /** Where it is made by its own operation. */
  readonly taskId?: string
  /** `deleting`: nobody knows whether it is deleted already. */
  state: 'asked' | 'accepted' | 'deleting' | 'deleted'
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
  /** `rest`: it ends with a question or with the task; `end`: with the task only. */
  readonly until: 'rest' | 'end'
  /** Whether the server has ended it in order. */
  isEnded: boolean
}

/** What was sent to a task that waits for a signal. */
export interface SignalsSent {
  readonly values: Set<string>
  /** Whether one of them was acknowledged. */
  isKept: boolean
}

export interface Ledger {
  readonly sends: Map<string, Sent>
  readonly signals: Map<string, SignalsSent>
  /** By their URLs. */
  readonly pushes: Map<string, PushAsked>
  /** Not compared with the log yet. */
  claims: Claim[]
  streams: StreamSeen[]
  /** Streams that went on from where one of the last server's broke off. */
  resumed: StreamSeen[]
  /** Tasks that sends and cancels were answered with since the last comparison. */
  readonly touched: Set<string>
  /** Tasks whose cancel was answered since then. */
  readonly canceled: Set<string>
  /** What they are doing, as far as is known. */
  readonly open: {
    /** Waiting for an answer or for the next turn, with the id of the question. */
    readonly asking: Map<string, string | undefined>
    /** Waiting for a message in the inbox. */
    readonly holding: Set<string>
    /** Waiting for a signal. */
    readonly awaiting: Set<string>
    readonly working: Set<string>
  }
  readonly faults: string[]
  /** Events, tasks and signals that were told. */
  acknowledged: number
}

export function createLedger(): Ledger {
  return {
    sends: new Map(),
    signals: new Map(),
    pushes: new Map(),
    claims: [],
    streams: [],
    resumed: [],
    touched: new Set(),
    canceled: new Set(),
    open: { asking: new Map(), holding: new Set(), awaiting: new Set(), working: new Set() },
    faults: [],
    acknowledged: 0,
  }
}

export function claim(ledger: Ledger, made: Claim): void {
  ledger.claims.push(made)
  ledger.acknowledged++
}

/** Where a task belongs that was made by a message of this word, as long as it does not ask. */
export function begun({ open }: Ledger, taskId: string, word: string): void {
  if (word === 'hold') open.holding.add(taskId)
  else if (word === 'await') open.awaiting.add(taskId)
  else open.working.add(taskId)
}

/** Keeps `open` in step with a status that the server told. */
export function moved({ open }: Ledger, taskId: string, { state, message }: any): void {
  const { asking, holding, awaiting, working } = open
  asking.delete(taskId)
  if (state === 'TASK_STATE_INPUT_REQUIRED') asking.set(taskId, message?.messageId)
  if (/COMPLETED|FAILED|CANCELED|REJECTED/.test(state)) for (const tasks of [holding, awaiting, working]) tasks.delete(taskId)
}

export function wordOf({ message }: Sent): string {
  return message.parts[0].text.split(' ', 1)[0] ?? ''
}
