/** What is posted, in which order, with which headers, and what an answer means (D22 to D24). */

import { describe, expect, test } from 'vitest'
import { agent, chunk, completed, inputRequired, working } from '../../src/index.js'
import { scriptAgent } from '../harness/script-agent.js'
import { frames, result, userMessage } from '../harness/server.js'
import { begin, gate } from '../runtime/kit.js'
import { createConfig, hook, numbersOf, openPushing, outcomesOf, saysOf, send } from './kit.js'

const steady = agent({ name: 'Steady', description: 'Says five things.' }, async function* (task) {
  yield working('one')
  yield chunk('a', 'two ')
  yield chunk('a', 'three', { last: true })
  yield working('four')
  return task.turn > 1 ? completed('again') : completed('five')
})

describe('what is posted', () => {
  test('each status and artifact update after the creation, in order, as streams show it', async () => {
    const pushing = await openPushing(steady)
    const shown: any[] = []
    const configuration = { taskPushNotificationConfig: { url: hook } }
    for await (const frame of frames(pushing.fetch, 'JSONRPC', 'SendStreamingMessage', { message: userMessage('go'), configuration }))
      shown.push(frame)
    await pushing.world.advance(0)
    expect(shown[0]?.data.task).toBeDefined()
    expect(pushing.posts.map(({ event }) => event)).toEqual(shown.slice(1).map(({ data }) => data))
    expect(numbersOf(pushing.posts)).toEqual(shown.slice(1).map(({ id }) => Number(id)))
    for (const { event } of pushing.posts) expect(Object.keys(event)).toHaveLength(1)
    expect(pushing.posts.at(-1)?.event.statusUpdate.status.state).toBe('TASK_STATE_COMPLETED')
  })

  test('F014 headers: type, authorization and token from the configuration, a key and a trace', async () => {
    const pushing = await openPushing(scriptAgent)
    const task = await send(pushing, 'note x', { id: 'mine', token: 't0k en', authentication: { scheme: 'BeArEr', credentials: 'cred' } })
    await pushing.world.advance(0)
    const [working, end] = pushing.posts
    expect(working?.headers).toEqual({
      'content-type': 'application/a2a+json',
      authorization: 'BeArEr cred',
      'x-a2a-notification-token': 't0k en',
      'idempotency-key': `${task.id}:mine:2`,
      traceparent: expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/),
    })
    expect(end?.headers['idempotency-key']).toBe(`${task.id}:mine:3`)
    expect(end?.headers['traceparent']?.slice(0, 35)).not.toBe(working?.headers['traceparent']?.slice(0, 35))
  })

  test('without secrets there is neither authorization nor token, and an id of any characters makes a header', async () => {
    const pushing = await openPushing(scriptAgent)
    const task = await send(pushing, 'ask', { id: 'ü x%/😀', authentication: { scheme: 'Bearer' } })
    await pushing.world.advance(0)
    expect(Object.keys(pushing.posts[0]?.headers ?? {})).toEqual(['content-type', 'idempotency-key', 'traceparent'])
    expect(pushing.posts[0]?.headers['idempotency-key']).toBe(`${task.id}:%C3%BC%20x%25/%F0%9F%98%80:2`)
  })

  test('messages of users are not pushed, and a follow-up brings its configuration what comes after it', async () => {
    const pushing = await openPushing(scriptAgent)
    const { task } = await result(pushing.fetch, 'JSONRPC', 'SendMessage', { message: userMessage('ask') })
    await send(pushing, '42', {}, { taskId: task.id })
    await pushing.world.advance(0)
    expect(pushing.posts.map(saysOf)).toEqual(['WORKING', [{ data: { answer: '42' } }], 'COMPLETED'])
  })

  test('one made by its own operation begins with the Task as it was then, however late it is posted, and goes on after it', async () => {
    const pushing = await openPushing(scriptAgent)
    const taskId = await begin(pushing.fetch, 'ask')
    await pushing.world.advance(0)
    let answer = (_: number) => {}
    pushing.answer = () => new Promise((resolve) => (answer = resolve))
    await createConfig(pushing, taskId, { id: 'late' })
    await pushing.world.advance(0)
    await result(pushing.fetch, 'JSONRPC', 'SendMessage', { message: userMessage('42', { taskId }) })
    pushing.answer = () => 204
    answer(503)
    await pushing.world.advance(10_000)
    expect(pushing.posts.map(saysOf).slice(0, 3)).toEqual([{ task: 'INPUT_REQUIRED' }, { task: 'INPUT_REQUIRED' }, 'WORKING'])
    expect(pushing.posts[0]?.body).toBe(pushing.posts[1]?.body)
    expect(pushing.posts[1]?.event.task.history).toHaveLength(2)
    expect(saysOf(pushing.posts.at(-1) as never)).toBe('COMPLETED')
  })

  test('a task that is over is told to a configuration made then, once, and no more is open', async () => {
    const pushing = await openPushing(scriptAgent)
    const { task } = await result(pushing.fetch, 'JSONRPC', 'SendMessage', { message: userMessage('echo') })
    await createConfig(pushing, task.id)
    await pushing.world.advance(200_000)
    expect(pushing.posts.map(saysOf)).toEqual([{ task: 'COMPLETED' }])
  })

  test('F019 nothing but the answer is sooner with returnImmediately: every update is pushed, the last too', async () => {
    const pushing = await openPushing(steady)
    const configuration = { returnImmediately: true, taskPushNotificationConfig: { url: hook } }
    await result(pushing.fetch, 'JSONRPC', 'SendMessage', { message: userMessage('go'), configuration })
    await pushing.world.advance(0)
    expect(pushing.posts.map(saysOf)).toEqual(['WORKING', [{ text: 'two ' }], [{ text: 'three' }], 'WORKING', 'COMPLETED'])
  })
})

