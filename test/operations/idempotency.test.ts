/** The same message sent twice is one send. Spec §3.3.1, D7. */

import { describe, expect, test } from 'vitest'
import { agent, type Server } from '../../src/index.js'
import { virtualWorld } from '../../src/testing/virtual-world.js'
import { scriptAgent } from '../harness/script-agent.js'
import { bindingNames, call, frames, openServer, refusal, result, userMessage } from '../harness/server.js'

const dayMs = 24 * 60 * 60 * 1000
const count = async (server: Server, as = 'alice') => (await result(server.fetch, 'JSONRPC', 'ListTasks', {}, { as })).totalSize

describe.each(bindingNames)('over %s', (binding) => {
  test('the same message gets the same finished task back, whatever its configuration', async () => {
    const server = await openServer(scriptAgent)
    const message = userMessage('echo once')
    const first = await result(server.fetch, binding, 'SendMessage', { message })
    expect(await result(server.fetch, binding, 'SendMessage', { message })).toEqual(first)
    const { task } = await result(server.fetch, binding, 'SendMessage', { message, configuration: { historyLength: 0 } })
    expect(task).toEqual({ ...first.task, history: undefined })
    expect(await count(server)).toBe(1)
    await server.close()
  })

  test('the order of members and spellings of one value make no other message', async () => {
    const server = await openServer(scriptAgent)
    const first = await result(server.fetch, binding, 'SendMessage', {
      message: { messageId: 'm', role: 'ROLE_USER', parts: [{ data: { a: 1, b: 2 } }] },
    })
    const again = await result(server.fetch, binding, 'SendMessage', {
      message: { parts: [{ data: { b: 2, a: 1 } }], role: 1, message_id: 'm', contextId: '' },
    })
    expect(again).toEqual(first)
    await server.close()
  })

  test('ten sends of one message at once make one task with one message in its history', async () => {
    const server = await openServer(scriptAgent)
    const message = userMessage('echo once')
    const tasks = await Promise.all(Array.from({ length: 10 }, () => result(server.fetch, binding, 'SendMessage', { message })))
    expect(new Set(tasks.map(({ task }) => task.id)).size).toBe(1)
    expect(tasks[0].task.history).toHaveLength(1)
    expect(await count(server)).toBe(1)
    await server.close()
  })

  test('a repeated blocking send waits for the task it joins, a streaming one follows it', async () => {
    const world = virtualWorld()
    const server = await openServer(scriptAgent, { world })
    const message = userMessage('slow 1000')
    const begun = result(server.fetch, binding, 'SendMessage', { message, configuration: { returnImmediately: true } })
    await world.advance(0)
    const { task } = await begun
    const waiting = result(server.fetch, binding, 'SendMessage', { message })
    const seen: string[] = []
    const following = (async () => {
      for await (const { data } of frames(server.fetch, binding, 'SendStreamingMessage', { message }))
        seen.push(data.task?.status.state ?? data.statusUpdate.status.state)
    })()
    await world.advance(999)
    expect(seen).toEqual(['TASK_STATE_WORKING'])
    await world.advance(1)
    await following
    expect(await waiting).toMatchObject({ task: { id: task.id, status: { state: 'TASK_STATE_COMPLETED' } } })
    expect(seen).toEqual(['TASK_STATE_WORKING', 'TASK_STATE_COMPLETED'])
    await server.close()
  })

  test('another content, another person or another tenant under the same id is another message', async () => {
    const server = await openServer(scriptAgent)
    const message = { ...userMessage('echo a'), messageId: 'same' }
    const send = async (sent: object, as = 'alice', more: object = {}) =>
      (await result(server.fetch, binding, 'SendMessage', { message: sent, ...more }, { as })).task.id
    const ids = [
      await send(message),
      await send({ ...message, parts: [{ text: 'echo b' }] }),
      await send({ ...message, metadata: { a: 1 } }),
      await send({ ...message, contextId: 'thread-1' }),
      await send(message, 'bob'),
      await send(message, 'carol'),
      await send(message, 'carol', { tenant: 'red' }),
      await send(message, 'carol', { tenant: 'blue' }),
    ]
    expect(new Set(ids).size).toBe(ids.length)
    await server.close()
  })

  test('an answer sent twice is given once, also when the task has ended meanwhile', async () => {
    const server = await openServer(scriptAgent)
    const { task } = await result(server.fetch, binding, 'SendMessage', { message: userMessage('ask') })
    const message = userMessage('42', { taskId: task.id })
    const first = await result(server.fetch, binding, 'SendMessage', { message })
    expect(first.task.status.state).toBe('TASK_STATE_COMPLETED')
    expect(await result(server.fetch, binding, 'SendMessage', { message })).toEqual(first)
    expect(first.task.history.map(({ role }: any) => role)).toEqual(['ROLE_USER', 'ROLE_AGENT', 'ROLE_USER', 'ROLE_AGENT'])
    await server.close()
  })

  test('a message to a working task is in its history once, however often it is sent', async () => {
    const server = await openServer(scriptAgent)
    const { task } = await result(server.fetch, binding, 'SendMessage', {
      message: userMessage('hold'),
      configuration: { returnImmediately: true },
    })
    const message = userMessage('go', { taskId: task.id })
    const answers = await Promise.all(Array.from({ length: 5 }, () => result(server.fetch, binding, 'SendMessage', { message })))
    for (const { task: after } of answers)
      expect(after.history.filter(({ messageId }: any) => messageId === message.messageId)).toHaveLength(1)
    await server.close()
  })

  test('within 24 hours it is the same message, later a new one', async () => {
    const world = virtualWorld()
    const server = await openServer(scriptAgent, { world })
    const message = userMessage('echo once')
    const { task } = await result(server.fetch, binding, 'SendMessage', { message })
    await world.advance(dayMs - 1000)
    expect((await result(server.fetch, binding, 'SendMessage', { message })).task.id).toBe(task.id)
    await world.advance(2000)
    expect((await result(server.fetch, binding, 'SendMessage', { message })).task.id).not.toBe(task.id)
    await server.close()
  })

  test('a refused message leaves its id free', async () => {
    const server = await openServer(scriptAgent, { idempotency: 'strict' })
    const message = userMessage('echo later')
    await refusal(server.fetch, binding, 'SendMessage', { message: { ...message, taskId: 'nope' } })
    await refusal(server.fetch, binding, 'SendMessage', { message, configuration: { historyLength: -1 } })
    expect(await result(server.fetch, binding, 'SendMessage', { message })).toMatchObject({
      task: { status: { state: 'TASK_STATE_COMPLETED' } },
    })
    await server.close()
  })

  test('strict: another content under the same id is refused, the same one is not', async () => {
    const server = await openServer(scriptAgent, { idempotency: 'strict' })
    const message = userMessage('echo a')
    const first = await result(server.fetch, binding, 'SendMessage', { message })
    expect(await result(server.fetch, binding, 'SendMessage', { message })).toEqual(first)
    const other = { ...message, parts: [{ text: 'echo b' }] }
    expect(await refusal(server.fetch, binding, 'SendMessage', { message: other })).toMatchObject({
      reason: 'INVALID_PARAMS',
      fields: ['message.messageId'],
    })
    expect((await call(server.fetch, binding, 'SendMessage', { message: other }, { as: 'bob' })).text).toContain('echo b')
    expect(await count(server)).toBe(1)
    await server.close()
  })

  test('false: every send is a new one', async () => {
    const server = await openServer(scriptAgent, { idempotency: false })
    const message = userMessage('echo a')
    const ids = await Promise.all([1, 2, 3].map(async () => (await result(server.fetch, binding, 'SendMessage', { message })).task.id))
    expect(new Set(ids).size).toBe(3)
    await server.close()
  })
})

test.each(bindingNames)(
  'a message that made a task is answered with it again, whatever the agent would answer by now, over %s',
  async (binding) => {
    let asked = 0
    const forgetful = agent({ name: 'A', description: 'B', answer: () => (asked++ === 0 ? undefined : 'Hello again.') }, () => 'done')
    const server = await openServer(forgetful)
    const message = userMessage('go')
    const first = await result(server.fetch, binding, 'SendMessage', { message })
    const second = await result(server.fetch, binding, 'SendMessage', { message })
    expect(second.task?.id).toBe(first.task.id)
    expect(asked).toBe(1)
    await server.close()
  },
)
