/** The lines of a task's log. */

import type { TaskState } from '../protocol/wire.js'

/**
 * - `created`: the task as it began, SUBMITTED, with the message that opened it (`{"task": …}`); always number 1
 * - `status`: a status update (`{"statusUpdate": …}`)
 * - `artifact`: an artifact or a chunk of one (`{"artifactUpdate": …}`)
 * - `turn`: a user's message that begins a turn (`{"message": …}`)
 * - `answer`: a user's message that answers an open question within a turn (`{"message": …}`)
 * - `message`: a user's message to a task that is at work, for its inbox (`{"message": …}`)
 *
 * `turn`, `answer` and `message` are history and no frames of a stream: they are numbered, but streams pass them over.
 */
export type EventKind = 'created' | 'status' | 'artifact' | 'turn' | 'answer' | 'message'

/** An event before it has a number. */
export type NewEvent =
  | {
      readonly kind: 'created' | 'status'
      /** The state that this event moves the task to. */
      readonly state: TaskState
      /** Time of the status in milliseconds; grows strictly along a task's status events. */
      readonly timestamp: number
      readonly body: string
    }
  | { readonly kind: 'artifact' | 'turn' | 'answer' | 'message'; readonly body: string }

/** A committed event. `body` is the canonical JSON text of a StreamResponse with one member, ready for every reader. */
export interface TaskEvent {
  /** 1, 2, 3 … without gaps. */
  readonly seq: number
  readonly kind: EventKind
  /** Present on `created` and `status`. */
  readonly state?: TaskState
  readonly body: string
}
