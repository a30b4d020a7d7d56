/** How streams end: with the task, with a question, with the server, or with an error (D13, D14); and what keeps them awake. */

import { describe, expect, onTestFinished, test } from 'vitest'
import { agent, chunk, completed, working } from '../../src/index.js'
import { UnavailableError } from '../../src/protocol/errors.js'
import { virtualWorld } from '../../src/testing/virtual-world.js'
import { scriptAgent } from '../harness/script-agent.js'
import { bindingNames, call, frames, openServer, openSocket, refusal, requestFor, result, userMessage } from '../harness/server.js'
import {
  begin,
  bindingOf,
  closeStill,
  gate,
  getTask,
  openStill,
  quietStore,
  statesOf,
  subscribe,
  subscribeDoors,
  subscribeRequest,
  take,
  takeAll,
  taskIdOf,
  textReader,
  until,
  withStore,
} from '../runtime/kit.js'

describe.each(bindingNames)('a stream of SendStreamingMessage over %s', (binding) => {
  const stream = (fetch: (request: Request) => Promise<Response>, text: string, more = {}) =>
    takeAll(frames(fetch, binding, 'SendStreamingMessage', { message: userMessage(text, more) }))

  test('ends at INPUT_REQUIRED, and the stream of the answer ends with the task (D13)', async () => {
    const { fetch } = await openStill(scriptAgent)
    const asked = await stream(fetch, 'ask')
    expect(statesOf(asked)).toEqual(['SUBMITTED', 'INPUT_REQUIRED'])
    const id = taskIdOf(asked)
    const answered = await stream(fetch, 'forty-two', { taskId: id })
    expect(Object.keys(answered[0]?.data)).toEqual(['task'])
    expect(statesOf(answered).at(-1)).toBe('COMPLETED')
    expect((await getTask(fetch, id)).status.state).toBe('TASK_STATE_COMPLETED')
  })

  test.each([
    ['fail', ['SUBMITTED', 'FAILED']],
    ['throw', ['SUBMITTED', 'FAILED']],
    ['reject', ['SUBMITTED', 'REJECTED']],
    ['echo', ['SUBMITTED', 'WORKING', 'COMPLETED']],
  ])('tells of %s by a status and no error frame', async (text, states) => {
    const { fetch } = await openStill(scriptAgent)
    const all = await stream(fetch, text)
    expect(statesOf(all)).toEqual(states)
    expect(JSON.stringify(all)).not.toMatch(/"error"|secret/)
  })

  test('of a direct reply is one frame with the Message', async () => {
    const { fetch } = await openStill(scriptAgent)
    const all = await stream(fetch, 'hello')
    expect(all).toHaveLength(1)
    expect(all[0]?.data).toEqual({
      message: { messageId: expect.any(String), contextId: expect.any(String), role: 'ROLE_AGENT', parts: [{ text: 'Hello yourself.' }] },
    })
    expect(await result(fetch, binding, 'ListTasks', {})).toMatchObject({ tasks: [], totalSize: 0 })
  })

  test('frames are whole messages of the binding, with the number of the event', async () => {
    const { fetch } = await openStill(scriptAgent)
    const text = await (await fetch(requestFor(binding, 'SendStreamingMessage', { message: userMessage('echo') }))).text()
    const blocks = text.split('\n\n').filter((block) => block !== '')
    expect(blocks.map((block) => block.split('\n')[0])).toEqual(['id: 1', 'id: 2', 'id: 3', 'id: 4'])
    for (const block of blocks) {
      const data = JSON.parse(block.slice(block.indexOf('data: ') + 6))
      expect(Object.keys(data)).toHaveLength(binding === 'JSONRPC' ? 3 : 1)
      if (binding === 'JSONRPC') expect(data).toMatchObject({ jsonrpc: '2.0', id: 1, result: expect.any(Object) })
    }
  })

  test('that is refused is a plain error without event stream', async () => {
    const { fetch } = await openStill(scriptAgent)
    for (const message of [
      userMessage('x', { taskId: 'nope' }),
      userMessage('x', { role: 'ROLE_AGENT' }),
      { messageId: '', role: 'ROLE_USER', parts: [] },
    ]) {
      const answer = await call(fetch, binding, 'SendStreamingMessage', { message })
      expect(answer.headers.get('content-type')).toMatch(/json/)
      expect(answer.body).toMatchObject({ error: { code: expect.any(Number) } })
    }
  })

  test('whose reader leaves changes nothing for the task and the other readers', async () => {
    const gates = gate()
    const patient = agent({ name: 'Patient', description: 'Waits.' }, async function* () {
      yield working('on it')
      await gates.opened
      return completed('done')
    })
    const { fetch } = await openStill(patient)
    const sender = frames(fetch, binding, 'SendStreamingMessage', { message: userMessage('go') })
    const [first] = await take(sender, 2)
    const id = first?.data.task.id
    const other = subscribe(fetch, binding === 'JSONRPC' ? 'JSONRPC' : 'GET', id)
    await take(other, 1)
    await sender.return(undefined)
    gates.open()
    expect(statesOf(await takeAll(other))).toEqual(['COMPLETED'])
    expect((await getTask(fetch, id)).status.message.parts).toEqual([{ text: 'done' }])
  })
})

