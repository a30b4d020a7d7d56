/** Errors as a client that nobody here wrote tells them apart: by class, over both bindings. */

import { AgentCard, Extensions } from '@a2a-js/sdk'
import { type Client, withA2AExtensions } from '@a2a-js/sdk/client'
import {
  type A2AError,
  ContentTypeNotSupportedError,
  ExtensionSupportRequiredError,
  PushNotificationNotSupportedError,
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
  VersionNotSupportedError,
} from '@a2a-js/sdk/errors'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { venueAgent } from '../../examples/venue-agent/agent.js'
import { agent, type RunningServer } from '../../src/index.js'
import { type BindingName, bindingNames, openSocket } from '../harness/server.js'
import { connect, everything, taskOf, textRequest } from './sdk-client.js'

const complete = 'We need a place in Lisbon for 120 people for two days, with catering and wifi'
const pushConfig = { tenant: '', id: '', taskId: '', url: 'https://hooks.example/a2a', token: '', authentication: undefined }
const image = {
  content: { $case: 'url', value: 'https://example.com/plan.png' },
  metadata: undefined,
  filename: '',
  mediaType: 'image/png',
} as const

interface Case {
  readonly what: string
  readonly error: abstract new () => A2AError
  readonly code: number
  readonly status: number
  /** @param done id of a completed task */
  readonly provoke: (client: Client, done: string) => Promise<unknown>
}

const cases: readonly Case[] = [
  {
    what: 'a task that is not there',
    error: TaskNotFoundError,
    code: -32001,
    status: 404,
    provoke: (client) => client.getTask({ tenant: '', id: 'no-such-task' }),
  },
  {
    what: 'a message to a task that is not there',
    error: TaskNotFoundError,
    code: -32001,
    status: 404,
    provoke: (client) => client.sendMessage(textRequest(complete, { message: { taskId: 'no-such-task' } })),
  },
  {
    what: 'a cancel of a completed task',
    error: TaskNotCancelableError,
    code: -32002,
    status: 400,
    provoke: (client, id) => client.cancelTask({ tenant: '', id, metadata: undefined }),
  },
  {
    what: 'a push configuration where push is not offered',
    error: PushNotificationNotSupportedError,
    code: -32003,
    status: 400,
    provoke: (client, taskId) =>
      client.transport.createTaskPushNotificationConfig({ ...pushConfig, taskId }, { serviceParameters: { 'A2A-Version': '1.0' } }),
  },
  {
    what: 'a push configuration inside a send where push is not offered',
    error: PushNotificationNotSupportedError,
    code: -32003,
    status: 400,
    provoke: (client) => client.sendMessage(textRequest(complete, { configuration: { taskPushNotificationConfig: pushConfig } })),
  },
  {
    what: 'deleting a push configuration where push is not offered',
    error: PushNotificationNotSupportedError,
    code: -32003,
    status: 400,
    provoke: (client, taskId) => client.deleteTaskPushNotificationConfig({ tenant: '', taskId, id: 'one' }),
  },
  {
    what: 'a message to a completed task',
    error: UnsupportedOperationError,
    code: -32004,
    status: 400,
    provoke: (client, taskId) => client.sendMessage(textRequest('and the day after?', { message: { taskId } })),
  },
  {
    what: 'a subscription to a completed task',
    error: UnsupportedOperationError,
    code: -32004,
    status: 400,
    provoke: (client, id) => client.resubscribeTask({ tenant: '', id }).next(),
  },
  {
    what: 'the extended card of an agent that has none',
    error: UnsupportedOperationError,
    code: -32004,
    status: 400,
    provoke: (client) => client.transport.getExtendedAgentCard({ tenant: '' }, { serviceParameters: { 'A2A-Version': '1.0' } }),
  },
  {
    what: 'a part of a media type that the agent does not take',
    error: ContentTypeNotSupportedError,
    code: -32005,
    status: 400,
    provoke: (client) => client.sendMessage(textRequest('', { message: { parts: [image] } })),
  },
  {
    what: 'a stream with a part of a media type that the agent does not take',
    error: ContentTypeNotSupportedError,
    code: -32005,
    status: 400,
    provoke: (client) => client.sendMessageStream(textRequest('', { message: { parts: [image] } })).next(),
  },
  {
    what: 'a version that nobody speaks',
    error: VersionNotSupportedError,
    code: -32009,
    status: 400,
    // The client itself always says the version it found in the card.
    provoke: (client, id) => client.transport.getTask({ tenant: '', id }, { serviceParameters: { 'A2A-Version': '7.3' } }),
  },
  {
    what: 'a message without parts',
    error: RequestMalformedError,
    code: -32602,
    status: 400,
    provoke: (client) => client.sendMessage(textRequest('', { message: { parts: [] } })),
  },
  {
    what: 'a page that is too large',
    error: RequestMalformedError,
    code: -32602,
    status: 400,
    provoke: (client) => client.listTasks({ ...everything, pageSize: 101 }),
  },
  {
    what: 'a page token that nobody gave out',
    error: RequestMalformedError,
    code: -32602,
    status: 400,
    provoke: (client) => client.listTasks({ ...everything, pageToken: 'AAAA' }),
  },
  {
    what: 'a negative historyLength',
    error: RequestMalformedError,
    code: -32602,
    status: 400,
    provoke: (client, id) => client.getTask({ tenant: '', id, historyLength: -1 }),
  },
  {
    what: 'a tenant that is not the caller’s',
    error: RequestMalformedError,
    code: -32602,
    status: 400,
    provoke: (client, id) => client.getTask({ tenant: 'red', id }),
  },
]

