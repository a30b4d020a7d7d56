/** SubscribeToTask: what opens, what it begins with, and what is refused in plain words. Spec §3.1.6. */

import { describe, expect, test } from 'vitest'
import { agent, chunk, completed, inputRequired } from '../../src/index.js'
import { UnavailableError } from '../../src/protocol/errors.js'
import { scriptAgent } from '../harness/script-agent.js'
import { call, result, userMessage } from '../harness/server.js'
import {
  begin,
  bindingOf,
  foldFrames,
  gate,
  getTask,
  openStill,
  statesOf,
  subscribe,
  subscribeDoors,
  subscribeRequest,
  take,
  takeAll,
  withStore,
} from '../runtime/kit.js'

describe.each(subscribeDoors)('over %s', (door) => {
  const binding = bindingOf(door)

  test('the first frame is the task as GetTask gives it, under the number of its newest event', async () => {
    const gates = gate()
    const half = agent({ name: 'Half', description: 'Stops half way.' }, async function* () {
      yield chunk('a', 'one')
      await gates.opened
    })
    const { fetch } = await openStill(half)
    const id = await begin(fetch, 'go')
    const stream = subscribe(fetch, door, id)
    const [first] = await take(stream, 1)
    expect(first).toEqual({ id: '3', data: { task: await getTask(fetch, id) } })
    gates.open()
    await takeAll(stream)
  })

  test.each([
    ['COMPLETED', 'echo'],
    ['FAILED', 'fail'],
    ['REJECTED', 'reject'],
    ['CANCELED', 'hold'],
  ])('a task that is %s is refused with a plain error and no event stream', async (state, text) => {
    const { fetch } = await openStill(scriptAgent)
    const id = await begin(fetch, text)
    if (state === 'CANCELED') await result(fetch, binding, 'CancelTask', { id })
    else await result(fetch, binding, 'SendMessage', { message: userMessage(text) })
    expect((await getTask(fetch, id)).status.state).toBe(`TASK_STATE_${state}`)
    const response = await fetch(subscribeRequest(door, id))
    expect(response.headers.get('content-type')).toBe(door === 'JSONRPC' ? 'application/json' : 'application/a2a+json')
    const { error } = (await response.json()) as any
    expect(error.code).toBe(door === 'JSONRPC' ? -32004 : 400)
  })

  test("another caller's task and no task at all are refused alike", async () => {
    const { fetch } = await openStill(scriptAgent)
    const id = await begin(fetch, 'hold')
    const asBob = async (name: string) => {
      const request = subscribeRequest(door, name)
      request.headers.set('authorization', 'Bearer bob')
      const response = await fetch(request)
      return { status: response.status, headers: [...response.headers], text: (await response.text()).replaceAll(name, 'ID') }
    }
    expect(await asBob(id)).toEqual(await asBob(id.replace(/.$/, 'x')))
    expect((await asBob(id)).text).toContain('TASK_NOT_FOUND')
  })

  test('a subscription to a question stays open through the answer to the end of the task (D13)', async () => {
    const { fetch } = await openStill(scriptAgent)
    const { task } = await result(fetch, binding, 'SendMessage', { message: userMessage('ask') })
    const stream = subscribe(fetch, door, task.id)
    const first = await take(stream, 1)
    await begin(fetch, 'forty-two', { taskId: task.id })
    const all = [...first, ...(await takeAll(stream))]
    expect(statesOf(all)).toEqual(['INPUT_REQUIRED', 'WORKING', 'COMPLETED'])
    expect(foldFrames(all).artifacts).toEqual((await getTask(fetch, task.id)).artifacts)
  })

  test('a subscription stays open through further questions', async () => {
    const asker = agent({ name: 'Asker', description: 'Asks twice.' }, (task) =>
      task.turn < 3 ? inputRequired(`question ${task.turn}`) : completed('enough'),
    )
    const { fetch } = await openStill(asker)
    const { task } = await result(fetch, binding, 'SendMessage', { message: userMessage('go') })
    const stream = subscribe(fetch, door, task.id)
    const frames = await take(stream, 1)
    for (const text of ['first', 'second']) await result(fetch, binding, 'SendMessage', { message: userMessage(text, { taskId: task.id }) })
    frames.push(...(await takeAll(stream)))
    expect(statesOf(frames)).toEqual(['INPUT_REQUIRED', 'WORKING', 'INPUT_REQUIRED', 'WORKING', 'COMPLETED'])
  })

  test.each([
    ['a store that is not able', new UnavailableError(), 503, 'UNAVAILABLE'],
    ['a fault', new Error('secret at /etc/passwd'), door === 'JSONRPC' ? 200 : 500, 'INTERNAL'],
  ])('%s before the first frame is a plain error', async (_, thrown, status, reason) => {
    let isBroken = false
    const store = withStore((inner) => ({
      read: (ref) => (isBroken ? Promise.reject(thrown) : inner.read(ref)),
    }))
    const { fetch } = await openStill(scriptAgent, { store })
    const id = await begin(fetch, 'hold')
    isBroken = true
    const response = await fetch(subscribeRequest(door, id))
    const text = await response.text()
    expect(response.status).toBe(status)
    expect(response.headers.get('content-type')).toMatch(/json/)
    expect(text).toContain(reason)
    expect(text).not.toMatch(/secret|passwd|\.ts|\.js/)
  })

  test('subscribers who join at different times get the same frames in the same order', async () => {
    const steps = Array.from({ length: 5 }, gate)
    const stepping = agent({ name: 'Steps', description: 'Goes step by step.' }, async function* () {
      for (const [number, step] of steps.entries()) {
        await step.opened
        yield chunk('a', `step ${number}`)
      }
    })
    const { fetch } = await openStill(stepping)
    const id = await begin(fetch, 'go')
    const oldest = subscribe(fetch, door, id)
    await take(oldest, 1)
    const others = []
    const every = []
    for (const [number, step] of steps.entries()) {
      const other = subscribe(fetch, door, id)
      await take(other, 1)
      others.push({ from: every.length, other })
      step.open()
      // The first chunk brings WORKING with it.
      every.push(...(await take(oldest, number === 0 ? 2 : 1)))
    }
    every.push(...(await takeAll(oldest)))
    for (const { from, other } of others) expect(await takeAll(other)).toEqual(every.slice(from))
  })
})

test('a body of SubscribeToTask may be absent, empty or say the same as the path', async () => {
  const { fetch } = await openStill(scriptAgent)
  const id = await begin(fetch, 'hold')
  const headers = { 'a2a-version': '1.0', authorization: 'Bearer alice' }
  const url = `http://agent.test/rest/tasks/${id}:subscribe`
  const json = { ...headers, 'content-type': 'application/json' }
  for (const init of [
    { headers },
    { headers: json, body: '' },
    { headers: json, body: '{}' },
    { headers: json, body: JSON.stringify({ id }) },
  ]) {
    const response = await fetch(new Request(url, { method: 'POST', ...init }))
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    await response.body?.cancel()
  }
  expect((await call(fetch, 'HTTP+JSON', 'GetTask', { id })).status).toBe(200)
})
