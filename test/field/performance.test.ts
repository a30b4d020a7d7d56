/** Field cases of load, counted instead of timed: nobody's slowness is anybody else's, and cost is linear. */

import { describe, expect, test } from 'vitest'
import { agent, chunk, completed, working } from '../../src/index.js'
import { bindingNames, call, frames, requestFor, result, userMessage } from '../harness/server.js'
import { begin, gate, getTask, openStill, statesOf, subscribeRequest, take, takeAll, until } from '../runtime/kit.js'
import { openWatched } from '../store/sqlite/watched.js'

describe.each(bindingNames)('over %s', (binding) => {
  test('F016 a burst that wedges the server: 200 tasks of 20 events end in one instant, unread streams beside them, and the card is answered throughout', async () => {
    const start = gate()
    let ready = 0
    const bursting = agent({ name: 'Bursting', description: 'Ends with all the others.' }, async function* () {
      ready++
      await start.opened
      for (let i = 0; i < 18; i++) yield chunk('a', `${i};`)
      return completed('done')
    })
    const { fetch } = await openStill(bursting, { concurrency: 200 })
    const send = () => call(fetch, binding, 'SendMessage', { message: userMessage('go'), configuration: { returnImmediately: true } })
    const answers = await Promise.all(Array.from({ length: 200 }, send))
    const ids = answers.map(({ body }) => ((body as any).result ?? body).task.id)
    await until(() => ready === 200)
    const door = binding === 'JSONRPC' ? 'JSONRPC' : 'GET'
    // Opened, and never read from.
    const unread = await Promise.all(ids.slice(0, 50).map((id) => fetch(subscribeRequest(door, id))))
    start.open()
    let cards = 0
    await until(async () => {
      const card = await fetch(new Request('http://agent.test/.well-known/agent-card.json'))
      expect(card.status).toBe(200)
      cards++
      return (await result(fetch, binding, 'ListTasks', { status: 'TASK_STATE_COMPLETED', pageSize: 1 })).totalSize === 200
    })
    expect(cards).toBeGreaterThan(0)
    for (const response of unread) await response.body?.cancel()
    expect((await getTask(fetch, ids[0])).artifacts[0].parts).toHaveLength(18)
  })

  test('F017 one pool for work and for news of it: agents that wait for their own events to be read go on, and those without a place are answered', async () => {
    const places = 4
    const readGates = new Map<string, ReturnType<typeof gate>>()
    const gateOf = (text: string) => {
      const made = readGates.get(text) ?? gate()
      readGates.set(text, made)
      return made
    }
    const waiting = agent({ name: 'Waiting', description: 'Goes on when it has been read.' }, async function* (task) {
      yield working(task.text)
      await gateOf(task.text).opened
      return completed('read')
    })
    const { fetch } = await openStill(waiting, { concurrency: places })
    const open = (text: string) => frames(fetch, binding, 'SendStreamingMessage', { message: userMessage(text) })
    const first = Array.from({ length: places }, (_, i) => open(`first ${i}`))
    const working1 = await Promise.all(first.map((stream) => take(stream, 2)))
    expect(working1.map((seen) => statesOf(seen))).toEqual(Array(places).fill(['SUBMITTED', 'WORKING']))
    const later = Array.from({ length: places }, (_, i) => open(`later ${i}`))
    const opened = await Promise.all(later.map((stream) => take(stream, 1)))
    expect(opened.map((seen) => statesOf(seen))).toEqual(Array(places).fill(['SUBMITTED']))
    const ids = opened.map(([frame]) => frame?.data.task.id as string)
    const [one = '', two = ''] = ids
    expect((await getTask(fetch, one)).status.state).toBe('TASK_STATE_SUBMITTED')
    expect(await begin(fetch, 'for your inbox', { taskId: two })).toBe(two)
    expect((await result(fetch, binding, 'CancelTask', { id: one })).status.state).toBe('TASK_STATE_CANCELED')
    for (const [i, seen] of working1.entries()) {
      expect(seen[1]?.data.statusUpdate.status.message.parts).toEqual([{ text: `first ${i}` }])
      gateOf(`first ${i}`).open()
    }
    for (let i = 0; i < places; i++) gateOf(`later ${i}`).open()
    for (const stream of first) expect(statesOf(await takeAll(stream))).toEqual(['COMPLETED'])
    const ends = await Promise.all(later.map(async (stream) => statesOf(await takeAll(stream)).at(-1)))
    expect(ends).toEqual(['CANCELED', 'COMPLETED', 'COMPLETED', 'COMPLETED'])
  })
})

/** What is written while an agent streams `count` chunks of one size. */
async function costOf(count: number) {
  const watched = await openWatched()
  const { fetch } = await openStill(
    agent({ name: 'Dripping', description: 'Puts out token by token.' }, async function* () {
      for (let i = 0; i < count; i++) {
        yield chunk('a', `token-${String(i).padStart(6, '0')} `)
        // Each by itself, as a model gives them.
        if (i % 5 === 0) await new Promise((resolve) => setImmediate(resolve))
      }
      return completed('done')
    }),
    { store: { open: async () => watched.store } },
  )
  const request = requestFor('JSONRPC', 'SendMessage', { message: userMessage('go'), configuration: { historyLength: 0 } })
  const { task } = ((await (await fetch(request)).json()) as any).result
  const writes = watched.ran.filter(({ sql }) => /^\s*(insert|update|replace|delete)/i.test(sql))
  const sizeOf = (value: unknown) => (typeof value === 'string' || value instanceof Uint8Array ? value.length : 8)
  const bytes = writes.reduce((sum, { values }) => sum + values.reduce<number>((total, value) => total + sizeOf(value), 0), 0)
  return { task, writes: writes.length, bytes }
}

test('F119 a task rewritten for each token: five times the chunks cost five times the writes and bytes, and none is lost', async () => {
  const small = await costOf(1_000)
  const large = await costOf(5_000)
  expect(large.task.artifacts[0].parts).toHaveLength(5_000)
  expect(large.task.artifacts[0].parts.at(-1)).toEqual({ text: 'token-004999 ' })
  // A row for each chunk, and the header once for each commit; nothing else grows with what is there already.
  expect(large.writes).toBeLessThan(2 * 5_000)
  expect(large.writes / small.writes).toBeLessThan(6)
  expect(large.bytes / small.bytes).toBeLessThan(7)
})
