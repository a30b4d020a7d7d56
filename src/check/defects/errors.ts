/** Defects in how errors look. */

import { type ErrorName, errorTable } from '../../protocol/error-table.js'
import { isMembers, listAt, type Members, put, textAt } from '../json.js'
import { type Defect, defect } from './defect.js'
import { errorReply, type Incoming, instead, isOf, onCard, onError, onParams, onReply, reasonOf, resultReply, withHeaders } from './seam.js'
import { seen } from './states.js'

/** A row of the table with another code on JSON-RPC, and with another status on HTTP+JSON. */
function row(name: ErrorName, check: string, profile?: Defect['profile']): readonly Defect[] {
  const { reason, http } = errorTable[name]
  const short = name.replace(/Error$/, '')
  const snake = short.replace(/(?!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase()
  const status = http === 400 ? 409 : 400
  const isHttp = ({ binding }: Incoming) => binding === 'HTTP+JSON'
  return [
    defect(
      `code_${snake}`,
      '5.4',
      check,
      `${short} has another code on JSON-RPC.`,
      () => onError(reason, (error, incoming) => (isHttp(incoming) ? error : put(error, 'code', -32099))),
      profile && { profile },
    ),
    defect(
      `status_${snake}`,
      '5.4',
      check,
      `${short} has another status on HTTP+JSON.`,
      () => onReply((reply, incoming) => (isHttp(incoming) && reasonOf(reply) === reason ? { ...reply, status } : undefined)),
      profile && { profile },
    ),
  ]
}

const onHeader = (name: string, value: string | undefined, is: (incoming: Incoming, status: number) => boolean) => () =>
  onReply((reply, incoming) => {
    if (!is(incoming, reply.status)) return undefined
    const { [name]: _, ...headers } = reply.headers
    return { ...reply, headers: value === undefined ? headers : { ...headers, [name]: value } }
  })

export const errorDefects: readonly Defect[] = [
  ...row('TaskNotFoundError', 'E1'),
  ...row('TaskNotCancelableError', 'E2'),
  ...row('PushNotificationNotSupportedError', 'E3', 'minimal'),
  ...row('UnsupportedOperationError', 'E4'),
  ...row('ContentTypeNotSupportedError', 'E5'),
  ...row('ExtensionSupportRequiredError', 'E8', 'required-extension'),
  ...row('VersionNotSupportedError', 'E9'),
  defect('code_invalid_params', '5.4', 'E13', 'Parameters that are not valid are an internal error.', () => async (incoming, next) => {
    const reply = await next(incoming)
    const isBare =
      isOf(incoming, 'SendMessage') &&
      reasonOf(reply) === 'INVALID_PARAMS' &&
      /^[0-9a-f]{8}$/.test(textAt(incoming.params, 'message.messageId'))
    return isBare ? errorReply(incoming, 'InternalError') : reply
  }),
  defect(
    'push_list_without_push',
    '3.3.4',
    'E6',
    'Push configurations are listed though the card has no push.',
    () =>
      instead((incoming) =>
        isOf(incoming, 'ListTaskPushNotificationConfigs') ? resultReply(incoming, { configs: [], nextPageToken: '' }) : undefined,
      ),
    { profile: 'minimal' },
  ),
  defect(
    'push_in_send_without_push',
    '3.3.4',
    'E7',
    'A push configuration in a send is passed over though the card has no push.',
    () =>
      onParams('SendMessage', (params) =>
        isMembers(params['configuration']) ? (put(params, 'configuration.taskPushNotificationConfig', undefined) as Members) : undefined,
      ),
    { profile: 'minimal' },
  ),
  defect('extended_without_card', '3.3.4', 'E10', 'An extended card is given that the public one does not declare.', () =>
    onCard((card) => put(card, 'capabilities.extendedAgentCard', false)),
  ),
  defect('streams_without_card', '3.3.4', ['E11', 'E12'], 'Streams are served though the card has no streaming.', () =>
    onCard((card) => put(card, 'capabilities.streaming', false)),
  ),
  defect('extended_card_broken', '3.3.4', 'E14', 'A declared extended card that is missing is an internal error.', () =>
    instead((incoming) =>
      isOf(incoming, 'GetExtendedAgentCard') && incoming.who !== '' ? errorReply(incoming, 'InternalError') : undefined,
    ),
  ),
  defect('details_without_type', '9.5', 'E15', 'Violations of parameters do not say their type.', () =>
    onError('INVALID_PARAMS', (error, { binding }) => {
      const name = binding === 'JSONRPC' ? 'data' : 'details'
      return put(
        error,
        name,
        listAt(error, name).map((detail) => (textAt(detail, '@type').endsWith('BadRequest') ? detail : put(detail, '@type', undefined))),
      )
    }),
  ),
  defect('foreign_domain', '11.6', ['E16', 'E17'], 'ErrorInfo has a domain of the agent’s own.', () =>
    onError('any', (error, { binding }) => {
      const name = binding === 'JSONRPC' ? 'data' : 'details'
      return put(
        error,
        name,
        listAt(error, name).map((detail) => (textAt(detail, 'domain') === '' ? detail : put(detail, 'domain', 'agent.example'))),
      )
    }),
  ),
  defect('no_error_info', '9.5', 'E17', 'Errors on JSON-RPC have no details.', () =>
    onError('any', (error, { binding }) => (binding === 'JSONRPC' ? put(error, 'data', undefined) : error)),
  ),
  defect('no_violations', '3.3.2', 'E18', 'A refusal of parameters does not say which.', () =>
    onError('INVALID_PARAMS', (error, { binding }) => {
      const name = binding === 'JSONRPC' ? 'data' : 'details'
      return put(
        error,
        name,
        listAt(error, name).filter((detail) => !textAt(detail, '@type').endsWith('BadRequest')),
      )
    }),
  ),
  defect('http_error_without_status', '11.6', 'E19', 'Errors on HTTP+JSON have no status.', () =>
    onError('any', (error, { binding }) => (binding === 'HTTP+JSON' ? put(error, 'status', undefined) : error)),
  ),
  defect('error_without_text', '3.3.2', 'E20', 'Errors on JSON-RPC have no text.', () =>
    onError('any', (error, { binding }) => (binding === 'JSONRPC' ? put(error, 'message', '') : error)),
  ),
  defect('error_data_object', '9.5', 'E21', 'The data of an error is an object.', () =>
    onError('any', (error, { binding }) => (binding === 'JSONRPC' ? put(error, 'data', { details: listAt(error, 'data') }) : error)),
  ),
  defect(
    'http_json_as_json',
    '11.1',
    'E22',
    'Answers on HTTP+JSON are application/json.',
    onHeader('content-type', 'application/json', ({ binding }, status) => binding === 'HTTP+JSON' && status === 200),
  ),
  defect(
    'json_rpc_as_text',
    '9.1',
    'E23',
    'Answers on JSON-RPC are text/plain.',
    onHeader('content-type', 'text/plain', (incoming) => isOf(incoming, 'ListTasks') && incoming.binding === 'JSONRPC'),
  ),
  defect(
    'errors_as_html',
    '3.3.2',
    'E24',
    'Errors say that they are HTML.',
    onHeader(
      'content-type',
      'text/html',
      ({ params, operation }) => operation === 'GetTask' && textAt(params, 'id').startsWith('not-there'),
    ),
  ),
  defect('rpc_errors_as_500', '9.3', 'E36', 'Errors of JSON-RPC travel in HTTP 500.', () =>
    onReply((reply, { binding }) =>
      binding === 'JSONRPC' && reasonOf(reply) === 'TASK_NOT_FOUND' ? { ...reply, status: 500 } : undefined,
    ),
  ),
  defect('shows_stack', '13.4', 'E37', 'An error shows where it came about.', () =>
    onError('any', (error, { params }) =>
      textAt(params, 'id').includes('DROP') ? put(error, 'message', 'no row\n    at lookUp (/srv/agent/store.js:12:34)') : error,
    ),
  ),
  defect('not_found_in_html', '11.3', 'E38', 'A path that there is not is answered by a page.', () =>
    onReply((reply, { raw }) =>
      raw.target.endsWith('/no/such/path') ? { ...reply, headers: { 'content-type': 'text/html' }, body: '<h1>Not Found</h1>' } : undefined,
    ),
  ),
  defect(
    'no_allow',
    '11.3',
    'E39',
    'A 405 does not say what is allowed.',
    onHeader('allow', undefined, (_, status) => status === 405),
  ),
  defect('errors_by_chance', '3.3.2', 'E40', 'Each error has a number of its own.', () => {
    let count = 0
    return onError('TASK_NOT_FOUND', (error, { operation, who }) =>
      operation === 'GetTask' && who !== 'bob-token' ? put(error, 'message', `${textAt(error, 'message')} (${++count})`) : error,
    )
  }),
  defect(
    'takes_text_plain',
    '3.3.2',
    'E41',
    'The type of a body is not looked at.',
    () => (incoming, next) =>
      next(incoming.raw.header('content-type') === 'text/plain' ? withHeaders(incoming, { 'content-type': 'application/json' }) : incoming),
  ),
  defect('one_reason_for_all', '5.4', 'E44', 'What a completed task does not allow has one reason, whatever was asked.', () => {
    const { states, layer } = seen()
    const same = onError('TASK_NOT_CANCELABLE', (error, { params }) =>
      states.get(textAt(params, 'id')) === 'TASK_STATE_COMPLETED'
        ? put(
            error,
            'details',
            listAt(error, 'details').map((detail) => put(detail, 'reason', 'UNSUPPORTED_OPERATION')),
          )
        : error,
    )
    return (incoming, next) => (incoming.binding === 'HTTP+JSON' ? layer(incoming, (one) => same(one, next)) : layer(incoming, next))
  }),
]
