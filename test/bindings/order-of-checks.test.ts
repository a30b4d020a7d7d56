/** One order of checks on every binding: of two faults the earlier one is told, and nothing is written. D16. */

import { describe, expect, test } from 'vitest'
import { agent, bearerTokens, serve, sqlite } from '../../src/index.js'
import { scriptAgent } from '../harness/script-agent.js'
import { type BindingName, bindingNames, openServer, quiet, result, userMessage } from '../harness/server.js'
import { raw, rpcPath } from './raw.js'

const { run, ...info } = scriptAgent
const extension = 'urn:test:required'
/** It requires an extension, and declares neither push nor an extended card. */
const strictAgent = agent({ ...info, extensions: [{ uri: extension, required: true }] }, run)

const scopes = { '*': ['a2a'] }
/** Alice may do everything; the other token of hers lacks the scope. */
const tokens = bearerTokens({ alice: { id: 'alice', scopes: ['a2a'] }, narrow: 'alice' })

/** A request of SendMessage in the making. */
interface Draft {
  verb: string
  suffix: string
  operation: string
  httpPath: string
  readonly headers: Record<string, string | undefined>
  readonly envelope: Record<string, unknown>
  readonly params: Record<string, any>
  /** Sent instead of what the members above make. */
  body?: string
}

type Fault = readonly [name: string, reason: string, plant: (draft: Draft) => void, only?: BindingName]

/** In the order in which they are found. Those of one name exclude each other. */
const faults: readonly Fault[] = [
  ['size', 'RESOURCE_EXHAUSTED', ({ headers }) => (headers['content-length'] = '99999999')],
  ['route', 'METHOD_NOT_FOUND', (draft) => (draft.suffix = '/nowhere/at/all')],
  ['route', 'METHOD_NOT_FOUND', (draft) => (draft.verb = 'PUT')],
  ['identity', 'UNAUTHENTICATED', ({ headers }) => (headers['authorization'] = undefined)],
  ['identity', 'UNAUTHENTICATED', ({ headers }) => (headers['authorization'] = 'Bearer mallory')],
  ['content type', 'CONTENT_TYPE_NOT_SUPPORTED', ({ headers }) => (headers['content-type'] = 'text/plain')],
  ['body', 'PARSE_ERROR', (draft) => (draft.body = '{"jsonrpc":')],
  ['body', 'INVALID_REQUEST', (draft) => (draft.body = '[]')],
  ['envelope', 'INVALID_REQUEST', ({ envelope }) => (envelope['jsonrpc'] = '1.0'), 'JSONRPC'],
  ['envelope', 'INVALID_REQUEST', ({ envelope }) => delete envelope['id'], 'JSONRPC'],
  ['version', 'VERSION_NOT_SUPPORTED', ({ headers }) => (headers['a2a-version'] = '0.3')],
  ['version', 'VERSION_NOT_SUPPORTED', ({ headers }) => (headers['a2a-version'] = undefined)],
  ['operation', 'METHOD_NOT_FOUND', (draft) => (draft.operation = 'Nothing'), 'JSONRPC'],
  [
    'operation',
    'PUSH_NOTIFICATION_NOT_SUPPORTED',
    (draft) => {
      draft.operation = 'CreateTaskPushNotificationConfig'
      draft.httpPath = `/tasks/${encodeURIComponent(draft.params['taskId'])}/pushNotificationConfigs`
    },
  ],
  ['extensions', 'EXTENSION_SUPPORT_REQUIRED', ({ headers }) => (headers['a2a-extensions'] = 'urn:test:other')],
  ['scope', 'PERMISSION_DENIED', ({ headers }) => (headers['authorization'] = 'Bearer narrow')],
  ['parameters', 'INVALID_PARAMS', ({ params }) => (params['message'].parts = [])],
  ['parameters', 'INVALID_PARAMS', ({ params }) => (params['message'].role = 'ROLE_AGENT')],
  ['parameters', 'INVALID_PARAMS', ({ params }) => (params['configuration'] = { historyLength: -1 })],
  ['parameters', 'INVALID_PARAMS', ({ params }) => (params['tenant'] = 'not-granted')],
  ['parameters', 'CONTENT_TYPE_NOT_SUPPORTED', ({ params }) => (params['message'].parts[0].mediaType = 'image/png')],
  ['lookup', 'TASK_NOT_FOUND', ({ params }) => (params['message'].taskId = params['taskId'] = 'nope')],
]

