/** Defects of one binding alone. */

import { at, listAt, put } from '../json.js'
import { type Defect, defect } from './defect.js'
import { errorReply, type Incoming, instead, isOf, onFrames, onParams, onReply, onResult } from './seam.js'

const isHttp = ({ binding }: Incoming) => binding === 'HTTP+JSON'

export const equivalenceDefects: readonly Defect[] = [
  defect('http_forgets_history', '5.1', 'Q1', 'On HTTP+JSON the answer to a send has no history.', () =>
    onResult('SendMessage', (result, incoming) => (isHttp(incoming) ? put(result, 'task.history', undefined) : result)),
  ),
  defect('http_tasks_without_history', '5.1', 'Q2', 'On HTTP+JSON GetTask renames artifacts.', () =>
    onResult('GetTask', (task, incoming) => {
      const artifacts = listAt(task, 'artifacts')
      return isHttp(incoming) && artifacts.length > 0
        ? put(
            task,
            'artifacts',
            artifacts.map((one) => put(one, 'name', 'file')),
          )
        : task
    }),
  ),
  defect('http_lists_backwards', '5.1', 'Q3', 'On HTTP+JSON lists with artifacts have the tasks in another order.', () =>
    onResult('ListTasks', (page, incoming) =>
      isHttp(incoming) && incoming.params['includeArtifacts'] !== undefined
        ? put(page, 'tasks', [...listAt(page, 'tasks')].reverse())
        : page,
    ),
  ),
  defect('http_invalid_is_missing', '5.1', 'Q4', 'On HTTP+JSON a pageSize that is not valid is no operation.', () =>
    instead((incoming) =>
      isHttp(incoming) && isOf(incoming, 'ListTasks') && Number(incoming.params['pageSize']) < 0
        ? errorReply(incoming, 'UnsupportedOperationError')
        : undefined,
    ),
  ),
  defect('http_streams_less', '5.1', 'Q5', 'On HTTP+JSON a subscription is not told of artifacts.', () =>
    onFrames(
      'SubscribeToTask',
      (incoming) => (frame) => (isHttp(incoming) && at(frame.body, 'artifactUpdate') !== undefined ? [] : [frame]),
    ),
  ),
  defect('http_extended_card_public', '5.1', 'Q6', 'On HTTP+JSON the extended card is the public one.', () =>
    onResult('GetExtendedAgentCard', (card, incoming) =>
      isHttp(incoming) ? put(card, 'description', 'Shows every behaviour of the protocol on request.') : card,
    ),
  ),
  defect('http_config_decoded_wrong', '5.1', 'Q7', 'On HTTP+JSON push configurations lose their address.', () =>
    onResult('GetTaskPushNotificationConfig', (config, incoming) => (isHttp(incoming) ? put(config, 'url', '') : config)),
  ),
  defect('http_403_for_wrong_token', '5.1', 'Q8', 'On HTTP+JSON credentials that do not hold are forbidden.', () =>
    onReply((reply, incoming) => (isHttp(incoming) && reply.status === 401 && incoming.who !== '' ? { ...reply, status: 403 } : undefined)),
  ),
  defect('query_flags_lost', '4', 'Q9', 'On HTTP+JSON the page size of a query is a text that nobody reads.', () =>
    onParams('ListTasks', (params, incoming) =>
      isHttp(incoming) && String(params['pageSize']) === '1' ? { ...params, pageSize: 50 } : undefined,
    ),
  ),
]