describe('D23, the table', () => {
  const deliver = async (status: number | 'refuse' | 'hang') => {
    const pushing = await openPushing(scriptAgent)
    pushing.answer = ({ number }) => (number === 2 ? status : 204)
    const task = await send(pushing, 'note x', { id: 'c' })
    await pushing.world.advance(200_000)
    return { posts: numbersOf(pushing.posts), deliveries: outcomesOf(await pushing.server.deliveries(task.id)) }
  }

  test.each([200, 201, 202, 204, 299])('%i is delivered', async (status) => {
    const { posts, deliveries } = await deliver(status)
    expect(posts).toEqual([2, 3])
    expect(deliveries).toEqual([
      { number: 2, attempt: 1, outcome: 'delivered', status },
      { number: 3, attempt: 1, outcome: 'delivered', status: 204 },
    ])
  })

  test.each([400, 401, 403, 405, 409, 413, 415, 422, 451, 499])('%i is dropped at once, and the next one is tried', async (status) => {
    const { posts, deliveries } = await deliver(status)
    expect(posts).toEqual([2, 3])
    expect(deliveries[0]).toEqual({ number: 2, attempt: 1, outcome: 'dropped', status })
  })

  test.each([404, 408, 425, 429, 500, 502, 503, 504, 301, 302, 307, 308, 304, 599])(
    'no-retry: %i is tried three times, and then dropped',
    async (status) => {
      const { posts, deliveries } = await deliver(status)
      expect(posts).toEqual([2, 2, 2, 3])
      expect(deliveries.slice(0, 3)).toEqual([
        { number: 2, attempt: 1, outcome: 'failed', status },
        { number: 2, attempt: 2, outcome: 'failed', status },
        { number: 2, attempt: 3, outcome: 'dropped', status },
      ])
    },
  )

  test.each([
    ['refuse', 'connection'],
    ['hang', 'timeout'],
  ] as const)('a receiver that does %s is tried three times, and then passed over', async (how, failure) => {
    const { posts, deliveries } = await deliver(how)
    expect(posts).toEqual([2, 2, 2, 3])
    expect(deliveries[2]).toEqual({ number: 2, attempt: 3, outcome: 'dropped', failure })
  })

  test('410 ends the configuration: nothing more is posted to it', async () => {
    const { posts, deliveries } = await deliver(410)
    expect(posts).toEqual([2])
    expect(deliveries).toEqual([{ number: 2, attempt: 1, outcome: 'ended', status: 410 }])
  })

  test('an answer has fifteen seconds, and the pauses between attempts grow and are no round numbers', async () => {
    const pushing = await openPushing(scriptAgent)
    pushing.answer = ({ number }) => (number === 2 ? 'hang' : 204)
    await send(pushing, 'note x')
    const start = pushing.world.now()
    await pushing.world.advance(14_999)
    expect(pushing.posts).toHaveLength(1)
    await pushing.world.advance(200_000)
    const [, second = 0, third = 0, next = 0] = pushing.posts.map(({ at }) => at - start)
    expect(second - 15_000).toBeGreaterThanOrEqual(500)
    expect(second - 15_000).toBeLessThanOrEqual(1_000)
    expect(third - second - 15_000).toBeGreaterThanOrEqual(2_000)
    expect(third - second - 15_000).toBeLessThanOrEqual(4_000)
    expect(next - third).toBe(15_000)
    expect(pushing.posts[0]?.headers['idempotency-key']).toBe(pushing.posts[1]?.headers['idempotency-key'])
    // One trace, and a span for each attempt.
    const [one = '', two = ''] = pushing.posts.map(({ headers }) => headers['traceparent'])
    expect(one.slice(0, 35)).toBe(two.slice(0, 35))
    expect(one).not.toBe(two)
  })

  test('options: attempts, the time of one and the pause after it', async () => {
    const pushing = await openPushing(scriptAgent, { push: { attempts: 2, timeoutMs: 300, backoffMs: 0 } })
    pushing.answer = ({ number }) => (number === 2 ? 'hang' : 204)
    await send(pushing, 'note x')
    await pushing.world.advance(600)
    expect(numbersOf(pushing.posts)).toEqual([2, 2, 3])
  })
})

