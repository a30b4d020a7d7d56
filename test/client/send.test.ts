/** The client against our own server: every operation, over both bindings, in memory and over sockets. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type Client,
  connect,
  InvalidParamsError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnauthenticatedError,
  UnsupportedOperationError,
} from '../../src/client.js'
import type { RunningServer, Server } from '../../src/index.js'
import { scriptAgent } from '../harness/script-agent.js'
import { bindingNames, openServer, openSocket, people } from '../harness/server.js'
import { collect, shown, statesOf } from './kit.js'

let memory: Server
let socket: RunningServer
beforeAll(async () => {
  memory = await openServer(scriptAgent)
  socket = await openSocket(scriptAgent, { auth: people })
})
afterAll(() => Promise.all([memory.close(), socket.close()]))

const places = ['in memory', 'over a socket'] as const

describe.each(places)('%s', (place) => {
  describe.each(bindingNames)('over %s', (binding) => {
    let client: Client
    const open = (auth = 'alice') =>
      place === 'in memory'
        ? connect('http://agent.test', { fetch: memory.fetch, auth, prefer: [binding] })
        : connect(socket.url, { auth, prefer: [binding] })
    beforeAll(async () => {
      client = await open()
    })

    test('one send is iterated and awaited', async () => {
      const sending = client.send('chunks 3')
      const events = await collect(sending)
      expect(events[0]).toMatchObject({ kind: 'task', task: { status: { state: 'TASK_STATE_SUBMITTED' } } })
      expect(shown(events)).toEqual({ a: 'chunk 0;chunk 1;chunk 2;' })
      expect(statesOf(events)).toEqual(['WORKING', 'COMPLETED'])
      const outcome = await sending.outcome
      expect(outcome).toMatchObject({ state: 'completed', text: 'chunk 0;chunk 1;chunk 2;' })
      if (outcome.state !== 'completed') throw new Error(outcome.state)
      const now = await client.task(outcome.task.id).get()
      expect(outcome.task.artifacts).toEqual(now.artifacts)
      expect(outcome.task.status).toEqual(now.status)
      expect(await sending.taskId).toBe(now.id)
    })

    test('an outcome needs no loop, and a loop may begin after it', async () => {
      const sending = client.send('chunks 2')
      expect(await sending.outcome).toMatchObject({ state: 'completed' })
      expect(shown(await collect(sending))).toEqual({ a: 'chunk 0;chunk 1;' })
    })

    test('data of the result is the output', async () => {
      const outcome = await client.send('recall nothing', { contextId: 'own' }).outcome
      expect(outcome).toMatchObject({ state: 'completed', output: { value: null } })
    })

    test('a direct message is an outcome', async () => {
      expect(await client.send('hello').outcome).toMatchObject({ state: 'message', text: 'Hello yourself.' })
    })

    test('a question is answered in its task', async () => {
      const asked = await client.send('ask').outcome
      if (asked.state !== 'input-required') throw new Error(asked.state)
      expect(asked.prompt).toBe('What is the answer?')
      const told = await asked.reply({ data: { yes: true } }).outcome
      expect(told).toMatchObject({ state: 'completed', task: { id: asked.task.id } })
    })

    test.each([
      ['fail', 'failed', 'It could not be done.'],
      ['reject', 'rejected', 'Not my line of work.'],
    ])('%s ends as %s with the reason', async (word, state, reason) => {
      expect(await client.send(word).outcome).toMatchObject({ state, reason })
    })

    test('a send is canceled, and ends as canceled', async () => {
      const sending = client.send('hold')
      expect(await sending.cancel()).toMatchObject({ status: { state: 'TASK_STATE_CANCELED' } })
      expect(await sending.outcome).toMatchObject({ state: 'canceled' })
    })

    test('a task is followed by its id, from wherever it is', async () => {
      const id = await client.send('hold').taskId
      const following = client.task(id ?? '').follow()
      client.send('go', { taskId: id ?? '' })
      expect(await following.outcome).toMatchObject({ state: 'completed', text: '', task: { id } })
      const late = await collect(client.task(id ?? '').follow())
      expect(statesOf(late)).toEqual(['COMPLETED'])
      expect(late.find((event) => event.kind === 'artifact')).toMatchObject({ last: true, replaced: false })
    })

    test('tasks are listed page by page', async () => {
      const contextId = `pages-${place}-${binding}`
      const ids: (string | undefined)[] = []
      for (let i = 0; i < 5; i++) ids.unshift(await client.send('note x', { contextId }).taskId)
      await Promise.all(ids.map((id) => client.task(id ?? '').follow().outcome))
      const listed: string[] = []
      for await (const task of client.tasks({ contextId, pageSize: 2 })) listed.push(task.id)
      expect(new Set(listed)).toEqual(new Set(ids))
      expect(listed).toHaveLength(5)
      for await (const task of client.tasks({ contextId, state: 'TASK_STATE_FAILED' })) throw new Error(task.id)
    })

    test('errors are the classes that the agent threw', async () => {
      const done = await client.send('chunks 1').outcome
      if (done.state !== 'completed') throw new Error(done.state)
      await expect(client.task('none').get()).rejects.toThrow(TaskNotFoundError)
      await expect(client.task('none').follow().outcome).rejects.toThrow(TaskNotFoundError)
      await expect(client.task(done.task.id).cancel()).rejects.toThrow(TaskNotCancelableError)
      await expect(client.send('more', { taskId: done.task.id }).outcome).rejects.toThrow(UnsupportedOperationError)
      await expect(client.task(done.task.id).get({ historyLength: -1 })).rejects.toMatchObject({
        constructor: InvalidParamsError,
        violations: [{ field: 'historyLength' }],
      })
      const stranger = await open('nobody')
      await expect(stranger.send('hi').outcome).rejects.toThrow(UnauthenticatedError)
      await expect(stranger.task(done.task.id).get()).rejects.toThrow(UnauthenticatedError)
    })

    test('an agent without streaming is asked by a blocking send, with the same events', async () => {
      const { fetch } = place === 'in memory' ? memory : globalThis
      const plain = await connect(place === 'in memory' ? 'http://agent.test' : socket.url, {
        auth: 'alice',
        prefer: [binding],
        fetch: async (request) => {
          const response = await fetch(request)
          if (!request.url.endsWith('.json')) return response
          const card = await response.json()
          return Response.json({ ...card, capabilities: {} })
        },
      })
      const events = await collect(plain.send('chunks 3'))
      expect(events.map(({ kind }) => kind)).toEqual(['task', 'artifact', 'status'])
      expect(shown(events)).toEqual({ a: 'chunk 0;chunk 1;chunk 2;' })
    })
  })
})
