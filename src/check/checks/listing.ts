/** L: listing tasks. Spec §3.1.4. */

import { check } from '../check.js'
import { at, brief, listAt, type Members, put, same, textAt } from '../json.js'
import { faultsOf } from '../shape.js'
import type { Trial } from '../trial.js'
import { NotApplicable, NotProvoked } from '../verdict.js'
import { tell } from '../wire.js'

/** Some tasks of one context, oldest first. */
async function someTasks(t: Trial, count: number): Promise<{ readonly contextId: string; readonly ids: readonly string[] }> {
  const first = await t.begin('complete')
  const contextId = textAt(first, 'contextId')
  const ids = [textAt(first, 'id')]
  while (ids.length < count) ids.push(textAt(await t.begin('complete', { contextId }), 'id'))
  return { contextId, ids }
}

const idsOf = (page: unknown) => listAt(page, 'tasks').map((task) => textAt(task, 'id'))

/** The ids of all pages, one after the other. */
async function walk(t: Trial, params: Members, between?: (page: unknown) => Promise<void>): Promise<readonly string[]> {
  const ids: string[] = []
  let pageToken = ''
  for (let pages = 0; pages < 30; pages++) {
    const page = await t.must('ListTasks', { ...params, ...(pageToken !== '' && { pageToken }) })
    ids.push(...idsOf(page))
    await between?.(page)
    pageToken = textAt(page, 'nextPageToken')
    if (pageToken === '') return ids
  }
  return t.fail('a walk that ends', `${ids.length} tasks on 30 pages, and no end`)
}

const refusesParams = (name: string, value: unknown) => async (t: Trial) => {
  await t.refuses('ListTasks', { [name]: value }, ['InvalidParamsError'])
}

