/** Defects in which messages are taken, and what becomes of them. */

import { at, isMembers, listAt, type Members, put, same, textAt } from '../json.js'
import { type Defect, defect } from './defect.js'
import {
  errorReply,
  type Incoming,
  isOf,
  type Layer,
  onParams,
  onReply,
  onResult,
  reasonOf,
  resultOf,
  resultReply,
  sends,
  withParams,
} from './seam.js'

const filled = (path: string, missing: (value: unknown) => boolean, value: unknown) => () =>
  onParams(sends, (params) => (missing(at(params, path)) ? (put(params, path, value) as Members) : undefined))

/** Refuses sends of which `is` holds. */
const refuses = (is: (params: Members, incoming: Incoming) => boolean) => (): Layer => async (incoming, next) =>
  isOf(incoming, sends) && is(incoming.params, incoming) ? errorReply(incoming, 'InvalidParamsError') : next(incoming)

/** Changes the parts of users' messages in the history that GetTask shows. */
const onKeptParts = (change: (part: Members) => unknown) => () =>
  onResult('GetTask', (task) =>
    put(
      task,
      'history',
      listAt(task, 'history').map((entry) =>
        put(
          entry,
          'parts',
          listAt(entry, 'parts').map((part) => (isMembers(part) ? change(part) : part)),
        ),
      ),
    ),
  )

const isSmall = (part: unknown) => Object.keys(isMembers(part) ? part : {}).length === 0

