/** The venue agent, driven by a client that nobody here wrote, over a real socket and both bindings. */

import { type StreamResponse, TaskState } from '@a2a-js/sdk'
import type { Client } from '@a2a-js/sdk/client'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { venueAgent } from '../../examples/venue-agent/agent.js'
import type { RunningServer } from '../../src/index.js'
import { defaultLimits } from '../../src/server/options.js'
import { type VirtualWorld, virtualWorld } from '../../src/testing/virtual-world.js'
import { bindingNames, openSocket } from '../harness/server.js'
import { connect, everything, payloadOf, taskOf, textRequest, textsOf } from './sdk-client.js'

const complete = 'We need a place in Lisbon for 120 people for two days, with catering and wifi'
const thorough = 'Thorough search: Oslo, 40 people, 1 day'
const stageMs = 4_000

describe.each(bindingNames)('over %s', (binding) => {
  let world: VirtualWorld
  let server: RunningServer
  let client: Client

  beforeEach(async () => {
    world = virtualWorld()
    server = await openSocket(venueAgent, { world })
    client = await connect(server.url, binding)
  })

  afterEach(stop)

  async function stop(): Promise<void> {
    const closed = server.close()
    // A run that still waits is given its time, which does not pass by itself.
    await world.advance(defaultLimits.shutdownMs)
    await closed
  }

  /** Reads a stream to its end; time passes only when the agent has said that it is at work. */
  async function follow(stream: AsyncIterable<StreamResponse>): Promise<StreamResponse[]> {
    const frames: StreamResponse[] = []
    for await (const frame of stream) {
      frames.push(frame)
      if (isNote(frame)) await world.advance(stageMs)
    }
    return frames
  }

  /** A stream that is at the agent's first note, and that note's task. */
  async function atWork(): Promise<{ taskId: string; stream: AsyncGenerator<StreamResponse, void, undefined> }> {
    const stream = client.sendMessageStream(textRequest(thorough))
    const taskId = payloadOf((await stream.next()).value ?? undefined, 'task').id
    for (let step = await stream.next(); !step.done; step = await stream.next()) {
      if (isNote(step.value)) return { taskId, stream }
    }
    throw new Error('the stream ended before the agent was at work')
  }

  test('the card says who the agent is, how it is spoken to and what it can do', async () => {
    const card = await client.getAgentCard()
    expect(card.name).toBe('Venues')
    expect(card.supportedInterfaces.map(({ protocolBinding, protocolVersion }) => [protocolBinding, protocolVersion])).toEqual([
      ['JSONRPC', '1.0'],
      ['HTTP+JSON', '1.0'],
    ])
    expect(card.capabilities).toMatchObject({ streaming: true, pushNotifications: false, extendedAgentCard: false })
    expect(card.securitySchemes['bearer']?.scheme?.$case).toBe('httpAuthSecurityScheme')
    expect(card.skills.map(({ id }) => id)).toEqual(['venues'])
    expect(client.transport.protocolName).toBe(binding)
  })

  test('a greeting is answered with a message and makes no task', async () => {
    const answer = await client.sendMessage(textRequest('hello'))
    expect('messageId' in answer && textsOf(answer)[0]).toMatch(/^Hello!/)
    expect((await client.listTasks(everything)).totalSize).toBe(0)
  })

  test('a complete brief comes back as a completed task with a shortlist', async () => {
    const task = taskOf(await client.sendMessage(textRequest(complete)))
    expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED)
    expect(task.artifacts.map(({ artifactId }) => artifactId)).toEqual(['shortlist'])
    const data = task.artifacts[0]?.parts.flatMap(({ content }) => (content?.$case === 'data' ? [content.value] : []))
    expect(data).toMatchObject([{ brief: { city: 'Lisbon', headcount: 120, days: 2 } }])
    expect(await client.getTask({ tenant: '', id: task.id })).toEqual(task)
  })

  test('a brief with a gap is asked about, and the answer goes on with the same task', async () => {
    const asked = taskOf(await client.sendMessage(textRequest('A venue in Lisbon for two days, please')))
    expect(asked.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED)
    expect(textsOf(asked.status?.message)[0]).toMatch(/how many people/)
    const answered = taskOf(
      await client.sendMessage(textRequest('120 people', { message: { taskId: asked.id, contextId: asked.contextId } })),
    )
    expect(answered.id).toBe(asked.id)
    expect(answered.status?.state).toBe(TaskState.TASK_STATE_COMPLETED)
    expect(answered.history.length).toBeGreaterThan(asked.history.length)
  })

  test('a follow-up in the same context is a new task that remembers the brief', async () => {
    const first = taskOf(await client.sendMessage(textRequest(complete)))
    const second = taskOf(await client.sendMessage(textRequest('Same again but for 3 days', { message: { contextId: first.contextId } })))
    expect(second.id).not.toBe(first.id)
    expect(second.contextId).toBe(first.contextId)
    expect(textsOf(second.status?.message)[0]).toMatch(/120 people in Lisbon for 3 days/)
  })

  test('a stream shows the task, the notes, the growing shortlist and the end, in order', async () => {
    const frames = await follow(client.sendMessageStream(textRequest(thorough)))
    const started = payloadOf(frames[0], 'task')
    expect(started.status?.state).toBe(TaskState.TASK_STATE_SUBMITTED)
    expect(frames.filter(isNote).map((frame) => textsOf(payloadOf(frame, 'statusUpdate').status?.message)[0])).toEqual(
      [1, 2, 3, 4, 5].map((stage) => expect.stringMatching(`^Stage ${stage} of 5`)),
    )
    const chunks = frames.filter(({ payload }) => payload?.$case === 'artifactUpdate').map((frame) => payloadOf(frame, 'artifactUpdate'))
    expect(chunks.map(({ append, lastChunk }) => [append, lastChunk])).toEqual([
      [false, false],
      [true, false],
      [true, false],
      [true, false],
      [true, true],
    ])
    const end = payloadOf(frames.at(-1), 'statusUpdate')
    expect([end.taskId, end.status?.state]).toEqual([started.id, TaskState.TASK_STATE_COMPLETED])
    const stored = await client.getTask({ tenant: '', id: started.id })
    expect(stored.artifacts[0]?.parts).toEqual(chunks.flatMap(({ artifact }) => artifact?.parts ?? []))
  })

  test('a question ends the stream that sent the message', async () => {
    const frames = await follow(client.sendMessageStream(textRequest('A venue in Lisbon for two days, please')))
    expect(payloadOf(frames.at(-1), 'statusUpdate').status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED)
  })

  test('a subscriber who comes later gets the task as it is and the same updates as the first', async () => {
    const { taskId, stream } = await atWork()
    const late = client.resubscribeTask({ tenant: '', id: taskId })
    const snapshot = payloadOf((await late.next()).value ?? undefined, 'task')
    expect(snapshot.status?.state).toBe(TaskState.TASK_STATE_WORKING)
    await world.advance(stageMs)
    const [first, second] = await Promise.all([rest(stream), follow(late)])
    expect(second).toEqual(first)
    expect(payloadOf(second.at(-1), 'statusUpdate').status?.state).toBe(TaskState.TASK_STATE_COMPLETED)
  })

  test('a client that goes away changes nothing for the task', async () => {
    const { taskId, stream } = await atWork()
    await stream.return()
    const frames = client.resubscribeTask({ tenant: '', id: taskId })
    await frames.next()
    await world.advance(stageMs)
    expect(payloadOf((await follow(frames)).at(-1), 'statusUpdate').status?.state).toBe(TaskState.TASK_STATE_COMPLETED)
  })

  test('a blocking send waits out a thorough search and has the whole shortlist', async () => {
    let isAnswered = false
    const answer = client.sendMessage(textRequest(thorough)).finally(() => {
      isAnswered = true
    })
    while (!isAnswered) await world.advance(stageMs)
    const task = taskOf(await answer)
    expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED)
    expect(task.artifacts[0]?.parts).toHaveLength(5)
  })

  test('a server that stops ends its streams with a word about it', async () => {
    const { stream } = await atWork()
    const ended = rest(stream)
    await Promise.all([expect(ended).rejects.toThrow(/server is stopping/), stop()])
  })

  test('a task that is asked for at once comes back before its end and is read later', async () => {
    const sent = taskOf(await client.sendMessage(textRequest(thorough, { configuration: { returnImmediately: true } })))
    expect(sent.status?.state).not.toBe(TaskState.TASK_STATE_COMPLETED)
    await world.advance(5 * stageMs)
    expect((await client.getTask({ tenant: '', id: sent.id })).status?.state).toBe(TaskState.TASK_STATE_COMPLETED)
  })

  test('a task at work is canceled, and its stream ends with that', async () => {
    const { taskId, stream } = await atWork()
    expect((await client.cancelTask({ tenant: '', id: taskId, metadata: undefined })).status?.state).toBe(TaskState.TASK_STATE_CANCELED)
    expect(payloadOf((await rest(stream)).at(-1), 'statusUpdate').status?.state).toBe(TaskState.TASK_STATE_CANCELED)
    await world.advance(5 * stageMs)
    expect((await client.getTask({ tenant: '', id: taskId })).status?.state).toBe(TaskState.TASK_STATE_CANCELED)
  })

  test('historyLength is kept to in every answer', async () => {
    const none = taskOf(await client.sendMessage(textRequest(complete, { configuration: { historyLength: 0 } })))
    expect(none.history).toEqual([])
    expect((await client.getTask({ tenant: '', id: none.id, historyLength: 1 })).history).toHaveLength(1)
    expect((await client.listTasks({ ...everything, historyLength: 0 })).tasks[0]?.history).toEqual([])
  })

  test('a walk through the pages meets every task of the caller once, newest first', async () => {
    const sent: string[] = []
    for (let i = 0; i < 5; i++) {
      sent.push(taskOf(await client.sendMessage(textRequest(complete))).id)
      await world.advance(1_000)
    }
    const seen: string[] = []
    for (let pageToken = ''; ; ) {
      const page = await client.listTasks({ ...everything, pageSize: 2, pageToken })
      expect([page.pageSize, page.totalSize]).toEqual([2, 5])
      seen.push(...page.tasks.map(({ id }) => id))
      pageToken = page.nextPageToken
      if (pageToken === '') break
    }
    expect(seen).toEqual(sent.toReversed())
  })

  test('a list is narrowed by state, context and time, and shows artifacts only when asked', async () => {
    const asked = taskOf(await client.sendMessage(textRequest('A venue in Lisbon for two days, please')))
    await world.advance(1_000)
    const done = taskOf(await client.sendMessage(textRequest(complete)))
    const ids = async (filter: Partial<typeof everything>) =>
      (await client.listTasks({ ...everything, ...filter })).tasks.map(({ id }) => id)
    expect(await ids({ status: TaskState.TASK_STATE_INPUT_REQUIRED })).toEqual([asked.id])
    expect(await ids({ contextId: done.contextId })).toEqual([done.id])
    const { tasks } = await client.listTasks({ ...everything, statusTimestampAfter: done.status?.timestamp, includeArtifacts: true })
    expect(tasks.map(({ id, artifacts }) => [id, artifacts.length])).toEqual([[done.id, 1]])
    expect((await client.listTasks(everything)).tasks.map(({ artifacts }) => artifacts.length)).toEqual([0, 0])
  })

  test('nobody sees what is not theirs', async () => {
    const task = taskOf(await client.sendMessage(textRequest(complete)))
    const bob = await connect(server.url, binding, 'bob')
    await expect(bob.getTask({ tenant: '', id: task.id })).rejects.toMatchObject({ name: 'TaskNotFoundError' })
    expect((await bob.listTasks(everything)).totalSize).toBe(0)
  })
})

/** WORKING with something to say: the agent is about to wait. */
function isNote({ payload }: StreamResponse): boolean {
  return (
    payload?.$case === 'statusUpdate' &&
    payload.value.status?.state === TaskState.TASK_STATE_WORKING &&
    payload.value.status.message !== undefined
  )
}

async function rest(stream: AsyncIterable<StreamResponse>): Promise<StreamResponse[]> {
  const frames: StreamResponse[] = []
  for await (const frame of stream) frames.push(frame)
  return frames
}
