/** Our client against a server that nobody here wrote: `@a2a-js/sdk` on express, over both bindings, streams cut in the middle included. */

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  type Client,
  connect,
  type Fetching,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from '../../src/client.js'
import { collect, hasty, shown, statesOf } from '../client/kit.js'
import { bindingNames } from '../harness/server.js'
import { openSdkServer, type SdkServer } from './sdk-server.js'

let server: SdkServer
beforeEach(async () => {
  // The SDK says there what it refuses.
  vi.spyOn(console, 'error').mockImplementation(() => {})
  server = await openSdkServer()
})
afterEach(() => server.close())

describe.each(bindingNames)('over %s', (binding) => {
  let client: Client
  beforeEach(async () => {
    client = await connect(server.url, { prefer: [binding] })
  })

  test('a send streams, and each chunk comes once', async () => {
    const sending = client.send('three')
    const events = await collect(sending)
    expect(shown(events)).toEqual({ a: 'one two three' })
    expect(statesOf(events)).toEqual(['WORKING', 'COMPLETED'])
    const outcome = await sending.outcome
    expect(outcome).toMatchObject({ state: 'completed', text: 'one two three' })
    expect(await client.task((await sending.taskId) ?? '').get()).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } })
  })

  test('a question is answered in its task', async () => {
    const asked = await client.send('ask').outcome
    if (asked.state !== 'input-required') throw new Error(asked.state)
    expect(asked.prompt).toBe('What is it?')
    expect(await asked.reply('that').outcome).toMatchObject({ state: 'completed', text: 'one two that', task: { id: asked.task.id } })
  })

  test('a failure is an outcome with its reason', async () => {
    expect(await client.send('fail').outcome).toMatchObject({ state: 'failed', reason: 'It broke.' })
  })

  test('a send is canceled', async () => {
    const sending = client.send('slow')
    await sending.taskId
    expect(await sending.cancel()).toMatchObject({ status: { state: 'TASK_STATE_CANCELED' } })
    expect(await sending.outcome).toMatchObject({ state: 'canceled' })
  })

  test('a stream that is cut in the middle is taken up again, and each chunk comes once', async () => {
    let cuts = 0
    const cut: Fetching = async (request) => {
      const response = await fetch(request)
      if (!response.headers.get('content-type')?.includes('event-stream')) return response
      if (cuts++ > 0) {
        // The agent goes on when the client is back.
        server.middle.open()
        return response
      }
      const pieces = response.body?.pipeThrough(
        new TransformStream<Uint8Array, Uint8Array>({
          transform(bytes, controller) {
            controller.enqueue(bytes)
            if (new TextDecoder().decode(bytes).includes('one ')) controller.error(new Error('reset'))
          },
        }),
      )
      return new Response(pieces ?? null, response)
    }
    const cutting = await connect(server.url, { fetch: cut, prefer: [binding], world: hasty })
    const sending = cutting.send('slow')
    const id = (await sending.taskId) ?? ''
    const events = collect(sending)
    const beside = collect(client.task(id).follow())
    expect(shown(await events)).toEqual({ a: 'one two slow' })
    expect(shown(await beside)).toEqual({ a: 'one two slow' })
    expect(cuts).toBe(2)
  })

  test('a task that has ended is followed to its outcome', async () => {
    const id = (await client.send('x').outcome.then((outcome) => ('task' in outcome ? outcome.task.id : ''))) ?? ''
    expect(await client.task(id).follow().outcome).toMatchObject({ state: 'completed', text: 'one two x' })
  })

  test('tasks are listed page by page, each once', async () => {
    const sent = new Set<string | undefined>()
    for (let i = 0; i < 5; i++) {
      const sending = client.send(`${i}`)
      await sending.outcome
      sent.add(await sending.taskId)
    }
    const listed: string[] = []
    for await (const { id } of client.tasks({ pageSize: 2 })) listed.push(id)
    expect(new Set(listed)).toEqual(sent)
    expect(listed).toHaveLength(5)
  })

  test('errors are told apart', async () => {
    const done = await client.send('x').outcome
    if (done.state !== 'completed') throw new Error(done.state)
    await expect(client.task('none').get()).rejects.toThrow(TaskNotFoundError)
    await expect(client.task('none').follow().outcome).rejects.toThrow(TaskNotFoundError)
    await expect(client.task(done.task.id).cancel()).rejects.toThrow(TaskNotCancelableError)
    await expect(client.send('more', { taskId: done.task.id }).outcome).rejects.toThrow(UnsupportedOperationError)
  })
})
