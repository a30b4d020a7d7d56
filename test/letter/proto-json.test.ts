/** ProtoJSON as it comes over the wire: every spelling is read as the one canonical form, under the same limits on both bindings. Spec §5.5 to §5.7. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Server } from '../../src/index.js'
import { maxDepth } from '../../src/protocol/scalars.js'
import { type Raw, raw, rpcPath } from '../bindings/raw.js'
import { scriptAgent } from '../harness/script-agent.js'
import { type BindingName, bindingNames, openServer, result, userMessage } from '../harness/server.js'

const bodyBytes = 64 << 10
let server: Server
let done: string

beforeAll(async () => {
  server = await openServer(scriptAgent, { limits: { bodyBytes } })
  done = (await result(server.fetch, 'JSONRPC', 'SendMessage', { message: userMessage('ask') })).task.id
  await result(server.fetch, 'JSONRPC', 'SendMessage', { message: userMessage('42', { taskId: done }) })
})
afterAll(() => server.close())

/** Sends the text of SendMessage's parameters as it is. */
function sendText(binding: BindingName, params: string): Promise<Raw> {
  const body = binding === 'JSONRPC' ? `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":${params}}` : params
  return raw(server, binding === 'JSONRPC' ? rpcPath : '/rest/message:send', { body })
}

const resultOf = (binding: BindingName, { body }: Raw) => (binding === 'JSONRPC' ? body.result : body)
const fieldsOf = ({ body }: Raw) =>
  (body.error?.data ?? body.error?.details)?.flatMap(({ fieldViolations = [] }: any) => fieldViolations.map(({ field }: any) => field))

/** The user's message as the task's history holds it. */
async function kept(binding: BindingName, message: string, more = ''): Promise<any> {
  const { task } = resultOf(binding, await sendText(binding, `{"message":${message}${more}}`))
  const { taskId: _, contextId: __, ...sent } = task.history[0]
  return sent
}

let count = 0
const freshId = () => `pj-${++count}`
const brackets = [
  ['[', ']'],
  ['{"a":', '}'],
] as const
const nested = (levels: number, [open, close]: readonly [string, string] = ['[', ']']) => `${open.repeat(levels)}1${close.repeat(levels)}`