/** The last frame of a stream that ended with an error, as its binding says it. */
function errorOf(binding: string, frame: any): any {
  expect(frame.id).toBeUndefined()
  expect(frame.event).toBe(binding === 'JSONRPC' ? undefined : 'error')
  if (binding === 'JSONRPC') expect(frame.data).toMatchObject({ jsonrpc: '2.0', id: 1 })
  return frame.data.error
}

describe.each(subscribeDoors)('over %s', (door) => {
  const binding = bindingOf(door)

  test('a server that stops ends its streams with UNAVAILABLE, and the stream goes on at the next server', async () => {
    const world = virtualWorld()
    const server = await openServer(scriptAgent, { world })
    const id = await begin(server.fetch, 'hold')
    const stream = subscribe(server.fetch, door, id)
    await take(stream, 1)
    const rest = takeAll(stream)
    await closeStill(server, world)
    const all = await rest
    expect(all).toHaveLength(1)
    const error = errorOf(binding, all[0])
    expect(error).toMatchObject(binding === 'JSONRPC' ? { code: -32000 } : { code: 503, status: 'UNAVAILABLE' })
    expect(JSON.stringify(error)).toContain('"reason":"UNAVAILABLE"')
  })

  test('a server on a socket that stops ends its streams with UNAVAILABLE', async () => {
    const world = virtualWorld()
    const server = await openSocket(scriptAgent, { world })
    const id = await begin((request) => fetch(new Request(request.url.replace('http://agent.test', server.url), request)), 'hold')
    const stream = subscribe(fetch, door, id, { url: server.url })
    await take(stream, 1)
    const rest = takeAll(stream)
    await closeStill(server, world)
    const all = await rest
    expect(all).toHaveLength(1)
    expect(JSON.stringify(errorOf(binding, all[0]))).toContain('"reason":"UNAVAILABLE"')
  })

  test.each([
    ['is not able to answer', new UnavailableError(), 'UNAVAILABLE'],
    ['is at fault', new Error('secret at /etc/passwd'), 'INTERNAL'],
  ])(
    'a store that %s in the middle of a stream gives one error frame and the end, and shows nothing of itself',
    async (_, thrown, reason) => {
      const gates = gate()
      const stepping = agent({ name: 'Steps', description: 'Goes on when told.' }, async function* () {
        yield chunk('a', 'one')
        await gates.opened
        yield chunk('a', 'two')
      })
      let isBroken = false
      const store = withStore(
        (inner) => ({ events: (...given) => (isBroken ? Promise.reject(thrown) : inner.events(...given)) }),
        quietStore(),
      )
      const { fetch, lines } = await openStill(stepping, { store })
      const id = await begin(fetch, 'go')
      const stream = subscribe(fetch, door, id)
      await take(stream, 1)
      isBroken = true
      gates.open()
      const all = await takeAll(stream)
      expect(all).toHaveLength(1)
      const text = JSON.stringify(errorOf(binding, all[0]))
      expect(text).toContain(`"reason":"${reason}"`)
      expect(text).not.toMatch(/secret|passwd|\bat .*\.[jt]s/)
      // The operator is told of faults; that a store is not able at the moment is no fault of the request.
      expect(lines.some(({ fields }) => fields['error'] === thrown)).toBe(reason === 'INTERNAL')
      isBroken = false
      const [first] = await take(subscribe(fetch, door, id), 1).catch(() => [])
      expect((first?.data.task ?? (await getTask(fetch, id))).artifacts[0].parts[0]).toEqual({ text: 'one' })
    },
  )

  test('a silent stream gets a comment within 15 s by the clock of the world, again and again', async () => {
    const { fetch, world } = await openStill(scriptAgent)
    const id = await begin(fetch, 'hold')
    const response = await fetch(subscribeRequest(door, id))
    const reader = textReader(response)
    expect((await reader.read()).value).toMatch(/^id: /)
    for (let round = 0; round < 3; round++) {
      const next = reader.read()
      await world.advance(15_000)
      expect((await next).value).toBe(':\n\n')
    }
    await reader.cancel()
  })

  test('a silent stream on a socket gets comments by the clock of the world', async () => {
    const world = virtualWorld()
    const server = await openSocket(scriptAgent, { world, limits: { keepAliveMs: 3_000 } })
    onTestFinished(() => closeStill(server, world))
    const id = await begin((request) => fetch(new Request(request.url.replace('http://agent.test', server.url), request)), 'hold')
    const response = await fetch(subscribeRequest(door, id, { url: server.url }))
    const reader = textReader(response)
    expect((await reader.read()).value).toMatch(/^id: /)
    for (let round = 0; round < 3; round++) {
      const next = reader.read()
      await world.advance(3_000)
      expect((await next).value).toBe(':\n\n')
    }
    await reader.cancel()
  })
})