export const listingChecks = [
  check('L1', ['MUST', '3.1.4'], 'A list has its tasks, the size of the page, the number of all and a token.', {}, async (t) => {
    const page = await t.must('ListTasks', {})
    // What is wrong with a single task is a matter of other checks.
    const faults = faultsOf('ListTasksResponse', Array.isArray(at(page, 'tasks')) ? put(page, 'tasks', []) : page)
    t.want(faults.length === 0, 'a valid ListTasksResponse', faults.join('; '))
  }),
  check('L2', ['MUST', '3.1.4'], 'The token of the last page is the empty text.', { messages: 1 }, async (t) => {
    const { contextId } = await someTasks(t, 1)
    const page = await t.must('ListTasks', { contextId, pageSize: 100 })
    t.want(at(page, 'nextPageToken') === '', 'nextPageToken ""', brief(at(page, 'nextPageToken')))
  }),
  check('L3', ['MUST', '3.1.4'], 'Listed tasks have no artifacts unless they are asked for.', { messages: 1 }, async (t) => {
    const { contextId } = await t.begin('artifact')
    for (const task of listAt(await t.must('ListTasks', { contextId }), 'tasks')) {
      t.want(at(task, 'artifacts') === undefined, 'no member artifacts', brief(at(task, 'artifacts')))
    }
  }),
  check('L4', ['MUST', '3.1.4'], 'With includeArtifacts listed tasks have theirs.', { messages: 1 }, async (t) => {
    const { id, contextId } = await t.begin('artifact')
    const listed = listAt(await t.must('ListTasks', { contextId, includeArtifacts: true }), 'tasks').find((task) => at(task, 'id') === id)
    const artifacts = at(await t.task(String(id)), 'artifacts')
    t.want(same(at(listed, 'artifacts'), artifacts), brief(artifacts), brief(at(listed, 'artifacts')))
  }),
  check('L5', ['MUST', '3.1.4'], 'The task whose status changed last comes first.', { messages: 3 }, async (t) => {
    const first = await t.begin('complete')
    await t.pause(20)
    await t.begin('complete', { contextId: first['contextId'] })
    await t.pause(20)
    await t.begin('complete', { contextId: first['contextId'] })
    const times = listAt(await t.must('ListTasks', { contextId: first['contextId'] }), 'tasks').map((task) =>
      Date.parse(textAt(task, 'status.timestamp')),
    )
    if (times.some(Number.isNaN)) throw new NotApplicable('tasks have no times')
    t.want(times.length === 3 && times.every((time, i) => i === 0 || time <= (times[i - 1] ?? 0)), 'times that fall', times)
  }),
  check('L6', ['MUST', '3.1.4'], 'A page has no more tasks than asked for.', { messages: 3 }, async (t) => {
    const { contextId } = await someTasks(t, 3)
    const page = await t.must('ListTasks', { contextId, pageSize: 2 })
    t.want(idsOf(page).length === 2, '2 tasks', idsOf(page).length)
  }),
  check('L7', ['MUST', '3.1.4'], 'A walk through the pages visits each task once.', { messages: 5 }, async (t) => {
    const { contextId, ids } = await someTasks(t, 5)
    const visited = await walk(t, { contextId, pageSize: 2 })
    t.want(same([...visited].sort(), [...ids].sort()), `5 tasks, each once`, visited)
  }),
  check('L8', ['MUST', '3.1.4'], 'totalSize is the number of all tasks that match, on every page.', { messages: 3 }, async (t) => {
    const { contextId } = await someTasks(t, 3)
    await walk(t, { contextId, pageSize: 2 }, async (page) => t.want(at(page, 'totalSize') === 3, 'totalSize 3', at(page, 'totalSize')))
  }),
  check('L9', ['MUST', '3.1.4'], 'A list of one context has the tasks of that context and no others.', { messages: 3 }, async (t) => {
    const { contextId, ids } = await someTasks(t, 2)
    await t.begin('complete')
    const listed = idsOf(await t.must('ListTasks', { contextId }))
    t.want(same([...listed].sort(), [...ids].sort()), ids.join(', '), listed)
  }),
  check('L10', ['MUST', '3.1.4'], 'A list of one state has tasks in that state and no others.', { messages: 2 }, async (t) => {
    const { contextId } = await t.begin('complete')
    const asking = await t.begin('inputRequired', { contextId })
    const page = await t.must('ListTasks', { contextId, status: 'TASK_STATE_INPUT_REQUIRED' })
    t.want(same(idsOf(page), [asking['id']]), `task ${asking['id']}`, idsOf(page))
  }),
  check('L11', ['SHOULD', '5.7'], 'The state UNSPECIFIED is no filter.', { messages: 2 }, async (t) => {
    const { contextId, ids } = await someTasks(t, 2)
    const listed = idsOf(await t.must('ListTasks', { contextId, status: 'TASK_STATE_UNSPECIFIED' }))
    t.want(listed.length === ids.length, `${ids.length} tasks`, listed.length)
  }),
  check('L12', ['MUST', '3.1.4'], 'statusTimestampAfter takes a task of that very time.', { messages: 1 }, async (t) => {
    const { id, contextId } = await t.begin('complete')
    const time = textAt(await t.task(String(id)), 'status.timestamp')
    if (time === '') throw new NotProvoked('the status has no time')
    const listed = idsOf(await t.must('ListTasks', { contextId, statusTimestampAfter: time }))
    t.want(listed.includes(String(id)), `task ${id}, whose time is ${time}`, listed)
  }),
  check('L13', ['MUST', '3.1.4'], 'statusTimestampAfter leaves out what is older.', { messages: 1 }, async (t) => {
    const { contextId } = await t.begin('complete')
    const statusTimestampAfter = new Date(t.world.now() + 86_400_000).toISOString()
    const listed = idsOf(await t.must('ListTasks', { contextId, statusTimestampAfter }))
    t.want(listed.length === 0, 'no task', listed)
  }),
  check('L14', ['MUST', '3.1.4'], 'A negative pageSize is refused.', {}, refusesParams('pageSize', -1)),
  check('L15', ['MUST', '3.1.4'], 'A pageSize of 0 is refused.', {}, refusesParams('pageSize', 0)),
  check('L16', ['MUST', '3.1.4'], 'A pageSize beyond 100 is refused.', {}, refusesParams('pageSize', 101)),
  check('L17', ['MUST', '3.1.4'], 'A token that the agent did not make is refused.', {}, refusesParams('pageToken', 'bm90IGEgdG9rZW4')),
  check('L18', ['SHOULD', '3.1.4'], 'A token is good for the filter that it was made under.', { messages: 2 }, async (t) => {
    const { contextId } = await someTasks(t, 2)
    const pageToken = textAt(await t.ready('ListTasks', { contextId, pageSize: 1 }), 'nextPageToken')
    if (pageToken === '') throw new NotProvoked('there is one page only')
    const answer = await t.call('ListTasks', { contextId, status: 'TASK_STATE_FAILED', pageSize: 1, pageToken })
    const isBound = answer.kind === 'error' || (answer.kind === 'result' && idsOf(answer.result).length === 0)
    t.want(isBound, 'an error, or no task that the filter leaves out', tell(t.binding, answer))
  }),
  check('L19', ['MUST', '3.2.4'], 'historyLength holds for lists too.', { messages: 1 }, async (t) => {
    const { contextId } = await t.begin('complete')
    for (const task of listAt(await t.must('ListTasks', { contextId, historyLength: 0 }), 'tasks')) {
      t.want(listAt(task, 'history').length === 0, 'no history', brief(at(task, 'history')))
    }
  }),
  check('L20', ['MUST', '3.1.4'], 'A context that nobody knows has an empty list.', {}, async (t) => {
    const page = await t.must('ListTasks', { contextId: `nobody knows ${t.fresh()}` })
    t.want(idsOf(page).length === 0 && at(page, 'nextPageToken') === '', 'no task and no next page', brief(page))
  }),
  check('L21', ['MUST', '3.1.4'], 'A page has room for 50 tasks unless something else was asked for.', {}, async (t) => {
    const page = await t.must('ListTasks', {})
    t.want(at(page, 'pageSize') === 50, 'pageSize 50', at(page, 'pageSize'))
  }),
  check('L22', ['MUST', '3.1.4'], 'A state that is none is refused as a filter.', {}, refusesParams('status', 'TASK_STATE_ASLEEP')),
  check('L23', ['MUST', '3.1.4'], 'A task comes first when its status has changed.', { messages: 3 }, async (t) => {
    const asking = await t.begin('inputRequired')
    await t.pause(20)
    await t.begin('complete', { contextId: asking['contextId'] })
    await t.pause(20)
    await t.ready('SendMessage', { message: t.prompt('answer', { taskId: asking['id'] }) })
    const [first] = idsOf(await t.must('ListTasks', { contextId: asking['contextId'] }))
    t.want(first === asking['id'], `task ${asking['id']} first`, first)
  }),
  check('L24', ['MUST', '3.1.4'], 'A negative historyLength of a list is refused.', {}, refusesParams('historyLength', -1)),
  check('L25', ['MUST', '3.1.4'], 'A time that is none is refused.', {}, refusesParams('statusTimestampAfter', 'yesterday')),
  check('L26', ['MUST', '3.1.4'], 'A walk visits each task once while others are added.', { messages: 6 }, async (t) => {
    const { contextId, ids } = await someTasks(t, 4)
    let added = 0
    const visited = await walk(t, { contextId, pageSize: 2 }, async () => {
      if (added++ === 0) for (let i = 0; i < 2; i++) await t.begin('complete', { contextId })
    })
    const twice = visited.filter((id, i) => visited.indexOf(id) < i)
    t.want(twice.length === 0, 'no task twice', twice)
    const missing = ids.filter((id) => !visited.includes(id))
    t.want(missing.length === 0, 'each task that was there', `without ${missing.join(', ')}`)
  }),
  check('L27', ['SHOULD', '3.4.1'], 'The tasks of one conversation are found by its context.', { messages: 2 }, async (t) => {
    const { id, contextId } = await t.begin('inputRequired')
    const other = await t.call('SendMessage', { message: t.prompt('complete', { contextId }) })
    const otherId = other.kind === 'result' ? textAt(other.result, 'task.id') : ''
    if (otherId === '') throw new NotProvoked(`a second task in the context: ${tell(t.binding, other)}`)
    const listed = idsOf(await t.must('ListTasks', { contextId }))
    t.want(listed.includes(String(id)) && listed.includes(otherId), `${id} and ${otherId}`, listed)
  }),
  check('L28', ['MUST', '3.1.4'], 'Listed tasks show the status that they have.', { messages: 1 }, async (t) => {
    const task = await t.begin('inputRequired')
    const [listed] = listAt(await t.must('ListTasks', { contextId: task['contextId'] }), 'tasks')
    t.want(same(at(listed, 'status'), task['status']), brief(task['status']), brief(at(listed, 'status')))
  }),
]
