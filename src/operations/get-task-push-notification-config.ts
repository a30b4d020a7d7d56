/** GetTaskPushNotificationConfig: one configuration, without its secrets. Spec §3.1.8. */

import { TaskNotFoundError } from '../protocol/errors.js'
import type { GetTaskPushNotificationConfigRequest } from '../protocol/wire.js'
import { answer, type Operation } from './context.js'
import { findTask } from './find-task.js'
import { shownConfig } from './push-config.js'

export const getTaskPushNotificationConfig: Operation<GetTaskPushNotificationConfigRequest> = async (context, { taskId, id }, call) => {
  const { ref } = await findTask(context, call, taskId)
  const config = await context.store.getPushConfig(ref, id)
  // §3.1.8 names this error for a missing configuration too.
  if (!config) throw new TaskNotFoundError(taskId)
  return answer(shownConfig(config, taskId, call.tenant))
}
