/** Defects in what a server bears, and what it gives away. */

import { cardPath } from '../discover.js'
import { at, type Members, put, textAt } from '../json.js'
import { type Defect, defect } from './defect.js'
import { errorReply, type Incoming, instead, isOf, onError, onParams, onReply, type Reply, resultOf, resultReply } from './seam.js'

const broken = (incoming: Incoming) => errorReply(incoming, 'InternalError')
const header = (reply: Reply, more: Readonly<Record<string, string>>): Reply => ({ ...reply, headers: { ...reply.headers, ...more } })
const queryOf = ({ raw }: Incoming) => raw.target.split('?')[1] ?? ''

export const hardeningDefects: readonly Defect[] = [
  defect(
    'reads_any_length',
    '13.4',
    'H1',
    'A body of any length is waited for.',
    () => (incoming, next) => (Number(incoming.raw.header('content-length') ?? 0) > 1e9 ? new Promise<Reply>(() => {}) : next(incoming)),
  ),
  defect('falls_over_deep_lists', '13.4', 'H2', 'Lists within lists exhaust the stack.', () =>
    instead((incoming) => (incoming.text.includes('['.repeat(1000)) ? broken(incoming) : undefined)),
  ),
  defect('falls_over_deep_objects', '13.4', 'H3', 'Objects within objects exhaust the stack.', () =>
    instead((incoming) => (incoming.text.includes('{"a":'.repeat(1000)) ? broken(incoming) : undefined)),
  ),
  defect('wants_content_length', '9.3', 'H4', 'A body without a length is not read.', () =>
    instead((incoming) => (incoming.raw.header('transfer-encoding') !== undefined ? errorReply(incoming, 'ParseError') : undefined)),
  ),
  defect('pollutes_prototypes', '13.4', 'H5', 'A member called __proto__ changes the defaults of later requests.', () => {
    let isPolluted = false
    return onParams('ListTasks', (params, { text }) => {
      if (text.includes('"__proto__"')) isPolluted = true
      else if (isPolluted && Object.keys(params).length === 0) {
        isPolluted = false
        return { pageSize: 1 }
      }
      return undefined
    })
  }),
  defect('content_type_to_the_letter', '9.3', 'H6', 'A Content-Type with a parameter is another one.', () =>
    instead((incoming) =>
      incoming.raw.header('content-type')?.includes('charset') ? errorReply(incoming, 'ContentTypeNotSupportedError') : undefined,
    ),
  ),
  defect('slash_is_elsewhere', '9.3', 'H7', 'An address with a slash behind it is not found.', () =>
    instead((incoming) =>
      incoming.binding !== undefined && /\/v1\/$|\/rest\/\//.test(incoming.raw.target)
        ? errorReply({ ...incoming, binding: 'HTTP+JSON' }, 'MethodNotFoundError')
        : undefined,
    ),
  ),
  defect('cors_for_all', '13.4', 'H8', 'Web pages of any origin may call with credentials.', () =>
    onReply((reply, { raw }) => {
      const origin = raw.header('origin')
      return origin === undefined
        ? undefined
        : header(reply, { 'access-control-allow-origin': origin, 'access-control-allow-credentials': 'true' })
    }),
  ),
  defect('card_reflects_host', '8.3.1', 'H9', 'The card names the host that the request named.', () =>
    onReply((reply, { raw }) => {
      const host = raw.header('host') ?? ''
      if (!raw.target.startsWith(cardPath) || host === 'agent.test' || typeof reply.body !== 'string') return undefined
      return { ...reply, body: reply.body.replaceAll('agent.test', host) }
    }),
  ),
  defect('strange_ids_break', '13.4', 'H10', 'An id with a quote ends in an internal error.', () =>
    instead((incoming) => (textAt(incoming.params, 'id') === 'a b' ? broken(incoming) : undefined)),
  ),
  defect('answers_crossed', '9.3', 'H11', 'Of requests at the same time each is answered with the one before.', () => {
    let last: unknown
    return async (incoming, next) => {
      const reply = await next(incoming)
      if (!isOf(incoming, 'SendMessage') || !incoming.text.includes('"echo ')) return reply
      const before = last
      last = resultOf(incoming, reply)
      return before === undefined ? reply : resultReply(incoming, before)
    }
  }),
  defect('answers_for_caches', '13.4', 'H12', 'Answers may be kept by shared caches.', () =>
    onReply((reply, incoming) => (isOf(incoming, 'ListTasks') ? header(reply, { 'cache-control': 'public, max-age=600' }) : undefined)),
  ),
  defect('white_space_breaks', '9.3', 'H13', 'A body has to begin with a brace.', () =>
    instead((incoming) => (/^\s/.test(incoming.text) ? errorReply(incoming, 'ParseError') : undefined)),
  ),
  defect('half_characters_break', '13.4', 'H14', 'Half of a character ends in an internal error.', () =>
    instead((incoming) => (incoming.text.includes('half \\ud83d') ? broken(incoming) : undefined)),
  ),
  defect('takes_bad_utf8', '9.3', 'H15', 'Bytes that are no UTF-8 are replaced.', () => (incoming, next) => {
    if (!incoming.text.includes('\ufffd')) return next(incoming)
    const bytes = new TextEncoder().encode(incoming.text)
    return next({ ...incoming, raw: { ...incoming.raw, body: async () => bytes } })
  }),
  defect('echoes_all', '13.4', 'H16', 'An error repeats the whole id.', () =>
    onError('TASK_NOT_FOUND', (error, { params }) =>
      textAt(params, 'id').length > 4000 ? put(error, 'message', `No task ${textAt(params, 'id')}`) : error,
    ),
  ),
  defect('takes_text_for_parts', '3.3.2', 'H17', 'A text is taken for a list of parts.', () =>
    onParams('SendMessage', (params) =>
      typeof at(params, 'message.parts') === 'string'
        ? (put(params, 'message.parts', [{ text: 'tck-complete-task' }]) as Members)
        : undefined,
    ),
  ),
  defect('numbers_that_are_none', '3.3.2', 'H18', 'A page size that is no number is passed over.', () =>
    onParams('ListTasks', (params) => (params['pageSize'] === 'many' ? (put(params, 'pageSize', undefined) as Members) : undefined)),
  ),
  defect('paths_not_decoded', '11.3', 'H19', 'An id in a path is not decoded.', () =>
    instead((incoming) =>
      /\/tasks\/(%[0-9a-f]{2}){20}/.test(incoming.raw.target) ? errorReply(incoming, 'TaskNotFoundError') : undefined,
    ),
  ),
  defect('unknown_query_refused', '5.7', 'H20', 'A query that is not known is an error.', () =>
    instead((incoming) => (queryOf(incoming).includes('utm_source') ? errorReply(incoming, 'InvalidParamsError') : undefined)),
  ),
]