describe.each(bindingNames)('a blocking send over %s', (binding) => {
  test('is answered with 503 and Retry-After when the server stops, and so is whoever comes later', async () => {
    const world = virtualWorld()
    const server = await openServer(scriptAgent, { world })
    const pending = call(server.fetch, binding, 'SendMessage', { message: userMessage('hold') })
    await world.advance(0)
    const closed = closeStill(server, world)
    const late = await call(server.fetch, binding, 'SendMessage', { message: userMessage('echo') })
    const answer = await pending
    for (const { status, headers, text } of [answer, late]) {
      expect(status).toBe(503)
      expect(headers.get('retry-after')).toBe('1')
      expect(text).toContain('"reason":"UNAVAILABLE"')
    }
    await closed
  })

  test('is answered with 503 and Retry-After on a socket too', async () => {
    const world = virtualWorld()
    const server = await openSocket(scriptAgent, { world })
    const pending = call(fetch, binding, 'SendMessage', { message: userMessage('hold') }, { url: server.url })
    await until(
      async () => (await result(fetch, binding, 'ListTasks', { status: 'TASK_STATE_WORKING' }, { url: server.url })).totalSize === 1,
    )
    await closeStill(server, world)
    const { status, headers } = await pending
    expect([status, headers.get('retry-after')]).toEqual([503, '1'])
  })

  test('whose caller leaves changes nothing for the task, and is no fault to report', async () => {
    const { fetch, world, lines } = await openStill(scriptAgent)
    const leaving = new AbortController()
    const pending = call(fetch, binding, 'SendMessage', { message: userMessage('hold') }, { signal: leaving.signal })
    await world.advance(0)
    leaving.abort()
    await pending.catch(() => undefined)
    const { tasks } = await result(fetch, binding, 'ListTasks', {})
    expect(tasks[0].status.state).toBe('TASK_STATE_WORKING')
    const { task } = await result(fetch, binding, 'SendMessage', { message: userMessage('go', { taskId: tasks[0].id }) })
    expect(task.status.state).toBe('TASK_STATE_COMPLETED')
    expect(lines.filter(({ level }) => level === 'error')).toEqual([])
  })
})

test('a refusal of a stream names its reason in the form of the binding', async () => {
  const { fetch } = await openStill(scriptAgent)
  for (const binding of bindingNames) {
    expect(await refusal(fetch, binding, 'SubscribeToTask', { id: 'nope' })).toMatchObject({ reason: 'TASK_NOT_FOUND' })
  }
})
