/** Field cases of refusals: which error, in which words, on which wire, and at which moment. */

import { describe, expect, test } from 'vitest'
import { agent, chunk, type Server, working } from '../../src/index.js'
import { ExtendedAgentCardNotConfiguredError, InvalidAgentResponseError, UnavailableError } from '../../src/protocol/errors.js'
import type { OperationName } from '../../src/protocol/operations.js'
import { envelope, raw, rpcPath } from '../bindings/raw.js'
import { scriptAgent } from '../harness/script-agent.js'
import { bindingNames, call, frames, refusal, requestFor, result, userMessage } from '../harness/server.js'
import { begin, gate, getTask, openStill, quietStore, statesOf, take, takeAll, until, withStore } from '../runtime/kit.js'
import { sends, taskOfSend } from './kit.js'

const madeUp = '019b7a3c-1111-7222-8333-444455556666'
const extension = 'https://ext.example/required'
const a2aTypes = { JSONRPC: 'application/json', 'HTTP+JSON': 'application/a2a+json' }

describe.each(bindingNames)('over %s', (binding) => {
  const isRpc = binding === 'JSONRPC'

  test.each(sends)(
    'F031 a message in the wrong context: %s refuses another contextId than the task’s, and infers one left out',
    async (operation) => {
      const { fetch } = await openStill(scriptAgent)
      const { task } = await result(fetch, binding, 'SendMessage', { message: userMessage('ask') })
      const { task: other } = await result(fetch, binding, 'SendMessage', { message: userMessage('ask') })
      for (const contextId of [other.contextId, 'a name of my own', `${task.contextId}x`, task.contextId.toUpperCase()]) {
        const params = { message: userMessage('42', { taskId: task.id, contextId }) }
        expect(await refusal(fetch, binding, operation, params)).toMatchObject({ reason: 'INVALID_PARAMS', fields: ['message.contextId'] })
      }
      expect(await getTask(fetch, task.id)).toEqual(task)
      for (const more of [{}, { contextId: '' }, { contextId: null }, { contextId: task.contextId }]) {
        const params = { message: userMessage('ask', { taskId: task.id, ...more }) }
        expect(await taskOfSend(fetch, binding, operation, params)).toMatchObject({ id: task.id, contextId: task.contextId })
      }
      expect((await getTask(fetch, task.id)).status.state).toBe('TASK_STATE_INPUT_REQUIRED')
    },
  )

  test.each<[string, OperationName, object, string, Record<string, string>]>([
    ['an unknown task', 'SendStreamingMessage', { message: userMessage('x', { taskId: madeUp }) }, 'TASK_NOT_FOUND', {}],
    ['no parts', 'SendStreamingMessage', { message: userMessage('x', { parts: [] }) }, 'INVALID_PARAMS', {}],
    ['no message', 'SendStreamingMessage', {}, 'INVALID_PARAMS', {}],
    ['another version', 'SendStreamingMessage', { message: userMessage('x') }, 'VERSION_NOT_SUPPORTED', { 'a2a-version': '0.9' }],
    ['no version', 'SendStreamingMessage', { message: userMessage('x') }, 'VERSION_NOT_SUPPORTED', { 'a2a-version': '' }],
    ['no credentials', 'SendStreamingMessage', { message: userMessage('x') }, 'UNAUTHENTICATED', { authorization: '' }],
    [
      'a body of another type',
      'SendStreamingMessage',
      { message: userMessage('x') },
      'CONTENT_TYPE_NOT_SUPPORTED',
      { 'content-type': 'text/xml' },
    ],
    ['a tenant that is not granted', 'SendStreamingMessage', { message: userMessage('x'), tenant: 'red' }, 'INVALID_PARAMS', {}],
    ['an unknown task to subscribe to', 'SubscribeToTask', { id: madeUp }, 'TASK_NOT_FOUND', {}],
    ['no credentials to subscribe', 'SubscribeToTask', { id: madeUp }, 'UNAUTHENTICATED', { authorization: 'Bearer mallory' }],
    ['a place in a log that is not there', 'SubscribeToTask', { id: madeUp }, 'TASK_NOT_FOUND', { 'last-event-id': '7' }],
  ])(
    'F046 an error inside a stream that could have been plain: %s is refused with a status and JSON',
    async (_, operation, params, reason, headers) => {
      const { fetch } = await openStill(scriptAgent)
      const sent = requestFor(binding, operation, { ...params })
      for (const [name, value] of Object.entries(headers))
        if (value === '') sent.headers.delete(name)
        else sent.headers.set(name, value)
      const response = await fetch(sent)
      expect(response.headers.get('content-type')).toBe(a2aTypes[binding])
      expect([response.headers.get('cache-control'), response.headers.get('x-accel-buffering')]).toEqual(['no-store', null])
      const { error } = (await response.json()) as any
      expect((error.data ?? error.details)[0].reason).toBe(reason)
      if (!isRpc) expect(error.code).toBe(response.status)
      expect((await result(fetch, binding, 'ListTasks', {})).totalSize).toBe(0)
    },
  )

  test('F047 an agent that throws half way: the stream tells it by a FAILED status, and by no error frame', async () => {
    const broken = agent({ name: 'Broken', description: 'Breaks.' }, async function* () {
      yield working('one')
      yield chunk('a', 'two')
      throw new Error('secret detail at /etc/passwd')
    })
    const { fetch } = await openStill(broken)
    const all = await takeAll(frames(fetch, binding, 'SendStreamingMessage', { message: userMessage('go') }))
    expect(statesOf(all)).toEqual(['SUBMITTED', 'WORKING', 'FAILED'])
    for (const { event, data } of all) expect([event, data.error]).toEqual([undefined, undefined])
    expect(JSON.stringify(all)).not.toContain('secret')
  })

  test.each([
    ['cannot be reached', new UnavailableError(), 'UNAVAILABLE', 503, -32000],
    ['breaks in a way that nobody foresaw', new Error('secret: disk /dev/sda is full'), 'INTERNAL', 500, -32603],
  ])(
    'F047 a store that %s while a stream is open: the last frame is the error in the form of the binding',
    async (_, thrown, reason, status, code) => {
      let isOut = false
      const store = withStore(
        (inner) => ({ events: async (...given) => (isOut ? Promise.reject(thrown) : inner.events(...given)) }),
        quietStore(),
      )
      const go = gate()
      const waiting = agent({ name: 'Waiting', description: 'Waits.' }, async function* () {
        yield working('one')
        await go.opened
        yield chunk('a', 'two')
      })
      const { fetch } = await openStill(waiting, { store })
      const stream = frames(fetch, binding, 'SendStreamingMessage', { message: userMessage('go') })
      const seen = await take(stream, 2)
      isOut = true
      go.open()
      const rest = await takeAll(stream)
      expect(statesOf(seen)).toEqual(['SUBMITTED', 'WORKING'])
      expect(rest).toHaveLength(1)
      const { event, data } = rest[0] ?? {}
      expect(event).toBe(isRpc ? undefined : 'error')
      const { error } = data
      expect(error.code).toBe(isRpc ? code : status)
      expect((error.data ?? error.details)[0]).toMatchObject({ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason })
      expect(JSON.stringify(rest)).not.toContain('secret')
      isOut = false
      const { id } = seen[0]?.data.task ?? {}
      await until(async () => (await getTask(fetch, id)).status.state === 'TASK_STATE_COMPLETED')
    },
  )

  test.each<[string, object, boolean]>([
    ['without configuration', {}, true],
    ['with an empty one', { configuration: {} }, true],
    ['with null', { configuration: null }, true],
    ['with returnImmediately null', { configuration: { returnImmediately: null } }, true],
    ['with returnImmediately false', { configuration: { returnImmediately: false } }, true],
    ['with the blocking flag of older versions, which means nothing here', { configuration: { blocking: false } }, true],
    ['with returnImmediately true', { configuration: { returnImmediately: true } }, false],
  ])('F052 the wrong way to wait: a send %s waits as it is told', async (_, more, waits) => {
    const { fetch, world } = await openStill(scriptAgent)
    let answered = false
    const answer = result(fetch, binding, 'SendMessage', { message: userMessage('slow 5000'), ...more }).finally(() => {
      answered = true
    })
    await world.advance(4_999)
    await until(async () => (await result(fetch, binding, 'ListTasks', {})).totalSize === 1)
    expect(answered).toBe(!waits)
    await world.advance(2)
    const { task } = await answer
    expect(task.status.state).toMatch(waits ? /COMPLETED/ : /SUBMITTED|WORKING/)
    const { task: asked } = await result(fetch, binding, 'SendMessage', { message: userMessage('ask'), ...more })
    expect(asked.status.state).toMatch(waits ? /INPUT_REQUIRED/ : /SUBMITTED|WORKING|INPUT_REQUIRED/)
  })

  test('F065 a push configuration that is not there: reading it is TaskNotFound, deleting it is fine, twice', async () => {
    const { fetch } = await openStill(scriptAgent, { push: true })
    const { task } = await result(fetch, binding, 'SendMessage', { message: userMessage('ask') })
    const params = { taskId: task.id, id: 'nope' }
    expect(await refusal(fetch, binding, 'GetTaskPushNotificationConfig', params)).toMatchObject({
      reason: 'TASK_NOT_FOUND',
      code: isRpc ? -32001 : 404,
      status: isRpc ? 200 : 404,
    })
    await result(fetch, binding, 'CreateTaskPushNotificationConfig', { ...params, url: 'https://hook.test/' })
    for (let i = 0; i < 3; i++) expect(await result(fetch, binding, 'DeleteTaskPushNotificationConfig', params)).toEqual({})
    expect(await refusal(fetch, binding, 'GetTaskPushNotificationConfig', params)).toMatchObject({ reason: 'TASK_NOT_FOUND' })
    expect(await refusal(fetch, binding, 'DeleteTaskPushNotificationConfig', { ...params, taskId: madeUp })).toMatchObject({
      reason: 'TASK_NOT_FOUND',
    })
  })

  interface Provoked {
    readonly code: number
    readonly status: number
    readonly grpc: string
    readonly provoke: (
      fetch: Server['fetch'],
      done: string,
    ) => Promise<{ readonly status: number; readonly body: any; readonly headers: Headers }>
  }
  const ask =
    (operation: OperationName, params: (done: string) => object, headers: Record<string, string> = {}): Provoked['provoke'] =>
    (fetch, done) =>
      call(fetch, binding, operation, { ...params(done) }, { headers: { 'a2a-extensions': extension, ...headers } }) as Promise<any>

  test.each<[string, Provoked]>([
    ['TASK_NOT_FOUND', { code: -32001, status: 404, grpc: 'NOT_FOUND', provoke: ask('GetTask', () => ({ id: madeUp })) }],
    ['TASK_NOT_CANCELABLE', { code: -32002, status: 400, grpc: 'FAILED_PRECONDITION', provoke: ask('CancelTask', (id) => ({ id })) }],
    [
      'PUSH_NOTIFICATION_NOT_SUPPORTED',
      { code: -32003, status: 400, grpc: 'FAILED_PRECONDITION', provoke: ask('ListTaskPushNotificationConfigs', (taskId) => ({ taskId })) },
    ],
    [
      'UNSUPPORTED_OPERATION',
      { code: -32004, status: 400, grpc: 'FAILED_PRECONDITION', provoke: ask('SubscribeToTask', (id) => ({ id })) },
    ],
    [
      'CONTENT_TYPE_NOT_SUPPORTED',
      {
        code: -32005,
        status: 400,
        grpc: 'INVALID_ARGUMENT',
        provoke: ask('SendMessage', () => ({ message: userMessage('x', { parts: [{ url: 'https://a.test', mediaType: 'image/png' }] }) })),
      },
    ],
    [
      'INVALID_AGENT_RESPONSE',
      { code: -32006, status: 500, grpc: 'INTERNAL', provoke: ask('GetExtendedAgentCard', () => ({}), { authorization: 'Bearer bob' }) },
    ],
    [
      'EXTENDED_AGENT_CARD_NOT_CONFIGURED',
      { code: -32007, status: 400, grpc: 'FAILED_PRECONDITION', provoke: ask('GetExtendedAgentCard', () => ({})) },
    ],
    [
      'EXTENSION_SUPPORT_REQUIRED',
      { code: -32008, status: 400, grpc: 'FAILED_PRECONDITION', provoke: ask('GetTask', (id) => ({ id }), { 'a2a-extensions': '' }) },
    ],
    [
      'VERSION_NOT_SUPPORTED',
      { code: -32009, status: 400, grpc: 'FAILED_PRECONDITION', provoke: ask('GetTask', (id) => ({ id }), { 'a2a-version': '0.3' }) },
    ],
  ])('F082 the wrong status: %s has the code and the status of the table', async (reason, { code, status, grpc, provoke }) => {
    const { fetch } = await openStill(
      agent(
        {
          name: 'Faulty',
          description: 'Refuses.',
          extensions: [{ uri: extension, required: true }],
          extendedCard: ({ id }) => {
            throw id === 'bob' ? new InvalidAgentResponseError() : new ExtendedAgentCardNotConfiguredError()
          },
        },
        () => 'done',
      ),
    )
    const { task } = await result(
      fetch,
      binding,
      'SendMessage',
      { message: userMessage('x') },
      { headers: { 'a2a-extensions': extension } },
    )
    const answer = await provoke(fetch, task.id)
    expect(answer.status).toBe(isRpc ? 200 : status)
    expect(answer.headers.get('content-type')).toBe(a2aTypes[binding])
    const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'a2a-protocol.org', metadata: expect.any(Object) }
    const message = expect.any(String)
    expect(answer.body).toEqual(
      isRpc
        ? { jsonrpc: '2.0', id: 1, error: { code, message, data: [info] } }
        : { error: { code: status, status: grpc, message, details: [info] } },
    )
  })

  test('F083 errors without details: they are a list of objects with a type, also for what has no error of its own', async () => {
    const { fetch } = await openStill(scriptAgent)
    const detailsOf = async (operation: OperationName, params: object, options: object = {}) => {
      const { error } = (await call(fetch, binding, operation, { ...params }, { ...options })).body as any
      return error.data ?? error.details
    }
    const info = (reason: string) => ({
      '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
      reason,
      domain: 'a2a-protocol.org',
      metadata: expect.any(Object),
    })
    expect(await detailsOf('GetTask', { id: madeUp })).toEqual([{ ...info('TASK_NOT_FOUND'), metadata: { taskId: madeUp } }])
    expect(await detailsOf('SendMessage', { message: userMessage('x', { parts: [], role: 'ROLE_AGENT', messageId: '' }) })).toEqual([
      info('INVALID_PARAMS'),
      {
        '@type': 'type.googleapis.com/google.rpc.BadRequest',
        fieldViolations: expect.arrayContaining([
          { field: 'message.parts', description: expect.any(String) },
          { field: 'message.messageId', description: expect.any(String) },
        ]),
      },
    ])
    expect(await detailsOf('GetTask', { id: madeUp }, { as: 'mallory' })).toEqual([info('UNAUTHENTICATED')])
  })

  test.each<[string, object, string]>([
    ['no parts', { parts: [] }, 'message.parts'],
    ['parts left out', { parts: undefined }, 'message.parts'],
    ['no messageId', { messageId: undefined }, 'message.messageId'],
    ['an empty messageId', { messageId: '' }, 'message.messageId'],
    ['no role', { role: undefined }, 'message.role'],
    ['an unspecified role', { role: 'ROLE_UNSPECIFIED' }, 'message.role'],
    ['the role of the agent', { role: 'ROLE_AGENT' }, 'message.role'],
    ['a role that is none', { role: 'user' }, 'message.role'],
    ['a part of two contents', { parts: [{ text: 'a' }, { text: 'b', url: 'https://a.test' }] }, 'message.parts[1]'],
    ['a part without content', { parts: [{ mediaType: 'text/plain' }] }, 'message.parts[0]'],
    ['a part that is a text', { parts: ['hello'] }, 'message.parts[0]'],
    ['a text that is a number', { parts: [{ text: 7 }] }, 'message.parts[0].text'],
  ])('F085 a message that is none: %s is refused by its place, and no task is made', async (_, more, field) => {
    const { fetch } = await openStill(scriptAgent)
    for (const operation of sends) {
      const error = await refusal(fetch, binding, operation, { message: { ...userMessage('x'), ...more } })
      expect(error).toMatchObject({ reason: 'INVALID_PARAMS', code: isRpc ? -32602 : 400 })
      expect(error.fields).toContain(field)
    }
    expect((await result(fetch, binding, 'ListTasks', {})).totalSize).toBe(0)
  })

  test('F085 a member too many: what nobody knows is passed over, at every depth', async () => {
    const { fetch } = await openStill(scriptAgent)
    const message = userMessage('x', { priority: 1, parts: [{ text: 'echo', kind: 'text' }], kind: 'message' })
    const { task } = await result(fetch, binding, 'SendMessage', { message, configuration: { colour: 'red' }, extra: { deep: [{}] } })
    expect(task.status.state).toBe('TASK_STATE_COMPLETED')
    expect(JSON.stringify(task.history)).not.toMatch(/priority|kind/)
  })
})

