/**
 * Reads what an agent answers. The codec of the protocol reads requests to the letter and knows the whole model; a client
 * needs few messages of it, is lenient where nothing depends on it, and is small.
 */

import { InvalidAgentResponseError } from '../protocol/errors.js'
import { taskStates } from '../protocol/states.js'
import type { AgentCard, Json, ListTasksResponse, SendMessageResponse, StreamResponse, Task, TaskState } from '../protocol/wire.js'

interface Shapes {
  readonly Task: Task
  readonly StreamResponse: StreamResponse
  readonly SendMessageResponse: SendMessageResponse
  readonly ListTasksResponse: ListTasksResponse
  readonly AgentCard: Pick<AgentCard, 'name' | 'supportedInterfaces' | 'capabilities'>
}

/** Kinds of members: `!` must be there, `*` is a list, `?` begins a choice of which exactly one is there. */
const shapes: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Task: { id: 'text!', contextId: 'text', status: 'TaskStatus!', artifacts: 'Artifact*', history: 'Message*', metadata: 'object' },
  TaskStatus: { state: 'state!', message: 'Message', timestamp: 'text' },
  Message: {
    messageId: 'text!',
    contextId: 'text',
    taskId: 'text',
    role: 'text',
    parts: 'Part*',
    metadata: 'object',
    extensions: 'text*',
    referenceTaskIds: 'text*',
  },
  Part: { text: '?string', raw: '?string', url: '?string', data: '?any', metadata: 'object', filename: 'text', mediaType: 'text' },
  Artifact: { artifactId: 'text!', name: 'text', description: 'text', parts: 'Part*', metadata: 'object', extensions: 'text*' },
  StatusUpdate: { taskId: 'text!', contextId: 'text', status: 'TaskStatus!', metadata: 'object' },
  ArtifactUpdate: { taskId: 'text!', contextId: 'text', artifact: 'Artifact!', append: 'flag', lastChunk: 'flag', metadata: 'object' },
  StreamResponse: { task: '?Task', message: '?Message', statusUpdate: '?StatusUpdate', artifactUpdate: '?ArtifactUpdate' },
  SendMessageResponse: { task: '?Task', message: '?Message' },
  ListTasksResponse: { tasks: 'Task*', nextPageToken: 'text' },
  AgentCard: { name: 'text', supportedInterfaces: 'Interface*', capabilities: 'Capabilities' },
  Interface: { url: 'text!', protocolBinding: 'text!', tenant: 'text', protocolVersion: 'text' },
  Capabilities: { streaming: 'flag', pushNotifications: 'flag', extendedAgentCard: 'flag' },
}

/** Lists that the types promise even where an agent left them out. */
const always = new Set(['parts', 'tasks', 'supportedInterfaces'])

const states: readonly string[] = taskStates

const plain: Readonly<Record<string, (value: unknown) => boolean>> = {
  // As one that is absent: empty texts of optional members are dropped below.
  text: (value) => typeof value === 'string',
  string: (value) => typeof value === 'string',
  flag: (value) => typeof value === 'boolean',
  object: isObject,
  any: () => true,
  state: (value): value is TaskState => typeof value === 'string' && states.includes(value),
}

/**
 * `input` as the client needs it, without unknown members.
 *
 * @param said how the sentence about a wrong one begins
 * @throws {InvalidAgentResponseError} which names the member
 */
export function read<Name extends keyof Shapes>(name: Name, input: unknown, said: string): Shapes[Name] {
  // The table above says what the types say.
  return readShape(name, input, '', said) as unknown as Shapes[Name]
}

function readShape(name: string, input: unknown, path: string, said: string): Readonly<Record<string, unknown>> {
  const fail = (at: string, what: string): never => {
    throw new InvalidAgentResponseError(`${said}, in which ${at === '' ? `the ${name}` : at} ${what}.`)
  }
  if (!isObject(input)) return fail(path, 'is no object')
  const output: Record<string, unknown> = {}
  const choices: string[] = []
  let chosen = 0
  for (const [member, rule] of Object.entries(shapes[name] ?? {})) {
    const kind = rule.replace(/[!*?]/, '')
    const at = path === '' ? member : `${path}.${member}`
    const value = input[member]
    if (rule.startsWith('?')) choices.push(member)
    // ProtoJSON: null is absent, but for a content that may be null.
    if (value === undefined || (value === null && kind !== 'any')) {
      if (rule.endsWith('!')) fail(at, 'is missing')
      if (always.has(member)) output[member] = []
      continue
    }
    if (rule.startsWith('?')) {
      // A null content beside another one is none (D2).
      if (value === null && choices.some((one) => one in output)) continue
      chosen++
    }
    const one = (item: unknown, where: string): unknown => {
      const isPlain = plain[kind]
      if (isPlain === undefined) return readShape(kind, item, where, said)
      return isPlain(item) ? item : fail(where, `is no ${kind}`)
    }
    if (rule.endsWith('*'))
      output[member] = Array.isArray(value) ? value.map((item, i) => one(item, `${at}[${i}]`)) : fail(at, 'is no list')
    else if (value === '' && kind === 'text') {
      if (rule.endsWith('!')) fail(at, 'is empty')
    } else output[member] = one(value, at)
  }
  if (choices.length > 0 && chosen !== 1) fail(path, `has not exactly one of ${choices.join(', ')}`)
  return output
}

export function isObject(value: unknown): value is Readonly<Record<string, Json>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
