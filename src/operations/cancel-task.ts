/** CancelTask: CANCELED is committed, then the run is no longer heard, then its signal fires. Spec §3.1.5. */

import { TaskNotCancelableError } from '../protocol/errors.js'
import { isFinal } from '../protocol/states.js'
import type { CancelTaskRequest } from '../protocol/wire.js'
import type { Decision, TaskHeader } from '../store/store.js'
import { nextTimestamp, statusEvent } from '../task/make-event.js'
import type { Operation } from './context.js'
import { findTask } from './find-task.js'

export const cancelTask: Operation<CancelTaskRequest> = async (context, { id }, call) => {
  const { store, runs, world } = context
  const { ref } = await findTask(context, call, id)
  await store.update(ref, (header): Decision<undefined> => {
    // D12: a task that is canceled already is the answer to a second cancel.
    if (header.state === 'TASK_STATE_CANCELED') return { result: undefined }
    if (isFinal(header.state)) throw new TaskNotCancelableError(id)
    return { result: undefined, write: canceled(header, world.now()) }
  })
  runs.cancel(ref)
  return { kind: 'one', body: (await store.read(ref)).text }
}

function canceled(header: TaskHeader, now: number) {
  const event = statusEvent(header, 'TASK_STATE_CANCELED', nextTimestamp(header.statusTimestamp, now))
  return { events: [event], holder: null, waiting: null }
}