describe.each(['GET', 'POST', 'POST without a body', 'POST with null', 'POST with {}'])('subscribing by %s', (how) => {
  const request = (base: string, target: string, headers: Record<string, string> = {}) => {
    const body = how === 'POST with null' ? 'null' : how === 'POST with {}' ? '{}' : how === 'POST' ? '' : undefined
    return new Request(`${base}${target}`, {
      method: how === 'GET' ? 'GET' : 'POST',
      headers: { authorization: 'Bearer alice', 'a2a-version': '1.0', ...headers, ...(body && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: new TextEncoder().encode(body) }),
    })
  }

  test('F038 a verb that is not taken: the stream opens, with and without a slash at the end', async () => {
    const { fetch } = await openStill(scriptAgent)
    const id = await begin(fetch, 'hold')
    for (const target of [`/rest/tasks/${id}:subscribe`, `/rest/tasks/${id}:subscribe/`]) {
      const response = await fetch(request('http://agent.test', target))
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
      await response.body?.cancel()
    }
  })

  test('F038 an id with a colon: only an unencoded suffix of an operation ends it', async () => {
    const { fetch } = await openStill(scriptAgent)
    const idOf = async (target: string) => {
      const body = (await (await fetch(request('http://agent.test', target))).json()) as any
      return body.error.details[0]
    }
    expect(await idOf('/rest/tasks/a:b:subscribe')).toMatchObject({ reason: 'TASK_NOT_FOUND', metadata: { taskId: 'a:b' } })
    expect(await idOf('/rest/tasks/a%3Asubscribe:subscribe')).toMatchObject({
      reason: 'TASK_NOT_FOUND',
      metadata: { taskId: 'a:subscribe' },
    })
    expect(await idOf('/rest/tasks/tasks:subscribe')).toMatchObject({ reason: 'TASK_NOT_FOUND', metadata: { taskId: 'tasks' } })
    if (how !== 'GET') return
    expect(await idOf('/rest/tasks/a%3Asubscribe')).toMatchObject({ reason: 'TASK_NOT_FOUND', metadata: { taskId: 'a:subscribe' } })
    expect(await idOf('/rest/tasks/a:b')).toMatchObject({ reason: 'TASK_NOT_FOUND', metadata: { taskId: 'a:b' } })
  })
})

