/** Random sequences of operations, and what one binding makes of them: the two halves of the proof that the bindings are equal. */

import fc from 'fast-check'
import { agent, type ServerOptions } from '../../src/index.js'
import type { OperationName } from '../../src/protocol/operations.js'
import { operationTable } from '../../src/protocol/operations.js'
import { virtualWorld } from '../../src/testing/virtual-world.js'
import { scriptAgent } from '../harness/script-agent.js'
import { type BindingName, openServer, readFrames, requestFor } from '../harness/server.js'

/** One call. */
export interface Step {
  readonly operation: OperationName
  readonly as: string
  readonly tenant: string
  /** Filled in by {@link play}: `{ $task: n }`, `{ $contextOf: n }` and `{ $pageToken: true }` are replaced by what they mean. */
  readonly params: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>
}

/** Mostly `usual`; a sequence that is only refused proves little. */
const mostly = <T, U>(usual: fc.Arbitrary<T>, rare: fc.Arbitrary<U>) =>
  fc.oneof({ weight: 14, arbitrary: usual }, { weight: 1, arbitrary: rare })
/** A member that is there once in `n` times. */
const oneIn = <T>(n: number, arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 1, arbitrary }, { weight: n - 1, arbitrary: fc.constant(undefined) })

const number = fc.nat({ max: 5 })
const taskId = mostly(
  number.map(($task) => ({ $task })),
  fc.constantFrom('made-up', 'a:b', '%2F ü'),
)
const contextId = mostly(
  fc.oneof(
    fc.constantFrom('thread-1', 'thread-2'),
    number.map(($contextOf) => ({ $contextOf })),
  ),
  fc.constant('ctx-01890000-0000-7000-8000-000000000000-AAAAAAAAAAAAAAAAAAAAAA'),
)
const historyLength = mostly(fc.constantFrom(0, 1, 2), fc.constant(-1))
const texts = fc.constantFrom(
  ...[
    'echo one',
    'chunks 3',
    'ask',
    'ask',
    'ask',
    'reject',
    'fail',
    'throw',
    'hold',
    'hold',
    'hold',
    'go',
    'slow 300',
    'note busy',
    'whole a text',
    'remember city Lisbon',
    'recall city',
    'hello',
    '',
  ],
)
const parts = mostly(
  texts.map((text) => [{ text }]),
  fc.constantFrom(
    [],
    [{}],
    [{ text: 'a', url: 'b' }],
    [{ data: { n: 1 } }],
    [{ text: 'x', mediaType: 'image/png' }],
    [{ raw: '_-8', mediaType: 'text' }],
    'none',
  ),
)
const pushConfig = fc.record({
  url: mostly(
    fc.constantFrom('https://hook.test/a', 'https://hook.test/b'),
    fc.constantFrom('ftp://hook.test', 'https://u:p@hook.test', ''),
  ),
  id: oneIn(2, fc.constantFrom('one', 'one', 'two')),
  token: oneIn(2, fc.constant('t0ken')),
  authentication: oneIn(
    3,
    mostly(fc.constantFrom({ scheme: 'Bearer', credentials: 'secret' }, { scheme: 'Basic' }), fc.constant({ credentials: 'secret' })),
  ),
})

/** Sent again and again, as it is. */
const sameMessages = fc.constantFrom('echo one', 'ask').map((text) => ({ messageId: text, role: 'ROLE_USER', parts: [{ text }] }))
const anyMessage = fc.record({
  messageId: mostly(
    fc.oneof({ weight: 4, arbitrary: fc.uuid() }, { weight: 1, arbitrary: fc.constantFrom('m-1', 'm-2') }),
    fc.constant(''),
  ),
  role: mostly(fc.constantFrom('ROLE_USER', 'ROLE_USER', 'ROLE_USER', 1), fc.constantFrom('ROLE_AGENT', 'USER')),
  parts,
  taskId: oneIn(3, taskId),
  contextId: oneIn(4, contextId),
  metadata: oneIn(6, fc.constantFrom({ 'urn:errand:question': 'none such' }, { a: [1, null] })),
})

const send = fc.record({
  message: fc.oneof({ weight: 5, arbitrary: anyMessage }, { weight: 1, arbitrary: sameMessages }),
  configuration: oneIn(
    2,
    fc.record({
      returnImmediately: oneIn(2, fc.boolean()),
      historyLength: oneIn(3, historyLength),
      acceptedOutputModes: oneIn(4, fc.constant(['text/plain'])),
      taskPushNotificationConfig: oneIn(3, pushConfig),
    }),
  ),
})

