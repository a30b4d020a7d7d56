/** Requests that are nearly right: valid ones of every operation, with one to four things changed. Equal seeds give equal requests. */

import { type OperationName, operationNames, operationTable } from '../../src/protocol/operations.js'
import type { BindingName } from '../harness/server.js'
import { type Chance, chance } from './chance.js'

export interface Fuzzed {
  readonly method: string
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** What the requests are made from. */
export interface Material {
  readonly as: string
  /** Ids of tasks that the caller has, and of some that it has not. */
  readonly taskIds: readonly string[]
  readonly contextIds: readonly string[]
}

let count = 0

export function fuzzed(binding: BindingName, seed: number, material: Material): Fuzzed {
  const dice = chance(seed)
  const operation = dice.pick(operationNames)
  let params: any = validParams(operation, dice, material)
  const headers: Record<string, string> = {
    'a2a-version': '1.0',
    authorization: `Bearer ${material.as}`,
    'content-type': 'application/json',
  }
  // One kind of change a time: several at once would all end at the first check.
  const kind = dice.pick(['params', 'params', 'params', 'params', 'bytes', 'envelope', 'headers', 'nothing'] as const)
  if (kind === 'params') for (let i = 1 + dice.below(3); i > 0; i--) params = mutated(params, dice, material)
  if (kind === 'headers') mutateHeaders(headers, dice)
  const request =
    binding === 'JSONRPC'
      ? jsonRpc(operation, params, kind === 'envelope' ? dice : undefined)
      : httpJson(operation, params, { dice, wild: kind === 'envelope' })
  const body = kind === 'bytes' ? mutatedBytes(request.body, dice) : request.body
  return { ...request, headers, body }
}

function validParams(operation: OperationName, dice: Chance, { taskIds, contextIds }: Material): any {
  const id = dice.pick(taskIds)
  switch (operation) {
    case 'SendMessage':
    case 'SendStreamingMessage':
      return {
        message: {
          messageId: `f-${++count}`,
          role: 'ROLE_USER',
          parts: [
            dice.pick<object>([
              { text: 'echo' },
              { text: 'ask' },
              { text: 'chunks 3' },
              { text: 'hello' },
              { text: 'reject' },
              { data: { a: [1, null] } },
              { raw: 'AAAA' },
              { url: 'https://a.example' },
            ]),
          ],
          ...(dice.below(3) === 0 && { taskId: id }),
          ...(dice.below(4) === 0 && { contextId: dice.pick(contextIds) }),
          ...(dice.below(4) === 0 && { metadata: { k: { l: 'm' } }, referenceTaskIds: [id] }),
        },
        ...(dice.below(2) === 0 && {
          configuration: { historyLength: dice.below(3), acceptedOutputModes: ['text/plain'], returnImmediately: dice.below(2) === 0 },
        }),
      }
    case 'GetTask':
      return { id, historyLength: dice.below(5) }
    case 'ListTasks':
      return {
        pageSize: 1 + dice.below(5),
        includeArtifacts: true,
        status: 'TASK_STATE_COMPLETED',
        statusTimestampAfter: '2020-01-01T00:00:00Z',
      }
    case 'CreateTaskPushNotificationConfig':
      return {
        taskId: id,
        id: `c-${dice.below(5)}`,
        url: 'https://a.example/hook',
        token: 't',
        authentication: { scheme: 'Bearer', credentials: 'c' },
      }
    case 'GetTaskPushNotificationConfig':
    case 'DeleteTaskPushNotificationConfig':
      return { taskId: id, id: `c-${dice.below(5)}` }
    case 'ListTaskPushNotificationConfigs':
      return { taskId: id, pageSize: 2 }
    case 'GetExtendedAgentCard':
      return {}
    default:
      return { id }
  }
}

const nested = (depth: number) => JSON.parse('['.repeat(depth) + ']'.repeat(depth))
const oddValues: readonly unknown[] = [
  ...[null, true, false, 0, -1, 1, 1.5, 2 ** 31, -(2 ** 53), 1e308, '', ' ', '0', '\0', '\ud800', '\u202e', '🦆', '\r\nX-Injected: 1', '"'],
  ...[
    '__proto__',
    'constructor',
    'TASK_STATE_UNSPECIFIED',
    'TASK_STATE_CANCELED',
    'ROLE_AGENT',
    '../..',
    '%00',
    "' or 1=1 --",
    'x'.repeat(3000),
    '9'.repeat(400),
  ],
  ...['1970-01-01T00:00:00Z', '99999-01-01T00:00:00Z', 'javascript:alert(1)', 'http://user:pw@a.example', '*/*', 'text/html', 'data:,'],
  ...[[], {}, [[]], [{}], { a: 1 }, [1, '2', null], { text: 'a', raw: 'b' }, { text: null }, nested(63), nested(70), nested(3000)],
  JSON.parse('{"__proto__":{"x":1}}'),
]
const oddNames = [
  '__proto__',
  'constructor',
  'toString',
  '',
  'x'.repeat(500),
  'messageId',
  'message_id',
  'taskId',
  'task_id',
  'tenant',
  'id',
  'parts',
  'text',
  'raw',
  'data',
  'url',
  'metadata',
  '\ud800',
  'contextId',
]

/** `value` with one thing changed somewhere inside. */
function mutated(value: unknown, dice: Chance, material: Material): unknown {
  if (typeof value === 'object' && value !== null && dice.below(5) > 0) {
    if (Array.isArray(value)) return mutatedList(value, dice, material)
    return mutatedObject(Object.entries(value), dice, material)
  }
  const known = [...material.taskIds, ...material.contextIds]
  if (typeof value === 'string' && dice.below(3) === 0)
    return dice.pick([...known, `${value}x`, value.slice(1), value.toUpperCase(), value + dice.pick(known)])
  if (dice.below(8) === 0) return [value]
  return dice.pick(oddValues)
}

function mutatedList(list: readonly unknown[], dice: Chance, material: Material): unknown {
  if (list.length === 0) return [dice.pick(oddValues)]
  const at = dice.below(list.length)
  switch (dice.below(4)) {
    case 0:
      return list.filter((_, index) => index !== at)
    case 1:
      return [...list, ...Array.from({ length: 1 + dice.below(50) }, () => list[at])]
    default:
      return list.map((item, index) => (index === at ? mutated(item, dice, material) : item))
  }
}

// From entries, so that a member called __proto__ is a member.
function mutatedObject(entries: readonly [string, unknown][], dice: Chance, material: Material): unknown {
  const at = entries.length > 0 ? dice.below(entries.length) : -1
  switch (dice.below(6)) {
    case 0:
      return Object.fromEntries(entries.filter((_, index) => index !== at))
    case 1:
      return Object.fromEntries(entries.map(([name, item], index) => [index === at ? dice.pick([...oddNames, snake(name)]) : name, item]))
    case 2:
      return Object.fromEntries([...entries, [dice.pick(oddNames), dice.pick(oddValues)]])
    default:
      return Object.fromEntries(entries.map(([name, item], index) => [name, index === at ? mutated(item, dice, material) : item]))
  }
}

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

function mutateHeaders(headers: Record<string, string>, dice: Chance): void {
  const name = dice.pick([
    'content-type',
    'a2a-version',
    'authorization',
    'a2a-extensions',
    'last-event-id',
    'accept',
    'content-encoding',
    'x-forwarded-host',
    'origin',
  ])
  const odd = [
    '',
    'application/json; charset=utf-16',
    'application/a2a+json',
    'text/plain',
    '1.0.7',
    '0.3',
    '2',
    'Bearer',
    'Bearer mallory',
    'bearer  bob',
    '1',
    '2',
    '0',
    '-1',
    '99',
    '1e3',
    'urn:a,,urn:b',
    'gzip',
    'a'.repeat(3000),
    'é',
    'null',
    '\t',
    '"',
  ]
  if (dice.below(6) === 0) delete headers[name]
  else headers[name] = dice.pick(odd)
}

function jsonRpc(operation: OperationName, params: unknown, dice: Chance | undefined) {
  const envelope: [string, unknown][] = [
    ['jsonrpc', '2.0'],
    ['id', ++count],
    ['method', operation],
    ['params', params],
  ]
  const body = dice
    ? mutatedObject(envelope, dice, { as: '', taskIds: ['ListTasks'], contextIds: ['GetTask'] })
    : Object.fromEntries(envelope)
  return { method: 'POST', target: '/a2a/v1', body: encode(JSON.stringify(body)) }
}

const oddSegments = [
  '',
  '.',
  '..',
  '%',
  '%2f',
  '%00',
  '%ff',
  '%0d%0aX-Injected:1',
  'tasks',
  'message:send',
  ':cancel',
  'x:subscribe',
  '__proto__',
  'red',
  'pushNotificationConfigs',
  'extendedAgentCard',
  'x'.repeat(500),
  '%F0%9F%A6%86',
  ';a=b',
  '*',
  "'",
]

interface PathChance {
  readonly dice: Chance
  /** Change the path or the verb. */
  readonly wild: boolean
}

function httpJson(operation: OperationName, params: any, { dice, wild }: PathChance) {
  const { verbs, path } = operationTable[operation]
  const rest: Record<string, unknown> = { ...(typeof params === 'object' && !Array.isArray(params) ? params : { params }) }
  let target = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest[name]
    delete rest[name]
    return encodeURIComponent(wellFormed(typeof value === 'string' ? value : JSON.stringify(value ?? null))).slice(0, 3000)
  })
  let method: string = dice.pick(verbs)
  if (wild) {
    const segments = target.split('/')
    if (dice.below(2) === 0) segments[1 + dice.below(segments.length - 1)] = dice.pick(oddSegments)
    else segments.splice(1 + dice.below(segments.length), 0, dice.pick(oddSegments))
    target = segments.join('/')
    if (dice.below(4) === 0) method = dice.pick(['GET', 'POST', 'DELETE', 'PUT', 'PATCH', 'HEAD', 'OPTIONS'])
  }
  if (method !== 'GET' && method !== 'HEAD' && method !== 'DELETE')
    return { method, target: `/rest${target}`, body: encode(JSON.stringify(rest)) }
  const query = Object.entries(rest).map(
    ([name, value]) =>
      `${encodeURIComponent(wellFormed(name))}=${encodeURIComponent(wellFormed(typeof value === 'string' ? value : JSON.stringify(value ?? null)))}`,
  )
  return { method, target: `/rest${target}${query.length > 0 ? `?${query.join('&').slice(0, 4000)}` : ''}`, body: new Uint8Array() }
}

// A lone surrogate has no percent-encoding.
const wellFormed = (text: string) => text.replace(/[\ud800-\udfff]/g, '?')

const encode = (text: string) => new TextEncoder().encode(text)

/** `body` with bytes changed, put in, cut out or repeated. */
export function mutatedBytes(body: Uint8Array, dice: Chance): Uint8Array {
  let bytes = [...body]
  for (let i = 1 + dice.below(4); i > 0; i--) {
    const at = dice.below(bytes.length + 1)
    const length = dice.below(20)
    switch (dice.below(6)) {
      case 0:
        bytes[at] = dice.below(256)
        break
      case 1:
        bytes.splice(at, 0, dice.pick([0xff, 0x80, 0xc0, 0xed, 0x00, 0x22, 0x5c, 0x7b, 0x5b, 0x2c, 0x0a]))
        break
      case 2:
        bytes.splice(at, length)
        break
      case 3:
        bytes = bytes.slice(0, at)
        break
      case 4:
        bytes.splice(at, 0, ...bytes.slice(at, at + length))
        break
      default:
        bytes.splice(at, 0, ...encode('['.repeat(500)))
    }
  }
  return Uint8Array.from(bytes)
}
