/** The loops and the catches of a client that nobody here wrote: each error by its class, each stream to its right end. */

import { type StreamResponse, TaskState } from '@a2a-js/sdk'
import type { Client } from '@a2a-js/sdk/client'
import * as sdk from '@a2a-js/sdk/errors'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Agent, agent, chunk, type ServerOptions } from '../../src/index.js'
import * as errors from '../../src/protocol/errors.js'
import { type VirtualWorld, virtualWorld } from '../../src/testing/virtual-world.js'
import { scriptAgent } from '../harness/script-agent.js'
import { bindingNames, openSocket } from '../harness/server.js'
import { closeStill, gate, quietStore, withStore } from '../runtime/kit.js'
import { connect, payloadOf, taskOf, textRequest } from './sdk-client.js'

/** What the server throws, by the class that the client has for it. Planted: no product throws all of them. */
const thrown: Readonly<Record<string, () => errors.A2AError>> = {
  TaskNotFoundError: () => new errors.TaskNotFoundError('t'),
  TaskNotCancelableError: () => new errors.TaskNotCancelableError('t'),
  PushNotificationNotSupportedError: () => new errors.PushNotificationNotSupportedError(),
  UnsupportedOperationError: () => new errors.UnsupportedOperationError('Not here.'),
  ContentTypeNotSupportedError: () => new errors.ContentTypeNotSupportedError('Not this.'),
  InvalidAgentResponseError: () => new errors.InvalidAgentResponseError(),
  ExtendedAgentCardNotConfiguredError: () => new errors.ExtendedAgentCardNotConfiguredError(),
  ExtensionSupportRequiredError: () => new errors.ExtensionSupportRequiredError('urn:test:x'),
  VersionNotSupportedError: () => new errors.VersionNotSupportedError('7.3', ['1.0']),
  RequestMalformedError: () => new errors.InvalidParamsError([{ field: 'message', description: 'is planted' }]),
}

/** Throws the error that the message names, before there is a task. */
const refuser = agent(
  {
    name: 'Refuser',
    description: 'Refuses by name.',
    answer: ({ text }) => {
      throw thrown[text]?.()
    },
  },
  () => 'never',
)

interface Opened {
  readonly client: Client
  readonly world: VirtualWorld
  readonly stop: () => Promise<void>
}

const openings = bindingNames.map((binding) => ({ binding }))

