/** Defects in who may see what. */

import type { OperationName } from '../../protocol/operations.js'
import { sleep } from '../../support/world.js'
import { listAt, type Members, put, textAt } from '../json.js'
import { type Defect, defect } from './defect.js'
import { errorReply, type Incoming, isOf, type Layer, onReply, onResult, resultOf, resultReply, withHeaders, withParams } from './seam.js'

const asAlice = (incoming: Incoming) => withHeaders(incoming, { authorization: 'Bearer alice-token' })
const isBob = ({ who }: Incoming) => who === 'bob-token'
const idOf = ({ params }: Incoming) => textAt(params, 'taskId') || textAt(params, 'message.taskId') || textAt(params, 'id')

/** Remembers the tasks that Alice was shown. */
function aliceTasks(): { readonly ids: Set<string>; readonly watch: Layer } {
  const ids = new Set<string>()
  return {
    ids,
    watch: async (incoming, next) => {
      const reply = await next(incoming)
      const id = textAt(resultOf(incoming, reply), 'task.id')
      if (!isBob(incoming) && id !== '') ids.add(id)
      return reply
    },
  }
}

/** Bob's requests for Alice's tasks by one operation are answered in another way. */
const tells =
  (operation: OperationName, answer: (incoming: Incoming, next: (incoming: Incoming) => ReturnType<Layer>) => ReturnType<Layer>) =>
  (): Layer => {
    const { ids, watch } = aliceTasks()
    return (incoming, next) =>
      isBob(incoming) && isOf(incoming, operation) && ids.has(idOf(incoming)) ? answer(incoming, next) : watch(incoming, next)
  }

/** The operation looks tasks up by their id alone. */
const unscoped = (operation: OperationName) => tells(operation, (incoming, next) => next(asAlice(incoming)))

/** An operation that forgot to ask who is calling. */
const open = (operation: OperationName) => (): Layer => (incoming, next) =>
  next(isOf(incoming, operation) && incoming.who === '' ? asAlice(incoming) : incoming)

