/** E: how errors look, by the table of §5.4, and what is refused of an envelope. Spec §3.3.2, §5.4, §9.5, §11.6. */

import { type ErrorName, errorTable } from '../../protocol/error-table.js'
import { check, type Need } from '../check.js'
import { headerOf } from '../exchange.js'
import { at, brief, isMembers, listAt, same, textAt } from '../json.js'
import type { Trial } from '../trial.js'
import { NotApplicable, NotProvoked } from '../verdict.js'
import { type Answer, addressOf, headerList, ownErrors, tell, type WireError } from '../wire.js'

type Provoke = (t: Trial) => Promise<Answer>

const missing: Provoke = (t) => t.call('GetTask', { id: `not-there-${t.fresh()}` })
const invalid: Provoke = (t) => t.call('SendMessage', { message: { messageId: t.fresh(), role: 'ROLE_USER', parts: [] } })

/** One row of the table: what leads there, and how it must look. */
const rows: readonly (readonly [id: string, name: ErrorName, needs: readonly Need[], messages: number, provoke: Provoke])[] = [
  ['E1', 'TaskNotFoundError', [], 0, missing],
  ['E2', 'TaskNotCancelableError', [], 0, async (t) => t.call('CancelTask', { id: (await t.finished())['id'] })],
  [
    'E3',
    'PushNotificationNotSupportedError',
    ['no push'],
    0,
    async (t) => t.call('CreateTaskPushNotificationConfig', { taskId: (await t.finished())['id'], url: 'https://example.com/hook' }),
  ],
  [
    'E4',
    'UnsupportedOperationError',
    [],
    1,
    async (t) => t.call('SendMessage', { message: t.message('More.', { taskId: (await t.finished())['id'] }) }),
  ],
  [
    'E5',
    'ContentTypeNotSupportedError',
    [],
    1,
    (t) => t.call('SendMessage', { message: t.message('', { parts: [{ raw: 'AAAA', mediaType: 'application/x-unsupported-tck-type' }] }) }),
  ],
  [
    'E8',
    'ExtensionSupportRequiredError',
    ['required extension'],
    1,
    (t) => t.call('SendMessage', { message: t.prompt('complete') }, { headers: { 'A2A-Extensions': undefined } }),
  ],
  ['E9', 'VersionNotSupportedError', [], 0, (t) => t.call('ListTasks', {}, { headers: { 'A2A-Version': '99.0' } })],
  ['E13', 'InvalidParamsError', [], 1, invalid],
]

async function provoked(t: Trial, provoke: Provoke): Promise<WireError> {
  const answer = await provoke(t)
  if (answer.kind === 'error') return answer
  throw new NotProvoked(`no error, but ${tell(t.binding, answer)}`)
}

function wantsLooks(t: Trial, error: WireError, name: ErrorName): void {
  const row = errorTable[name]
  if (t.binding === 'JSONRPC') {
    t.want(error.code === row.jsonRpc, `code ${row.jsonRpc}`, error.body)
    return
  }
  t.want(error.http === row.http, `HTTP ${row.http}`, `HTTP ${error.http}: ${brief(error.body)}`)
  if (ownErrors.includes(name)) t.want(error.reason === row.reason, `the reason ${row.reason}`, error.body)
}

/** A JSON-RPC request by hand. */
async function post(t: Trial, body: string, type = 'application/json') {
  const exchange = await t.send({
    method: 'POST',
    url: t.door.url,
    headers: [...headerList(t.headersOf()), ['Content-Type', type]],
    body,
  })
  let answer: unknown
  try {
    answer = JSON.parse(exchange.body)
  } catch {
    answer = undefined
  }
  return { exchange, answer, code: at(answer, 'error.code'), id: at(answer, 'id') }
}

const envelope = (more: object) => JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'ListTasks', params: {}, ...more })

function refusesEnvelope(id: string, section: string, what: string, body: string, code: number) {
  return check(id, ['MUST', section], `${what} is refused with ${code}.`, { on: 'JSONRPC' }, async (t) => {
    const got = await post(t, body)
    t.want(got.code === code, `code ${code}`, `HTTP ${got.exchange.status}: ${brief(got.exchange.body)}`)
  })
}