const inTask = { taskId, id: fc.constantFrom('one', 'one', 'one', 'two', 'none') }

const params: { readonly [Name in OperationName]: fc.Arbitrary<Readonly<Record<string, unknown>>> } = {
  SendMessage: send,
  SendStreamingMessage: send,
  GetTask: fc.record({ id: taskId, historyLength: oneIn(2, mostly(historyLength, fc.constantFrom('1', 'x'))) }),
  ListTasks: fc.record({
    contextId: oneIn(4, contextId),
    status: oneIn(
      4,
      mostly(fc.constantFrom('TASK_STATE_COMPLETED', 'TASK_STATE_WORKING', 'TASK_STATE_INPUT_REQUIRED', 3), fc.constant('TASK_STATE_NONE')),
    ),
    pageSize: oneIn(2, mostly(fc.constantFrom(1, 2, 100), fc.constantFrom(0, -1, 101, 'x'))),
    pageToken: oneIn(6, mostly(fc.constant({ $pageToken: true }), fc.constant('forged'))),
    historyLength: oneIn(3, historyLength),
    statusTimestampAfter: oneIn(
      5,
      mostly(fc.constantFrom('2026-01-01T00:00:03.000Z', '2026-01-01T01:00:02+01:00'), fc.constant('yesterday')),
    ),
    includeArtifacts: oneIn(2, fc.boolean()),
  }),
  CancelTask: fc.record({ id: taskId }),
  SubscribeToTask: fc.record({ id: taskId }),
  CreateTaskPushNotificationConfig: fc.tuple(pushConfig, taskId).map(([config, of]) => ({ ...config, taskId: of })),
  GetTaskPushNotificationConfig: fc.record(inTask),
  ListTaskPushNotificationConfigs: fc.record({
    taskId,
    pageSize: oneIn(2, mostly(fc.constantFrom(1, 2), fc.constantFrom(-1, 'x'))),
    pageToken: oneIn(4, fc.constantFrom({ $pageToken: true }, 'one', 'forged')),
  }),
  DeleteTaskPushNotificationConfig: fc.record(inTask),
  GetExtendedAgentCard: fc.constant({}),
}

const headers = fc.oneof(
  { weight: 8, arbitrary: fc.constant({}) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      { 'a2a-version': '0.3' },
      { 'a2a-version': '1.0.7' },
      { 'a2a-extensions': 'urn:test:known, urn:test:other' },
      { 'last-event-id': '1' },
      { 'last-event-id': '99' },
    ),
  },
)
/** Mostly Carol without a tenant, so that calls meet tasks; she alone may name the tenant red. */
const callers = fc.oneof(
  { weight: 20, arbitrary: fc.constant({ as: 'carol', tenant: '' }) },
  { weight: 5, arbitrary: fc.constantFrom({ as: 'bob', tenant: '' }, { as: 'carol', tenant: 'red' }) },
  { weight: 1, arbitrary: fc.constantFrom({ as: 'carol', tenant: 'green' }, { as: 'bob', tenant: 'red' }) },
)

const weights: Partial<Record<OperationName, number>> = {
  SendMessage: 8,
  SendStreamingMessage: 4,
  CancelTask: 3,
  SubscribeToTask: 2,
  CreateTaskPushNotificationConfig: 4,
  GetTaskPushNotificationConfig: 3,
}
// Object.keys gives the keys of this very table.
const names = Object.keys(params) as readonly OperationName[]
const stepOf = (operation: OperationName): fc.Arbitrary<Step> =>
  fc.tuple(params[operation], callers, headers).map(([given, caller, sent]) => ({ operation, params: given, ...caller, headers: sent }))
const anyStep = fc.oneof(...names.map((operation) => ({ weight: weights[operation] ?? 1, arbitrary: stepOf(operation) })))

/** 1 to 12 calls, the first one a message. */
export const sequences: fc.Arbitrary<readonly Step[]> = fc
  .tuple(fc.oneof(stepOf('SendMessage'), stepOf('SendStreamingMessage')), fc.array(anyStep, { maxLength: 11, size: 'max' }))
  .map(([first, rest]) => [first, ...rest])

const { run, ...info } = scriptAgent
/** The script agent with something to say to each operation. */
const ableAgent = agent(
  { ...info, extensions: [{ uri: 'urn:test:known' }], extendedCard: ({ id }) => ({ description: `Known to ${id}.` }) },
  run,
)

