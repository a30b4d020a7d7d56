/** Every error of the table, operation by operation: provoked on both bindings, or the reason why it cannot be. Spec §3.3.2, §5.4. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { agent, bearerTokens, type Server } from '../../src/index.js'
import { type ErrorName, errorTable } from '../../src/protocol/error-table.js'
import { type OperationName, operationNames, operationTable } from '../../src/protocol/operations.js'
import { scriptAgent } from '../harness/script-agent.js'
import { type BindingName, bindingNames, openServer, requestFor, result, userMessage } from '../harness/server.js'
import { withStore } from '../runtime/kit.js'

const extension = 'urn:test:required'
const { run, ...info } = scriptAgent
const extendedCard = ({ id }: { readonly id: string }) => (id === 'bob' ? undefined : { description: 'More.' })
const users = bearerTokens({ alice: { id: 'alice', tenants: ['red'] }, bob: 'bob' })

/** Servers in which something is missing or wrong. Each has a task of Alice's that is done, one that waits, and a push configuration. */
const variants = ['whole', 'bare', 'strict', 'scoped', 'broken', 'stopped'] as const
type Variant = (typeof variants)[number]

interface Opened {
  readonly server: Server
  readonly done: string
  readonly waiting: string
}

let isBroken = false

function open(variant: Variant): Promise<Server> {
  const able = agent({ ...info, extendedCard }, run)
  const options = { auth: users, push: true }
  if (variant === 'bare') return openServer(scriptAgent, { auth: users })
  if (variant === 'strict')
    return openServer(agent({ ...info, extendedCard, extensions: [{ uri: extension, required: true }] }, run), options)
  if (variant === 'scoped')
    return openServer(able, {
      ...options,
      scopes: { '*': ['a2a'] },
      auth: bearerTokens({ alice: 'alice', full: { id: 'alice', scopes: ['a2a'] } }),
    })
  if (variant !== 'broken') return openServer(able, options)
  const fails = () => Promise.reject(new Error('secret at /var/lib'))
  const card = (user: { readonly id: string }) => (isBroken ? fails() : extendedCard(user))
  const store = withStore((inner) => ({
    find: (...given) => (isBroken ? fails() : inner.find(...given)),
    list: (...given) => (isBroken ? fails() : inner.list(...given)),
    create: (...given) => (isBroken ? fails() : inner.create(...given)),
  }))
  return openServer(agent({ ...info, extendedCard: card }, run), { ...options, store })
}

async function prepare(variant: Variant): Promise<Opened> {
  const server = await open(variant)
  const as = { as: variant === 'scoped' ? 'full' : 'alice', headers: { 'a2a-extensions': extension } }
  const sent = async (text: string) => (await result(server.fetch, 'JSONRPC', 'SendMessage', { message: userMessage(text) }, as)).task.id
  const opened = { server, done: await sent('echo'), waiting: await sent('ask') }
  if (variant !== 'bare') await result(server.fetch, 'JSONRPC', 'CreateTaskPushNotificationConfig', pushConfig(opened.waiting), as)
  if (variant === 'stopped') await server.close()
  return opened
}

/** How an error is brought about in a request that has no other fault. */
interface Provoked {
  readonly on?: Variant
  /** In place of, or beside, the right parameters. */
  readonly params?: (tasks: Opened) => Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
  readonly as?: string
  readonly body?: string
  readonly verb?: string
  /** The operation's name on JSON-RPC. */
  readonly method?: string
}

/** By binding where they differ; a text says why the error cannot occur. */
type Row = Provoked | string | Readonly<Record<BindingName, Provoked | string>>
type Rows = Readonly<Record<ErrorName, Row>>

const pushConfig = (taskId: string) => ({ taskId, id: 'one', url: 'https://hook.test/' })

/** Parameters that are taken. */
const right: Readonly<Record<OperationName, (tasks: Opened) => Readonly<Record<string, unknown>>>> = {
  SendMessage: () => ({ message: userMessage('echo') }),
  SendStreamingMessage: () => ({ message: userMessage('echo') }),
  GetTask: ({ waiting: id }) => ({ id }),
  ListTasks: () => ({}),
  CancelTask: ({ waiting: id }) => ({ id }),
  SubscribeToTask: ({ waiting: id }) => ({ id }),
  CreateTaskPushNotificationConfig: ({ waiting }) => pushConfig(waiting),
  GetTaskPushNotificationConfig: ({ waiting: taskId }) => ({ taskId, id: 'one' }),
  ListTaskPushNotificationConfigs: ({ waiting: taskId }) => ({ taskId }),
  DeleteTaskPushNotificationConfig: ({ waiting: taskId }) => ({ taskId, id: 'one' }),
  GetExtendedAgentCard: () => ({}),
}

