/** ListTasks: the caller's tasks page by page, as of the moment of the first page (D20). Spec §3.1.4. */

import { InvalidParamsError, type Violation } from '../protocol/errors.js'
import type { ListTasksRequest } from '../protocol/wire.js'
import type { ListQuery } from '../store/store.js'
import { decodePageToken, encodePageToken } from '../task/page-token.js'
import { viewTask } from '../task/view.js'
import { callerOf, type Operation } from './context.js'

const pageSizes = { least: 1, most: 100, usual: 50 }

export const listTasks: Operation<ListTasksRequest> = async ({ store, keys }, params, call) => {
  const { historyLength, includeArtifacts = false, pageSize = pageSizes.usual, pageToken } = params
  const query: ListQuery = {
    caller: callerOf(call),
    pageSize,
    ...(params.contextId !== undefined && { contextId: params.contextId }),
    ...(params.status !== undefined && { state: params.status }),
    ...(params.statusTimestampAfter !== undefined && { since: Date.parse(params.statusTimestampAfter) }),
  }
  const violations: Violation[] = []
  if (pageSize < pageSizes.least || pageSize > pageSizes.most) {
    violations.push({ field: 'pageSize', description: `must be from ${pageSizes.least} to ${pageSizes.most}, got ${pageSize}` })
  }
  if (historyLength !== undefined && historyLength < 0)
    violations.push({ field: 'historyLength', description: `must be 0 or more, got ${historyLength}` })
  const from = pageToken === undefined ? undefined : decodePageToken(keys.pageToken, query, pageToken)
  if (pageToken !== undefined && !from) {
    violations.push({ field: 'pageToken', description: 'is not a token of this list; leave it out to begin with the first page' })
  }
  if (violations.length > 0) throw new InvalidParamsError(violations)
  const page = await store.list(from ? { ...query, from } : query)
  const tasks = page.tasks.map(({ text, status }) => viewTask(text, { historyLength, includeArtifacts, status }))
  const nextPageToken = page.next ? encodePageToken(keys.pageToken, query, page.next) : ''
  return {
    kind: 'one',
    body: `{"tasks":[${tasks.join(',')}],"nextPageToken":${JSON.stringify(nextPageToken)},"pageSize":${pageSize},"totalSize":${page.total}}`,
  }
}
