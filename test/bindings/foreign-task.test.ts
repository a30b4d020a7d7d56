/** What is somebody else's is answered as if it did not exist, byte for byte. Spec §13.1, D4. */

import { describe, expect, test } from 'vitest'
import type { Server } from '../../src/index.js'
import type { OperationName } from '../../src/protocol/operations.js'
import { scriptAgent } from '../harness/script-agent.js'
import { type BindingName, bindingNames, call, openServer, requestFor, result, userMessage } from '../harness/server.js'

const message = (taskId: string, more: object = {}) => ({
  messageId: 'm-foreign',
  role: 'ROLE_USER',
  parts: [{ text: 'echo mine' }],
  taskId,
  ...more,
})

interface Question {
  readonly params: (id: string) => Record<string, unknown>
  readonly headers?: Readonly<Record<string, string>>
}

/** How each operation may be asked about a task by its id; a text says why it cannot. */
const questions: Readonly<Record<OperationName, readonly Question[] | string>> = {
  SendMessage: [
    { params: (id) => ({ message: message(id) }) },
    {
      params: (id) => ({
        message: message(id),
        configuration: { returnImmediately: true, taskPushNotificationConfig: { url: 'https://hook.test/' } },
      }),
    },
    { params: (id) => ({ message: message(id, { contextId: 'thread-1' }) }) },
  ],
  SendStreamingMessage: [{ params: (id) => ({ message: message(id) }) }],
  GetTask: [{ params: (id) => ({ id }) }, { params: (id) => ({ id, historyLength: 0 }) }],
  ListTasks: 'it names no task: what it may show is tested with contexts below',
  CancelTask: [{ params: (id) => ({ id }) }],
  SubscribeToTask: [
    { params: (id) => ({ id }) },
    { params: (id) => ({ id }), headers: { 'last-event-id': '1' } },
    { params: (id) => ({ id }), headers: { 'last-event-id': '999' } },
  ],
  CreateTaskPushNotificationConfig: [
    { params: (taskId) => ({ taskId, url: 'https://hook.test/' }) },
    { params: (taskId) => ({ taskId, id: 'hook', url: 'https://hook.test/mallory' }) },
  ],
  GetTaskPushNotificationConfig: [{ params: (taskId) => ({ taskId, id: 'hook' }) }, { params: (taskId) => ({ taskId, id: 'none' }) }],
  ListTaskPushNotificationConfigs: [{ params: (taskId) => ({ taskId }) }, { params: (taskId) => ({ taskId, pageToken: 'hook' }) }],
  DeleteTaskPushNotificationConfig: [{ params: (taskId) => ({ taskId, id: 'hook' }) }, { params: (taskId) => ({ taskId, id: 'none' }) }],
  GetExtendedAgentCard: 'it names no task: the card is that of the agent',
}

const states = { hold: 'TASK_STATE_WORKING', ask: 'TASK_STATE_INPUT_REQUIRED', echo: 'TASK_STATE_COMPLETED' }
const madeUp = '019b7a3c-1111-7222-8333-444455556666'

// Object.entries gives the entries of these very tables.
const asked = Object.entries(questions).flatMap(([operation, list]) =>
  typeof list === 'string' ? [] : [{ operation: operation as OperationName, list }],
)

/** Everything that an answer shows, the id that was asked for left out. */
async function seen(server: Server, request: Request, id: string) {
  const response = await server.fetch(request)
  const headers = [...response.headers].filter(([name]) => name !== 'date')
  return { status: response.status, headers, body: (await response.text()).replaceAll(id, '<id>') }
}

/** A task of `owner` in the state that `text` leads to, with a push configuration. */
async function begin(server: Server, text: string, as = 'alice', more: object = {}): Promise<any> {
  const { task } = await result(
    server.fetch,
    'JSONRPC',
    'SendMessage',
    { message: userMessage(text), configuration: { returnImmediately: true }, ...more },
    { as },
  )
  const wanted = states[text as keyof typeof states]
  let now = task
  while (now.status.state !== wanted) {
    // The run gets on at the end of a turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve))
    now = await result(server.fetch, 'JSONRPC', 'GetTask', { id: task.id, ...more }, { as })
  }
  await result(
    server.fetch,
    'JSONRPC',
    'CreateTaskPushNotificationConfig',
    { taskId: task.id, id: 'hook', url: 'https://hook.test/alice', ...more },
    { as },
  )
  return now
}

