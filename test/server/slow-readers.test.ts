/** Readers that stop reading, or leave: they cost what the limits allow, slow nobody, and leave nothing behind. */

import { channel } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { agent, chunk, completed, type RunningServer } from '../../src/index.js'
import type { World } from '../../src/support/world.js'
import { virtualWorld } from '../../src/testing/virtual-world.js'
import { type BindingName, bindingNames, frames, openServer, openSocket, userMessage } from '../harness/server.js'
import {
  begin,
  closeStill,
  gate,
  getTask,
  quietStore,
  subscribe,
  subscribeDoors,
  subscribeRequest,
  take,
  takeAll,
  until,
  withStore,
} from '../runtime/kit.js'

const chunkBytes = 64 << 10
const totalBytes = 20 << 20
const unsentBytes = 256 << 10
/** Read from the log at once at most, and what a batch may be beyond that: one event, and the frames around all of them. */
const batchBytes = (1 << 20) + 2 * chunkBytes

/** The server's side of each exchange, as node tells of it. */
function responses(): readonly ServerResponse[] {
  const seen: ServerResponse[] = []
  const started = channel('http.server.request.start')
  // The channel's messages have these members.
  const keep = (message: unknown) =>
    void seen.push((message as { readonly request: IncomingMessage; readonly response: ServerResponse }).response)
  started.subscribe(keep)
  onTestFinished(() => void started.unsubscribe(keep))
  return seen
}