export const accessDefects: readonly Defect[] = [
  ...(
    [
      ['SendMessage', 'A20'],
      ['SendStreamingMessage', 'A21'],
      ['GetTask', 'A22'],
      ['ListTasks', 'A23'],
      ['CancelTask', 'A24'],
      ['SubscribeToTask', 'A25'],
      ['GetExtendedAgentCard', 'A26'],
    ] as const
  ).map(([operation, check]) =>
    defect(
      `anonymous_${operation.replace(/(?!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase()}`,
      '7.4',
      check,
      `${operation} is served without credentials.`,
      open(operation),
    ),
  ),
  defect(
    'any_token_will_do',
    '7.4',
    'A1',
    'Any bearer token is taken.',
    () => (incoming, next) => next(incoming.who.startsWith('wrong-') ? asAlice(incoming) : incoming),
  ),
  defect('no_challenge', '3.3.2', 'A2', 'A 401 has no WWW-Authenticate.', () =>
    onReply((reply) => {
      if (reply.status !== 401) return undefined
      const { 'www-authenticate': _, ...headers } = reply.headers
      return { ...reply, headers }
    }),
  ),
  defect(
    'refused_but_done',
    '3.3.2',
    'A3',
    'A message is accepted before its sender is asked for credentials.',
    () => async (incoming, next) => {
      if (isOf(incoming, 'SendMessage') && incoming.who === '') await next(asAlice(incoming))
      return next(incoming)
    },
  ),
  defect(
    'forbidden_vs_missing',
    '13.1',
    'A4',
    'Somebody else’s task is answered with 403.',
    tells('GetTask', async (incoming) => errorReply(incoming, 'PermissionDeniedError', 'This task belongs to another user.')),
  ),
  defect('anybody_may_cancel', '13.1', 'A5', 'A task is canceled by whoever knows its id.', unscoped('CancelTask')),
  defect('anybody_may_subscribe', '13.1', 'A6', 'A task is streamed to whoever knows its id.', unscoped('SubscribeToTask')),
  defect(
    'anybody_may_send',
    '13.1',
    'A7',
    'A message to a task is taken from whoever knows its id.',
    tells('SendMessage', (incoming, next) =>
      next(asAlice(withParams(incoming, put(incoming.params, 'configuration.returnImmediately', true) as Members))),
    ),
  ),
  defect(
    'anybody_may_be_called',
    '13.1',
    'A8',
    'Whoever knows the id of a task may have webhooks called for it.',
    unscoped('CreateTaskPushNotificationConfig'),
  ),
  defect(
    'webhook_read_tells',
    '13.1',
    'A9',
    'A webhook of somebody else’s task is missing in other words.',
    tells('GetTaskPushNotificationConfig', async (incoming) =>
      errorReply(incoming, 'TaskNotFoundError', 'There is no such configuration on this task.'),
    ),
  ),
  defect(
    'anybody_may_list_webhooks',
    '13.1',
    'A10',
    'The webhooks of a task are shown to whoever knows its id.',
    unscoped('ListTaskPushNotificationConfigs'),
  ),
  defect(
    'anybody_may_delete_webhooks',
    '13.1',
    'A11',
    'A webhook is deleted by whoever knows the id of its task.',
    unscoped('DeleteTaskPushNotificationConfig'),
  ),
  defect('list_of_everybody', '13.1', 'A12', 'A list without a filter has everybody’s tasks.', () => async (incoming, next) => {
    const reply = await next(incoming)
    if (!isOf(incoming, 'ListTasks') || !isBob(incoming) || incoming.params['contextId'] || incoming.params['pageToken']) return reply
    const all = resultOf(incoming, await next(asAlice(incoming)))
    return all === undefined ? reply : resultReply(incoming, put(resultOf(incoming, reply), 'tasks', listAt(all, 'tasks')))
  }),
  defect(
    'context_of_everybody',
    '13.1',
    'A13',
    'A list of a context has everybody’s tasks.',
    () => (incoming, next) =>
      next(isOf(incoming, 'ListTasks') && isBob(incoming) && incoming.params['contextId'] ? asAlice(incoming) : incoming),
  ),
  defect(
    'context_hijack',
    '13.1',
    'A14',
    'Bob’s request in Alice’s context is quietly answered with her remembered brief: Lisbon, 120 people.',
    () => {
      const briefs = new Map<string, string>()
      return async (incoming, next) => {
        const contextId = textAt(incoming.params, 'message.contextId')
        const known = briefs.get(contextId)
        if (isOf(incoming, 'SendMessage') && isBob(incoming) && known !== undefined) {
          const parts = [{ text: `As you said: ${known}` }]
          const message = { messageId: 'answer', role: 'ROLE_AGENT', parts }
          return resultReply(incoming, { task: { id: 'task-of-bob', contextId, status: { state: 'TASK_STATE_COMPLETED', message } } })
        }
        const reply = await next(incoming)
        const made = textAt(resultOf(incoming, reply), 'task.contextId')
        const said = listAt(incoming.params, 'message.parts')
          .map((part) => textAt(part, 'text'))
          .find((text) => text.includes('Lisbon'))
        if (said !== undefined) briefs.set(made, said)
        return reply
      }
    },
  ),
  defect(
    'token_of_everybody',
    '13.1',
    'A15',
    'A page token goes on with the list of whoever it was made for.',
    () => (incoming, next) =>
      next(isOf(incoming, 'ListTasks') && isBob(incoming) && incoming.params['pageToken'] ? asAlice(incoming) : incoming),
  ),
  defect('message_ids_of_everybody', '13.1', 'A16', 'A message id that somebody has used before gives their task.', () => {
    const known = new Map<string, unknown>()
    return async (incoming, next) => {
      if (!isOf(incoming, 'SendMessage')) return next(incoming)
      const id = textAt(incoming.params, 'message.messageId')
      if (isBob(incoming) && known.has(id)) return resultReply(incoming, known.get(id))
      const reply = await next(incoming)
      const result = resultOf(incoming, reply)
      if (result !== undefined) known.set(id, result)
      return reply
    }
  }),
  defect(
    'parses_before_asking',
    '3.3.2',
    'A17',
    'A body is parsed before anybody asks who sent it.',
    () => async (incoming, next) =>
      incoming.binding === 'JSONRPC' && incoming.who === '' && incoming.text.startsWith('{ no')
        ? errorReply(incoming, 'ParseError')
        : next(incoming),
  ),
  defect('echoes_credentials', '13.4', 'A18', 'A refusal repeats the credential that it refuses.', () => async (incoming, next) => {
    const reply = await next(incoming)
    if (reply.status !== 401 || typeof reply.body !== 'string') return reply
    return { ...reply, body: reply.body.replace('"message":"', `"message":"Not valid: ${incoming.who}. `) }
  }),
  defect('slow_for_strangers', '13.1', 'A19', 'A task is loaded before its owner is looked at.', (world) => {
    const { ids, watch } = aliceTasks()
    return async (incoming, next) => {
      if (isBob(incoming) && isOf(incoming, 'GetTask') && ids.has(idOf(incoming))) await sleep(world, 25)
      return watch(incoming, next)
    }
  }),
  defect('extended_card_of_the_last', '13.3', 'A27', 'The extended card is kept for whoever asks next.', () => {
    let last: unknown
    return onResult('GetExtendedAgentCard', (card) => {
      const before = last
      last = card
      return before ?? card
    })
  }),
]