export const messageDefects: readonly Defect[] = [
  defect(
    'takes_no_parts',
    '5.7',
    'M1',
    'A message without parts is taken.',
    filled('message.parts', (parts) => same(parts, []), [{ text: 'tck-complete-task' }]),
  ),
  defect(
    'takes_no_message_id',
    '5.7',
    'M2',
    'A message without an id is taken.',
    filled('message.messageId', (id) => id === undefined, 'made-up'),
  ),
  defect(
    'takes_no_role',
    '5.7',
    'M3',
    'A message without a role is taken.',
    filled('message.role', (role) => role === undefined, 'ROLE_USER'),
  ),
  defect(
    'takes_agent_role',
    '4.1.4',
    'M4',
    'A client may speak as the agent.',
    filled('message.role', (role) => role === 'ROLE_AGENT', 'ROLE_USER'),
  ),
  defect('takes_two_contents', '4.1.6', 'M5', 'A part with two kinds of content is taken.', () =>
    onParams(sends, (params) =>
      at(params, 'message.parts.0.text') !== undefined && at(params, 'message.parts.0.url') !== undefined
        ? (put(params, 'message.parts.0.url', undefined) as Members)
        : undefined,
    ),
  ),
  defect('takes_no_content', '4.1.6', 'M6', 'A part without content is taken.', () =>
    onParams(sends, (params) => {
      const parts = listAt(params, 'message.parts')
      const isBare = parts.some((part) => isSmall(put(part, 'mediaType', undefined)))
      return isBare ? (put(params, 'message.parts', [{ text: 'tck-complete-task' }]) as Members) : undefined
    }),
  ),
  defect('takes_no_message', '5.7', 'M7', 'A send without a message is taken.', () =>
    onParams(sends, (params) =>
      params['message'] === undefined
        ? { ...params, message: { messageId: 'none', role: 'ROLE_USER', parts: [{ text: 'tck-complete-task' }] } }
        : undefined,
    ),
  ),
  defect(
    'refuses_unknown_members',
    '5.7',
    'M8',
    'Members that are not known are an error.',
    refuses((params) => 'someDay' in params),
  ),
  defect('history_length_ignored_by_send', '3.2.4', 'M9', 'A send always shows the history.', () =>
    onParams('SendMessage', (params) =>
      at(params, 'configuration.historyLength') === 0 ? (put(params, 'configuration.historyLength', undefined) as Members) : undefined,
    ),
  ),
  defect('history_length_ignored_by_get', '3.2.4', 'M10', 'GetTask takes historyLength 0 for none.', () =>
    onParams('GetTask', (params) =>
      String(params['historyLength']) === '0' ? (put(params, 'historyLength', undefined) as Members) : undefined,
    ),
  ),
  defect(
    'history_cut_from_the_end',
    '3.2.4',
    'M11',
    'GetTask gives the oldest messages instead of the newest.',
    () => async (incoming, next) => {
      const { historyLength, ...rest } = incoming.params
      if (!isOf(incoming, 'GetTask') || !(Number(historyLength) > 0)) return next(incoming)
      const reply = await next(withParams(incoming, rest))
      const task = resultOf(incoming, reply)
      return resultReply(incoming, put(task, 'history', listAt(task, 'history').slice(0, Number(historyLength))))
    },
  ),
  defect('negative_history_length', '3.2.4', 'M12', 'GetTask takes a negative historyLength for none.', () =>
    onParams('GetTask', (params) =>
      Number(params['historyLength']) < 0 ? (put(params, 'historyLength', undefined) as Members) : undefined,
    ),
  ),
  defect('history_backwards', '3.7', 'M13', 'The newest message of the history comes first.', () =>
    onResult('GetTask', (task, { params }) =>
      params['historyLength'] === undefined ? put(task, 'history', [...listAt(task, 'history')].reverse()) : task,
    ),
  ),
  defect(
    'texts_in_ascii',
    '4.1.6',
    'M14',
    'Characters beyond ASCII are lost.',
    onKeptParts((part) => (typeof part['text'] === 'string' ? put(part, 'text', part['text'].replace(/[^\x20-\x7e]/g, '?')) : part)),
  ),
  defect(
    'bytes_as_text',
    '4.1.6',
    'M15',
    'Bytes are read as UTF-8 and written again.',
    onKeptParts((part) => (typeof part['raw'] === 'string' ? put(part, 'raw', '77+977+977+977+9') : part)),
  ),
  defect(
    'data_without_nulls',
    '4.1.6',
    'M16',
    'Members of data that are null are dropped.',
    onKeptParts((part) =>
      isMembers(part['data'])
        ? put(part, 'data', Object.fromEntries(Object.entries(part['data']).filter(([, value]) => value !== null)))
        : part,
    ),
  ),
  defect(
    'urls_without_query',
    '4.1.6',
    'M17',
    'Addresses of files lose their query.',
    onKeptParts((part) => (typeof part['url'] === 'string' ? put(part, 'url', part['url'].split('?')[0]) : part)),
  ),
  defect(
    'refuses_base64url',
    '5.5',
    'M18',
    'Only the standard alphabet of base64 is taken.',
    refuses((params) => listAt(params, 'message.parts').some((part) => /[-_]/.test(textAt(part, 'raw')))),
  ),
  defect(
    'refuses_snake_case',
    '5.5',
    'M19',
    'Names of the .proto file are not known.',
    refuses((params) => at(params, 'message.message_id') !== undefined),
  ),
  defect(
    'refuses_enum_numbers',
    '5.5',
    'M20',
    'Numbers of enums are not known.',
    refuses((params) => typeof at(params, 'message.role') === 'number'),
  ),
  defect('takes_any_media_type', '3.3.2', 'M21', 'A part of any media type is taken.', () =>
    onParams(sends, (params) =>
      JSON.stringify(params).includes('x-unsupported')
        ? (put(params, 'message.parts', [{ text: 'tck-complete-task' }]) as Members)
        : undefined,
    ),
  ),
  defect('refused_yet_made', '3.3.2', 'M22', 'A task is made before its message is checked.', () => async (incoming, next) => {
    const reply = await next(incoming)
    if (isOf(incoming, 'SendMessage') && reasonOf(reply) === 'INVALID_PARAMS' && same(at(incoming.params, 'message.parts'), [])) {
      await next(withParams(incoming, put(incoming.params, 'message.parts', [{ text: 'tck-complete-task' }]) as Members))
    }
    return reply
  }),
  defect('context_replaced', '3.4.1', 'M23', 'A context that the caller names is replaced by a new one.', () =>
    onParams(sends, (params) =>
      textAt(params, 'message.contextId').startsWith('a name of my own')
        ? (put(params, 'message.contextId', undefined) as Members)
        : undefined,
    ),
  ),
  defect('no_context', '3.4.1', 'M24', 'The answer to a send does not name the context.', () =>
    onResult('SendMessage', (result, { params }) =>
      at(params, 'configuration.historyLength') === 10 ? put(result, 'task.contextId', undefined) : result,
    ),
  ),
  defect('context_not_inferred', '3.4.3', 'M25', 'A message with a taskId alone opens another context.', () =>
    onResult('SendMessage', (result, { params }) =>
      at(params, 'message.taskId') && !at(params, 'message.contextId') ? put(result, 'task.contextId', 'another') : result,
    ),
  ),
  defect('context_mismatch_taken', '3.4.3', 'M26', 'The context of a message to a task is not looked at.', () =>
    onParams(sends, (params) =>
      textAt(params, 'message.contextId').startsWith('another') ? (put(params, 'message.contextId', undefined) as Members) : undefined,
    ),
  ),
  defect('direct_message_of_user', '3.1.1', 'M27', 'A direct message says that it is the user’s.', () =>
    onResult('SendMessage', (result) => (at(result, 'message') === undefined ? result : put(result, 'message.role', 'ROLE_USER'))),
  ),
  defect('task_and_message', '3.1.1', 'M28', 'A send is answered with the task and its last message.', () =>
    onResult('SendMessage', (result) => {
      const message = at(result, 'task.status.message')
      return message === undefined ? result : put(result, 'message', message)
    }),
  ),
  defect('artifact_without_id', '5.7', 'M29', 'Artifacts lose their id.', () =>
    onResult('GetTask', (task) =>
      at(task, 'artifacts') === undefined
        ? task
        : put(
            task,
            'artifacts',
            listAt(task, 'artifacts').map((artifact) => put(artifact, 'artifactId', undefined)),
          ),
    ),
  ),
  defect('history_without_role', '5.7', 'M30', 'Messages in the history of an answer to a send have no role.', () =>
    onResult('SendMessage', (result) =>
      at(result, 'task.history') === undefined
        ? result
        : put(
            result,
            'task.history',
            listAt(result, 'task.history').map((entry) => put(entry, 'role', undefined)),
          ),
    ),
  ),
  defect('snake_case_answers', '5.5', 'M31', 'GetTask names members as the .proto file does.', () =>
    onResult('GetTask', (task) => put(put(task, 'context_id', at(task, 'contextId')), 'artifacts_total', 0)),
  ),
  defect('second_send_breaks', '3.3.1', 'M32', 'The same message sent again ends in an internal error.', () => {
    const known = new Set<string>()
    return async (incoming, next) => {
      const id = textAt(incoming.params, 'message.messageId')
      if (!isOf(incoming, 'SendMessage') || id === '') return next(incoming)
      if (known.has(id)) return errorReply(incoming, 'InternalError')
      known.add(id)
      return next(incoming)
    }
  }),
  defect(
    'refuses_references',
    '4.1.4',
    'M33',
    'A message may not refer to other tasks.',
    refuses((params) => at(params, 'message.referenceTaskIds') !== undefined),
  ),
  defect(
    'empty_task_id_looked_up',
    '5.7',
    'M34',
    'An empty taskId is looked up.',
    () => async (incoming, next) =>
      isOf(incoming, sends) && at(incoming.params, 'message.taskId') === '' ? errorReply(incoming, 'TaskNotFoundError') : next(incoming),
  ),
  defect(
    'refuses_null',
    '5.5',
    'M35',
    'A member that is null is of a wrong kind.',
    refuses((params) => params['configuration'] === null),
  ),
  defect(
    'refuses_empty_configuration',
    '3.2.2',
    'M36',
    'A configuration has to say something.',
    refuses((params) => same(params['configuration'], {})),
  ),
  defect('metadata_lost', '4.1.4', 'M37', 'Metadata of messages is not kept.', () =>
    onResult('GetTask', (task) =>
      put(
        task,
        'history',
        listAt(task, 'history').map((entry) => put(entry, 'metadata', undefined)),
      ),
    ),
  ),
  defect('status_message_torn', '5.7', 'M38', 'The message of a status has no id.', () =>
    onResult('GetTask', (task) => (at(task, 'status.message') === undefined ? task : put(task, 'status.message.messageId', undefined))),
  ),
  defect('negative_history_length_in_send', '3.2.4', 'M39', 'A send takes a negative historyLength for none.', () =>
    onParams('SendMessage', (params) =>
      Number(at(params, 'configuration.historyLength')) < 0 ? (put(params, 'configuration', undefined) as Members) : undefined,
    ),
  ),
  defect('members_twice', '5.5', 'M40', 'An answer has the status twice.', () =>
    onReply((reply, { operation }) =>
      operation === 'GetTask' && typeof reply.body === 'string'
        ? { ...reply, body: reply.body.replace(/"status":/, '"status":{"state":"TASK_STATE_WORKING"},"status":') }
        : undefined,
    ),
  ),
]
