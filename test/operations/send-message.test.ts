/** What a message does by the state it finds, and which messages are refused. Spec §3.1.1, §3.4, D6, D11. */

import { describe, expect, test } from 'vitest'
import { agent, type Server } from '../../src/index.js'
import { scriptAgent } from '../harness/script-agent.js'
import { bindingNames, frames, openServer, refusal, result, userMessage } from '../harness/server.js'

const count = async (server: Server) => (await result(server.fetch, 'JSONRPC', 'ListTasks', {})).totalSize
const textsOf = (task: any) => task.history.map(({ parts }: any) => parts[0].text)

describe.each(bindingNames)('over %s', (binding) => {
  const send = (server: Server, text: string, more: object = {}, configuration: object = {}) =>
    result(server.fetch, binding, 'SendMessage', { message: userMessage(text, { ...more }), configuration })

  test('a direct reply makes no task', async () => {
    const server = await openServer(scriptAgent)
    const { message } = await send(server, 'hello')
    expect(message).toMatchObject({ role: 'ROLE_AGENT', parts: [{ text: 'Hello yourself.' }] })
    expect(message.taskId).toBeUndefined()
    expect(await count(server)).toBe(0)
    await server.close()
  })

  test('a message to a working task goes into history and the inbox, never into a second run', async () => {
    const server = await openServer(scriptAgent)
    const { task } = await send(server, 'hold', {}, { returnImmediately: true })
    const { task: after } = await send(server, 'go', { taskId: task.id })
    expect(after.status.state).toBe('TASK_STATE_COMPLETED')
    expect(textsOf(after)).toEqual(['hold', 'go', 'released'])
    expect(after.artifacts[0].parts[0].data.by).toBe(after.history[1].messageId)
    await server.close()
  })

  test('a message to a task that waits for a place is in its history and its inbox', async () => {
    const one = agent({ name: 'One', description: 'One at a time.' }, async (task) => {
      const message = await task.step('work', () => task.inbox.next())
      return { got: message?.parts[0]?.text ?? null, from: task.history.length }
    })
    const server = await openServer(one, { concurrency: 1 })
    const { task: first } = await send(server, 'first', {}, { returnImmediately: true })
    const { task: second } = await send(server, 'second', {}, { returnImmediately: true })
    expect(second.status.state).toBe('TASK_STATE_SUBMITTED')
    const { task: still } = await send(server, 'more', { taskId: second.id }, { returnImmediately: true })
    expect(still.status.state).toBe('TASK_STATE_SUBMITTED')
    await send(server, 'go', { taskId: first.id })
    const done = await send(server, 'last', { taskId: second.id })
    expect(done.task.artifacts[0].parts[0].data.got).toBe('more')
    await server.close()
  })

  test('a message answers the open question and begins the next turn in one commit', async () => {
    const server = await openServer(scriptAgent)
    const { task } = await send(server, 'ask')
    expect(task.status).toMatchObject({ state: 'TASK_STATE_INPUT_REQUIRED', message: { parts: [{ text: 'What is the answer?' }] } })
    const seen: string[] = []
    for await (const { data } of frames(server.fetch, binding, 'SendStreamingMessage', { message: userMessage('42', { taskId: task.id }) }))
      seen.push((data.task ?? data.statusUpdate ?? data.artifactUpdate).status?.state ?? 'artifact')
    expect(seen).toEqual(['TASK_STATE_WORKING', 'artifact', 'TASK_STATE_COMPLETED'])
    await server.close()
  })

  test('a question may be followed by another', async () => {
    const server = await openServer(scriptAgent)
    const { task } = await send(server, 'ask')
    const { task: again } = await send(server, 'ask again', { taskId: task.id })
    expect(again.status.state).toBe('TASK_STATE_INPUT_REQUIRED')
    expect(again.status.message.messageId).not.toBe(task.status.message.messageId)
    expect((await send(server, '42', { taskId: task.id })).task.artifacts[0].parts[0].data.answer).toBe('42')
    await server.close()
  })

  test('a message that names the open question answers it, one that names another does not (D11)', async () => {
    const server = await openServer(scriptAgent)
    const { task } = await send(server, 'ask')
    const stray = await send(server, 'to an older question', { taskId: task.id, metadata: { 'urn:errand:question': 'another' } })
    expect(stray.task.status).toEqual(task.status)
    expect(textsOf(stray.task)).toEqual(['ask', 'What is the answer?', 'to an older question'])
    const named = await send(server, '42', { taskId: task.id, metadata: { 'urn:errand:question': task.status.message.messageId } })
    expect(named.task.status.state).toBe('TASK_STATE_COMPLETED')
    expect(named.task.artifacts[0].parts[0].data.answer).toBe('42')
    await server.close()
  })

  test.each(['echo done', 'reject', 'fail', 'throw'])(
    'a task that ended by “%s” takes no message; the follow-up is a new task in its context',
    async (text) => {
      const server = await openServer(scriptAgent)
      const { task } = await send(server, text)
      for (const operation of ['SendMessage', 'SendStreamingMessage'] as const) {
        const refused = await refusal(server.fetch, binding, operation, { message: userMessage('more', { taskId: task.id }) })
        expect(refused).toMatchObject({ reason: 'UNSUPPORTED_OPERATION' })
        expect(refused.message).toContain(task.contextId)
      }
      expect(await result(server.fetch, binding, 'GetTask', { id: task.id })).toEqual(task)
      const next = await send(server, 'echo more', { contextId: task.contextId })
      expect([next.task.contextId, next.task.id === task.id]).toEqual([task.contextId, false])
      await server.close()
    },
  )

  test('with taskId alone the context is the task’s; another one is refused by name and changes nothing (§3.4)', async () => {
    const server = await openServer(scriptAgent)
    const { task } = await send(server, 'ask')
    for (const contextId of ['thread-1', 'ctx-019b7a3c-1111-7222-8333-444455556666-AAAAAAAAAAAAAAAAAAAAAA']) {
      expect(
        await refusal(server.fetch, binding, 'SendMessage', { message: userMessage('42', { taskId: task.id, contextId }) }),
      ).toMatchObject({ reason: 'INVALID_PARAMS', fields: ['message.contextId'] })
    }
    expect(await result(server.fetch, binding, 'GetTask', { id: task.id })).toEqual(task)
    const { task: after } = await send(server, '42', { taskId: task.id, contextId: task.contextId })
    expect(after.history.at(-2)).toMatchObject({ taskId: task.id, contextId: task.contextId })
    await server.close()
  })

  test('an unknown taskId is TaskNotFound and creates nothing', async () => {
    const server = await openServer(scriptAgent)
    expect(
      await refusal(server.fetch, binding, 'SendMessage', { message: userMessage('x', { taskId: 'nope', contextId: 'thread-1' }) }),
    ).toMatchObject({ reason: 'TASK_NOT_FOUND' })
    expect(await count(server)).toBe(0)
    await server.close()
  })

  test.each([
    ['message', { message: undefined }],
    ['message.parts', { message: { messageId: 'm', role: 'ROLE_USER', parts: [] } }],
    ['message.parts[0]', { message: { messageId: 'm', role: 'ROLE_USER', parts: [{}] } }],
    ['message.messageId', { message: { role: 'ROLE_USER', parts: [{ text: 'x' }] } }],
    ['message.role', { message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'x' }] } }],
    ['message.role', { message: { messageId: 'm', parts: [{ text: 'x' }] } }],
    ['configuration.historyLength', { message: userMessage('x'), configuration: { historyLength: -1 } }],
    ['tenant', { message: userMessage('x'), tenant: 'red' }],
  ])('a bad %s is refused by name and creates nothing', async (field, params) => {
    const server = await openServer(scriptAgent)
    expect(await refusal(server.fetch, binding, 'SendMessage', params)).toMatchObject({ reason: 'INVALID_PARAMS', fields: [field] })
    expect(await count(server)).toBe(0)
    await server.close()
  })

  test('historyLength counts the most recent messages, in streams too (§3.2.4)', async () => {
    const server = await openServer(scriptAgent)
    const { task } = await send(server, 'ask')
    const { task: after } = await send(server, '42', { taskId: task.id }, { historyLength: 1 })
    expect(textsOf(after)).toEqual(['Thank you.'])
    expect((await send(server, 'echo', {}, { historyLength: 0 })).task).not.toHaveProperty('history')
    for await (const { data } of frames(server.fetch, binding, 'SendStreamingMessage', {
      message: userMessage('echo'),
      configuration: { historyLength: 0 },
    })) {
      if (data.task) expect(data.task).not.toHaveProperty('history')
    }
    await server.close()
  })
})

