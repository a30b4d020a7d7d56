/** Defects in how tasks move. */

import { at, listAt, type Members, put, textAt } from '../json.js'
import { type Defect, defect } from './defect.js'
import {
  errorReply,
  type Incoming,
  instead,
  isOf,
  type Layer,
  onFrames,
  onParams,
  onResult,
  reasonOf,
  resultOf,
  resultReply,
  sends,
  withParams,
} from './seam.js'

const taskIdOf = ({ params }: Incoming) => textAt(params, 'message.taskId')
const textOf = ({ params }: Incoming) => textAt(params, 'message.parts.0.text')
const withoutTask = (params: Members) => put(params, 'message.taskId', undefined) as Members
const isLate = (text: string) => /tck-long-running|tck-cancel/.test(text)

/** Remembers in which state each task was seen last. */
export function seen(): { states: Map<string, string>; layer: Layer } {
  const states = new Map<string, string>()
  return {
    states,
    layer: async (incoming, next) => {
      const reply = await next(incoming)
      const result = resultOf(incoming, reply)
      const task = at(result, 'task') ?? result
      if (textAt(task, 'status.state') !== '') states.set(textAt(task, 'id'), textAt(task, 'status.state'))
      return reply
    },
  }
}

/** Messages to tasks that are over in this way begin another task. */
function beginsAnew(state: string): () => Layer {
  return () => {
    const { states, layer } = seen()
    return (incoming, next) => {
      const isOver = isOf(incoming, 'SendMessage') && states.get(taskIdOf(incoming)) === state
      return layer(isOver ? withParams(incoming, withoutTask(incoming.params)) : incoming, next)
    }
  }
}

/** Tasks that are over in this way are canceled, or so it is said. */
function cancelsAnyway(state: string): () => Layer {
  return () => {
    const { states, layer } = seen()
    return async (incoming, next) => {
      const id = textAt(incoming.params, 'id')
      if (!isOf(incoming, 'CancelTask') || states.get(id) !== state) return layer(incoming, next)
      return resultReply(incoming, { id, contextId: 'c', status: { state: 'TASK_STATE_CANCELED' } })
    }
  }
}

const withoutMessage = (state: string) => () =>
  onResult('SendMessage', (result) =>
    textAt(result, 'task.status.state') === state ? put(result, 'task.status.message', undefined) : result,
  )

