/** What happens to a task, as a caller sees it. */

import type { Artifact, Message, Part, Task, TaskState } from '../protocol/wire.js'

/**
 * The deltas of an artifact, one after the other, are the artifact: each part comes once, also where a stream was cut,
 * an answer came whole or a task was read. After `replaced` the artifact begins anew with this delta.
 */
export type TaskEvent =
  /** The task as it is when it is first seen; its artifacts follow as events of their own. */
  | { readonly kind: 'task'; readonly task: Task }
  | { readonly kind: 'status'; readonly state: TaskState; readonly message?: Message; readonly task: Task }
  | {
      readonly kind: 'artifact'
      /** All of it so far. */
      readonly artifact: Artifact
      /** What is new. */
      readonly delta: readonly Part[]
      /** Its text so far. */
      readonly text: string
      readonly replaced: boolean
      /** The agent said that it is whole. */
      readonly last: boolean
      /** The task so far. */
      readonly task: Task
    }
  /** The agent answered without a task. */
  | { readonly kind: 'message'; readonly message: Message }
