/** Pushes as a client that nobody here wrote has them: `@a2a-js/sdk` sets configurations and reads them back, and its parser reads each post. */

import { StreamResponse, TaskState } from '@a2a-js/sdk'
import type { Client } from '@a2a-js/sdk/client'
import { RequestMalformedError, TaskNotFoundError } from '@a2a-js/sdk/errors'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { agent, artifact, chunk, completed, inputRequired, type RunningServer, working } from '../../src/index.js'
import { bindingNames, openSocket } from '../harness/server.js'
import { type Listening, listen } from '../net/kit.js'
import { until } from '../runtime/kit.js'
import { connect, payloadOf, taskOf, textRequest, textsOf } from './sdk-client.js'

/** Asks, and then puts out every kind of part and update. */
const versatile = agent({ name: 'Versatile', description: 'Puts out whatever there is.' }, async function* (task) {
  if (task.turn === 1) return inputRequired('What is it?')
  yield working('one — ö 😀')
  yield chunk('text', 'first ')
  yield chunk('text', 'second', { last: true })
  yield artifact('others', [
    { data: { n: [1, null, 'x'], deep: { yes: true } } },
    { raw: 'AP/+gA==', filename: 'bytes.bin', mediaType: 'application/octet-stream' },
    { url: 'https://files.example/plan.png', mediaType: 'image/png' },
  ])
  return completed('done')
})

const authentication = { scheme: 'Bearer', credentials: 'cred' }

describe.each(bindingNames)('over %s', (binding) => {
  let receiver: Listening
  let url: string
  let server: RunningServer
  let client: Client
  beforeEach(async () => {
    receiver = await listen((_, response) => void response.writeHead(204).end())
    const origin = `http://127.0.0.1:${receiver.port}`
    url = `${origin}/hook`
    server = await openSocket(versatile, { push: true, outbound: { allow: [origin] } })
    onTestFinished(() => server.close())
    client = await connect(server.url, binding)
  })

  const config = (more: object = {}) => ({ tenant: '', id: '', taskId: '', url, token: '', authentication: undefined, ...more })
  const ask = async (taskPushNotificationConfig?: ReturnType<typeof config>) =>
    taskOf(await client.sendMessage(textRequest('go', { configuration: { taskPushNotificationConfig } })))
  const follow = async (taskId: string, contextId: string) => {
    const frames: StreamResponse[] = []
    for await (const frame of client.sendMessageStream(textRequest('this', { message: { taskId, contextId } }))) frames.push(frame)
    return frames
  }
  const posts = () => receiver.heard.map(({ body }) => StreamResponse.fromJSON(JSON.parse(body)))

  test('the card declares pushes, and a configuration is set, read back, listed and deleted, its secrets unseen', async () => {
    expect((await client.getAgentCard()).capabilities?.pushNotifications).toBe(true)
    const { id: taskId } = await ask()
    const made = await client.createTaskPushNotificationConfig(config({ taskId, id: 'mine', token: 'tok', authentication }))
    const shown = config({ taskId, id: 'mine', authentication: { scheme: 'Bearer', credentials: '' } })
    expect(made).toEqual(shown)
    expect(await client.getTaskPushNotificationConfig({ tenant: '', taskId, id: 'mine' })).toEqual(shown)
    const unnamed = await client.createTaskPushNotificationConfig(config({ taskId }))
    expect(unnamed.id).not.toBe('')
    const list = () => client.listTaskPushNotificationConfig({ tenant: '', taskId, pageSize: 0, pageToken: '' })
    expect((await list()).configs).toEqual([shown, unnamed])
    for (let times = 0; times < 2; times++) await client.deleteTaskPushNotificationConfig({ tenant: '', taskId, id: 'mine' })
    expect((await list()).configs).toEqual([unnamed])
    await expect(client.getTaskPushNotificationConfig({ tenant: '', taskId, id: 'mine' })).rejects.toThrow(TaskNotFoundError)
  })

  test('one that comes inside a send is read back, and a bad one is an error of its own', async () => {
    const { id: taskId } = await ask(config({ id: 'sent', token: 'tok' }))
    expect(await client.getTaskPushNotificationConfig({ tenant: '', taskId, id: 'sent' })).toEqual(config({ taskId, id: 'sent' }))
    await expect(ask(config({ url: 'https://10.0.0.5/' }))).rejects.toThrow(RequestMalformedError)
    await expect(client.createTaskPushNotificationConfig(config({ taskId, url: 'no url' }))).rejects.toThrow(RequestMalformedError)
  })

  test('each post is read as the payload that it is, with the content of its frame in the stream', async () => {
    const { id: taskId, contextId } = await ask(config({ id: 'sent', token: 'tok', authentication }))
    await until(() => receiver.heard.length === 1)
    const [opening, ...frames] = await follow(taskId, contextId)
    await until(() => receiver.heard.length === 2 + frames.length)
    const [question, accepted, ...updates] = posts()
    expect(payloadOf(question, 'statusUpdate')).toMatchObject({ taskId, contextId, status: { state: TaskState.TASK_STATE_INPUT_REQUIRED } })
    expect(textsOf(payloadOf(question, 'statusUpdate').status?.message)).toEqual(['What is it?'])
    // The task that the stream opens with is at work already.
    expect(payloadOf(accepted, 'statusUpdate').status).toEqual(payloadOf(opening, 'task').status)
    expect(updates).toEqual(frames)
    expect(updates.map(({ payload }) => payload?.$case)).toEqual([
      ...['statusUpdate', 'artifactUpdate', 'artifactUpdate', 'artifactUpdate', 'statusUpdate'],
    ])
    expect(textsOf(payloadOf(updates[0], 'statusUpdate').status?.message)).toEqual(['one — ö 😀'])
    const chunks = [1, 2].map((n) => payloadOf(updates[n], 'artifactUpdate'))
    expect(chunks.map(({ append, lastChunk, artifact }) => [append, lastChunk, ...textsOf(artifact)])).toEqual([
      [false, false, 'first '],
      [true, true, 'second'],
    ])
    expect(payloadOf(updates[3], 'artifactUpdate').artifact?.parts).toMatchObject([
      { content: { $case: 'data', value: { n: [1, null, 'x'], deep: { yes: true } } } },
      { content: { $case: 'raw', value: Buffer.from([0, 255, 254, 128]) }, filename: 'bytes.bin', mediaType: 'application/octet-stream' },
      { content: { $case: 'url', value: 'https://files.example/plan.png' }, mediaType: 'image/png' },
    ])
    expect(payloadOf(updates.at(-1), 'statusUpdate').status?.state).toBe(TaskState.TASK_STATE_COMPLETED)
    for (const { headers } of receiver.heard) {
      expect(headers).toMatchObject({ authorization: 'Bearer cred', 'x-a2a-notification-token': 'tok' })
    }
  })

  test('the post that opens a configuration of its own is read as the task, with its history and artifacts', async () => {
    const { id: taskId, contextId } = await ask()
    await follow(taskId, contextId)
    await client.createTaskPushNotificationConfig(config({ taskId }))
    await until(() => receiver.heard.length === 1)
    const task = payloadOf(posts()[0], 'task')
    expect(task).toEqual(await client.getTask({ tenant: '', id: taskId }))
    expect(task.artifacts.map(({ artifactId }) => artifactId)).toEqual(['text', 'others'])
    expect(task.history.flatMap(textsOf)).toEqual(expect.arrayContaining(['go', 'What is it?', 'this']))
  })
})