async function everythingOf(server: Server, id: string, as = 'alice', more: object = {}) {
  const { text } = await call(server.fetch, 'JSONRPC', 'GetTask', { id, ...more }, { as })
  const { text: configs } = await call(server.fetch, 'JSONRPC', 'ListTaskPushNotificationConfigs', { taskId: id, ...more }, { as })
  const { text: list } = await call(server.fetch, 'JSONRPC', 'ListTasks', { includeArtifacts: true, ...more }, { as })
  return { text, configs, list }
}

describe.each(bindingNames)('over %s', (binding) => {
  test.each(Object.entries(states))('a foreign task after “%s” (%s) is answered like a made-up one by every operation', async (text) => {
    const server = await openServer(scriptAgent, { push: true, limits: { shutdownMs: 0 } })
    const { id } = await begin(server, text)
    const before = await everythingOf(server, id)
    for (const { operation, list } of asked) {
      for (const { params, headers = {} } of list) {
        const question = (of: string) => requestFor(binding, operation, params(of), { as: 'bob', headers })
        const theirs = await seen(server, question(id), id)
        expect([operation, theirs]).toEqual([operation, await seen(server, question(madeUp), madeUp)])
        expect(theirs.body).toContain('TASK_NOT_FOUND')
      }
    }
    expect(await everythingOf(server, id)).toEqual(before)
    expect(await result(server.fetch, binding, 'ListTasks', {}, { as: 'bob' })).toEqual({
      tasks: [],
      nextPageToken: '',
      pageSize: 50,
      totalSize: 0,
    })
    await server.close()
  })

  test('a subscription by GET to a foreign task is answered like one to a made-up one', async () => {
    const server = await openServer(scriptAgent)
    const { task } = await result(server.fetch, binding, 'SendMessage', { message: userMessage('ask') })
    const ask = (id: string) =>
      new Request(`http://agent.test/rest/tasks/${id}:subscribe`, { headers: { authorization: 'Bearer bob', 'a2a-version': '1.0' } })
    const theirs = await seen(server, ask(task.id), task.id)
    expect(theirs).toEqual(await seen(server, ask(madeUp), madeUp))
    expect(theirs.status).toBe(404)
    await server.close()
  })

  test('a task of the same person in another tenant is answered like a made-up one', async () => {
    const server = await openServer(scriptAgent, { push: true, limits: { shutdownMs: 0 } })
    const { id } = await begin(server, 'ask', 'carol', { tenant: 'red' })
    const before = await everythingOf(server, id, 'carol', { tenant: 'red' })
    for (const tenant of ['', 'blue']) {
      for (const { operation, list } of asked) {
        for (const { params, headers = {} } of list) {
          const question = (of: string) =>
            requestFor(binding, operation, { ...params(of), ...(tenant !== '' && { tenant }) }, { as: 'carol', headers })
          expect([operation, await seen(server, question(id), id)]).toEqual([operation, await seen(server, question(madeUp), madeUp)])
        }
      }
      expect(await result(server.fetch, binding, 'ListTasks', tenant === '' ? {} : { tenant }, { as: 'carol' })).toMatchObject({
        tasks: [],
        totalSize: 0,
      })
    }
    expect(await everythingOf(server, id, 'carol', { tenant: 'red' })).toEqual(before)
    await server.close()
  })
})

const sends = ['SendMessage', 'SendStreamingMessage'] as const

/** Alice's context, with a memory of two words and two tasks. */
async function rememberIn(server: Server, contextId: string | undefined, as = 'alice', more: object = {}): Promise<string> {
  const say = (text: string, context: string | undefined) =>
    result(
      server.fetch,
      'JSONRPC',
      'SendMessage',
      { message: userMessage(text, context === undefined ? {} : { contextId: context }), ...more },
      { as },
    )
  const { task } = await say('remember city Lisbon', contextId)
  await say('remember guests 120', task.contextId)
  return task.contextId
}

const recall = async (server: Server, binding: BindingName, contextId: string, as: string, more: object = {}) => {
  const shown: unknown[] = []
  for (const key of ['city', 'guests']) {
    const { task } = await result(
      server.fetch,
      binding,
      'SendMessage',
      { message: userMessage(`recall ${key}`, { contextId }), ...more },
      { as },
    )
    shown.push(task.artifacts[0].parts[0].data.value)
  }
  return shown
}

