/** Defects of lists. */

import { at, listAt, type Members, put, textAt } from '../json.js'
import { type Defect, defect } from './defect.js'
import { errorReply, isOf, type Layer, onParams, onResult, reasonOf, resultOf, resultReply, withParams } from './seam.js'

/** Parameters that are dropped before anybody looks at them. */
const drops =
  (name: string, is: (value: unknown) => boolean = () => true) =>
  () =>
    onParams('ListTasks', (params) => (name in params && is(params[name]) ? (put(params, name, undefined) as Members) : undefined))

const onTasks = (change: (tasks: readonly unknown[], params: Members) => readonly unknown[]) => () =>
  onResult('ListTasks', (page, { params }) => put(page, 'tasks', change(listAt(page, 'tasks'), params)))

const timeOf = (task: unknown) => textAt(task, 'status.timestamp')

/** Lists by counting from the newest: what is added meanwhile pushes the rest on. */
const byOffset = (): Layer => async (incoming, next) => {
  if (!isOf(incoming, 'ListTasks') || textAt(incoming.params, 'contextId') === '' || !(Number(incoming.params['pageSize']) > 1))
    return next(incoming)
  const { pageToken, pageSize, ...rest } = incoming.params
  const size = Number(pageSize)
  if (!(size >= 1 && size <= 100) || !/^(\d+)?$/.test(String(pageToken ?? ''))) return next(incoming)
  const whole = resultOf(incoming, await next(withParams(incoming, { ...rest, pageSize: 100 })))
  const from = Number(pageToken ?? 0)
  const tasks = listAt(whole, 'tasks')
  const nextPageToken = from + size < tasks.length ? String(from + size) : ''
  return resultReply(incoming, { ...(whole as Members), tasks: tasks.slice(from, from + size), pageSize: size, nextPageToken })
}

