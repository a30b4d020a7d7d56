/**
 * Reads what an agent answers. The codec of the protocol reads requests to the letter and knows the whole model; a client
 * needs few messages of it, is lenient where nothing depends on it, and is small.
 */

import { InvalidAgentResponseError } from '../protocol/errors.js'
import { taskStates } from '../protocol/states.js'
import type { AgentCard, Json, ListTasksResponse, SendMessageResponse, StreamResponse, Task } from '../protocol/wire.js'
import { isBoolean, isPlainObject, isString } from '../support/options.js'

/** What is read, by its name. */
export interface Shapes {
  readonly Task: Task
  readonly StreamResponse: StreamResponse
  readonly SendMessageResponse: SendMessageResponse
  readonly ListTasksResponse: ListTasksResponse
  readonly AgentCard: Pick<AgentCard, 'name' | 'supportedInterfaces' | 'capabilities'>
}

/**
 * Members as `name:kind`, a kind that is left out being text. What follows says how often: `!` once, `*` as a list, `+` as a
 * list that is there even where an agent left it out, `?` as a choice of which exactly one is there.
 */
const shapes = {
  Task: 'id! contextId status:TaskStatus! artifacts:Artifact* history:Message* metadata:object',
  TaskStatus: 'state:state! message:Message timestamp',
  Message: 'messageId! contextId taskId role parts:Part+ metadata:object extensions* referenceTaskIds*',
  Part: 'text:string? raw:string? url:string? data:any? metadata:object filename mediaType',
  Artifact: 'artifactId! name description parts:Part+ metadata:object extensions*',
  StatusUpdate: 'taskId! contextId status:TaskStatus! metadata:object',
  ArtifactUpdate: 'taskId! contextId artifact:Artifact! append:flag lastChunk:flag metadata:object',
  StreamResponse: 'task:Task? message:Message? statusUpdate:StatusUpdate? artifactUpdate:ArtifactUpdate?',
  SendMessageResponse: 'task:Task? message:Message?',
  ListTasksResponse: 'tasks:Task+ nextPageToken',
  AgentCard: 'name supportedInterfaces:Interface+ capabilities:Capabilities',
  Interface: 'url! protocolBinding! tenant protocolVersion',
  Capabilities: 'streaming:flag',
}

interface Member {
  readonly name: string
  readonly kind: string
  readonly times: string
}

const membersOf: Readonly<Record<string, readonly Member[]>> = Object.fromEntries(
  Object.entries(shapes).map(([shape, members]) => [
    shape,
    members.split(' ').map((member) => {
      const [name = '', kind] = member.split(/\W/)
      return { name, kind: kind || 'text', times: member.replace(/[\w:]/g, '') }
    }),
  ]),
)

const states: readonly unknown[] = taskStates

const plain: Readonly<Record<string, (value: unknown) => boolean>> = {
  // An empty one counts as absent, as the protocol's own JSON has it.
  text: isString,
  string: isString,
  flag: isBoolean,
  object: isPlainObject,
  any: () => true,
  state: (value) => states.includes(value),
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

function readShape(shape: string, input: unknown, path: string, said: string): Readonly<Record<string, unknown>> {
  const fail = (at: string, what: string): never => {
    throw new InvalidAgentResponseError(`${said}, in which ${at || `the ${shape}`} ${what}.`)
  }
  if (!isPlainObject(input)) return fail(path, 'is no object')
  const output: Record<string, unknown> = {}
  const choices: string[] = []
  let chosen = 0
  for (const { name, kind, times } of membersOf[shape] ?? []) {
    const at = (path && `${path}.`) + name
    const value = input[name]
    if (times === '?') choices.push(name)
    // ProtoJSON: null is absent, but for a content that may be null.
    if (value === undefined || (value === null && kind !== 'any')) {
      if (times === '!') fail(at, 'is missing')
      if (times === '+') output[name] = []
      continue
    }
    if (times === '?') {
      // A null content beside another one is none (D2).
      if (value === null && chosen > 0) continue
      chosen++
    }
    const one = (item: unknown, where: string): unknown => {
      const isPlain = plain[kind]
      if (isPlain === undefined) return readShape(kind, item, where, said)
      return isPlain(item) ? item : fail(where, `is no ${kind}`)
    }
    if (times === '*' || times === '+')
      output[name] = Array.isArray(value) ? value.map((item, i) => one(item, `${at}[${i}]`)) : fail(at, 'is no list')
    else if (value === '' && kind === 'text') {
      if (times === '!') fail(at, 'is empty')
    } else output[name] = one(value, at)
  }
  if (choices.length > 0 && chosen !== 1) fail(path, `has not exactly one of ${choices.join(', ')}`)
  return output
}

export function isObject(value: unknown): value is Readonly<Record<string, Json>> {
  return isPlainObject(value)
}