test.each(['PUT', 'PATCH', 'DELETE'])(
  'F038 a verb for nothing: %s on :subscribe is 405 and names the verbs that are taken',
  async (method) => {
    const { server, fetch } = await openStill(scriptAgent)
    const id = await begin(fetch, 'hold')
    const answer = await raw(server, `/rest/tasks/${id}:subscribe`, { method })
    expect([answer.status, answer.headers.get('allow')?.split(', ').sort()]).toEqual([405, ['GET', 'POST']])
  },
)

test.each<[string, string, number, unknown]>([
  ['half an object', '{', -32700, null],
  ['nothing', '', -32700, null],
  ['bytes that are no UTF-8', '\u00ff-latin1', -32700, null],
  ['an empty list', '[]', -32600, null],
  ['a batch of two', `[${envelope()},${envelope({ id: 2 })}]`, -32600, null],
  ['null', 'null', -32600, null],
  ['a number', '7', -32600, null],
  ['a text', '"SendMessage"', -32600, null],
  ['an id that is an object', envelope({ id: {} }), -32600, null],
  ['an id that is a list', envelope({ id: [1] }), -32600, null],
  ['an id that is true', envelope({ id: true }), -32600, null],
  ['no id', envelope({ id: undefined }), -32600, null],
  ['jsonrpc 1.0', envelope({ jsonrpc: '1.0' }), -32600, 1],
  ['no jsonrpc', envelope({ jsonrpc: undefined, id: 'a' }), -32600, 'a'],
  ['no method', envelope({ method: undefined, id: 0 }), -32600, 0],
  ['an unknown method', envelope({ method: 'SendMassage', id: '' }), -32601, ''],
  ['a method of an older version', envelope({ method: 'message/send' }), -32601, 1],
  ['the name of a thing that every object has', envelope({ method: 'constructor' }), -32601, 1],
  ['params that are a list', envelope({ params: [1] }), -32602, 1],
  ['params that are wrong', envelope({ method: 'GetTask', params: {}, id: 'x' }), -32602, 'x'],
])('F086 an envelope that is none: %s has its own code, under the id that came with it', async (_, body, code, id) => {
  const { server } = await openStill(scriptAgent)
  const bytes = Uint8Array.from(body, (letter) => letter.charCodeAt(0))
  const answer = await raw(server, rpcPath, { method: 'POST', body: bytes, headers: { 'content-type': 'application/json' } })
  expect(answer.status).toBe(200)
  expect(answer.body).toMatchObject({ jsonrpc: '2.0', id, error: { code } })
  expect(answer.body).not.toHaveProperty('result')
})