function pairs(binding: BindingName) {
  const here = faults.filter(([, , , only]) => only === undefined || only === binding)
  return here.flatMap((first, at) => here.slice(at + 1).flatMap((second) => (first[0] === second[0] ? [] : [[first, second] as const])))
}

function newDraft(taskId: string): Draft {
  return {
    verb: 'POST',
    suffix: '',
    operation: 'SendMessage',
    httpPath: '/message:send',
    headers: { 'a2a-extensions': extension },
    envelope: { jsonrpc: '2.0', id: 1 },
    params: { message: userMessage('42', { taskId }), taskId, url: 'https://hook.test/' },
  }
}

function request(binding: BindingName, { verb, suffix, operation, httpPath, headers, envelope, params, body }: Draft) {
  const whole = binding === 'JSONRPC' ? { ...envelope, method: operation, params } : params
  return [
    (binding === 'JSONRPC' ? rpcPath : `/rest${httpPath}`) + suffix,
    { method: verb, headers, body: body ?? JSON.stringify(whole) },
  ] as const
}

describe.each(bindingNames)('over %s', (binding) => {
  test('of any two faults the earlier one is told, and the task stays as it was', async () => {
    const server = await openServer(strictAgent, { auth: tokens, scopes })
    const options = { headers: { 'a2a-extensions': extension } }
    const { task } = await result(server.fetch, binding, 'SendMessage', { message: userMessage('ask') }, options)
    for (const [[early, reason, plantEarly], [late, , plantLate]] of pairs(binding)) {
      const draft = newDraft(task.id)
      plantLate(draft)
      plantEarly(draft)
      const answer = await raw(server, ...request(binding, draft))
      expect([early, late, answer.reason]).toEqual([early, late, reason])
    }
    for (const [name, reason, plant] of faults.filter(([, , , only]) => only === undefined || only === binding)) {
      const draft = newDraft(task.id)
      plant(draft)
      expect([name, (await raw(server, ...request(binding, draft))).reason]).toEqual([name, reason])
    }
    expect(await result(server.fetch, binding, 'GetTask', { id: task.id }, options)).toEqual(task)
    expect((await result(server.fetch, binding, 'ListTasks', {}, options)).totalSize).toBe(1)
    const answer = await raw(server, ...request(binding, newDraft(task.id)))
    expect((answer.body.result ?? answer.body).task.status.state).toBe('TASK_STATE_COMPLETED')
    await server.close()
  })

  test('a push configuration inside a send is refused for the capability before its other members are judged', async () => {
    const server = await openServer(scriptAgent)
    for (const bad of [{ role: 'ROLE_AGENT' }, { taskId: 'nope' }, { parts: [{ text: 'x', mediaType: 'image/png' }] }]) {
      const draft = newDraft('nope')
      delete draft.params['message'].taskId
      Object.assign(draft.params['message'], bad)
      draft.params['configuration'] = { historyLength: -1, taskPushNotificationConfig: { url: 'ftp://hook.test' } }
      expect((await raw(server, ...request(binding, draft))).reason).toBe('PUSH_NOTIFICATION_NOT_SUPPORTED')
    }
    await server.close()
  })

  test('where nobody proves who they are, the neighbour is judged after the size and before the route', async () => {
    const server = await serve(scriptAgent, { store: sqlite(':memory:'), log: quiet })
    const ask = async (plant: (draft: Draft) => void, host = 'agent.test') => {
      const draft = newDraft('nope')
      Object.assign(draft.headers, { authorization: undefined, host })
      plant(draft)
      const answer = await raw(server, ...request(binding, draft))
      return [answer.status, answer.reason]
    }
    expect(await ask(({ headers }) => (headers['content-length'] = '99999999'))).toEqual([413, 'RESOURCE_EXHAUSTED'])
    for (const [, , plant, only] of faults.filter(([name]) => name !== 'size')) {
      if (only === undefined || only === binding) expect(await ask(plant)).toEqual([403, 'PERMISSION_DENIED'])
    }
    for (const foreign of [
      { origin: 'http://evil.test' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ]) {
      expect(await ask((draft) => Object.assign(draft.headers, foreign, { host: '127.0.0.1' }))).toEqual([403, 'PERMISSION_DENIED'])
    }
    expect((await ask(() => undefined, 'localhost:1234'))[1]).toBe('TASK_NOT_FOUND')
    // What a page of another site could send without asking first.
    expect((await ask(({ headers }) => (headers['content-type'] = undefined), '127.0.0.1'))[1]).toBe('CONTENT_TYPE_NOT_SUPPORTED')
    await server.close()
  })
})