export const listingDefects: readonly Defect[] = [
  defect('list_without_total', '3.1.4', 'L1', 'A list does not say how many tasks there are.', () =>
    onResult('ListTasks', (page) => put(page, 'totalSize', undefined)),
  ),
  defect('last_token_null', '3.1.4', 'L2', 'The token of the last page is null.', () =>
    onResult('ListTasks', (page, { params }) =>
      textAt(page, 'nextPageToken') === '' && Number(params['pageSize']) === 100 ? put(page, 'nextPageToken', null) : page,
    ),
  ),
  defect(
    'list_with_empty_artifacts',
    '3.1.4',
    'L3',
    'Listed tasks have an empty list of artifacts.',
    onTasks((tasks, params) => (String(params['includeArtifacts']) === 'true' ? tasks : tasks.map((task) => put(task, 'artifacts', [])))),
  ),
  defect('list_never_with_artifacts', '3.1.4', 'L4', 'includeArtifacts is not looked at.', drops('includeArtifacts')),
  defect(
    'oldest_first',
    '3.1.4',
    'L5',
    'The oldest task comes first.',
    onTasks((tasks) => [...tasks].reverse()),
  ),
  defect('page_one_too_long', '3.1.4', 'L6', 'A page has one task more than asked for.', () =>
    onParams('ListTasks', (params) => {
      const size = Number(params['pageSize'])
      return size > 1 && size < 100 ? { ...params, pageSize: size + 1 } : undefined
    }),
  ),
  defect('page_overlaps', '3.1.4', 'L7', 'A page begins with the last task of the one before.', () => {
    let last: unknown
    return onResult('ListTasks', (page, { params }) => {
      const tasks = listAt(page, 'tasks')
      const before = last
      last = tasks[tasks.length - 1]
      return params['pageToken'] !== undefined && before !== undefined ? put(page, 'tasks', [before, ...tasks]) : page
    })
  }),
  defect('total_of_page', '3.1.4', 'L8', 'totalSize is the number of tasks on the page.', () =>
    onResult('ListTasks', (page, { params }) =>
      params['contextId'] === undefined ? page : put(page, 'totalSize', listAt(page, 'tasks').length),
    ),
  ),
  defect(
    'context_filter_ignored',
    '3.1.4',
    'L9',
    'The context of a list is looked at for its first task only.',
    () => async (incoming, next) => {
      const reply = await next(incoming)
      if (!isOf(incoming, 'ListTasks') || !incoming.params['contextId'] || incoming.params['pageSize'] || incoming.params['status'])
        return reply
      const page = resultOf(incoming, reply)
      if (listAt(page, 'tasks').length !== 2) return reply
      const others = resultOf(incoming, await next(withParams(incoming, {})))
      return resultReply(incoming, put(page, 'tasks', listAt(others, 'tasks').slice(0, 3)))
    },
  ),
  defect(
    'status_filter_ignored',
    '3.1.4',
    'L10',
    'The state of a list is not looked at.',
    drops('status', (status) => status === 'TASK_STATE_INPUT_REQUIRED'),
  ),
  defect(
    'unspecified_is_a_filter',
    '5.7',
    'L11',
    'No task is in the state UNSPECIFIED.',
    onTasks((tasks, params) => (params['status'] === 'TASK_STATE_UNSPECIFIED' ? [] : tasks)),
  ),
  defect(
    'after_is_exclusive',
    '3.1.4',
    'L12',
    'statusTimestampAfter leaves out a task of that very time.',
    onTasks((tasks, params) => {
      const after = params['statusTimestampAfter']
      return typeof after === 'string' ? tasks.filter((task) => timeOf(task) > after) : tasks
    }),
  ),
  defect(
    'after_ignored',
    '3.1.4',
    'L13',
    'statusTimestampAfter is not looked at.',
    drops('statusTimestampAfter', (time) => Date.parse(String(time)) > 0),
  ),
  defect(
    'page_size_clamped_up',
    '3.1.4',
    'L14',
    'A negative pageSize is taken for none.',
    drops('pageSize', (size) => Number(size) < 0),
  ),
  defect(
    'page_size_zero',
    '3.1.4',
    'L15',
    'A pageSize of 0 is taken for none.',
    drops('pageSize', (size) => Number(size) === 0),
  ),
  defect(
    'page_size_clamped_down',
    '3.1.4',
    'L16',
    'A pageSize beyond 100 is taken for 100.',
    drops('pageSize', (size) => Number(size) > 100),
  ),
  defect(
    'forged_token_starts_over',
    '3.1.4',
    'L17',
    'A token that cannot be read begins a new walk.',
    drops('pageToken', (token) => token === 'bm90IGEgdG9rZW4'),
  ),
  defect('token_of_any_filter', '3.1.4', 'L18', 'A token goes on under another filter.', () => async (incoming, next) => {
    const reply = await next(incoming)
    const isOther = isOf(incoming, 'ListTasks') && incoming.params['status'] === 'TASK_STATE_FAILED' && reasonOf(reply) === 'INVALID_PARAMS'
    return isOther ? next(withParams(incoming, put(incoming.params, 'status', undefined) as Members)) : reply
  }),
  defect(
    'list_with_all_history',
    '3.2.4',
    'L19',
    'Lists always show the history.',
    drops('historyLength', (length) => Number(length) === 0),
  ),
  defect(
    'unknown_context_is_error',
    '3.1.4',
    'L20',
    'A context that nobody knows is not found.',
    () => async (incoming, next) =>
      isOf(incoming, 'ListTasks') && textAt(incoming.params, 'contextId').startsWith('nobody')
        ? errorReply(incoming, 'TaskNotFoundError')
        : next(incoming),
  ),
  defect('page_size_of_20', '3.1.4', 'L21', 'A page has room for 20 tasks unless something else was asked for.', () =>
    onParams('ListTasks', (params) => ('pageSize' in params ? undefined : { ...params, pageSize: 20 })),
  ),
  defect(
    'unknown_status_ignored',
    '3.1.4',
    'L22',
    'A state that is none is no filter.',
    drops('status', (status) => status === 'TASK_STATE_ASLEEP'),
  ),
  defect(
    'ordered_by_creation',
    '3.1.4',
    'L23',
    'The task that was made last comes first, whatever became of the others.',
    onTasks((tasks) => [...tasks].sort((a, b) => (textAt(a, 'id') < textAt(b, 'id') ? 1 : -1))),
  ),
  defect(
    'list_negative_history',
    '3.1.4',
    'L24',
    'Lists take a negative historyLength for none.',
    drops('historyLength', (length) => Number(length) < 0),
  ),
  defect(
    'bad_time_ignored',
    '3.1.4',
    'L25',
    'A time that is none is no filter.',
    drops('statusTimestampAfter', (time) => time === 'yesterday'),
  ),
  defect('pages_by_offset', '3.1.4', 'L26', 'Pages are counted from the newest task.', byOffset),
  defect(
    'context_listed_once',
    '3.4.1',
    'L27',
    'A list of a context has its newest task only.',
    onTasks((tasks, params) =>
      params['contextId'] !== undefined &&
      params['pageSize'] === undefined &&
      tasks.some((task) => at(task, 'status.state') === 'TASK_STATE_INPUT_REQUIRED')
        ? tasks.slice(0, 1)
        : tasks,
    ),
  ),
  defect(
    'list_shows_old_status',
    '3.1.4',
    'L28',
    'Lists show the status without its message.',
    onTasks((tasks) => tasks.map((task) => put(task, 'status.message', undefined))),
  ),
]
