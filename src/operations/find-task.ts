/** The task that a request names, or the error for one that is not there. */

import type { Call } from '../protocol/call.js'
import { TaskNotFoundError } from '../protocol/errors.js'
import type { TaskHeader } from '../store/store.js'
import { callerOf, type OperationContext } from './context.js'

/** @throws {TaskNotFoundError} for no task and for somebody else's alike. Spec §13.1 */
export async function findTask({ store }: OperationContext, call: Call, id: string): Promise<TaskHeader> {
  const header = await store.find(callerOf(call), id)
  if (!header) throw new TaskNotFoundError(id)
  return header
}