/** Six statuses: 2 to 6 working, 7 a question; then, on an answer, the end. */
const chatty = agent({ name: 'Chatty', description: 'Says much.' }, async function* (task) {
  if (task.turn > 1) {
    yield working('still here')
    return completed('done')
  }
  for (let n = 1; n <= 5; n++) yield working(`note ${n}`)
  return inputRequired('Which?')
})

describe('five events to a receiver that always answers 404', () => {
  test('retry-forever: fifteen attempts, five recorded drops, and then only interrupted and final states are tried', async () => {
    const pushing = await openPushing(chatty)
    pushing.answer = () => 404
    const task = await send(pushing, 'go', { id: 'c' })
    await pushing.world.advance(600_000)
    expect(numbersOf(pushing.posts)).toEqual([2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 6, 7, 7, 7])
    const deliveries = await pushing.server.deliveries(task.id)
    expect(deliveries.filter(({ number }) => number < 7)).toHaveLength(15)
    expect(numbersOf(deliveries.filter(({ outcome }) => outcome === 'dropped'))).toEqual([2, 3, 4, 5, 6, 7])
    // It rests: of what follows the notes are passed over, the end is tried.
    await result(pushing.fetch, 'JSONRPC', 'SendMessage', { message: userMessage('this', { taskId: task.id }) })
    await pushing.world.advance(600_000)
    expect(pushing.posts.slice(18).map(saysOf)).toEqual(['COMPLETED', 'COMPLETED', 'COMPLETED'])
    await pushing.world.advance(600_000)
    expect(pushing.posts).toHaveLength(21)
  })

  test('a resting configuration is woken by an answer 2xx', async () => {
    const pushing = await openPushing(chatty)
    pushing.answer = ({ number }) => (number < 7 ? 404 : 204)
    const task = await send(pushing, 'go', { id: 'c' })
    await pushing.world.advance(600_000)
    await result(pushing.fetch, 'JSONRPC', 'SendMessage', { message: userMessage('this', { taskId: task.id }) })
    await pushing.world.advance(0)
    expect(pushing.posts.slice(16).map(saysOf)).toEqual(['WORKING', 'WORKING', 'COMPLETED'])
  })
})

test('out-of-order: a receiver that answers slowly gets each event after the one before it, and no other receiver waits', async () => {
  const pushing = await openPushing(steady)
  const slow = gate()
  pushing.answer = async ({ url, number }) => {
    if (url === hook && number === 2) await slow.opened
    return 204
  }
  const message = userMessage('go')
  const { task } = await result(pushing.fetch, 'JSONRPC', 'SendMessage', {
    message,
    configuration: { taskPushNotificationConfig: { url: hook } },
  })
  await createConfig(pushing, task.id, { url: 'https://other.example/' })
  await pushing.world.advance(5_000)
  const numbers = (of: string) => numbersOf(pushing.posts.filter(({ url }) => url === of))
  expect(numbers(hook)).toEqual([2])
  expect(numbers('https://other.example/')).toEqual([6])
  slow.open()
  await pushing.world.advance(0)
  expect(numbers(hook)).toEqual([2, 3, 4, 5, 6])
})

test('double-final: a task that has ended is told so once, and is quiet from then on', async () => {
  const pushing = await openPushing(steady)
  await send(pushing, 'go')
  await pushing.world.advance(500_000)
  expect(pushing.posts.filter((post) => saysOf(post) === 'COMPLETED')).toHaveLength(1)
  expect(new Set(pushing.posts.map(({ headers }) => headers['idempotency-key'])).size).toBe(5)
})

test('an unreachable receiver leaves the task COMPLETED and its stream on time', async () => {
  const pushing = await openPushing(steady)
  pushing.answer = () => 'hang'
  const configuration = { taskPushNotificationConfig: { url: hook } }
  const states: string[] = []
  for await (const { data } of frames(pushing.fetch, 'JSONRPC', 'SendStreamingMessage', { message: userMessage('go'), configuration })) {
    if (data.statusUpdate) states.push(data.statusUpdate.status.state)
  }
  // No time has passed.
  expect(states.at(-1)).toBe('TASK_STATE_COMPLETED')
  expect(pushing.posts).toHaveLength(1)
})