/** A raw connection that has sent the request and reads nothing until it is told to. */
async function connectIdle(server: RunningServer, request: Request): Promise<Socket> {
  const { hostname, port, pathname } = new URL(request.url)
  const socket = connect({ host: hostname, port: Number(port) })
  socket.pause()
  socket.on('error', () => undefined)
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  const body = await request.text()
  const head = [...request.headers].map(([name, value]) => `${name}: ${value}\r\n`).join('')
  socket.write(
    `${request.method} ${pathname} HTTP/1.1\r\nhost: ${new URL(server.url).host}\r\n${head}content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  )
  return socket
}

/** Puts out 20 MB once the gate is open, and tells `look` at every chunk. */
function generous(start: Promise<void>, look: () => void) {
  const text = 'x'.repeat(chunkBytes - 16)
  return agent({ name: 'Generous', description: 'Puts out much.' }, async function* () {
    yield chunk('a', 'begin')
    await start
    for (let number = 0; number * chunkBytes < totalBytes; number++) {
      look()
      yield chunk('a', `${String(number).padStart(8, '0')}${text}`)
    }
    return completed('done')
  })
}

async function openGenerous(binding: BindingName, options: { readonly world?: World } = {}) {
  const start = gate()
  const seen = responses()
  let slow: ServerResponse | undefined
  let most = 0
  const look = () => {
    most = Math.max(most, slow?.writableLength ?? 0)
  }
  const server = await openSocket(generous(start.opened, look), { limits: { unsentBytes }, ...options })
  const sender = frames(fetch, binding, 'SendStreamingMessage', { message: userMessage('go') }, { url: server.url })
  const [first] = await take(sender, 3)
  const id: string = first?.data.task.id
  const before = seen.length
  const socket = await connectIdle(server, subscribeRequest(binding === 'JSONRPC' ? 'JSONRPC' : 'GET', id, { url: server.url }))
  await until(() => seen.length > before && seen[before]?.headersSent === true)
  slow = seen[before]
  if (!slow) throw new Error('the server did not see the reader')
  return { server, start, sender, id, socket, slow, look, most: () => most }
}

describe.each(bindingNames)('over %s', (binding) => {
  test('a reader that stops reading while 20 MB are put out costs a bounded memory, slows nobody, and gets everything in order when it reads again', async () => {
    const { server, start, sender, socket, slow, look, most } = await openGenerous(binding)
    onTestFinished(() => server.close())
    start.open()
    // The other reader has everything and the task is completed while this one has read nothing.
    const others = await takeAll(sender)
    expect(others.at(-1)?.data.statusUpdate.status.state).toBe('TASK_STATE_COMPLETED')
    expect(socket.bytesRead).toBeLessThan(totalBytes)
    await until(() => slow.writableLength > unsentBytes)
    look()
    expect(most()).toBeLessThan(unsentBytes + batchBytes)
    let text = ''
    socket.setEncoding('utf8')
    socket.on('data', (data: string) => {
      look()
      text += data
    })
    await once(socket.resume(), 'end')
    expect(most()).toBeLessThan(unsentBytes + batchBytes)
    const numbers = [...text.matchAll(/^id: (\d+)$/gm)].map(([, number]) => Number(number))
    const first = numbers[0] ?? 0
    expect(numbers).toEqual(numbers.map((_, place) => first + place))
    expect(numbers.at(-1)).toBe(Number(others.at(-1)?.id))
    // The task as it was, all chunks, and the end.
    expect(numbers).toHaveLength(totalBytes / chunkBytes + 2)
  })

  test('a reader gets everything where the limit is smaller than what a socket takes at once', async () => {
    const world = virtualWorld()
    const text = 'y'.repeat(2_000)
    const chatty = agent({ name: 'Chatty', description: 'Says a little, often.' }, async function* () {
      for (let number = 0; number < 200; number++) yield chunk('a', text)
    })
    const server = await openSocket(chatty, { world, limits: { unsentBytes: 0 } })
    onTestFinished(() => closeStill(server, world))
    const all = await takeAll(frames(fetch, binding, 'SendStreamingMessage', { message: userMessage('go') }, { url: server.url }))
    expect(all.filter(({ data }) => data.artifactUpdate)).toHaveLength(200)
    expect(all.at(-1)?.data.statusUpdate.status.state).toBe('TASK_STATE_COMPLETED')
  })
})

test('a reader that takes nothing for drainMs is cut, and the task and the others do not notice', async () => {
  const world = virtualWorld()
  const { server, start, sender, id, socket, slow } = await openGenerous('HTTP+JSON', { world })
  onTestFinished(() => closeStill(server, world))
  start.open()
  await takeAll(sender)
  await until(() => slow.writableLength > unsentBytes)
  await world.advance(59_999)
  expect(slow.destroyed).toBe(false)
  const cut = once(slow, 'close')
  await world.advance(1)
  await cut
  expect(slow.writableFinished).toBe(false)
  socket.resume()
  await once(socket, 'close')
  expect(socket.bytesRead).toBeLessThan(totalBytes)
  const task = await getTask((request) => fetch(new Request(request.url.replace('http://agent.test', server.url), request)), id)
  expect(task.status.state).toBe('TASK_STATE_COMPLETED')
})

/** Told of each read of events. Commits come without what is in them, so that every reader has to read. */
function countedStore(tell: () => void) {
  return withStore(
    (inner) => ({
      events(...given) {
        tell()
        return inner.events(...given)
      },
    }),
    quietStore(),
  )
}

test('2,000 subscribers that left leave nothing behind: nothing is read for them and no timer is kept', async () => {
  let reads = 0
  const timers = new Set<object>()
  const still = virtualWorld()
  const world: World = {
    ...still,
    timer(ms, fire) {
      const own = {}
      timers.add(own)
      const takeBack = still.timer(ms, () => {
        timers.delete(own)
        fire()
      })
      return () => {
        timers.delete(own)
        takeBack()
      }
    },
  }
  const store = countedStore(() => reads++)
  const later = gate()
  const patient = agent({ name: 'Patient', description: 'Waits.' }, async function* () {
    yield chunk('a', 'one')
    await later.opened
    for (let number = 0; number < 100; number++) yield chunk('a', 'more')
  })
  const server = await openServer(patient, { world, store })
  onTestFinished(() => closeStill(server, still))
  await still.advance(0)
  // Of the server itself, which looks now and then whether there is something to do.
  const atRest = timers.size
  const id = await begin(server.fetch, 'go')
  const streams = Array.from({ length: 2_000 }, (_, number) => subscribe(server.fetch, subscribeDoors[number % 3] ?? 'GET', id))
  await Promise.all(streams.map((stream) => take(stream, 1)))
  expect(timers.size).toBeGreaterThan(atRest)
  // Half of them leave while a read is under way, half in silence.
  await Promise.all(streams.map((stream) => stream.return(undefined)))
  await still.advance(15_000)
  reads = 0
  later.open()
  await still.advance(0)
  await until(async () => (await getTask(server.fetch, id)).status.state === 'TASK_STATE_COMPLETED')
  expect(reads).toBe(0)
  expect(timers.size).toBe(atRest)
})

test('200 subscribers on sockets that left are read for no more', async () => {
  let reads = 0
  const store = countedStore(() => reads++)
  const later = gate()
  const patient = agent({ name: 'Patient', description: 'Waits.' }, async function* () {
    yield chunk('a', 'one')
    await later.opened
    yield chunk('a', 'two')
  })
  const seen = responses()
  const server = await openSocket(patient, { store })
  onTestFinished(() => server.close())
  const toServer = (request: Request) => fetch(new Request(request.url.replace('http://agent.test', server.url), request))
  const id = await begin(toServer, 'go')
  const sockets = await Promise.all(
    Array.from({ length: 200 }, (_, number) =>
      connectIdle(server, subscribeRequest(subscribeDoors[number % 3] ?? 'GET', id, { url: server.url })),
    ),
  )
  await Promise.all(sockets.map((socket) => once(socket.resume(), 'data')))
  for (const socket of sockets) socket.destroy()
  await until(() => seen.every((response) => response.destroyed))
  reads = 0
  later.open()
  await until(async () => (await getTask(toServer, id)).status.state === 'TASK_STATE_COMPLETED')
  expect(reads).toBe(0)
})