describe.each(bindingNames)('over %s', (binding) => {
  test.each<[string, string, object]>([
    [
      'snake_case',
      '"message_id":"ID","role":"ROLE_USER","parts":[{"text":"x","media_type":"text/plain"}]',
      { parts: [{ text: 'x', mediaType: 'text/plain' }] },
    ],
    ['an enum by number', '"messageId":"ID","role":1,"parts":[{"text":"x"}]', {}],
    ['an enum by a number with an exponent', '"messageId":"ID","role":10e-1,"parts":[{"text":"x"}]', {}],
    [
      'null for what is absent',
      '"messageId":"ID","role":"ROLE_USER","parts":[{"text":"x","raw":null,"data":null,"filename":null}],"extensions":null',
      {},
    ],
    [
      'empty texts and lists for what is absent',
      '"messageId":"ID","taskId":"","contextId":"","role":"ROLE_USER","parts":[{"text":"x","mediaType":""}],"extensions":[]',
      {},
    ],
    [
      'members that nobody knows',
      '"messageId":"ID","kind":"message","role":"ROLE_USER","parts":[{"kind":"text","text":"x","$x":[[]]}],"__proto__":{"role":2}',
      {},
    ],
    ['names and texts in escapes', '"mess\\u0061geId":"ID","\\u0072ole":"ROLE_\\u0055SER","parts":[{"te\\u0078t":"\\u0078"}]', {}],
    [
      'a surrogate pair in escapes',
      '"messageId":"ID","role":"ROLE_USER","parts":[{"text":"\\ud83e\\udd86 \\/ \\u0000"}]',
      { parts: [{ text: '🦆 / \0' }] },
    ],
    ['the last of members of one name', '"messageId":"other","role":2,"messageId":"ID","role":1,"parts":[],"parts":[{"text":"x"}]', {}],
    ['base64url without padding', '"messageId":"ID","role":"ROLE_USER","parts":[{"raw":"-_8"}]', { parts: [{ raw: '+/8=' }] }],
    ['white space wherever JSON has it', '\n\t"messageId" :\r\n"ID" , "role":"ROLE_USER","parts":[ { "text" : "x" } ] ', {}],
    [
      'numbers inside data',
      '"messageId":"ID","role":"ROLE_USER","parts":[{"data":[1e2,1.0,-0,0.1e1,9007199254740991,1E-7]}]',
      { parts: [{ data: [100, 1, 0, 1, 9007199254740991, 1e-7] }] },
    ],
  ])('%s is read', async (_, members, expected) => {
    const messageId = freshId()
    const usual = { messageId, role: 'ROLE_USER', parts: [{ text: 'x' }] }
    expect(await kept(binding, `{${members.replace('ID', messageId)}}`)).toEqual({ ...usual, ...expected })
  })

  test.each<[string, string, readonly string[]]>([
    ['a member under both names', '"messageId":"a","message_id":"a","role":1,"parts":[{"text":"x"}]', ['message.messageId']],
    ['an enum by text of its number', '"messageId":"a","role":"1","parts":[{"text":"x"}]', ['message.role']],
    ['an enum that is a fraction', '"messageId":"a","role":1.5,"parts":[{"text":"x"}]', ['message.role']],
    [
      'half a surrogate pair in escapes',
      '"messageId":"a\\ud83e","role":1,"parts":[{"text":"\\udd86"}]',
      ['message.messageId', 'message.parts[0].text'],
    ],
    [
      'half a surrogate pair as a name in metadata',
      '"messageId":"a","role":1,"parts":[{"text":"x"}],"metadata":{"\\ud800":1}',
      ['message.metadata'],
    ],
    [
      'a number beyond doubles in metadata',
      '"messageId":"a","role":1,"parts":[{"text":"x"}],"metadata":{"n":-1e400}',
      ['message.metadata'],
    ],
  ])('%s is refused by field', async (_, members, fields) => {
    const answer = await sendText(binding, `{"message":{${members}}}`)
    expect([answer.reason, fieldsOf(answer)]).toEqual(['INVALID_PARAMS', fields])
  })

  test('all spellings of a message are the same message (D7)', async () => {
    const id = freshId()
    const spellings = [
      `{"messageId":"${id}","role":"ROLE_USER","parts":[{"raw":"+/8="},{"data":{"a":1,"b":[100]}}]}`,
      `{"parts":[{"raw":"-_8"},{"data":{"b":[1e2],"a":1.0}}],"role":1,"message_id":"${id}"}`,
      `{"messageId":"${id}","kind":"message","role":"ROLE_USER","taskId":null,"parts":[{"raw":"+/9","text":null},{"data":{"\\u0061":1,"b":[100]}}]}`,
    ]
    const tasks = await Promise.all(spellings.map(async (one) => resultOf(binding, await sendText(binding, `{"message":${one}}`)).task.id))
    expect(new Set(tasks).size).toBe(1)
  })

  test('__proto__ is a name like any other in metadata and data, and pollutes nothing', async () => {
    const message = (value: number) =>
      `{"messageId":"proto-${binding}","role":1,"parts":[{"data":{"__proto__":{"a":${value}},"constructor":{"prototype":null}}}],"metadata":{"\\u005f_proto__":{"polluted":${value}}}}`
    const one = await kept(binding, message(1))
    expect(JSON.stringify(one)).toBe(message(1).replace('\\u005f', '_').replace('"role":1', '"role":"ROLE_USER"'))
    // Another content, though an object literal would show none of it.
    expect(JSON.stringify(await kept(binding, message(2)))).toContain('{"__proto__":{"polluted":2}}')
    expect(({} as any).polluted).toBeUndefined()
    expect(({} as any).a).toBeUndefined()
  })

  // The request, its message, the list of parts and the part stand around the data.
  test.each([
    ['data', '"parts":[{"data":VALUE}]', maxDepth - 4],
    ['metadata of the message', '"parts":[{"text":"x"}],"metadata":{"m":VALUE}', maxDepth - 3],
    ['metadata of a part', '"parts":[{"text":"x","metadata":{"m":VALUE}}]', maxDepth - 5],
  ])('%s may be as deep as the limit, and no deeper', async (_, members, levels) => {
    const send = async (text: string) =>
      (await sendText(binding, `{"message":{"messageId":"${freshId()}","role":1,${members.replace('VALUE', text)}}}`)).reason
    for (const pair of brackets) {
      expect(await send(nested(levels, pair))).toBeUndefined()
      expect(await send(nested(levels + 1, pair))).toBe('INVALID_PARAMS')
    }
  })

  test('what nobody knows may be as deep as it likes', async () => {
    const members = `"role":1,"parts":[{"text":"x"}],"unknown":${nested(10_000)}`
    expect((await sendText(binding, `{"message":{"messageId":"${freshId()}",${members}}}`)).reason).toBeUndefined()
  })

  test('a body of just the limit is read, one byte more is not, whatever it says', async () => {
    const padded = (bytes: number) => {
      const text = binding === 'JSONRPC' ? '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{}}' : '{}'
      return raw(server, binding === 'JSONRPC' ? rpcPath : '/rest/message:send', { body: text.padEnd(bytes) })
    }
    expect((await padded(bodyBytes)).reason).toBe('INVALID_PARAMS')
    const over = await padded(bodyBytes + 1)
    expect([over.status, over.reason]).toEqual([413, 'RESOURCE_EXHAUSTED'])
  })

  /** GetTask with a historyLength as it is written: in the body's JSON, or in the query. */
  const read = (text: string) =>
    binding === 'JSONRPC'
      ? raw(server, rpcPath, { body: `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"${done}","historyLength":${text}}}` })
      : raw(server, `/rest/tasks/${done}?historyLength=${encodeURIComponent(text.replaceAll('"', ''))}`)

  test.each<[string, number]>([
    ['1', 1],
    ['"1"', 1],
    ['1.0', 1],
    ['"1.000"', 1],
    ['1e0', 1],
    ['"10e-1"', 1],
    ['0', 0],
    ['-0', 0],
    ['"-0"', 0],
    ['0.0', 0],
    ['2E0', 2],
    ['2147483647', 4],
    ['"2147483647"', 4],
    ['2.147483647e9', 4],
  ])('the integer %s is read as such', async (text, length) => {
    const { history = [] } = resultOf(binding, await read(text))
    expect(history).toHaveLength(length)
  })

  test.each([
    '1.5',
    '"1.5"',
    '2147483648',
    '"2147483648"',
    '-2147483649',
    '1e10',
    '1e400',
    '"1e400"',
    '"0x1"',
    '"01"',
    '"+1"',
    '" 1"',
    '"1_0"',
    '"１"',
    '"NaN"',
    '"Infinity"',
    '"1n"',
    '"true"',
  ])('%s is no int32', async (text) => {
    const answer = await read(text)
    expect([answer.reason, fieldsOf(answer)]).toEqual(['INVALID_PARAMS', ['historyLength']])
  })

  test.each(['-1', '"-1"', '-2147483648'])('%s is an int32, but no length', async (text) => {
    const answer = await read(text)
    expect([answer.reason, fieldsOf(answer)]).toEqual(['INVALID_PARAMS', ['historyLength']])
    expect(answer.text).toContain('must be 0 or more')
  })
})