const noTask = 'the operation names no task'
const noBody = 'a request without body has none to be wrong'

/** What any operation meets. A body is there on JSON-RPC always, on HTTP+JSON with POST. */
const everywhere = (operation: OperationName): Rows => {
  const withBody = (row: Provoked): Row =>
    operationTable[operation].verbs.some((verb) => verb === 'POST') ? row : { JSONRPC: row, 'HTTP+JSON': noBody }
  return {
    TaskNotFoundError: noTask,
    TaskNotCancelableError: 'only CancelTask cancels',
    PushNotificationNotSupportedError: 'the operation has to do with no push configuration',
    UnsupportedOperationError: 'the operation is supported by every agent in every state of a task',
    ContentTypeNotSupportedError: withBody({ headers: { 'content-type': 'text/plain' } }),
    InvalidAgentResponseError: 'a server has no agent behind it that answers on a wire; a client throws this',
    ExtendedAgentCardNotConfiguredError: 'the operation shows no card',
    ExtensionSupportRequiredError: { on: 'strict' },
    VersionNotSupportedError: { headers: { 'a2a-version': '0.3' } },
    ParseError: withBody({ body: '{"jsonrpc":' }),
    InvalidRequestError: withBody({ body: '[]' }),
    MethodNotFoundError: { method: `${operation}s`, verb: 'PUT' },
    InvalidParamsError: { params: () => ({ tenant: 'not-granted' }) },
    InternalError: { on: 'broken' },
    UnauthenticatedError: { as: 'mallory' },
    PermissionDeniedError: { on: 'scoped' },
    ResourceExhaustedError: { headers: { 'content-length': '99999999' } },
    UnavailableError: { on: 'stopped' },
  }
}

const ofTask: Partial<Rows> = { TaskNotFoundError: { params: () => ({ id: 'nope' }) } }
const ofTaskConfig: Partial<Rows> = {
  TaskNotFoundError: { params: () => ({ taskId: 'nope' }) },
  PushNotificationNotSupportedError: { on: 'bare' },
}
const ofSend: Partial<Rows> = {
  TaskNotFoundError: { params: () => ({ message: userMessage('echo', { taskId: 'nope' }) }) },
  PushNotificationNotSupportedError: {
    on: 'bare',
    params: () => ({ configuration: { taskPushNotificationConfig: { url: 'https://hook.test/' } } }),
  },
  UnsupportedOperationError: { params: ({ done: taskId }) => ({ message: userMessage('echo', { taskId }) }) },
  InvalidParamsError: { params: () => ({ message: userMessage('echo', { parts: [] }) }) },
}

const special: Readonly<Record<OperationName, Partial<Rows>>> = {
  SendMessage: {
    ...ofSend,
    ContentTypeNotSupportedError: {
      params: () => ({ message: userMessage('', { parts: [{ url: 'https://a.test', mediaType: 'image/png' }] }) }),
    },
  },
  SendStreamingMessage: ofSend,
  GetTask: { ...ofTask, InvalidParamsError: { params: () => ({ historyLength: -1 }) } },
  ListTasks: { InvalidParamsError: { params: () => ({ pageToken: 'forged' }) } },
  CancelTask: { ...ofTask, TaskNotCancelableError: { params: ({ done: id }) => ({ id }) } },
  SubscribeToTask: {
    ...ofTask,
    UnsupportedOperationError: { params: ({ done: id }) => ({ id }) },
    InvalidParamsError: { headers: { 'last-event-id': '99' } },
  },
  CreateTaskPushNotificationConfig: { ...ofTaskConfig, InvalidParamsError: { params: () => ({ url: 'ftp://hook.test/' }) } },
  GetTaskPushNotificationConfig: { ...ofTaskConfig, TaskNotFoundError: { params: () => ({ id: 'two' }) } },
  ListTaskPushNotificationConfigs: { ...ofTaskConfig, InvalidParamsError: { params: () => ({ pageSize: -1 }) } },
  DeleteTaskPushNotificationConfig: ofTaskConfig,
  GetExtendedAgentCard: {
    UnsupportedOperationError: { on: 'bare' },
    ExtendedAgentCardNotConfiguredError: { as: 'bob' },
  },
}

// Object.keys gives the keys of this very table.
const errorNames = Object.keys(errorTable) as readonly ErrorName[]

