/** Defects in which envelopes of JSON-RPC are taken. */

import type { ErrorName } from '../../protocol/error-table.js'
import { isMembers, listAt, type Members, parsed, put } from '../json.js'
import { type Defect, defect } from './defect.js'
import { errorReply, type Incoming, type Layer, withBody, withText } from './seam.js'

const envelopeOf = ({ text }: Incoming) => parsed(text)

/** JSON-RPC requests by hand that are taken or refused in another way. */
const handmade =
  (
    is: (body: unknown, text: string) => boolean,
    answer: (incoming: Incoming, next: (incoming: Incoming) => ReturnType<Layer>) => ReturnType<Layer>,
  ) =>
  (): Layer =>
  (incoming, next) =>
    incoming.binding === 'JSONRPC' && is(envelopeOf(incoming), incoming.text) ? answer(incoming, next) : next(incoming)

const taken = (change: Members) => async (incoming: Incoming, next: (incoming: Incoming) => ReturnType<Layer>) => {
  const body = envelopeOf(incoming)
  return next(withText(incoming, JSON.stringify({ ...(isMembers(body) ? body : {}), ...change })))
}

const refusedAs = (name: ErrorName) => async (incoming: Incoming) => errorReply(incoming, name)
const member = (name: string) => (body: unknown) => (isMembers(body) ? body[name] : undefined)

export const envelopeDefects: readonly Defect[] = [
  defect(
    'bad_json_is_invalid',
    '9.3',
    'E25',
    'A body that is no JSON is an invalid request.',
    handmade((body, text) => body === undefined && text !== '', refusedAs('InvalidRequestError')),
  ),
  defect(
    'takes_batches',
    '9.3',
    'E26',
    'Of a batch the first request is served.',
    handmade(Array.isArray, async (incoming, next) => {
      const [first] = listAt({ all: envelopeOf(incoming) }, 'all')
      return next(withText(incoming, JSON.stringify(first)))
    }),
  ),
  defect(
    'takes_json_rpc_1',
    '9.3',
    'E27',
    'The version of JSON-RPC is not looked at.',
    handmade((body) => member('jsonrpc')(body) === '1.0', taken({ jsonrpc: '2.0' })),
  ),
  defect(
    'takes_object_ids',
    '9.3',
    'E28',
    'An id may be anything.',
    handmade((body) => isMembers(member('id')(body)), taken({ id: 1 })),
  ),
  defect(
    'no_method_not_found',
    '9.3',
    'E29',
    'A request without a method is one of a method that is not found.',
    handmade((body) => isMembers(body) && !('method' in body), refusedAs('MethodNotFoundError')),
  ),
  defect(
    'scalar_is_parse_error',
    '9.3',
    'E30',
    'A body that is a text is no JSON.',
    handmade((body) => typeof body === 'string', refusedAs('ParseError')),
  ),
  defect(
    'unknown_method_invalid',
    '9.3',
    'E31',
    'A method that there is not is an invalid request.',
    handmade((body) => member('method')(body) === 'TasksPlease', refusedAs('InvalidRequestError')),
  ),
  defect(
    'takes_list_of_params',
    '9.3',
    'E32',
    'A list of parameters is taken for none.',
    handmade((body) => Array.isArray(member('params')(body)), taken({ params: {} })),
  ),
  defect(
    'id_zero_lost',
    '9.3',
    'E33',
    'The id 0 is answered as null.',
    handmade(
      (body) => member('id')(body) === 0,
      async (incoming, next) => {
        const reply = await next(incoming)
        return typeof reply.body === 'string' ? withBody(reply, put(parsed(reply.body), 'id', null)) : reply
      },
    ),
  ),
  defect(
    'parse_error_without_id',
    '9.3',
    'E34',
    'The answer to a body that is no JSON has no id.',
    handmade(
      (body, text) => body === undefined && text !== '',
      async (incoming, next) => {
        const reply = await next(incoming)
        return typeof reply.body === 'string' ? withBody(reply, put(parsed(reply.body), 'id', undefined)) : reply
      },
    ),
  ),
  defect(
    'result_and_error',
    '9.3',
    'E35',
    'An answer with an error has a result of null too.',
    handmade(
      (body) => member('method')(body) === 'TasksPlease',
      async (incoming, next) => {
        const reply = await next(incoming)
        return typeof reply.body === 'string' ? withBody(reply, put(parsed(reply.body), 'result', null)) : reply
      },
    ),
  ),
  defect(
    'params_required',
    '9.3',
    'E42',
    'A request without params is refused.',
    handmade((body) => isMembers(body) && 'method' in body && !('params' in body), refusedAs('InvalidParamsError')),
  ),
  defect(
    'notification_done_and_refused',
    '9.3',
    'E43',
    'A request without an id is executed, and then refused.',
    handmade(
      (body) => isMembers(body) && 'method' in body && !('id' in body),
      async (incoming, next) => {
        await next(withText(incoming, JSON.stringify({ ...(envelopeOf(incoming) as Members), id: 1 })))
        return next(incoming)
      },
    ),
  ),
]