/** What the SDK keeps of how an error travelled. */
function carried(binding: BindingName, code: number, status: number) {
  return binding === 'JSONRPC' ? { transport: 'jsonrpc', envelopeCode: code } : { transport: 'rest', statusCode: status }
}

async function thrownBy(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => Promise.reject(new Error(`an error was expected, got ${JSON.stringify(value)}`)),
    (error: unknown) => error,
  )
}

describe.each(bindingNames)('over %s', (binding) => {
  let server: RunningServer
  let client: Client
  let done: string

  beforeAll(async () => {
    server = await openSocket(venueAgent)
    client = await connect(server.url, binding)
    done = taskOf(await client.sendMessage(textRequest(complete))).id
  })
  afterAll(() => server.close())

  test.each(cases)('$what is $error.name', async ({ error, code, status, provoke }) => {
    const thrown = await thrownBy(provoke(client, done))
    expect(thrown).toBeInstanceOf(error)
    expect(thrown).toMatchObject(carried(binding, code, status))
  })

  test('a refusal makes no task', async () => {
    expect((await client.listTasks(everything)).totalSize).toBe(1)
  })

  test('without a valid token nothing is answered', async () => {
    const mallory = await connect(server.url, binding, 'mallory')
    const thrown = await thrownBy(mallory.getTask({ tenant: '', id: done }))
    expect(thrown).toMatchObject(carried(binding, -32000, 401))
  })
})

describe.each(bindingNames)('an agent that requires an extension, over %s', (binding) => {
  const uri = 'https://example.com/extensions/receipts/v1'
  const strict = agent({ name: 'Strict', description: 'Wants its extension.', extensions: [{ uri, required: true }] }, () => 'done')

  test('refuses by class whoever does not list it, and answers whoever does', async () => {
    const server = await openSocket(strict)
    const client = await connect(server.url, binding)
    const thrown = await thrownBy(client.sendMessage(textRequest('hi')))
    expect(thrown).toBeInstanceOf(ExtensionSupportRequiredError)
    expect(thrown).toMatchObject(carried(binding, -32008, 400))
    const serviceParameters: Record<string, string> = {}
    withA2AExtensions(...Extensions.createFrom(undefined, uri))(serviceParameters)
    expect(taskOf(await client.sendMessage(textRequest('hi'), { serviceParameters })).artifacts).toHaveLength(1)
    await server.close()
  })
})

describe.each(bindingNames)('an agent with an extended card, over %s', (binding) => {
  const bigger = agent(
    { name: 'Bigger', description: 'Says more to those it knows.', extendedCard: ({ id }) => ({ description: `For ${id} only.` }) },
    () => 'done',
  )

  test('shows it to an authenticated caller', async () => {
    const server = await openSocket(bigger)
    const client = await connect(server.url, binding)
    const card = await client.getAgentCard()
    expect(card.description).toBe('For alice only.')
    expect(AgentCard.toJSON(card)).toMatchObject({ name: 'Bigger', capabilities: { extendedAgentCard: true } })
    await server.close()
  })
})
