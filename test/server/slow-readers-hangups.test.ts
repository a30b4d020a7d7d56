/** Clients that hang up anywhere in a request or an answer: the server lives, the task goes on, the next caller is served. */

import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { RunningServer } from '../../src/index.js'
import { scriptAgent } from '../harness/script-agent.js'
import { type BindingName, bindingNames, call, openSocket, requestFor, result, userMessage } from '../harness/server.js'
import { keptLog } from '../runtime/kit.js'

/** The bytes of a request as they go over the wire. */
async function bytesOf(request: Request): Promise<Buffer> {
  const { host, pathname } = new URL(request.url)
  const body = await request.text()
  const head = [...request.headers].map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return Buffer.from(
    `${request.method} ${pathname} HTTP/1.1\r\nhost: ${host}\r\n${head}connection: close\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}

type HangUp = 'ends' | 'resets'

/** Sends the bytes and hangs up as soon as it has read `enough` bytes of the answer, or at its end; gives how many it read. */
async function hangUpAfter(
  server: RunningServer,
  bytes: Uint8Array,
  { enough, how }: { readonly enough: number; readonly how: HangUp },
): Promise<number> {
  let received = 0
  const leave = () => void (how === 'ends' ? socket.destroy() : socket.resetAndDestroy())
  const socket = connect({
    host: '127.0.0.1',
    port: Number(new URL(server.url).port),
    onread: {
      // Byte by byte, so that it leaves at this very one.
      buffer: Buffer.alloc(1),
      callback(count) {
        received += count
        if (received >= enough) leave()
        return received < enough
      },
    },
  })
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  const closed = once(socket, 'close')
  socket.write(bytes, () => {
    if (enough === 0) leave()
  })
  await closed
  return received
}

async function openKept() {
  const { log, lines } = keptLog()
  const server = await openSocket(scriptAgent, { log })
  onTestFinished(() => server.close())
  return { server, lines }
}

const sending = (binding: BindingName, operation: 'SendMessage' | 'SendStreamingMessage', text: string, url: string) =>
  bytesOf(requestFor(binding, operation, { message: userMessage(text) }, { url }))

/** Several at a time, as clients are. */
async function sweep(positions: readonly number[], visit: (position: number) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < positions.length; at += 16) await Promise.all(positions.slice(at, at + 16).map(visit))
}

const howAt = (position: number): HangUp => (position % 2 === 0 ? 'ends' : 'resets')

describe.each(bindingNames)('over %s', (binding) => {
  test('a client may hang up at any byte of its request', async () => {
    const { server, lines } = await openKept()
    const { url } = server
    const { task } = await result(
      fetch,
      binding,
      'SendMessage',
      { message: userMessage('hold'), configuration: { returnImmediately: true } },
      { url },
    )
    const bytes = await sending(binding, 'SendMessage', 'echo', url)
    await sweep([...bytes.keys()], (position) => hangUpAfter(server, bytes.subarray(0, position), { enough: 0, how: howAt(position) }))
    // None of those requests was whole, so none of them has done anything.
    expect(await result(fetch, binding, 'ListTasks', {}, { url })).toMatchObject({ totalSize: 1 })
    const released = await result(fetch, binding, 'SendMessage', { message: userMessage('go', { taskId: task.id }) }, { url })
    expect(released.task.status.state).toBe('TASK_STATE_COMPLETED')
    await server.close()
    expect(lines).toEqual([])
  })

  test.each([
    ['SendMessage', 7],
    ['SendStreamingMessage', 23],
  ] as const)('a client may hang up at any byte of the answer to %s, and its task is completed all the same', async (operation, step) => {
    const { server, lines } = await openKept()
    const { url } = server
    const whole = await hangUpAfter(server, await sending(binding, operation, 'chunks 3', url), {
      enough: Number.POSITIVE_INFINITY,
      how: 'ends',
    })
    const positions = Array.from({ length: Math.floor(whole / step) }, (_, place) => 1 + place * step)
    expect(positions.length).toBeGreaterThan(50)
    await sweep(positions, async (enough) => {
      expect(await hangUpAfter(server, await sending(binding, operation, 'chunks 3', url), { enough, how: howAt(enough) })).toBe(enough)
    })
    expect(await result(fetch, binding, 'ListTasks', { status: 'TASK_STATE_COMPLETED' }, { url })).toMatchObject({
      totalSize: positions.length + 1,
    })
    await server.close()
    expect(lines).toEqual([])
  })

  test('a client that hangs up while its task is at work leaves it at work', async () => {
    const { server, lines } = await openKept()
    const { url } = server
    await sweep([...Array(64).keys()], async (number) => {
      const operation = number % 4 < 2 ? 'SendMessage' : 'SendStreamingMessage'
      // Some have read a part of the stream when they leave, some nothing of their answer.
      await hangUpAfter(server, await sending(binding, operation, 'hold', url), {
        enough: operation === 'SendMessage' ? 0 : number,
        how: 'ends',
      })
    })
    const { tasks } = await result(fetch, binding, 'ListTasks', { pageSize: 100 }, { url })
    expect(tasks.length).toBeGreaterThan(30)
    expect(new Set(tasks.map((task: any) => task.status.state))).toEqual(new Set(['TASK_STATE_WORKING']))
    for (const { id } of tasks.slice(0, 5)) {
      const { task } = await result(fetch, binding, 'SendMessage', { message: userMessage('go', { taskId: id }) }, { url })
      expect(task.status.state).toBe('TASK_STATE_COMPLETED')
    }
    for (const { id } of tasks.slice(5)) expect((await call(fetch, binding, 'CancelTask', { id }, { url })).status).toBe(200)
    await server.close()
    expect(lines).toEqual([])
  })
})
