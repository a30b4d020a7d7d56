/** The frames of a task's log for one reader. Spec §3.1.2, §3.1.6, §3.5.2. */

import type { Frame } from '../protocol/call.js'
import type { TaskState } from '../protocol/wire.js'
import type { Feed } from '../runtime/feed.js'
import type { TaskRef } from '../store/store.js'
import type { TaskEvent } from '../task/event.js'

export interface StreamPlan {
  readonly feed: Feed
  readonly ref: TaskRef
  /** The frame that opens the stream; a resumed one has none. */
  readonly first?: Frame
  /** Number of the newest event that the reader has. */
  readonly after: number
  /** Whether the stream ends with a status of this state. */
  readonly endsAt: (state: TaskState) => boolean
  readonly signal: AbortSignal
}

/** Every reader of a task gets the same texts in the same order; messages of users are numbered, but no frames. */
export async function* taskStream({ feed, ref, first, after, endsAt, signal }: StreamPlan): AsyncGenerator<readonly Frame[], void, void> {
  if (first) yield [first]
  for await (const batch of feed.follow(ref, after, signal)) {
    const end = batch.findIndex(({ state }) => state !== undefined && endsAt(state))
    const shown = end < 0 ? batch : batch.slice(0, end + 1)
    const frames = shown.filter(isFrame)
    if (frames.length > 0) yield frames
    if (end >= 0) return
  }
}

function isFrame({ kind }: TaskEvent): boolean {
  return kind === 'status' || kind === 'artifact' || kind === 'created'
}
