/** DeleteTaskPushNotificationConfig: deleting what is not there is fine. Spec §3.1.10. */

import type { DeleteTaskPushNotificationConfigRequest } from '../protocol/wire.js'
import { answer, type Operation } from './context.js'
import { findTask } from './find-task.js'

export const deleteTaskPushNotificationConfig: Operation<DeleteTaskPushNotificationConfigRequest> = async (
  context,
  { taskId, id },
  call,
) => {
  const { ref } = await findTask(context, call, taskId)
  await context.store.deletePushConfig(ref, id)
  return answer({})
}