test.each([0, '', -1, 1.5, 'ü', null, 9007199254740991])('F086 an id that is lost: %j is echoed as it is', async (id) => {
  const { server } = await openStill(scriptAgent)
  expect((await raw(server, rpcPath, { body: envelope({ id }) })).body).toMatchObject({ id, result: { totalSize: 0 } })
  const text = await (
    await server.fetch(
      new Request(`http://agent.test${rpcPath}`, {
        method: 'POST',
        headers: { 'a2a-version': '1.0', authorization: 'Bearer alice', 'content-type': 'application/json' },
        body: envelope({ id, method: 'SendStreamingMessage', params: { message: userMessage('echo') } }),
      }),
    )
  ).text()
  const ids = [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data).id)
  expect(ids.length).toBeGreaterThan(2)
  expect(new Set(ids)).toEqual(new Set([id]))
})

test('F086 an executed batch or notification: what is refused has not been done', async () => {
  const { server, fetch } = await openStill(scriptAgent)
  const sending = { method: 'SendMessage', params: { message: userMessage('echo') } }
  for (const body of [envelope({ ...sending, id: undefined }), `[${envelope(sending)}]`]) await raw(server, rpcPath, { body })
  expect((await result(fetch, 'JSONRPC', 'ListTasks', {})).totalSize).toBe(0)
})
