/** GetTask: the task as it is now. Spec §3.1.3. */

import type { GetTaskRequest } from '../protocol/wire.js'
import { viewTask } from '../task/view.js'
import { checkHistoryLength } from './check-params.js'
import type { Operation } from './context.js'
import { findTask } from './find-task.js'

export const getTask: Operation<GetTaskRequest> = async (context, { id, historyLength }, call) => {
  checkHistoryLength(historyLength)
  const { ref } = await findTask(context, call, id)
  const { text } = await context.store.read(ref)
  return { kind: 'one', body: viewTask(text, { historyLength }) }
}
