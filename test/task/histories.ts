/** Random logs of a task, for properties. */

import fc from 'fast-check'
import { taskStates } from '../../src/protocol/states.js'
import type { Json, Message, StreamResponse, TaskState } from '../../src/protocol/wire.js'
import type { EventKind } from '../../src/task/event.js'

export interface LogLine {
  readonly kind: EventKind
  readonly body: string
}

const ids = { taskId: 't', contextId: 'c' }
const text = fc.string({ maxLength: 5, unit: 'grapheme' })
const metadata = fc.dictionary(fc.constantFrom('a', 'b', '__proto__'), fc.jsonValue({ maxDepth: 1 }) as fc.Arbitrary<Json>) // jsonValue makes JSON alone
const parts = fc.array(fc.oneof(fc.record({ text }), fc.record({ data: fc.integer() })), { minLength: 1, maxLength: 3 })

function message(role: Message['role']): fc.Arbitrary<Message> {
  return fc.record({ messageId: text, role: fc.constant(role), parts })
}

const status = (state: fc.Arbitrary<TaskState>) =>
  fc
    .record({ state, message: message('ROLE_AGENT') }, { requiredKeys: ['state'] })
    .map((status): LogLine => line('status', { statusUpdate: { ...ids, status } }))

const artifact = fc
  .record(
    {
      append: fc.boolean(),
      artifact: fc.record(
        { artifactId: fc.constantFrom('x', 'y', 'z'), parts, name: text, metadata },
        { requiredKeys: ['artifactId', 'parts'] },
      ),
    },
    { requiredKeys: ['artifact'] },
  )
  .map((update): LogLine => line('artifact', { artifactUpdate: { ...ids, ...update } }))

const userMessage = fc
  .tuple(fc.constantFrom('turn' as const, 'answer' as const, 'message' as const), message('ROLE_USER'))
  .map(([kind, message]): LogLine => line(kind, { message }))

const created = fc
  .record({ history: fc.array(message('ROLE_USER'), { maxLength: 1 }), metadata }, { requiredKeys: [] })
  .map((rest): LogLine => line('created', { task: { id: 't', contextId: 'c', status: { state: 'TASK_STATE_SUBMITTED' }, ...rest } }))

const going = fc.constantFrom<TaskState>('TASK_STATE_WORKING', 'TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED')

/** A creation and up to 30 events after it; some logs go on after their end. */
export const logs: fc.Arbitrary<readonly LogLine[]> = fc
  .tuple(
    created,
    fc.array(
      fc.oneof(
        { weight: 4, arbitrary: status(going) },
        { weight: 6, arbitrary: artifact },
        { weight: 3, arbitrary: userMessage },
        { weight: 1, arbitrary: status(fc.constantFrom(...taskStates)) },
      ),
      { maxLength: 30 },
    ),
  )
  .map(([first, rest]) => [first, ...rest])

function line(kind: EventKind, body: StreamResponse): LogLine {
  return { kind, body: JSON.stringify(body) }
}
