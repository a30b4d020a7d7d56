/** SubscribeToTask: the task as it is, then its updates up to its end; or what came after Last-Event-ID (D15). Spec §3.1.6. */

import type { Reply } from '../protocol/call.js'
import { UnsupportedOperationError } from '../protocol/errors.js'
import { isFinal } from '../protocol/states.js'
import type { SubscribeToTaskRequest } from '../protocol/wire.js'
import { invalid } from './check-params.js'
import type { Operation } from './context.js'
import { findTask } from './find-task.js'
import { taskStream } from './task-stream.js'

export const subscribeToTask: Operation<SubscribeToTaskRequest> = async (context, { id }, call): Promise<Reply> => {
  const { store, feed } = context
  const { ref, lastSeq, state } = await findTask(context, call, id)
  const plan = { feed, ref, endsAt: isFinal, signal: call.signal }
  const after = readLastEventId(call.lastEventId, lastSeq)
  if (isFinal(state) && (after === undefined || after === lastSeq)) {
    throw ended(id)
  }
  if (after !== undefined) return { kind: 'stream', frames: taskStream({ ...plan, after }) }
  const now = await store.read(ref)
  if (isFinal(now.state)) throw ended(id)
  const first = { seq: now.seq, body: `{"task":${now.text}}` }
  return { kind: 'stream', frames: taskStream({ ...plan, first, after: now.seq }) }
}

function ended(id: string): UnsupportedOperationError {
  return new UnsupportedOperationError(`Task ${id} has ended; there is nothing to subscribe to. Read it with GetTask.`)
}

/** An empty header is none. */
function readLastEventId(value: string | undefined, lastSeq: number): number | undefined {
  if (value === undefined || value === '') return undefined
  const seq = /^[1-9]\d{0,15}$/.test(value) ? Number(value) : Number.NaN
  if (seq <= lastSeq) return seq
  throw invalid('Last-Event-ID', 'is not the id of an event of this task; leave it out to begin with the task as it is')
}
