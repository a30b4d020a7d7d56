/** A stream that was cut goes on where it stopped (D15), on every way to subscribe. */

import { describe, expect, test } from 'vitest'
import { agent, artifact, chunk, completed, working } from '../../src/index.js'
import { frames, userMessage } from '../harness/server.js'
import {
  begin,
  bindingOf,
  foldFrames,
  type Gate,
  gate,
  getTask,
  numbersOf,
  openStill,
  statesOf,
  subscribe,
  subscribeDoors,
  subscribeRequest,
  take,
  takeAll,
  taskIdOf,
} from '../runtime/kit.js'

/** Two chunks, then whatever the test lets through. */
const paused = (gates: Gate) =>
  agent({ name: 'Paused', description: 'Waits in the middle.' }, async function* () {
    yield chunk('poem', 'one ')
    yield chunk('poem', 'two ')
    await gates.opened
    yield working('nearly there')
    yield chunk('poem', 'three', { last: true })
    yield artifact('title', 'Numbers')
    return completed('done', { lines: 3 })
  })

describe.each(subscribeDoors)('over %s', (door) => {
  const binding = bindingOf(door)

  test('a stream cut after two events and subscribed again ends with the task that one never cut ends with', async () => {
    const gates = gate()
    const { fetch } = await openStill(paused(gates))
    const sent = frames(fetch, binding, 'SendStreamingMessage', { message: userMessage('go') })
    const before = await take(sent, 3)
    const id = taskIdOf(before)
    const whole = subscribe(fetch, door, id)
    const opened = await take(whole, 1)
    await sent.return(undefined)
    const again = subscribe(fetch, door, id)
    const first = await take(again, 1)
    expect(Object.keys(first[0]?.data)).toEqual(['task'])
    gates.open()
    const folded = foldFrames([...before, ...first, ...(await takeAll(again))])
    expect(folded).toEqual(await getTask(fetch, id))
    expect(foldFrames([...opened, ...(await takeAll(whole))])).toEqual(folded)
  })

  test('with Last-Event-ID no event is missing or double, from whichever event on, while the task is at work', async () => {
    const gates = gate()
    const { fetch } = await openStill(paused(gates))
    const whole = frames(fetch, binding, 'SendStreamingMessage', { message: userMessage('go') })
    const before = await take(whole, 4)
    const id = taskIdOf(before)
    const resumed = numbersOf(before).map((number) => takeAll(subscribe(fetch, door, id, { lastEventId: String(number) })))
    gates.open()
    const every = [...before, ...(await takeAll(whole))]
    for (const [place, got] of (await Promise.all(resumed)).entries()) expect(got).toEqual(every.slice(place + 1))
  })

  test('with Last-Event-ID no event is missing or double when the task ended during the cut', async () => {
    const gates = gate()
    const { fetch } = await openStill(paused(gates))
    gates.open()
    const every = await takeAll(frames(fetch, binding, 'SendStreamingMessage', { message: userMessage('go') }))
    const id = taskIdOf(every)
    for (const place of every.slice(0, -1).keys()) {
      const got = await takeAll(subscribe(fetch, door, id, { lastEventId: String(every[place]?.id) }))
      expect(got).toEqual(every.slice(place + 1))
      expect(foldFrames([...every.slice(0, place + 1), ...got])).toEqual(await getTask(fetch, id))
    }
  })

  test('the number of a user’s message, which is no frame, is a place to go on from', async () => {
    const asking = agent({ name: 'Ask', description: 'Waits for a message.' }, async function* (task) {
      yield working()
      const more = await task.inbox.next()
      return completed('got it', { id: more?.messageId ?? null })
    })
    const { fetch } = await openStill(asking)
    const id = await begin(fetch, 'go')
    const stream = subscribe(fetch, door, id)
    await take(stream, 1)
    await begin(fetch, 'more', { taskId: id })
    const tail = await takeAll(stream)
    const numbers = numbersOf(tail)
    // The message stands between the note and the result, and streams pass it over.
    const message = (numbers[0] ?? 0) - 1
    expect(await takeAll(subscribe(fetch, door, id, { lastEventId: String(message) }))).toEqual(tail)
    expect(statesOf(tail)).toEqual(['COMPLETED'])
  })

  test('an empty Last-Event-ID is none: the first frame is the task', async () => {
    const gates = gate()
    const { fetch } = await openStill(paused(gates))
    const id = await begin(fetch, 'go')
    const [first] = await take(subscribe(fetch, door, id, { lastEventId: '' }), 1)
    expect(first?.data.task).toMatchObject({ id })
    gates.open()
  })

  test('nothing left of a finished task is UnsupportedOperation, and no stream is opened', async () => {
    const gates = gate()
    const { fetch } = await openStill(paused(gates))
    gates.open()
    const every = await takeAll(frames(fetch, binding, 'SendStreamingMessage', { message: userMessage('go') }))
    const id = taskIdOf(every)
    const response = await fetch(subscribeRequest(door, id, { lastEventId: String(every.at(-1)?.id) }))
    expect(response.headers.get('content-type')).toMatch(/json/)
    expect(response.status).toBe(door === 'JSONRPC' ? 200 : 400)
    expect(await response.text()).toContain('UNSUPPORTED_OPERATION')
  })

  test.each(['0', '-1', '1.5', '1e1', 'abc', '01', '+1', '0x1', '99999', '9007199254740993', '99999999999999999999', '1 2', '1,2'])(
    'a Last-Event-ID that is no number of the task’s is InvalidParams: %s',
    async (lastEventId) => {
      const gates = gate()
      const { fetch } = await openStill(paused(gates))
      const id = await begin(fetch, 'go')
      const response = await fetch(subscribeRequest(door, id, { lastEventId }))
      expect(response.headers.get('content-type')).toMatch(/json/)
      const { error } = (await response.json()) as any
      expect(error.code).toBe(door === 'JSONRPC' ? -32602 : 400)
      expect(JSON.stringify(error)).toContain('"field":"Last-Event-ID"')
      gates.open()
    },
  )
})
