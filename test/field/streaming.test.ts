/** Field cases of streams and subscriptions. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { agent, chunk, completed, type Server, sqlite } from '../../src/index.js'
import { UnsupportedOperationError } from '../../src/protocol/errors.js'
import { virtualWorld } from '../../src/testing/virtual-world.js'
import { scriptAgent } from '../harness/script-agent.js'
import { frames, openServer, readFrames, result, userMessage } from '../harness/server.js'
import {
  begin,
  bindingOf,
  closeStill,
  foldFrames,
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

/** Gives its work to somebody else, and waits to be told. */
const handsOver = agent({ name: 'Print shop', description: 'Has things printed.' }, async function* (task) {
  yield chunk('log', 'sent to the printer', { last: true })
  return completed('done', await task.wait<{ pages: number }>('printed'))
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
        const seen = await takeAll(readFrames(response, binding))
        expect(Object.keys(seen[0]?.data)).toEqual(['task'])
        expect(seen[0]?.data.task.artifacts?.[0].parts.length ?? 0).toBeGreaterThanOrEqual(before.artifacts?.[0].parts.length ?? 0)
        for (const { data } of seen.slice(1)) expect(data.task).toBeUndefined()
        expect(foldFrames(seen)).toEqual(await getTask(fetch, id))
      }
      expect(late).toBeLessThan(races / 2)
    },
  )

  test('F049 a task whose work goes on elsewhere: its streams stay open at WORKING, and a signal of the operator brings the end', async () => {
    const { fetch, server } = await openStill(handsOver)
    const sender = frames(fetch, binding, 'SendStreamingMessage', { message: userMessage('print') })
    const begun = await take(sender, 3)
    const id = taskIdOf(begun)
    const subscriber = subscribe(fetch, door, id)
    const [first] = await take(subscriber, 1)
    expect(first?.data.task.status.state).toBe('TASK_STATE_WORKING')
    // A reader that hangs up takes nothing with it, and comes back where it was.
    const [gone] = await take(subscribe(fetch, door, id, { lastEventId: '1' }), 1)
    await server.signal(id, 'another', {})
    await server.signal(id, 'printed', { pages: 12 })
    const rest = await takeAll(sender)
    expect(statesOf([...begun, ...rest])).toEqual(['SUBMITTED', 'WORKING', 'COMPLETED'])
    expect(await takeAll(subscriber)).toEqual(rest)
    const missed = await takeAll(subscribe(fetch, door, id, { lastEventId: begun.at(-1)?.id }))
    expect(missed).toEqual(rest)
    expect(Number(gone?.id)).toBe(2)
    const task = await getTask(fetch, id)
    expect(foldFrames([...begun, ...rest])).toEqual(task)
    expect(task.artifacts.at(-1).parts).toEqual([{ data: { pages: 12 } }])
    await expect(server.signal(id, 'printed', { pages: 13 })).rejects.toThrow(UnsupportedOperationError)
    expect(await getTask(fetch, id)).toEqual(task)
  })

  test('F049 a restart while the work goes on elsewhere: the signal reaches the task, and who subscribes again misses nothing', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'errand-field-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const world = virtualWorld()
    const first = await openServer(handsOver, { world, store: sqlite(join(folder, 'tasks.db')) })
    const stream = frames(first.fetch, binding, 'SendStreamingMessage', { message: userMessage('print') })
    const begun = await take(stream, 3)
    const id = taskIdOf(begun)
    const cut = takeAll(stream)
    await closeStill(first, world)
    expect(JSON.stringify((await cut).map(({ data }) => data))).toMatch(/^\[\{.*UNAVAILABLE/)
    const { fetch, server } = await openStill(handsOver, { store: sqlite(join(folder, 'tasks.db')) })
    const missed = takeAll(subscribe(fetch, door, id, { lastEventId: begun.at(-1)?.id }))
    await server.signal(id, 'printed', { pages: 12 })
    expect(statesOf(await missed)).toEqual(['COMPLETED'])
    expect(foldFrames([...begun, ...(await missed)])).toEqual(await getTask(fetch, id))
  })
})
