/** What the types of the wire promise: states, roles and contents are closed sets, and required members are required. */

import { describe, expect, expectTypeOf, test } from 'vitest'
import type { OperationName } from '../../src/protocol/operations.js'
import { canMove, isFinal } from '../../src/protocol/states.js'
import type { Message, Part, StreamResponse, Task, TaskState } from '../../src/protocol/wire.js'

describe('states', () => {
  test('only the eight names of the protocol are states', () => {
    expectTypeOf<'TASK_STATE_INPUT_REQUIRED'>().toExtend<TaskState>()
    expectTypeOf<'TASK_STATE_UNSPECIFIED'>().not.toExtend<TaskState>()
    expectTypeOf<'completed'>().not.toExtend<TaskState>()
    expectTypeOf<string>().not.toExtend<TaskState>()
  })

  test('a wrong name of a state does not compile', () => {
    const older = () => {
      // @ts-expect-error the name of the older version of the protocol
      isFinal('completed')
      // @ts-expect-error one letter more than the protocol has
      isFinal('TASK_STATE_CANCELLED')
      // @ts-expect-error a state has its prefix
      canMove('WORKING', 'TASK_STATE_COMPLETED')
    }
    // @ts-expect-error and stands in a status under its name
    const task: Task = { id: 'one', status: { state: 'WORKING' } }
    expect([older, task]).toHaveLength(2)
  })
})

describe('messages', () => {
  test('a message has an id, a role and parts', () => {
    // @ts-expect-error it has no id
    const nameless: Message = { role: 'ROLE_USER', parts: [{ text: 'hi' }] }
    // @ts-expect-error it is ROLE_USER
    const old: Message = { messageId: 'one', role: 'user', parts: [{ text: 'hi' }] }
    // @ts-expect-error it is contextId
    const session: Message = { messageId: 'one', role: 'ROLE_USER', parts: [], sessionId: 'two' }
    expect([nameless, old, session]).toHaveLength(3)
  })

  test('nothing of a message is changed in place', () => {
    expectTypeOf<Message['parts']>().toEqualTypeOf<readonly Part[]>()
    const change = (message: Message) => {
      // @ts-expect-error parts are read only
      message.parts.push({ text: 'more' })
      // @ts-expect-error and so are members
      message.messageId = 'other'
    }
    expect(change).toBeDefined()
  })

  test('the content that is there tells the others away', () => {
    const read = (part: Part) => {
      if (part.text !== undefined) expectTypeOf(part.url).toEqualTypeOf<undefined>()
      if (part.url !== undefined) expectTypeOf(part.url).toEqualTypeOf<string>()
    }
    expect(read).toBeDefined()
  })
})

describe('frames and operations', () => {
  test('a frame is one of four', () => {
    expectTypeOf<{ task: Task }>().toExtend<StreamResponse>()
    expectTypeOf<{ message: Message }>().toExtend<StreamResponse>()
    expectTypeOf<{ task: Task; message: Message }>().not.toExtend<StreamResponse>()
    expectTypeOf<Record<never, never>>().not.toExtend<StreamResponse>()
  })

  test('operations have the names of version 1.0', () => {
    expectTypeOf<'SendMessage'>().toExtend<OperationName>()
    expectTypeOf<'message/send'>().not.toExtend<OperationName>()
  })
})