describe('a query', () => {
  const list = (query: string) => raw(server, `/rest/tasks?${query}`)

  test.each([
    'page_size=1&include_artifacts=true',
    'pageSize=1e0&includeArtifacts=true',
    '%70ageSize=%31&includeArtifacts=tru%65',
    'pageSize=1&includeArtifacts=true&__proto__=x&constructor=y&pageSize[a][b]=3&tasks[0]=1',
    'pageSize=1&includeArtifacts=true&status=&pageToken=&contextId=',
    'pageSize=1&includeArtifacts=true&status=3',
    'pageSize=1&includeArtifacts=true&status=TASK_STATE_COMPLETED',
  ])('%s is read', async (query) => {
    const { body } = await list(query)
    expect([body.pageSize, body.tasks.length, Array.isArray(body.tasks[0].artifacts)]).toEqual([1, 1, true])
  })

  test.each([
    ['pageSize=1&page_size=1', 'pageSize'],
    ['pageSize=%F0', 'pageSize'],
    ['status=03.0', 'status'],
    ['status=-1', 'status'],
    ['includeArtifacts=True', 'includeArtifacts'],
    ['includeArtifacts=1', 'includeArtifacts'],
    [`pageToken=${'x'.repeat(4000)}`, 'pageToken'],
  ])('%s is refused by field', async (query, field) => {
    const answer = await list(query)
    expect([answer.status, answer.reason, fieldsOf(answer)]).toEqual([400, 'INVALID_PARAMS', [field]])
  })

  test.each(['metadata', 'message', 'configuration'])('%s is an object and cannot come this way, however deep', async (name) => {
    const answer = await raw(server, `/rest/tasks/${done}?${name}=${encodeURIComponent(nested(1_000))}&${name}[a][b]=1`)
    expect(answer.body.id).toBe(done)
  })
})
