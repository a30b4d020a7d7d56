import { execFileSync } from 'node:child_process'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { enums, type MessageName, messages, protoName } from '../../src/protocol/model.js'
import type { ListTasksRequest, Part, SecurityScheme, StreamResponse, Task, TaskState, Wire } from '../../src/protocol/wire.js'

describe('the model', () => {
  test('has 44 messages, 2 enums and 61 required members', () => {
    const fields = Object.values(messages).flatMap((members) => Object.values(members))
    expect(Object.keys(messages)).toHaveLength(44)
    expect(Object.keys(enums)).toEqual(['TaskState', 'Role'])
    expect(fields.filter((field) => 'required' in field)).toHaveLength(61)
  })

  test('names no type that it does not have', () => {
    const known = new Set([
      'string',
      'bytes',
      'bool',
      'int32',
      'Timestamp',
      'Struct',
      'Value',
      ...Object.keys(enums),
      ...Object.keys(messages),
    ])
    const used = Object.values(messages).flatMap((members) => Object.values(members).map(({ type }) => type))
    expect(used.filter((type) => !known.has(type))).toEqual([])
  })

  test.each(Object.keys(messages) as MessageName[])('%s uses each number and each spelling once', (name) => {
    const members = Object.entries(messages[name])
    expect(new Set(members.map(([, { no }]) => no)).size).toBe(members.length)
    expect(new Set(members.flatMap(([json]) => protoName(json))).size).toBe(members.length)
  })

  test('gives the .proto spelling of a name with digits', () => {
    expect(protoName('oauth2SecurityScheme')).toBe('oauth2_security_scheme')
  })
})

describe('the wire types', () => {
  test('are what the generator makes of the model', () => {
    execFileSync(process.execPath, ['scripts/generate-wire-types.mjs', '--check'], {
      cwd: new URL('../..', import.meta.url),
      stdio: 'pipe',
    })
  })

  test('a part has exactly one content', () => {
    expectTypeOf({ text: 'a', filename: 'b' }).toExtend<Part>()
    expectTypeOf({ data: null }).toExtend<Part>()
    expectTypeOf({ filename: 'b' }).not.toExtend<Part>()
    expectTypeOf({ text: 'a', url: 'b' }).not.toExtend<Part>()
  })

  test('a test for one content tells the others apart', () => {
    const read = (part: Part): string => (part.text !== undefined ? part.text : part.raw !== undefined ? part.raw : 'other')
    expect(read({ url: 'https://a' })).toBe('other')
  })

  test('a stream response and a security scheme have exactly one member', () => {
    expectTypeOf<{ task: Task }>().toExtend<StreamResponse>()
    expectTypeOf<{ task: Task; message: Wire['Message'] }>().not.toExtend<StreamResponse>()
    expectTypeOf<Record<never, never>>().not.toExtend<SecurityScheme>()
  })

  test('states are the eight real ones, required members are required', () => {
    expectTypeOf<'TASK_STATE_UNSPECIFIED'>().not.toExtend<TaskState>()
    expectTypeOf<Wire['ListTasksRequest']>().toEqualTypeOf<ListTasksRequest>()
    expectTypeOf<{ id: string }>().not.toExtend<Task>()
    expectTypeOf<keyof Wire>().toEqualTypeOf<MessageName>()
  })
})
