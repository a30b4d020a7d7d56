/** S: how a task moves, and what an operation does by the state it finds. Spec §3.1, §3.2.2, §4.1.3. */

import { check } from '../check.js'
import { at, brief, listAt, type Members, same, textAt } from '../json.js'
import type { Prompt } from '../scenario.js'
import type { Trial } from '../trial.js'
import { NotApplicable, NotProvoked } from '../verdict.js'
import { isError, nameOf, tell } from '../wire.js'

const finals = ['TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED']
const atRest = [...finals, 'TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED']

export const stateOfTask = (task: unknown) => textAt(task, 'status.state')

/** A task that was canceled. */
async function canceled(t: Trial): Promise<Members> {
  const task = await t.begin('working')
  const after = await t.ready('CancelTask', { id: task['id'] })
  if (stateOfTask(after) !== 'TASK_STATE_CANCELED') throw new NotProvoked(`CancelTask led to ${stateOfTask(after)}`)
  return task
}

/** That a task which is over in this way takes no message, and none of it is kept. */
async function refusesMessages(t: Trial, task: Members): Promise<void> {
  const { id } = task
  const message = t.message('One more thing.', { taskId: id })
  await t.refuses('SendMessage', { message }, ['UnsupportedOperationError'])
}

const finalPrompts: readonly (readonly [id: string, cancelId: string, state: string, prompt: Prompt])[] = [
  ['S12', 'S7', 'completed', 'complete'],
  ['S13', 'S8', 'failed', 'failed'],
  ['S14', 'S9', 'rejected', 'rejected'],
]

