/** CreateTaskPushNotificationConfig: makes one, or replaces that of the same id. Spec §3.1.7. */

import type { TaskPushNotificationConfig } from '../protocol/wire.js'
import { invalid } from './check-params.js'
import { answer, type Operation } from './context.js'
import { findTask } from './find-task.js'
import { checkPushConfig, namedConfig, shownConfig, storedConfig } from './push-config.js'

export const createTaskPushNotificationConfig: Operation<TaskPushNotificationConfig> = async (context, params, call) => {
  if (params.taskId === undefined) throw invalid('taskId', 'is required')
  await checkPushConfig(params, context)
  const { ref, id: taskId } = await findTask(context, call, params.taskId)
  const config = await storedConfig(context.vault, taskId, namedConfig(params, context.world))
  await context.store.putPushConfig(ref, config)
  return answer(shownConfig(config, taskId, call.tenant))
}