const rows = operationNames.flatMap((operation) => {
  const table: Rows = { ...everywhere(operation), ...special[operation] }
  return errorNames.flatMap((error) =>
    bindingNames.map((binding) => {
      const row = table[error]
      return { operation, error, binding, how: typeof row === 'object' && 'JSONRPC' in row ? row[binding] : row }
    }),
  )
})
const provoked = rows.flatMap(({ how, ...row }) => (typeof how === 'string' ? [] : [{ ...row, how }]))

/** 405 for a verb, 413 for a size: these depend on what is wrong, beside the table. */
const statusOf: Partial<Record<ErrorName, number>> = { MethodNotFoundError: 405, ResourceExhaustedError: 413 }

describe('every error of every operation', () => {
  const opened = new Map<Variant, Opened>()
  let before: unknown

  beforeAll(async () => {
    for (const variant of variants) opened.set(variant, await prepare(variant))
    before = await all()
  })
  afterAll(() => Promise.all([...opened.values()].map(({ server }) => server.close())))

  /** What Alice has where nothing is missing. */
  const all = async () => {
    const { server, waiting } = opened.get('whole') ?? {}
    if (!server) throw new Error('there is no whole server')
    return [
      await result(server.fetch, 'JSONRPC', 'ListTasks', { includeArtifacts: true }),
      await result(server.fetch, 'JSONRPC', 'ListTaskPushNotificationConfigs', { taskId: waiting }),
    ]
  }

  test.each(provoked)('$operation is refused with $error over $binding', async ({ operation, error, binding, how }) => {
    const tasks = opened.get(how.on ?? 'whole')
    if (!tasks) throw new Error(`there is no server ${how.on}`)
    isBroken = how.on === 'broken'
    const response = await tasks.server.fetch(requestOf(binding, operation, { ...right[operation](tasks), ...how.params?.(tasks) }, how))
    isBroken = false
    const body: any = await response.json()
    const { jsonRpc, grpc, http, reason } = errorTable[error]
    const status = statusOf[error] ?? http
    expect(response.headers.get('content-type')).toBe(binding === 'JSONRPC' ? 'application/json' : 'application/a2a+json')
    if (binding === 'JSONRPC') {
      // D18; a method that is not there is no address that is not there.
      expect([response.status, body.error.code]).toEqual([jsonRpc === -32000 ? status : 200, jsonRpc])
    } else {
      expect([response.status, body.error.code, body.error.status]).toEqual([status, status, grpc])
    }
    const [detail, bad] = binding === 'JSONRPC' ? body.error.data : body.error.details
    expect(detail).toEqual({
      '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
      reason,
      domain: 'a2a-protocol.org',
      metadata: expect.any(Object),
    })
    expect(bad === undefined).toBe(error !== 'InvalidParamsError')
    expect(body.error.message).toMatch(/^[A-Z].+\.$/)
    expect(body.error.message).not.toContain('secret')
  })

  test('and none of them has written anything', async () => {
    expect(await all()).toEqual(before)
  })

  test('the parameters that were taken as right are right', async () => {
    const tasks = await prepare('whole')
    for (const binding of bindingNames) {
      // Canceling and deleting come after what needs the task and the configuration to be there.
      for (const operation of [...operationNames].sort((a, b) => Number(/Cancel|Delete/.test(a)) - Number(/Cancel|Delete/.test(b)))) {
        const response = await tasks.server.fetch(requestFor(binding, operation, right[operation](tasks)))
        expect([operation, response.status]).toEqual([operation, 200])
        if (operationTable[operation].streaming) await response.body?.cancel()
        else expect([operation, (await response.text()).includes('"error"')]).toEqual([operation, false])
      }
      Object.assign(tasks, await prepare('whole'))
    }
    await tasks.server.close()
  })

  test('each row of the table is provoked by some operation, or by none for one reason', () => {
    const never = errorNames.filter((name) => !provoked.some(({ error }) => error === name))
    expect(never).toEqual(['InvalidAgentResponseError'])
    expect(rows).toHaveLength(operationNames.length * errorNames.length * bindingNames.length)
  })
})

function requestOf(binding: BindingName, operation: OperationName, params: Readonly<Record<string, unknown>>, how: Provoked): Request {
  const { headers = {}, as = 'alice', body, verb, method } = how
  const request = requestFor(binding, operation, params, { as })
  for (const [name, value] of Object.entries(headers)) request.headers.set(name, value)
  const changed = binding === 'JSONRPC' && method !== undefined ? JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) : body
  if (changed !== undefined) return new Request(request.url, { method: 'POST', headers: request.headers, body: changed })
  return verb !== undefined && binding !== 'JSONRPC' ? new Request(request.url, { method: verb, headers: request.headers }) : request
}
