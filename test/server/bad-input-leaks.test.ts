/** Clients that leave at the worst moment leave nothing behind in the server: no stream, no timer, no listener. */

import { afterEach, expect, test } from 'vitest'
import { createFetch } from '../../src/server/fetch.js'
import { defaultLimits } from '../../src/server/options.js'
import type { World } from '../../src/support/world.js'
import { virtualWorld } from '../../src/testing/virtual-world.js'
import { findingLog } from '../fuzz/judge.js'
import { openRaw, rawRequest } from '../fuzz/raw-http.js'
import { scriptAgent } from '../harness/script-agent.js'
import { frames, openServer, openSocket, result, userMessage } from '../harness/server.js'

const rejections: unknown[] = []
process.on('unhandledRejection', (reason) => void rejections.push(reason))
afterEach(() => expect(rejections.splice(0)).toEqual([]))

/** A virtual world that knows which of its timers are set, and tells of the next one. */
function watchedWorld() {
  const world = virtualWorld()
  const timers = new Set<object>()
  let set = () => {}
  const watched: World = {
    ...world,
    timer(ms, fire) {
      const own = {}
      timers.add(own)
      const stop = world.timer(ms, () => {
        timers.delete(own)
        fire()
      })
      set()
      return () => {
        timers.delete(own)
        stop()
      }
    },
  }
  return { world: watched, timers, advance: world.advance, nextTimer: () => new Promise<void>((resolve) => (set = resolve)) }
}

const headers = { 'a2a-version': '1.0', authorization: 'Bearer alice', 'content-type': 'application/json' }

test('a stream that stands behind another answer in its connection ends with the connection', async () => {
  const { world, timers, advance, nextTimer } = watchedWorld()
  const log = findingLog()
  const server = await openSocket(scriptAgent, { world, log, limits: { shutdownMs: 0 } })
  await advance(0)
  // Of the server itself, which looks now and then whether there is something to do.
  const atRest = timers.size
  let held = ''
  for await (const { data } of frames(server.fetch, 'JSONRPC', 'SendStreamingMessage', { message: userMessage('hold') })) {
    held ||= data.task.id
    if (data.statusUpdate?.status.message) break
  }
  // The stream just left looks once more and finds nobody.
  await advance(defaultLimits.keepAliveMs)
  expect(timers.size).toBe(atRest)

  const connection = await openRaw(server.url)
  const watched = nextTimer()
  const first = rawRequest('POST', '/rest/message:send', headers, JSON.stringify({ message: userMessage('hold') }))
  await connection.write(Buffer.concat([first, rawRequest('GET', `/rest/tasks/${held}:subscribe`, headers)]))
  await watched
  connection.destroy()
  await connection.closed
  // The server hears of it within a few turns of the event loop; a leak stays however many there are.
  for (let turn = 0; turn < 100 && timers.size > atRest; turn++) await advance(defaultLimits.keepAliveMs)
  expect(timers.size).toBe(atRest)
  expect(log.findings.map((one) => one.slice(0, 300))).toEqual([])
  const closing = server.close()
  await advance(1000)
  await closing
})

test('fifty requests at once in one connection, and a hang-up, cause no warning', async () => {
  const warnings: Error[] = []
  const note = (warning: Error) => void warnings.push(warning)
  process.on('warning', note)
  const log = findingLog()
  const server = await openSocket(scriptAgent, { log, limits: { shutdownMs: 0 } })
  const connection = await openRaw(server.url)
  const requests = Array.from({ length: 50 }, () =>
    rawRequest('POST', '/rest/message:send', headers, JSON.stringify({ message: userMessage('hold') })),
  )
  await connection.write(Buffer.concat(requests))
  for (let total = 0; total < 50; ) total = (await result(fetch, 'HTTP+JSON', 'ListTasks', {}, { url: server.url })).totalSize
  connection.destroy()
  await connection.closed
  await server.close()
  process.off('warning', note)
  expect(warnings).toEqual([])
  expect(log.findings.map((one) => one.slice(0, 300))).toEqual([])
})

test('a Fetch reader that leaves between two events lets go of the log', async () => {
  let isLeft = false
  async function* endless() {
    try {
      for (;;) yield 'data: {}\n\n'
    } finally {
      isLeft = true
    }
  }
  const ended: AbortController[] = []
  const handler = {
    handle: async () => ({ status: 200, headers: {}, body: endless() }),
    done: (call: AbortController) => void ended.push(call),
    stop: () => {},
  }
  const { world, timers, advance } = watchedWorld()
  const fetching = createFetch({ handler, limits: defaultLimits, world })
  const reader = (await fetching(new Request('http://agent.test/'))).body?.getReader()
  await reader?.read()
  await reader?.cancel()
  expect(isLeft).toBe(true)
  expect(ended.map(({ signal }) => signal.aborted)).toEqual([true])
  await advance(2 * defaultLimits.keepAliveMs)
  expect(timers.size).toBe(0)
})

test('a Fetch client that leaves while its body is being read is no error of the server', async () => {
  const log = findingLog()
  const server = await openServer(scriptAgent, { log })
  const leaving = new AbortController()
  const cut = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    leaving.abort()
    controller.error(new TypeError('terminated'))
  }
  const body = new ReadableStream<Uint8Array>({ pull: cut }, { highWaterMark: 0 })
  const init = { method: 'POST', headers, body, signal: leaving.signal, duplex: 'half' }
  await server.fetch(new Request('http://agent.test/rest/message:send', init))
  expect(log.findings.map((one) => one.slice(0, 300))).toEqual([])
  await server.close()
})

test('a body of a million pieces of one byte takes little more memory than its length', async () => {
  const server = await openServer(scriptAgent)
  const heap = () => process.memoryUsage().arrayBuffers
  const before = heap()
  let most = 0
  let left = 1_000_000
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (left-- === 0) return controller.close()
        controller.enqueue(Uint8Array.of(0x20))
        if (left % 10_000 === 0) most = Math.max(most, heap() - before)
      },
    },
    { highWaterMark: 0 },
  )
  const init = { method: 'POST', headers, body, duplex: 'half' }
  const response = await server.fetch(new Request('http://agent.test/a2a/v1', init))
  expect(await response.text()).toContain('PARSE_ERROR')
  expect(most).toBeLessThan(50 << 20)
  await server.close()
})