export const stateChecks = [
  check(
    'S1',
    ['MUST', '3.2.2'],
    'A blocking send answers when its task is over or waits for the caller, not before.',
    { messages: 1 },
    async (t) => {
      const result = await t.must('SendMessage', { message: t.prompt('delayed') })
      const state = stateOfTask(at(result, 'task'))
      t.want(atRest.includes(state), 'a final or interrupted state', state || brief(result))
    },
  ),
  check('S2', ['MUST', '3.2.2'], 'With returnImmediately the answer comes while the task is still at work.', { messages: 1 }, async (t) => {
    const params = { message: t.prompt('delayed'), configuration: { returnImmediately: true } }
    const state = stateOfTask(at(await t.must('SendMessage', params), 'task'))
    t.want(['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING'].includes(state), 'a task at work', state)
  }),
  check('S3', ['MUST', '3.1.3'], 'GetTask gives the task that a send made.', {}, async (t) => {
    const task = await t.finished()
    const got = await t.must('GetTask', { id: task['id'] })
    for (const member of ['id', 'contextId', 'status', 'artifacts']) {
      t.want(same(at(got, member), task[member]), `${member} ${brief(task[member])}`, at(got, member))
    }
  }),
  check('S4', ['MUST', '3.2.2'], 'What a task that was at work came to is there once it is over.', { messages: 1 }, async (t) => {
    const { id } = await t.begin('delayed')
    const task = await t.until(
      () => t.task(String(id)),
      (one) => finals.includes(stateOfTask(one)),
      60_000,
    )
    t.want(finals.includes(stateOfTask(task)), 'a final state in the end', stateOfTask(task))
  }),
  check('S5', ['MUST', '3.1.5'], 'Canceling a task at work gives it in the state CANCELED.', { messages: 1 }, async (t) => {
    const { id } = await t.begin('working')
    const answer = await t.call('CancelTask', { id })
    // An agent that was quick has nothing left to cancel.
    if (answer.kind === 'error' && finals.includes(stateOfTask(await t.task(String(id)))))
      throw new NotProvoked('the task was over by then')
    const task = answer.kind === 'result' ? answer.result : undefined
    t.want(at(task, 'id') === id && stateOfTask(task) === 'TASK_STATE_CANCELED', 'the task, CANCELED', tell(t.binding, answer))
  }),
  check('S6', ['MUST', '4.1.3'], 'A task that was canceled stays canceled, and gains nothing more.', { messages: 1 }, async (t) => {
    const { id } = await canceled(t)
    const first = await t.task(String(id))
    await t.pause(6_000)
    const later = await t.must('GetTask', { id })
    t.want(stateOfTask(later) === 'TASK_STATE_CANCELED', 'CANCELED for good', stateOfTask(later))
    t.want(same(at(later, 'artifacts'), at(first, 'artifacts')), 'no artifact after the end', brief(at(later, 'artifacts')))
  }),
  ...finalPrompts.map(([, id, state, prompt]) =>
    check(id, ['MUST', '3.1.5'], `A task that is ${state} cannot be canceled: TaskNotCancelable.`, { messages: 1 }, async (t) => {
      const task = prompt === 'complete' ? await t.finished() : await t.begin(prompt)
      await t.refuses('CancelTask', { id: task['id'] }, ['TaskNotCancelableError'])
    }),
  ),
  check('S10', ['MUST', '3.3.1'], 'Canceling again does no harm: the task, or TaskNotCancelable.', { messages: 1 }, async (t) => {
    const { id } = await canceled(t)
    const answer = await t.call('CancelTask', { id })
    if (answer.kind === 'result') t.want(stateOfTask(answer.result) === 'TASK_STATE_CANCELED', 'the canceled task', brief(answer.result))
    else
      t.want(
        answer.kind === 'error' && isError(t.binding, answer, 'TaskNotCancelableError'),
        'the task or TaskNotCancelable',
        tell(t.binding, answer),
      )
    t.reading('a second cancel (§3.3.1, §3.1.5)', answer.kind === 'result' ? 'gives the canceled task' : 'is TaskNotCancelable')
  }),
  check('S11', ['MUST', '3.1.5'], 'Canceling a task that is not there is TaskNotFound.', {}, async (t) => {
    await t.refuses('CancelTask', { id: `not-there-${t.fresh()}` }, ['TaskNotFoundError'])
  }),
  ...finalPrompts.map(([id, , state, prompt]) =>
    check(id, ['MUST', '3.1.1'], `A task that is ${state} takes no message: UnsupportedOperation.`, { messages: 2 }, async (t) =>
      refusesMessages(t, prompt === 'complete' ? await t.finished() : await t.begin(prompt)),
    ),
  ),
  check('S15', ['MUST', '3.1.1'], 'A task that was canceled takes no message: UnsupportedOperation.', { messages: 2 }, async (t) =>
    refusesMessages(t, await canceled(t)),
  ),
  check('S16', ['MUST', '3.3.2'], 'A message that was refused is not in the history.', { messages: 2 }, async (t) => {
    const { id } = await t.begin('complete')
    const before = await t.task(String(id))
    const message = t.message('Keep this out.', { taskId: id })
    const answer = await t.call('SendMessage', { message })
    if (answer.kind !== 'error') throw new NotProvoked('the message was not refused')
    const after = await t.must('GetTask', { id })
    const ids = listAt(after, 'history').map((one) => at(one, 'messageId'))
    t.want(!ids.includes(message['messageId']), 'a history without the message', ids)
    t.want(same(at(before, 'status'), at(after, 'status')), 'the same status as before', brief(at(after, 'status')))
  }),
  check(
    'S17',
    ['MUST', '3.4.3'],
    'The answer to a question goes on with the same task in the same context.',
    { messages: 2 },
    async (t) => {
      const { id, contextId } = await t.begin('inputRequired')
      const result = await t.must('SendMessage', { message: t.prompt('answer', { taskId: id, contextId }) })
      t.want(textAt(result, 'task.id') === id, `task ${id}`, textAt(result, 'task.id') || brief(result))
      t.want(textAt(result, 'task.contextId') === contextId, `context ${contextId}`, textAt(result, 'task.contextId'))
    },
  ),
  check('S18', ['MUST', '3.1.1'], 'The answer to a question gets its task on.', { messages: 2 }, async (t) => {
    const { id } = await t.begin('inputRequired')
    await t.ready('SendMessage', { message: t.prompt('answer', { taskId: id }) })
    const task = await t.until(
      () => t.task(String(id)),
      (one) => finals.includes(stateOfTask(one)),
    )
    t.want(finals.includes(stateOfTask(task)), 'a final state after the answer', stateOfTask(task))
  }),
  check('S19', ['SHOULD', '4.1.3'], 'A task that waits for input says what it wants.', { messages: 1 }, async (t) => {
    const task = await t.begin('inputRequired')
    t.want(listAt(task, 'status.message.parts').length > 0, 'a status message', brief(at(task, 'status')))
  }),
  check('S20', ['MUST', '7.6.1'], 'A task that waits for an authorization says which.', { messages: 1 }, async (t) => {
    const task = await t.begin('authRequired')
    t.want(listAt(task, 'status.message.parts').length > 0, 'a status message', brief(at(task, 'status')))
  }),
  check('S21', ['SHOULD', '7.6.1'], 'A task that waits for an authorization takes messages.', { messages: 2 }, async (t) => {
    const { id } = await t.begin('authRequired')
    const answer = await t.call('SendMessage', {
      message: t.message('I would rather not.', { taskId: id }),
      configuration: { returnImmediately: true },
    })
    t.want(answer.kind === 'result' && textAt(answer.result, 'task.id') === id, `task ${id}`, tell(t.binding, answer))
  }),
  check('S22', ['SHOULD', '4.1.3'], 'A task that failed says why.', { messages: 1 }, async (t) => {
    const task = await t.begin('failed')
    t.want(listAt(task, 'status.message.parts').length > 0, 'a status message', brief(at(task, 'status')))
  }),
  check('S23', ['MUST', '5.6.1'], 'The time of a status is one in UTC.', {}, async (t) => {
    const time = at(await t.task(String((await t.finished())['id'])), 'status.timestamp')
    const isUtc = typeof time === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(time) && !Number.isNaN(Date.parse(time))
    t.want(time === undefined || isUtc, 'a time that ends in Z', time)
  }),
  check('S24', ['SHOULD', '5.6.1'], 'The time of a status has milliseconds.', {}, async (t) => {
    const time = textAt(await t.task(String((await t.finished())['id'])), 'status.timestamp')
    if (time === '') throw new NotApplicable('the status has no time')
    t.want(/\.\d{3,9}(Z|[+-]\d\d:\d\d)$/.test(time), 'a time with milliseconds', time)
  }),
  check('S25', ['MUST', '3.2.2'], 'The answer to a blocking send has all artifacts of the task.', { messages: 1 }, async (t) => {
    const task = await t.begin('artifact')
    const got = await t.task(String(task['id']))
    if (listAt(got, 'artifacts').length === 0) throw new NotProvoked('the task has no artifact')
    t.want(same(task['artifacts'], at(got, 'artifacts')), `artifacts ${brief(at(got, 'artifacts'))}`, brief(task['artifacts']))
  }),
  check('S26', ['MUST', '3.4.2'], 'Each send without a task makes a task of its own.', { messages: 2 }, async (t) => {
    const parts = [{ text: `tck-complete-task in the same words ${t.fresh()}` }]
    const [one, two] = [await t.begin('complete', { parts }), await t.begin('complete', { parts })]
    t.want(one['id'] !== two['id'], 'two tasks', `${one['id']} twice`)
  }),
  check('S27', ['MUST', '3.1.3'], 'Reading a task that is not there is TaskNotFound.', {}, async (t) => {
    await t.refuses('GetTask', { id: `not-there-${t.fresh()}` }, ['TaskNotFoundError'])
  }),
  check('S28', ['MUST', '3.4.2'], 'A message to a task that is not there is TaskNotFound.', { messages: 1 }, async (t) => {
    await t.refuses('SendMessage', { message: t.message('Hello?', { taskId: `not-there-${t.fresh()}` }) }, ['TaskNotFoundError'])
  }),
  check('S29', ['MUST', '4.1.3'], 'The time of a status never goes back.', { messages: 1 }, async (t) => {
    const task = await t.begin('working')
    await t.pause(1_000)
    const after = await t.ready('CancelTask', { id: task['id'] })
    const [before, now] = [textAt(task, 'status.timestamp'), textAt(after, 'status.timestamp')]
    if (before === '' || now === '') throw new NotApplicable('the status has no time')
    t.want(Date.parse(now) >= Date.parse(before), `a time from ${before} on`, now)
  }),
  check(
    'S30',
    ['MUST', '3.5.2'],
    'A task at work goes on when the caller’s connection is gone.',
    { messages: 1, needs: ['streaming'] },
    async (t) => {
      const stream = await t.readyOpen('SendStreamingMessage', { message: t.prompt('delayed') })
      const first = await stream.next()
      stream.close()
      const id = typeof first === 'object' ? textAt(first.body, 'task.id') : ''
      if (id === '') throw new NotProvoked('the stream did not begin with a task')
      const task = await t.until(
        () => t.task(id),
        (one) => finals.includes(stateOfTask(one)),
        60_000,
      )
      t.want(stateOfTask(task) === 'TASK_STATE_COMPLETED', 'COMPLETED without a reader', stateOfTask(task))
    },
  ),
  check('S31', ['MUST', '3.1.5'], 'What is canceled at its question is canceled.', { messages: 1 }, async (t) => {
    const { id } = await t.begin('inputRequired')
    const answer = await t.call('CancelTask', { id })
    t.want(
      answer.kind === 'result' && stateOfTask(answer.result) === 'TASK_STATE_CANCELED',
      'CANCELED',
      answer.kind === 'error' ? nameOf(t.binding, answer) : tell(t.binding, answer),
    )
  }),
]
