/** One send, or one task that is followed: an event loop and an outcome over the same request. */

import type { Task } from '../protocol/wire.js'
import type { Assembly } from './assemble.js'
import type { TaskEvent } from './task-event.js'

/** Sent at once. Iterate it for events, in one loop, or await `outcome`, or both: it is one request either way. */
export interface Sending<Outcome> extends AsyncIterable<TaskEvent> {
  /**
   * Settles when the task rests: completed, failed, waiting for the caller, or answered by a message.
   *
   * @throws an A2AError that the agent answered, a ConnectionError, or the reason of the signal; an AbortError when the
   * loop was left before that
   */
  readonly outcome: Promise<Outcome>
  /** Of the task, as soon as it is known; undefined where a message was the answer. */
  readonly taskId: Promise<string | undefined>
  /** Asks the agent to cancel the task; the sending then ends as canceled. */
  cancel(): Promise<Task>
}

export interface Sender<Outcome> {
  /** Empty, and filled by `travel`. */
  readonly assembly: Assembly
  /** Events up to the rest; an error is the end. */
  readonly travel: (signal: AbortSignal) => AsyncIterable<TaskEvent>
  readonly toOutcome: (last: { readonly task: Task | undefined; readonly event: TaskEvent | undefined }) => Outcome
  readonly cancel: (taskId: string) => Promise<Task>
  readonly signal: AbortSignal | undefined
  /** Known before anything is heard, where a task is followed. */
  readonly taskId: string | undefined
}

// A loop that is slower than the agent lets the agent wait.
const mostWaiting = 256

export function beginSending<Outcome>({ assembly, travel, toOutcome, cancel, signal, taskId: known }: Sender<Outcome>): Sending<Outcome> {
  const leaving = new AbortController()
  const forward = () => leaving.abort(signal?.reason)
  if (signal?.aborted) forward()
  else signal?.addEventListener('abort', forward, { once: true })

  let waiting: TaskEvent[] = []
  let room = mostWaiting
  let isRead = false
  let isAwaited = false
  let end: { readonly error?: unknown } | undefined
  let wake = () => {}
  let proceed = () => {}
  let resolveId: (id: string | undefined) => void = () => {}
  let rejectId: (error: unknown) => void = () => {}
  const taskId = new Promise<string | undefined>((resolve, reject) => {
    resolveId = resolve
    rejectId = reject
  })

  async function pump(): Promise<Outcome> {
    let last: TaskEvent | undefined
    try {
      for await (const event of travel(leaving.signal)) {
        last = event
        waiting.push(event)
        const head = assembly.head()
        if (head) resolveId(head.id)
        wake()
        if (waiting.length < room) continue
        // Nobody has begun to read: then what there is will be new to them, in fewer events.
        if (!isRead) {
          waiting = [...assembly.sum()]
          room = Math.max(mostWaiting, 2 * waiting.length)
        }
        // Who awaits the outcome inside the loop would wait for ever.
        else if (!isAwaited) await new Promise<void>((resolve) => (proceed = resolve))
      }
      end = {}
      resolveId(assembly.head()?.id)
      return toOutcome({ task: assembly.task(), event: last })
    } catch (error) {
      end = { error }
      rejectId(error)
      throw error
    } finally {
      signal?.removeEventListener('abort', forward)
      wake()
    }
  }

  async function* loop(): AsyncGenerator<TaskEvent, void, void> {
    try {
      for (;;) {
        const event = waiting.shift()
        if (event !== undefined) {
          proceed()
          yield event
        } else if (end === undefined) await new Promise<void>((resolve) => (wake = resolve))
        else if ('error' in end) throw end.error
        else return
      }
    } finally {
      leaving.abort()
      proceed()
    }
  }

  if (known !== undefined) resolveId(known)
  const outcome = pump()
  // Whoever asks for them gets their errors; a loop throws the same one.
  outcome.catch(() => {})
  taskId.catch(() => {})

  return {
    get outcome() {
      isAwaited = true
      proceed()
      return outcome
    },
    taskId,
    async cancel() {
      const task = await taskId
      if (task === undefined) throw new TypeError('the agent answered with a message: there is no task to cancel')
      return cancel(task)
    },
    [Symbol.asyncIterator]() {
      if (isRead) throw new TypeError('the events of a send are read by one loop; send again, or follow its task')
      isRead = true
      return loop()
    },
  }
}