describe.each(openings)('over $binding', ({ binding }) => {
  async function open(served: Agent, options: Partial<ServerOptions> = {}): Promise<Opened> {
    const world = virtualWorld()
    const server = await openSocket(served, { world, ...options })
    const stop = () => closeStill(server, world)
    onTestFinished(stop)
    return { client: await connect(server.url, binding), world, stop }
  }

  test.each(Object.keys(thrown))('%s has its own class, as an answer and instead of a stream', async (name) => {
    const { client } = await open(refuser)
    const { [name]: expected } = { ...sdk } as Readonly<Record<string, unknown>>
    const planted = thrown[name]?.()
    for (const promise of [client.sendMessage(textRequest(name)), client.sendMessageStream(textRequest(name)).next()]) {
      const error = await caught(promise)
      expect(error).toBeInstanceOf(expected)
      expect(error).toMatchObject({ message: planted?.message })
      expect(classesOf(error)).toEqual([name])
    }
  })

  test.each([
    ['echo', TaskState.TASK_STATE_COMPLETED],
    ['fail', TaskState.TASK_STATE_FAILED],
    ['throw', TaskState.TASK_STATE_FAILED],
    ['reject', TaskState.TASK_STATE_REJECTED],
    ['ask', TaskState.TASK_STATE_INPUT_REQUIRED],
  ])('the loop over the stream of “%s” ends by itself with that state', async (text, state) => {
    const { client } = await open(scriptAgent)
    const { frames, error } = await loop(client.sendMessageStream(textRequest(text)))
    expect([error, stateOf(frames.at(-1)), frames[0]?.payload?.$case]).toEqual([undefined, state, 'task'])
  })

  test('the loop over a direct reply ends after the one Message', async () => {
    const { client } = await open(scriptAgent)
    const { frames, error } = await loop(client.sendMessageStream(textRequest('hello')))
    expect([error, frames.map(({ payload }) => payload?.$case)]).toEqual([undefined, ['message']])
  })

  test('both loops over a task that is canceled end by themselves with CANCELED', async () => {
    const { client } = await open(scriptAgent)
    const { stream, id } = await working(client)
    const subscription = client.resubscribeTask({ tenant: '', id })
    expect((await subscription.next()).value?.payload?.$case).toBe('task')
    await client.cancelTask({ tenant: '', id, metadata: undefined })
    for (const { frames, error } of await Promise.all([loop(stream), loop(subscription)])) {
      expect([error, stateOf(frames.at(-1))]).toEqual([undefined, TaskState.TASK_STATE_CANCELED])
    }
  })

  test('the loop over a subscription goes on past a question and ends with the task', async () => {
    const { client } = await open(scriptAgent)
    const { id: taskId } = taskOf(await client.sendMessage(textRequest('ask')))
    const subscription = client.resubscribeTask({ tenant: '', id: taskId })
    expect(stateOf((await subscription.next()).value ?? undefined)).toBe(TaskState.TASK_STATE_INPUT_REQUIRED)
    const rest = loop(subscription)
    const answered = await loop(client.sendMessageStream(textRequest('ask', { message: { taskId } })))
    expect(stateOf(answered.frames.at(-1))).toBe(TaskState.TASK_STATE_INPUT_REQUIRED)
    await client.sendMessage(textRequest('42', { message: { taskId } }))
    const { frames, error } = await rest
    expect(error).toBeUndefined()
    expect(frames.map(stateOf).filter((state) => state !== undefined)).toEqual([
      TaskState.TASK_STATE_WORKING,
      TaskState.TASK_STATE_INPUT_REQUIRED,
      TaskState.TASK_STATE_WORKING,
      TaskState.TASK_STATE_COMPLETED,
    ])
  })

  test('a server that stops ends both loops with an error that says UNAVAILABLE, and no frame is lost before it', async () => {
    const { client, stop } = await open(scriptAgent)
    const { stream, id } = await working(client)
    const subscription = client.resubscribeTask({ tenant: '', id })
    await subscription.next()
    const ends = Promise.all([loop(stream), loop(subscription)])
    await stop()
    for (const { frames, error } of await ends) {
      expect(frames).toEqual([])
      expect(error).toBeInstanceOf(Error)
      expect(messagesOf(error)).toContain('The server is stopping')
      // No class of the nine: a client that compares classes does not take it for the agent's answer.
      expect(classesOf(error)).toEqual([])
      if (binding === 'JSONRPC') expect(error).toMatchObject({ cause: { envelopeCode: -32000 } })
      else expect(error).toMatchObject({ transport: 'rest' })
    }
  })

  test.each([
    ['a fault', new Error('secret'), undefined, 'failed to answer'],
    ['an answer that the protocol does not allow', new errors.InvalidAgentResponseError(), 'InvalidAgentResponseError', 'does not allow'],
  ])('%s after the first frame ends both loops with an error of the right class', async (_, planted, name, words) => {
    const opening = gate()
    const stepping = agent({ name: 'Steps', description: 'Goes on when told.' }, async function* () {
      yield chunk('a', 'one')
      await opening.opened
      yield chunk('a', 'two')
    })
    let isBroken = false
    const store = withStore(
      (inner) => ({ events: (...given) => (isBroken ? Promise.reject(planted) : inner.events(...given)) }),
      quietStore(),
    )
    const { client } = await open(stepping, { store })
    const stream = client.sendMessageStream(textRequest('go'))
    const { id } = payloadOf((await stream.next()).value ?? undefined, 'task')
    while ((await stream.next()).value?.payload?.$case !== 'artifactUpdate');
    const subscription = client.resubscribeTask({ tenant: '', id })
    expect(payloadOf((await subscription.next()).value ?? undefined, 'task').artifacts).toHaveLength(1)
    isBroken = true
    opening.open()
    for (const { frames, error } of await Promise.all([loop(stream), loop(subscription)])) {
      expect(frames).toEqual([])
      expect(messagesOf(error)).toContain(words)
      expect(messagesOf(error)).not.toContain('secret')
      expect(classesOf(error)).toEqual(name === undefined ? [] : [name])
    }
  })
})

/** A stream that is at the agent's first note, and the id of its task. */
async function working(client: Client) {
  const stream = client.sendMessageStream(textRequest('hold'))
  const { id } = payloadOf((await stream.next()).value ?? undefined, 'task')
  for (let step = await stream.next(); !step.done; step = await stream.next()) {
    if (step.value.payload?.$case === 'statusUpdate' && step.value.payload.value.status?.message) return { stream, id }
  }
  throw new Error('the stream ended before the agent was at work')
}

/** What a `for await` gets until it ends or throws. */
async function loop(stream: AsyncIterable<StreamResponse>): Promise<{ readonly frames: StreamResponse[]; readonly error: unknown }> {
  const frames: StreamResponse[] = []
  try {
    for await (const frame of stream) frames.push(frame)
    return { frames, error: undefined }
  } catch (error) {
    return { frames, error }
  }
}

function caught(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => Promise.reject(new Error(`an error was expected, got ${JSON.stringify(value)}`)),
    (error: unknown) => error,
  )
}

function stateOf(frame: StreamResponse | undefined): TaskState | undefined {
  const payload = frame?.payload
  return payload?.$case === 'task' || payload?.$case === 'statusUpdate' ? payload.value.status?.state : undefined
}

/** The error and its causes: over JSON-RPC the client wraps what a frame says. */
function chainOf(error: unknown): Error[] {
  return error instanceof Error ? [error, ...chainOf(error.cause)] : []
}

const messagesOf = (error: unknown) =>
  chainOf(error)
    .map(({ message }) => message)
    .join('\n')

/** Those of the client's classes that the error is of. */
function classesOf(error: unknown): string[] {
  const classes: Readonly<Record<string, unknown>> = { ...sdk }
  return Object.keys(thrown).filter((name) => {
    const type = classes[name]
    return typeof type === 'function' && chainOf(error).some((one) => one instanceof type)
  })
}