export const errorChecks = [
  ...rows.map(([id, name, needs, messages, provoke]) =>
    check(id, ['MUST', '5.4'], `${name} looks as the table of errors says.`, { needs, messages }, async (t) => {
      wantsLooks(t, await provoked(t, provoke), name)
    }),
  ),
  check(
    'E6',
    ['MUST', '3.3.4'],
    'Without push in the card push operations are PushNotificationNotSupported.',
    { needs: ['no push'] },
    async (t) => {
      const { id } = await t.finished()
      await t.refuses('ListTaskPushNotificationConfigs', { taskId: id }, ['PushNotificationNotSupportedError'])
    },
  ),
  check(
    'E7',
    ['MUST', '3.3.4'],
    'A push configuration in a send is PushNotificationNotSupported where the card has no push.',
    { needs: ['no push'], messages: 1 },
    async (t) => {
      const configuration = { taskPushNotificationConfig: { url: 'https://example.com/hook' } }
      await t.refuses('SendMessage', { message: t.prompt('complete'), configuration }, ['PushNotificationNotSupportedError'])
    },
  ),
  check(
    'E10',
    ['MUST', '3.3.4'],
    'Without an extended card in the public one, asking for it is UnsupportedOperation.',
    { needs: ['no extended card'] },
    async (t) => {
      await t.refuses('GetExtendedAgentCard', {}, ['UnsupportedOperationError'])
    },
  ),
  check(
    'E11',
    ['MUST', '3.3.4'],
    'Without streaming in the card a streaming send is UnsupportedOperation.',
    { needs: ['no streaming'], messages: 1 },
    async (t) => {
      await t.refuses('SendStreamingMessage', { message: t.prompt('complete') }, ['UnsupportedOperationError'])
    },
  ),
  check(
    'E12',
    ['MUST', '3.3.4'],
    'Without streaming in the card a subscription is UnsupportedOperation.',
    { needs: ['no streaming'], messages: 1 },
    async (t) => {
      await t.refuses('SubscribeToTask', { id: (await t.begin('working'))['id'] }, ['UnsupportedOperationError'])
    },
  ),
  check(
    'E14',
    ['MUST', '3.3.4'],
    'A declared extended card comes, or is ExtendedAgentCardNotConfigured.',
    { needs: ['extended card'] },
    async (t) => {
      const answer = await t.call('GetExtendedAgentCard', {})
      if (answer.kind === 'result') return t.want(isMembers(answer.result), 'an agent card', brief(answer.result))
      if (answer.kind === 'error') return wantsLooks(t, answer, 'ExtendedAgentCardNotConfiguredError')
      t.fail('an agent card', answer.why)
    },
  ),
  check('E15', ['MUST', '9.5'], 'Each detail of an error says its type under @type.', {}, async (t) => {
    for (const provoke of [missing, invalid]) {
      const { details, body } = await provoked(t, provoke)
      t.want(
        details.every((detail) => textAt(detail, '@type') !== ''),
        'details with @type',
        body,
      )
    }
  }),
  check(
    'E16',
    ['MUST', '11.6'],
    'An A2A error on HTTP+JSON has an ErrorInfo with its reason and the domain a2a-protocol.org.',
    { on: 'HTTP+JSON' },
    async (t) => {
      const { details, body } = await provoked(t, missing)
      const info = details.find((detail) => textAt(detail, '@type') === 'type.googleapis.com/google.rpc.ErrorInfo')
      t.want(textAt(info, 'reason') === 'TASK_NOT_FOUND', 'the reason TASK_NOT_FOUND', body)
      t.want(textAt(info, 'domain') === 'a2a-protocol.org', 'the domain a2a-protocol.org', body)
    },
  ),
  check(
    'E17',
    ['SHOULD', '9.5'],
    'An A2A error on JSON-RPC has an ErrorInfo with its reason and the domain a2a-protocol.org.',
    { on: 'JSONRPC' },
    async (t) => {
      const { details, body } = await provoked(t, missing)
      const info = details.find((detail) => textAt(detail, '@type') === 'type.googleapis.com/google.rpc.ErrorInfo')
      t.want(textAt(info, 'reason') === 'TASK_NOT_FOUND' && textAt(info, 'domain') === 'a2a-protocol.org', 'an ErrorInfo', body)
    },
  ),
  check('E18', ['SHOULD', '3.3.2'], 'A refusal of parameters names each bad one.', { messages: 1 }, async (t) => {
    const { details, body } = await provoked(t, invalid)
    const bad = details.find((detail) => textAt(detail, '@type').endsWith('google.rpc.BadRequest'))
    const fields = listAt(bad, 'fieldViolations').map((one) => textAt(one, 'field'))
    t.want(
      fields.some((field) => /parts/.test(field)),
      'a violation of message.parts',
      body,
    )
  }),
  check(
    'E19',
    ['MUST', '11.6'],
    'An error on HTTP+JSON is a google.rpc.Status under error, with the code of its HTTP status.',
    { on: 'HTTP+JSON' },
    async (t) => {
      const { body, http } = await provoked(t, missing)
      const error = at(body, 'error')
      t.want(at(error, 'code') === http, `code ${http}`, body)
      t.want(/^[A-Z_]+$/.test(textAt(error, 'status')), 'a status such as NOT_FOUND', body)
      t.want(textAt(error, 'message') !== '', 'a message', body)
    },
  ),
  check('E20', ['MUST', '3.3.2'], 'An error on JSON-RPC has a code and a text.', { on: 'JSONRPC' }, async (t) => {
    const { body } = await provoked(t, missing)
    t.want(Number.isInteger(at(body, 'error.code')) && textAt(body, 'error.message') !== '', 'a code and a message', body)
  }),
  check('E21', ['MUST', '9.5'], 'The data of an error on JSON-RPC is a list.', { on: 'JSONRPC' }, async (t) => {
    const { body } = await provoked(t, missing)
    const data = at(body, 'error.data')
    t.want(data === undefined || Array.isArray(data), 'a list', body)
  }),
  check('E22', ['SHOULD', '11.1'], 'Answers on HTTP+JSON are application/a2a+json.', { on: 'HTTP+JSON' }, async (t) => {
    const { exchange } = await t.call('ListTasks', {})
    const type = headerOf(exchange, 'content-type')
    t.want(/^application\/a2a\+json\b/i.test(type ?? ''), 'application/a2a+json', type ?? 'none')
  }),
  check('E23', ['MUST', '9.1'], 'Answers on JSON-RPC are application/json.', { on: 'JSONRPC' }, async (t) => {
    const { exchange } = await t.call('ListTasks', {})
    const type = headerOf(exchange, 'content-type')
    t.want(/^application\/json\b/i.test(type ?? ''), 'application/json', type ?? 'none')
  }),
  check('E24', ['MUST', '3.3.2'], 'Errors come as JSON.', {}, async (t) => {
    const { exchange } = await provoked(t, missing)
    const type = headerOf(exchange, 'content-type')
    t.want(/^application\/(a2a\+)?json\b/i.test(type ?? ''), 'a type of JSON', type ?? 'none')
  }),
  refusesEnvelope('E25', '9.3', 'A body that is no JSON', '{"jsonrpc": "2.0", ', -32700),
  refusesEnvelope('E26', '9.3', 'A batch', `[${envelope({})},${envelope({ id: 8 })}]`, -32600),
  refusesEnvelope('E27', '9.3', 'Another version of JSON-RPC', envelope({ jsonrpc: '1.0' }), -32600),
  refusesEnvelope('E28', '9.3', 'An id that is an object', envelope({ id: {} }), -32600),
  refusesEnvelope('E29', '9.3', 'A request without a method', envelope({ method: undefined }), -32600),
  refusesEnvelope('E30', '9.3', 'A body that is no object', '"ListTasks"', -32600),
  refusesEnvelope('E31', '9.3', 'A method that there is not', envelope({ method: 'TasksPlease' }), -32601),
  refusesEnvelope('E32', '9.3', 'A list of parameters', envelope({ params: [] }), -32602),
  check('E33', ['MUST', '9.3'], 'The id of an answer is that of its request, 0 and the empty text too.', { on: 'JSONRPC' }, async (t) => {
    for (const id of [0, '', 'a text', 12345]) {
      const got = await post(t, envelope({ id }))
      t.want(got.id === id, `id ${brief(id)}`, brief(got.answer))
    }
  }),
  check('E34', ['MUST', '9.3'], 'The answer to a body that is no JSON has the id null.', { on: 'JSONRPC' }, async (t) => {
    const got = await post(t, '{"id": 5, ')
    if (!isMembers(got.answer)) throw new NotProvoked(`no JSON-RPC answer: ${brief(got.exchange.body)}`)
    t.want(got.id === null, 'id null', brief(got.answer))
  }),
  check('E35', ['MUST', '9.3'], 'An answer has a result or an error, never both.', { on: 'JSONRPC' }, async (t) => {
    for (const method of ['ListTasks', 'TasksPlease']) {
      const { answer } = await post(t, envelope({ method }))
      t.want(isMembers(answer) && 'result' in answer !== 'error' in answer, 'a result or an error', brief(answer))
      t.want(at(answer, 'jsonrpc') === '2.0', 'jsonrpc "2.0"', brief(answer))
    }
  }),
  check('E36', ['SHOULD', '9.3'], 'Errors of JSON-RPC travel in HTTP 200, and those of HTTP do not.', { on: 'JSONRPC' }, async (t) => {
    const { http } = await provoked(t, missing)
    t.want(http === 200 || (http >= 400 && http < 500), 'HTTP 200, or one of a refusal', `HTTP ${http}`)
    t.reading('the HTTP status of errors on JSON-RPC', http === 200 ? 'is 200' : `is that of the error, ${http}`)
  }),
  check('E37', ['MUST', '13.4'], 'An error shows nothing of what is inside the agent.', { messages: 1 }, async (t) => {
    const bodies = [await provoked(t, missing), await provoked(t, invalid)].map(({ exchange }) => exchange.body)
    bodies.push((await t.call('GetTask', { id: `'; DROP TABLE task; --` })).exchange.body)
    const inside =
      /(\bat \w[\w.<>]* \([^)]*:\d+:\d+\))|(\/[\w.-]+){2,}\.(js|ts|py|go|java):\d+|node_modules|Traceback \(most recent|SQLITE_|syntax error at or near/
    for (const body of bodies) t.want(!inside.test(body), 'an error without stack traces and statements', brief(body))
  }),
  check('E38', ['SHOULD', '11.3'], 'A path that there is not is 404, in JSON.', { on: 'HTTP+JSON' }, async (t) => {
    const exchange = await t.send({ method: 'GET', url: addressOf(t.door, '/no/such/path'), headers: headerList(t.headersOf()) })
    t.want(exchange.status === 404, 'HTTP 404', `HTTP ${exchange.status}`)
    t.want(/json/i.test(headerOf(exchange, 'content-type') ?? ''), 'an error in JSON', headerOf(exchange, 'content-type') ?? 'no type')
  }),
  check('E39', ['SHOULD', '11.3'], 'A verb that a path does not take is 405 with Allow.', { on: 'HTTP+JSON' }, async (t) => {
    const exchange = await t.send({
      method: 'PUT',
      url: addressOf(t.door, '/message:send'),
      headers: headerList(t.headersOf()),
      body: '{}',
    })
    t.want(exchange.status === 405, 'HTTP 405', `HTTP ${exchange.status}`)
    t.want(/POST/.test(headerOf(exchange, 'allow') ?? ''), 'Allow: POST', headerOf(exchange, 'allow') ?? 'none')
  }),
  check('E40', ['MUST', '3.3.2'], 'The same error is the same each time.', {}, async (t) => {
    const id = `not-there-${t.fresh()}`
    const [one, two] = [await t.call('GetTask', { id }), await t.call('GetTask', { id })]
    if (one.kind !== 'error' || two.kind !== 'error') throw new NotProvoked('no error')
    t.want(same(at(one.body, 'error'), at(two.body, 'error')), brief(at(one.body, 'error')), brief(at(two.body, 'error')))
  }),
  check('E41', ['SHOULD', '3.3.2'], 'A body that does not say it is JSON is ContentTypeNotSupported.', { on: 'JSONRPC' }, async (t) => {
    const { code, exchange } = await post(t, envelope({}), 'text/plain')
    t.want(code === -32005 || exchange.status === 415, 'code -32005', `HTTP ${exchange.status}: ${brief(exchange.body)}`)
  }),
  check('E42', ['SHOULD', '9.3'], 'A request without params is one with none.', { on: 'JSONRPC' }, async (t) => {
    const { answer } = await post(t, envelope({ params: undefined }))
    t.want(at(answer, 'result') !== undefined, 'a result', brief(answer))
  }),
  check(
    'E43',
    ['MUST', '9.3'],
    'A request without an id is not executed for an answer that nobody gets.',
    { on: 'JSONRPC', messages: 1 },
    async (t) => {
      const before = at(await t.ready('ListTasks', { pageSize: 1 }), 'totalSize')
      const { exchange } = await post(
        t,
        JSON.stringify({ jsonrpc: '2.0', method: 'SendMessage', params: { message: t.prompt('complete') } }),
      )
      const after = at(await t.ready('ListTasks', { pageSize: 1 }), 'totalSize')
      const isRefused = /-32600/.test(exchange.body)
      t.reading('a notification', isRefused ? 'is refused' : 'is taken')
      t.want(!isRefused || before === after, `${before} tasks after a refusal`, after)
      t.want(isRefused || exchange.body === '', 'a refusal, or no body', brief(exchange.body))
    },
  ),
  check('E44', ['MUST', '5.4'], 'Errors are told apart by more than their HTTP status.', { on: 'HTTP+JSON', messages: 1 }, async (t) => {
    const { id } = await t.finished()
    const cancel = await provoked(t, (trial) => trial.call('CancelTask', { id }))
    const send = await provoked(t, (trial) => trial.call('SendMessage', { message: trial.message('More.', { taskId: id }) }))
    if (cancel.http !== send.http) throw new NotApplicable('their HTTP status tells them apart')
    t.want(cancel.reason !== send.reason && cancel.reason !== '', 'two reasons', `${cancel.reason || 'none'} and ${send.reason || 'none'}`)
  }),
]
