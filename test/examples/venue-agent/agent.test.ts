/** The venue agent behind a server, as a caller meets it. */

import { bearerTokens, createServer, sqlite } from 'errand'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { venueAgent } from '../../../examples/venue-agent/agent.js'
import { type VirtualWorld, virtualWorld } from '../../../src/testing/virtual-world.js'

interface Answer {
  readonly message?: { readonly parts: readonly { readonly text: string }[] }
  readonly task?: Task
}
interface Task {
  readonly id: string
  readonly contextId: string
  readonly status: { readonly state: string; readonly message?: { readonly parts: readonly { readonly text: string }[] } }
  readonly artifacts?: readonly { readonly name: string; readonly parts: readonly { readonly text?: string; readonly data?: unknown }[] }[]
}

let world: VirtualWorld
let server: Awaited<ReturnType<typeof createServer>>
let sent: number

beforeEach(async () => {
  world = virtualWorld()
  sent = 0
  const auth = bearerTokens({ alice: 'alice' })
  server = await createServer(venueAgent, { store: sqlite(':memory:'), url: 'http://localhost', auth, world })
})
afterEach(() => server.close())

async function call(path: string, body?: unknown): Promise<unknown> {
  const response = await server.fetch(
    new Request(`http://localhost/rest${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'A2A-Version': '1.0', 'Content-Type': 'application/json', Authorization: 'Bearer alice' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }),
  )
  return response.json()
}

function say(
  text: string,
  at: { readonly taskId?: string; readonly contextId?: string } = {},
  configuration: object = {},
): Promise<Answer> {
  const message = { messageId: `m${++sent}`, role: 'ROLE_USER', parts: [{ text }], ...at }
  // The server's answers have the shape of SendMessageResponse; the members used here are asserted on.
  return call('/message:send', { message, configuration }) as Promise<Answer>
}

const note = (task: Task | undefined) => task?.status.message?.parts[0]?.text

test('a greeting is answered with a message and no task', async () => {
  const { message, task } = await say('hello there!')
  expect(task).toBeUndefined()
  expect(message?.parts[0]?.text).toMatch(/^Hello! I find venues/)
})

test('something else than venues is rejected', async () => {
  const { task } = await say('write me a poem')
  expect(task?.status.state).toBe('TASK_STATE_REJECTED')
  expect(note(task)).toMatch(/not about venues/)
})

test('a complete request is answered with the shortlist, text first, then data', async () => {
  const { task } = await say('We need a place in Lisbon for about 120 people, two days, with catering and wifi')
  expect(task?.status.state).toBe('TASK_STATE_COMPLETED')
  expect(note(task)).toMatch(/120 people in Lisbon for 2 days with wifi and catering/)
  expect(task?.artifacts?.map(({ name, parts }) => [name, parts.map((part) => Object.keys(part)[0])])).toEqual([
    ['shortlist', ['text', 'data']],
  ])
})

test('what is missing is asked for, and the same task goes on', async () => {
  const { task: asked } = await say('somewhere in Oslo, 40 pax')
  expect(asked?.status.state).toBe('TASK_STATE_INPUT_REQUIRED')
  expect(note(asked)).toBe('Please tell me for how many days.')
  const { task } = await say('2', { taskId: asked?.id ?? '' })
  expect(task).toMatchObject({ id: asked?.id, status: { state: 'TASK_STATE_COMPLETED' } })
  expect(note(task)).toMatch(/40 people in Oslo for 2 days/)
})

test('what makes no sense in an open task is asked again, not rejected', async () => {
  const { task: asked } = await say('a venue in Oslo')
  const { task } = await say("what's the weather?", { taskId: asked?.id ?? '' })
  expect(task?.status.state).toBe('TASK_STATE_INPUT_REQUIRED')
  expect(note(task)).toMatch(/^I could not make a venue search of that\. Please tell me how many people and for how many days\.$/)
})

describe('the same again', () => {
  test('in the same context takes city and headcount from the last search', async () => {
    const { task: first } = await say('Berlin, 250 attendees, 3 days')
    const { task } = await say('same again but for 2 days', { contextId: first?.contextId ?? '' })
    expect(task?.status.state).toBe('TASK_STATE_COMPLETED')
    expect(note(task)).toMatch(/250 people in Berlin for 2 days/)
  })
  test('in another context asks', async () => {
    await say('Berlin, 250 attendees, 3 days')
    const { task } = await say('same again but for 2 days')
    expect(task?.status.state).toBe('TASK_STATE_INPUT_REQUIRED')
  })
})

test('a thorough search takes twenty seconds in five stages', async () => {
  const { task: begun } = await say('thorough search: Vienna, 150 guests, one day', {}, { returnImmediately: true })
  // The server's answer to GetTask is a Task.
  const look = async () => (await call(`/tasks/${begun?.id}`)) as Task
  const seen: unknown[] = []
  for (let stage = 1; stage <= 5; stage++) {
    await world.advance(0)
    const task = await look()
    seen.push([task.status.state, note(task)?.slice(0, 7), task.artifacts?.[0]?.parts.length ?? 0])
    await world.advance(4000)
  }
  expect(seen).toEqual([1, 2, 3, 4, 5].map((stage) => ['TASK_STATE_WORKING', `Stage ${stage}`, stage - 1]))
  await world.advance(0)
  const task = await look()
  expect(task.status.state).toBe('TASK_STATE_COMPLETED')
  expect(task.artifacts?.[0]?.parts.map((part) => Object.keys(part)[0])).toEqual(['text', 'text', 'text', 'text', 'data'])
})

test.each(['never mind, cancel', 'Thanks, but I do not need a venue anymore', 'Forget it'])('“%s” ends an open search', async (text) => {
  const { task: open } = await say('We need a place in Lisbon')
  const { task } = await say(text, { taskId: open?.id ?? '' })
  expect(task?.status.state).toBe('TASK_STATE_COMPLETED')
  expect(note(task)).toBe('All right, I have stopped looking.')
})