describe.each(bindingNames)('contexts over %s', (binding) => {
  test('a foreign context is refused in the words of a made-up one, and shows nothing', async () => {
    const server = await openServer(scriptAgent)
    const theirs = await rememberIn(server, undefined)
    // Of the same form; the last one differs in the authenticator alone.
    const others = [
      'ctx-019b7a3c-1111-7222-8333-444455556666-AAAAAAAAAAAAAAAAAAAAAA',
      `${theirs.slice(0, -1)}${theirs.endsWith('A') ? 'B' : 'A'}`,
    ]
    for (const operation of sends) {
      for (const text of ['recall city', 'echo hi', 'hello']) {
        const question = (contextId: string) =>
          requestFor(binding, operation, { message: { messageId: 'm-b', role: 'ROLE_USER', parts: [{ text }], contextId } }, { as: 'bob' })
        const answer = await seen(server, question(theirs), theirs)
        expect(answer.body).toContain('INVALID_PARAMS')
        expect(answer.body).toContain('message.contextId')
        expect(answer.body).not.toMatch(/Lisbon|120/)
        for (const other of others) expect(await seen(server, question(other), other)).toEqual(answer)
      }
    }
    expect(await result(server.fetch, binding, 'ListTasks', { contextId: theirs }, { as: 'bob' })).toEqual({
      tasks: [],
      nextPageToken: '',
      pageSize: 50,
      totalSize: 0,
    })
    expect(await recall(server, binding, theirs, 'alice')).toEqual(['Lisbon', '120'])
    await server.close()
  })

  test('two people who give a context the same name never meet in it', async () => {
    const server = await openServer(scriptAgent)
    await rememberIn(server, 'thread-1')
    expect(await recall(server, binding, 'thread-1', 'bob')).toEqual([null, null])
    await result(
      server.fetch,
      binding,
      'SendMessage',
      { message: userMessage('remember city Oslo', { contextId: 'thread-1' }) },
      { as: 'bob' },
    )
    expect(await recall(server, binding, 'thread-1', 'alice')).toEqual(['Lisbon', '120'])
    expect((await result(server.fetch, binding, 'ListTasks', { contextId: 'thread-1' }, { as: 'bob' })).totalSize).toBe(3)
    expect((await result(server.fetch, binding, 'ListTasks', { contextId: 'thread-1' })).totalSize).toBe(4)
    await server.close()
  })

  test('one person’s contexts of two tenants never meet', async () => {
    const server = await openServer(scriptAgent)
    const made = await rememberIn(server, undefined, 'carol', { tenant: 'red' })
    await rememberIn(server, 'thread-1', 'carol', { tenant: 'red' })
    for (const more of [{}, { tenant: 'blue' }]) {
      const answer = await call(
        server.fetch,
        binding,
        'SendMessage',
        { message: userMessage('recall city', { contextId: made }), ...more },
        { as: 'carol' },
      )
      expect(answer.text).toContain('message.contextId')
      expect(await recall(server, binding, 'thread-1', 'carol', more)).toEqual([null, null])
      expect((await result(server.fetch, binding, 'ListTasks', { contextId: made, ...more }, { as: 'carol' })).tasks).toEqual([])
    }
    expect(await recall(server, binding, made, 'carol', { tenant: 'red' })).toEqual(['Lisbon', '120'])
    await server.close()
  })

  test('a context of one’s own name is refused where callers may not name them, in the words for a foreign one', async () => {
    const server = await openServer(scriptAgent, { clientContextIds: false })
    const question = (contextId: string) =>
      requestFor(binding, 'SendMessage', { message: { messageId: 'm-c', role: 'ROLE_USER', parts: [{ text: 'echo' }], contextId } })
    const answer = await seen(server, question('thread-1'), 'thread-1')
    expect(answer.body).toContain('INVALID_PARAMS')
    expect(answer).toEqual(await seen(server, question('ctx-019b7a3c-1111-7222-8333-444455556666-AAAAAAAAAAAAAAAAAAAAAA'), 'ctx-none'))
    expect((await result(server.fetch, binding, 'ListTasks', {})).totalSize).toBe(0)
    await server.close()
  })
})