export const stateDefects: readonly Defect[] = [
  defect('blocking_returns_early', '3.2.2', 'S1', 'A blocking send answers as soon as the task exists.', () =>
    onParams('SendMessage', (params, incoming) =>
      /tck-long-running/.test(textOf(incoming)) ? (put(params, 'configuration.returnImmediately', true) as Members) : undefined,
    ),
  ),
  defect('return_immediately_ignored', '3.2.2', 'S2', 'A send always waits for the end of its task.', () =>
    onParams('SendMessage', (params, incoming) =>
      /tck-long-running/.test(textOf(incoming)) ? (put(params, 'configuration', undefined) as Members) : undefined,
    ),
  ),
  defect('get_task_other_context', '3.1.3', 'S3', 'GetTask names another context than the send did.', () =>
    onResult('GetTask', (task) => put(task, 'contextId', 'default')),
  ),
  defect('stuck_at_work', '3.2.2', 'S4', 'What was answered at once is never seen to end.', () => {
    const late = new Set<string>()
    return onResult(['SendMessage', 'GetTask'], (result, incoming) => {
      if (isLate(textOf(incoming)) && at(incoming.params, 'configuration.returnImmediately') === true) late.add(textAt(result, 'task.id'))
      return late.has(textAt(result, 'id')) && textAt(result, 'status.state') === 'TASK_STATE_COMPLETED'
        ? put(put(result, 'status.state', 'TASK_STATE_WORKING'), 'artifacts', undefined)
        : result
    })
  }),
  defect('cancel_shows_working', '3.1.5', 'S5', 'CancelTask answers with the task as it was before.', () =>
    onResult('CancelTask', (task) => put(task, 'status.state', 'TASK_STATE_WORKING')),
  ),
  defect('late_save_after_cancel', '4.1.3', 'S6', 'A run that goes on after the cancel saves its end over it.', () => {
    const canceled = new Map<string, number>()
    return onResult(['CancelTask', 'GetTask'], (task, incoming) => {
      const id = textAt(task, 'id')
      if (incoming.operation === 'CancelTask') canceled.set(id, 0)
      const reads = canceled.get(id)
      if (reads === undefined || incoming.operation !== 'GetTask') return task
      canceled.set(id, reads + 1)
      return reads > 0 ? put(task, 'status.state', 'TASK_STATE_COMPLETED') : task
    })
  }),
  defect('cancels_completed', '3.1.5', 'S7', 'A completed task is canceled.', cancelsAnyway('TASK_STATE_COMPLETED')),
  defect('cancels_failed', '3.1.5', 'S8', 'A failed task is canceled.', cancelsAnyway('TASK_STATE_FAILED')),
  defect('cancels_rejected', '3.1.5', 'S9', 'A rejected task is canceled.', cancelsAnyway('TASK_STATE_REJECTED')),
  defect('second_cancel_breaks', '3.3.1', 'S10', 'A second cancel ends in an internal error.', () => {
    const { states, layer } = seen()
    return async (incoming, next) =>
      isOf(incoming, 'CancelTask') && states.get(textAt(incoming.params, 'id')) === 'TASK_STATE_CANCELED'
        ? errorReply(incoming, 'InternalError')
        : layer(incoming, next)
  }),
  defect(
    'cancel_of_nothing',
    '3.1.5',
    'S11',
    'Canceling a task that is not there is said to be unsupported.',
    () => async (incoming, next) => {
      const reply = await next(incoming)
      return isOf(incoming, 'CancelTask') && reasonOf(reply) === 'TASK_NOT_FOUND'
        ? errorReply(incoming, 'UnsupportedOperationError')
        : reply
    },
  ),
  defect(
    'completed_takes_messages',
    '3.1.1',
    'S12',
    'A message to a completed task begins another one.',
    beginsAnew('TASK_STATE_COMPLETED'),
  ),
  defect('failed_takes_messages', '3.1.1', 'S13', 'A message to a failed task begins another one.', beginsAnew('TASK_STATE_FAILED')),
  defect('rejected_takes_messages', '3.1.1', 'S14', 'A message to a rejected task begins another one.', beginsAnew('TASK_STATE_REJECTED')),
  defect('canceled_takes_messages', '3.1.1', 'S15', 'A message to a canceled task begins another one.', beginsAnew('TASK_STATE_CANCELED')),
  defect('refused_but_kept', '3.3.2', 'S16', 'A message is put into the history before it is refused.', () => {
    const refused = new Map<string, unknown[]>()
    return async (incoming, next) => {
      const reply = await next(incoming)
      if (isOf(incoming, sends) && reasonOf(reply) === 'UNSUPPORTED_OPERATION') {
        const kept = refused.get(taskIdOf(incoming)) ?? []
        refused.set(taskIdOf(incoming), [...kept, incoming.params['message']])
      }
      const task = resultOf(incoming, reply)
      const kept = refused.get(textAt(task, 'id'))
      if (!isOf(incoming, 'GetTask') || !kept) return reply
      return resultReply(incoming, put(task, 'history', [...listAt(task, 'history'), ...kept]))
    }
  }),
  defect('answer_opens_new_task', '3.4.3', 'S17', 'The answer to a question begins another task.', () =>
    onParams('SendMessage', (params, incoming) =>
      textOf(incoming).startsWith('done') && at(params, 'message.contextId') !== undefined ? withoutTask(params) : undefined,
    ),
  ),
  defect('answer_unheard', '3.1.1', 'S18', 'The answer to a question is kept, and the task goes on waiting.', () => {
    const waiting = new Set<string>()
    return async (incoming, next) => {
      const id = taskIdOf(incoming)
      if (isOf(incoming, 'SendMessage') && textOf(incoming).startsWith('done') && !at(incoming.params, 'message.contextId')) {
        waiting.add(id)
        return resultReply(incoming, { task: { id, contextId: 'c', status: { state: 'TASK_STATE_INPUT_REQUIRED' } } })
      }
      return next(incoming)
    }
  }),
  defect('question_without_words', '4.1.3', 'S19', 'A question has no message.', withoutMessage('TASK_STATE_INPUT_REQUIRED')),
  defect(
    'authorization_without_words',
    '7.6.1',
    'S20',
    'Nothing says which authorization is wanted.',
    withoutMessage('TASK_STATE_AUTH_REQUIRED'),
  ),
  defect('deaf_while_authorizing', '7.6.1', 'S21', 'A task that waits for an authorization takes no messages.', () => {
    const { states, layer } = seen()
    return async (incoming, next) =>
      isOf(incoming, 'SendMessage') && states.get(taskIdOf(incoming)) === 'TASK_STATE_AUTH_REQUIRED'
        ? errorReply(incoming, 'UnsupportedOperationError')
        : layer(incoming, next)
  }),
  defect('failure_without_words', '4.1.3', 'S22', 'A failed task does not say why.', withoutMessage('TASK_STATE_FAILED')),
  defect('time_with_offset', '5.6.1', 'S23', 'Times are written with an offset.', () =>
    onResult(['GetTask', 'SendMessage'], (result, { operation }) => {
      const path = operation === 'GetTask' ? 'status.timestamp' : 'task.status.timestamp'
      const time = textAt(result, path)
      return time === '' ? result : put(result, path, time.replace(/Z$/, '+00:00'))
    }),
  ),
  defect('time_without_milliseconds', '5.6.1', 'S24', 'Times are written in whole seconds.', () =>
    onResult(['GetTask', 'SendMessage'], (result, { operation }) => {
      const path = operation === 'GetTask' ? 'status.timestamp' : 'task.status.timestamp'
      const time = textAt(result, path)
      return time === '' ? result : put(result, path, time.replace(/\.\d+Z$/, 'Z'))
    }),
  ),
  defect('answer_without_artifacts', '3.2.2', 'S25', 'A blocking send answers with the task before its artifacts were saved.', () =>
    onResult('SendMessage', (result) => put(result, 'task.artifacts', undefined)),
  ),
  defect('same_words_same_task', '3.4.2', 'S26', 'The same words from the same caller are taken for the same task.', () => {
    const known = new Map<string, unknown>()
    return async (incoming, next) => {
      const key = textOf(incoming)
      if (!isOf(incoming, 'SendMessage') || !key.includes('same words')) return next(incoming)
      const before = known.get(key)
      if (before !== undefined) return resultReply(incoming, before)
      const reply = await next(incoming)
      known.set(key, resultOf(incoming, reply))
      return reply
    }
  }),
  defect('missing_is_empty', '3.1.3', 'S27', 'Reading a task that is not there gives an empty one.', () => async (incoming, next) => {
    const reply = await next(incoming)
    const isMissing =
      isOf(incoming, 'GetTask') && reasonOf(reply) === 'TASK_NOT_FOUND' && textAt(incoming.params, 'id').startsWith('not-there')
    return isMissing
      ? resultReply(incoming, { id: textAt(incoming.params, 'id'), contextId: '', status: { state: 'TASK_STATE_SUBMITTED' } })
      : reply
  }),
  defect('unknown_task_is_made', '3.4.2', 'S28', 'A message to a task that is not there makes one.', () =>
    onParams('SendMessage', (params, incoming) => (taskIdOf(incoming).startsWith('not-there') ? withoutTask(params) : undefined)),
  ),
  defect('clock_goes_back', '4.1.3', 'S29', 'The status of a cancel has the time at which the task was made.', () =>
    onResult('CancelTask', (task) => put(task, 'status.timestamp', '2025-01-01T00:00:00.000Z')),
  ),
  defect('dies_with_its_stream', '3.5.2', 'S30', 'A task whose stream was dropped is left at work for ever.', () => {
    const dropped = new Set<string>()
    const frames = onFrames('SendStreamingMessage', () => {
      let id = ''
      return (frame) => {
        id = textAt(frame.body, 'task.id') || id
        dropped.add(id)
        if (textAt(frame.body, 'statusUpdate.status.state') === 'TASK_STATE_COMPLETED') dropped.delete(id)
        return [frame]
      }
    })
    const reads = onResult('GetTask', (task) => (dropped.has(textAt(task, 'id')) ? put(task, 'status.state', 'TASK_STATE_WORKING') : task))
    return (incoming, next) => frames(incoming, (one) => reads(one, next))
  }),
  defect('question_cannot_be_canceled', '3.1.5', 'S31', 'A task that asks cannot be canceled.', () => {
    const { states, layer } = seen()
    return instead((incoming, next) =>
      isOf(incoming, 'CancelTask') && states.get(textAt(incoming.params, 'id')) === 'TASK_STATE_INPUT_REQUIRED'
        ? errorReply(incoming, 'TaskNotCancelableError')
        : layer(incoming, next),
    )
  }),
]