export interface PlayOptions extends Partial<ServerOptions> {
  /** Of chance: another one gives other ids. */
  readonly seed: number
}

/** A call and its answer as text, ids masked. */
export interface Played {
  readonly operation: string
  readonly answer: string
}

/** Every call that came to an end, and those that were still open when the server stopped, ids masked. */
export async function play(binding: BindingName, steps: readonly Step[], { seed, ...options }: PlayOptions): Promise<readonly Played[]> {
  const world = virtualWorld({ seed })
  const server = await openServer(ableAgent, { world, push: true, ...options })
  const seen: Seen = { tasks: [], pageTokens: [] }
  const answers: Promise<unknown>[] = []
  for (const { operation, as, tenant, params, headers } of steps) {
    const filled = fill(params, seen) as Record<string, unknown>
    const request = requestFor(binding, operation, tenant === '' ? filled : { ...filled, tenant }, { as, headers })
    answers.push(server.fetch(request).then((response) => read(binding, operation, response, seen)))
    // A second for each call: no two tasks share the time by which they are listed.
    await world.advance(1000)
    await world.advance(0)
  }
  const [results] = await Promise.all([Promise.all(answers), stop()])
  const mask = createMask()
  return results.map((one, index) => ({ operation: steps[index]?.operation ?? '', answer: mask(one) }))

  async function stop(): Promise<void> {
    let isClosed = false
    const closed = server.close().finally(() => (isClosed = true))
    // What still runs is given its time.
    while (!isClosed) await world.advance(1000)
    await closed
  }
}

interface Seen {
  readonly tasks: { readonly id: string; readonly contextId: string }[]
  readonly pageTokens: string[]
}

async function read(binding: BindingName, operation: OperationName, response: Response, seen: Seen): Promise<unknown> {
  const extensions = response.headers.get('a2a-extensions')
  if (/event-stream/.test(response.headers.get('content-type') ?? '')) {
    const list: unknown[] = []
    for await (const frame of readFrames(response, binding)) {
      note(frame.data, seen)
      list.push('error' in frame.data ? { id: frame.id, error: plainError(binding, frame.data.error) } : { id: frame.id, data: frame.data })
    }
    return { extensions, frames: list }
  }
  const body: any = await response.json()
  const error = body.error
  if (error) return { extensions, error: plainError(binding, error) }
  const result = binding === 'JSONRPC' ? body.result : body
  note(result, seen)
  return { extensions, streaming: operationTable[operation].streaming, result }
}

/** What both bindings say of an error, each in its own members. */
function plainError(binding: BindingName, error: any): unknown {
  return { message: error.message, details: binding === 'JSONRPC' ? error.data : error.details }
}

/** Remembers the tasks and tokens in an answer, in the order in which they are first seen. */
function note(value: unknown, { tasks, pageTokens }: Seen): void {
  JSON.stringify(value, (key, member) => {
    if (typeof member?.id === 'string' && typeof member.contextId === 'string' && !tasks.some(({ id }) => id === member.id))
      tasks.push({ id: member.id, contextId: member.contextId })
    if (key === 'nextPageToken' && member !== '') pageTokens.push(member)
    return member
  })
}

function fill(value: any, seen: Seen): unknown {
  if (Array.isArray(value)) return value.map((one) => fill(one, seen))
  if (typeof value !== 'object' || value === null) return value
  const { tasks, pageTokens } = seen
  if ('$task' in value) return tasks.length > 0 ? tasks[value.$task % tasks.length]?.id : 'no-task-yet'
  if ('$contextOf' in value) return tasks.length > 0 ? tasks[value.$contextOf % tasks.length]?.contextId : 'no-context-yet'
  if ('$pageToken' in value) return pageTokens.at(-1) ?? 'no-token-yet'
  return Object.fromEntries(Object.entries(value).flatMap(([name, member]) => (member === undefined ? [] : [[name, fill(member, seen)]])))
}

const made = /ctx-[0-9a-f-]{36}-[A-Za-z0-9_-]{22}|[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g

/** Replaces each id and page token by its number of appearance, so that what names the same thing still does. */
function createMask(): (value: unknown) => string {
  const numbers = new Map<string, string>()
  const mask = (text: string) => {
    const known = numbers.get(text) ?? `<${numbers.size + 1}>`
    numbers.set(text, known)
    return known
  }
  return (value) =>
    JSON.stringify(value, (key, member) => {
      if (typeof member !== 'string') return member
      return key === 'nextPageToken' && member !== '' ? mask(member) : member.replace(made, mask)
    })
}