/** D6: what an agent takes, what a part names, and whether it passes. */
const mediaTypes: readonly (readonly [readonly string[] | undefined, string | undefined, boolean])[] = [
  [undefined, undefined, true],
  [undefined, 'text/plain', true],
  [undefined, 'TEXT/Plain; charset=utf-8', true],
  [undefined, 'text', true],
  [undefined, 'application/json', true],
  [undefined, 'image/png', false],
  [undefined, 'text/html', false],
  [['text'], 'text/plain', true],
  [['text'], 'text/html', false],
  [['image/*'], 'image/png', true],
  [['image/*'], 'imagery/png', false],
  [['*/*'], 'video/mp4', true],
  [['Image/PNG'], 'image/png;q=1', true],
  [['image/png'], undefined, true],
]

describe.each(bindingNames)('media types over %s', (binding) => {
  test.each(mediaTypes)('an agent that takes %j: a part of %s passes: %s', async (inputModes, mediaType, passes) => {
    const picky = agent({ name: 'Picky', description: 'Takes some types.', ...(inputModes && { inputModes }) }, () => 'taken')
    const server = await openServer(picky)
    const message = { ...userMessage('x'), parts: [{ text: 'untyped' }, { raw: 'AAAA', ...(mediaType !== undefined && { mediaType }) }] }
    if (passes) expect((await result(server.fetch, binding, 'SendMessage', { message })).task.status.state).toBe('TASK_STATE_COMPLETED')
    else
      expect(await refusal(server.fetch, binding, 'SendMessage', { message })).toMatchObject({
        reason: 'CONTENT_TYPE_NOT_SUPPORTED',
        code: binding === 'JSONRPC' ? -32005 : 400,
      })
    expect(await count(server)).toBe(passes ? 1 : 0)
    await server.close()
  })
})
