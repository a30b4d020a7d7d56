/** ListTaskPushNotificationConfigs: those of one task in the order of their making, without their secrets. Spec §3.1.9. */

import type { ListTaskPushNotificationConfigsRequest } from '../protocol/wire.js'
import { invalid } from './check-params.js'
import { answer, type Operation } from './context.js'
import { findTask } from './find-task.js'
import { shownConfig } from './push-config.js'

const mostPerPage = 100

export const listTaskPushNotificationConfigs: Operation<ListTaskPushNotificationConfigsRequest> = async (context, params, call) => {
  const { taskId, pageSize = mostPerPage, pageToken } = params
  if (pageSize < 1 || pageSize > mostPerPage) throw invalid('pageSize', `must be from 1 to ${mostPerPage}, got ${pageSize}`)
  const { store } = context
  const { ref } = await findTask(context, call, taskId)
  // The token is the id after which the page begins: the caller's own data, within one task of the caller's own.
  if (pageToken !== undefined && !(await store.getPushConfig(ref, pageToken))) {
    throw invalid('pageToken', 'is not a token of this list; leave it out to begin with the first page')
  }
  const found = await store.listPushConfigs(ref, { limit: pageSize + 1, ...(pageToken !== undefined && { after: pageToken }) })
  const page = found.slice(0, pageSize)
  return answer({
    configs: page.map((config) => shownConfig(config, taskId, call.tenant)),
    nextPageToken: found.length > pageSize ? (page.at(-1)?.id ?? '') : '',
  })
}
