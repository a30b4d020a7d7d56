/** Field cases of streams and subscriptions. */

import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { agent, chunk, completed, type Server } from '../../src/index.js'
import { scriptAgent } from '../harness/script-agent.js'
import { readFrames, result } from '../harness/server.js'
import {
  begin,
  bindingOf,
  foldFrames,
  getTask,
  openStill,
  quietStore,
  subscribe,
  subscribeDoors,
  subscribeRequest,
  takeAll,
  until,
  withStore,
} from '../runtime/kit.js'

/** Puts out `first word` chunks, one in a turn of the event loop, and ends. */
const ticking = agent({ name: 'Ticking', description: 'Puts out a chunk now and then.' }, async function* (task) {
  const count = Number(task.text)
  for (let i = 0; i < count; i++) {
    yield chunk('a', `${i};`, { last: i === count - 1 })
    await turn()
  }
  return completed('done')
})

/** A store in which the world goes on between a question and its answer. */
function leisurely() {
  return withStore((store) => ({
    async find(...given) {
      const found = await store.find(...given)
      await turn()
      return found
    },
    async read(...given) {
      await turn()
      return store.read(...given)
    },
  }))
}

/** The number of the newest event of a task that has ended. */
async function newestEvent(fetch: Server['fetch'], id: string): Promise<{ readonly lastEventId: string | undefined }> {
  const all = await takeAll(subscribe(fetch, 'GET', id, { lastEventId: '1' }))
  return { lastEventId: all.at(-1)?.id }
}

describe.each(subscribeDoors)('over %s', (door) => {
  const binding = bindingOf(door)

  async function refuses(response: Response): Promise<void> {
    const expected = door === 'JSONRPC' ? [200, 'application/json'] : [400, 'application/a2a+json']
    expect([response.status, response.headers.get('content-type')]).toEqual(expected)
    expect([response.headers.get('cache-control'), response.headers.get('x-accel-buffering')]).toEqual(['no-store', null])
    const { error } = (await response.json()) as any
    expect(error).toMatchObject(door === 'JSONRPC' ? { code: -32004 } : { code: 400, status: 'FAILED_PRECONDITION' })
    expect((error.data ?? error.details)[0].reason).toBe('UNSUPPORTED_OPERATION')
  }

  test.each([
    ['COMPLETED', 'echo'],
    ['FAILED', 'throw'],
    ['REJECTED', 'reject'],
    ['CANCELED', 'hold'],
  ])('F037 a stream for what has ended: a subscription to a task that is %s is a plain error without a stream', async (state, text) => {
    const { fetch } = await openStill(scriptAgent)
    const id = await begin(fetch, text)
    if (state === 'CANCELED') await result(fetch, binding, 'CancelTask', { id })
    await until(async () => (await getTask(fetch, id)).status.state === `TASK_STATE_${state}`)
    const { lastEventId } = await newestEvent(fetch, id)
    for (const options of [{}, { lastEventId }]) await refuses(await fetch(subscribeRequest(door, id, options)))
  })

  test.each([
    [150, 'told of what is committed', undefined],
    [50, 'that read every commit from the log', quietStore()],
    [50, 'of a store that takes its time', leisurely()],
  ])(
    'F053 a change between reading and subscribing: in %i races, readers %s get the task first and then every change once',
    async (races, _, store) => {
      const { fetch } = await openStill(ticking, store && { store })
      let late = 0
      for (let race = 0; race < races; race++) {
        const id = await begin(fetch, String(10 + (race % 7)))
        // The subscription comes in at each of the moments of the task's life.
        for (let turns = race % 11; turns > 0; turns--) await turn()
        const before = await getTask(fetch, id)
        const response = await fetch(subscribeRequest(door, id))
        if (!/event-stream/.test(response.headers.get('content-type') ?? '')) {
          expect(await response.text()).toContain('UNSUPPORTED_OPERATION')
          expect((await getTask(fetch, id)).status.state).toBe('TASK_STATE_COMPLETED')
          late++
          continue
        }
        const frames = await takeAll(readFrames(response, binding))
        expect(Object.keys(frames[0]?.data)).toEqual(['task'])
        expect(frames[0]?.data.task.artifacts?.[0].parts.length ?? 0).toBeGreaterThanOrEqual(before.artifacts?.[0].parts.length ?? 0)
        for (const { data } of frames.slice(1)) expect(data.task).toBeUndefined()
        expect(foldFrames(frames)).toEqual(await getTask(fetch, id))
      }
      expect(late).toBeLessThan(races / 2)
    },
  )
})
