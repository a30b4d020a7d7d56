/** What a receiver on a real socket can do to a task, and what bad input leaves in the store: nothing. */

import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { dirname } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { agent, artifact, completed, sqlite, working } from '../../src/index.js'
import { openPost } from '../../src/push/post.js'
import { mountServer } from '../../src/server/create-server.js'
import { virtualWorld } from '../../src/testing/virtual-world.js'
import { scriptAgent } from '../harness/script-agent.js'
import { type BindingName, bindingNames, call, frames, people, refusal, result, userMessage } from '../harness/server.js'
import { closeStill, statesOf, takeAll, until } from '../runtime/kit.js'
import { copyOf, filesIn } from '../server/secret-traces.js'
import { freshFile } from '../store/sqlite/watched.js'
import { hook, openPushing } from './kit.js'

const steady = agent({ name: 'Steady', description: 'Says three things.' }, async function* () {
  yield working('one')
  yield artifact('a', 'two')
  return completed('three')
})

type Act = (socket: Socket) => void

/** What it does with a connection on which a request has come. */
const unkind: readonly (readonly [what: string, act: Act])[] = [
  ['says nothing', () => {}],
  ['hangs up', (socket) => socket.destroy()],
  ['resets the connection', (socket) => socket.resetAndDestroy()],
  ['speaks another protocol', (socket) => void socket.end('220 mail.example ESMTP\r\n')],
  ['answers 500', (socket) => void socket.end('HTTP/1.1 500 Oops\r\ncontent-length: 0\r\n\r\n')],
  ['stops in the middle of its headers', (socket) => void socket.write('HTTP/1.1 200 OK\r\nx: y')],
]

async function openReceiver(act: Act) {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).once('data', () => act(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
  onTestFinished(close)
  // Listening on a port, the address is one of host and port.
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sockets, close }
}

async function openServer(origin: string) {
  const world = virtualWorld()
  const options = { store: sqlite(':memory:'), auth: people, url: 'http://agent.test', push: true, world, outbound: { allow: [origin] } }
  const server = await mountServer(steady, options, { openPost })
  onTestFinished(() => closeStill(server, world))
  return server
}

/** The clock stands still, so whatever waits for the receiver never comes. */
async function expectOnTime(binding: BindingName, origin: string, isTried: (taskId: string, server: Served) => Promise<boolean>) {
  const server = await openServer(origin)
  const configuration = { taskPushNotificationConfig: { url: `${origin}/` } }
  const seen = await takeAll(frames(server.fetch, binding, 'SendStreamingMessage', { message: userMessage('go'), configuration }))
  expect(statesOf(seen)).toEqual(['SUBMITTED', 'WORKING', 'COMPLETED'])
  const { task } = await result(server.fetch, binding, 'SendMessage', { message: userMessage('go'), configuration })
  expect(task.status.state).toBe('TASK_STATE_COMPLETED')
  await until(() => isTried(task.id, server))
}

type Served = Awaited<ReturnType<typeof openServer>>

describe.each(bindingNames)('over %s', (binding) => {
  test.each(unkind)('an unreachable receiver leaves the task COMPLETED and its stream on time: one that %s', async (_, act) => {
    const { origin, sockets } = await openReceiver(act)
    await expectOnTime(binding, origin, async () => sockets.size > 0)
  })

  test('an unreachable receiver leaves the task COMPLETED and its stream on time: nobody listens', async () => {
    const { origin, close } = await openReceiver(() => {})
    close()
    await expectOnTime(binding, origin, async (taskId, server) => {
      const [first] = await server.deliveries(taskId)
      return first?.failure === 'connection'
    })
  })

  const lineBreaks = ['\r\nX-Evil: 1', '\n', '\r', '\u0000', '\u2028']
  const bad: readonly (readonly [config: object, field: string])[] = [
    [{}, 'url'],
    [{ url: '' }, 'url'],
    [{ url: 7 }, 'url'],
    [{ url: 'not a url' }, 'url'],
    [{ url: 'file:///etc/passwd' }, 'url'],
    [{ url: 'gopher://hook.example/' }, 'url'],
    [{ url: 'data:text/plain,x' }, 'url'],
    [{ url: `https://hook.example/${'x'.repeat(10_000)}` }, 'url'],
    [{ url: 'https://user:pass@hook.example/' }, 'url'],
    [{ url: 'https://hook.example/\r\nX-Evil: 1' }, 'url'],
    [{ url: hook, authentication: { scheme: 'Bad Scheme', credentials: 'x' } }, 'authentication.scheme'],
    [{ url: hook, authentication: { scheme: '', credentials: 'x' } }, 'authentication.scheme'],
    ...lineBreaks.flatMap((text): [object, string][] => [
      [{ url: hook, authentication: { scheme: `Bearer${text}`, credentials: 'x' } }, 'authentication.scheme'],
      [{ url: hook, authentication: { scheme: 'Bearer', credentials: `x${text}` } }, 'authentication.credentials'],
      [{ url: hook, token: `x${text}y` }, 'token'],
    ]),
  ]

  test('bad input is InvalidParams naming the field, by every way, and leaves each byte of the store as it was', async () => {
    const file = freshFile()
    const pushing = await openPushing(scriptAgent, { store: sqlite(file) })
    const { id: taskId } = (await result(pushing.fetch, binding, 'SendMessage', { message: userMessage('ask') })).task
    const config = { taskId, id: 'mine', url: hook, token: 'tok' }
    await result(pushing.fetch, binding, 'CreateTaskPushNotificationConfig', config)
    await pushing.world.advance(0)
    const dump = () => [...filesIn(copyOf(dirname(file)))].filter(([name]) => !name.endsWith('-shm')).sort()
    const before = dump()
    for (const [bent, field] of bad) {
      const configuration = { taskPushNotificationConfig: bent }
      const inside = `configuration.taskPushNotificationConfig.${field}`
      const asked = [
        ['CreateTaskPushNotificationConfig', { taskId, ...bent }, field],
        ['CreateTaskPushNotificationConfig', { taskId, id: 'mine', ...bent }, field],
        ['SendMessage', { message: userMessage('ask'), configuration }, inside],
        ['SendMessage', { message: userMessage('42', { taskId }), configuration }, inside],
        ['SendStreamingMessage', { message: userMessage('ask'), configuration }, inside],
        ['SendStreamingMessage', { message: userMessage('42', { taskId }), configuration }, inside],
      ] as const
      for (const [operation, params, name] of asked) {
        const { reason, fields, message } = await refusal(pushing.fetch, binding, operation, params)
        expect([operation, bent, reason, fields]).toEqual([operation, bent, 'INVALID_PARAMS', [name]])
        expect(message).not.toContain('Evil')
      }
    }
    // What is not there is not there to be read, and needs no deleting.
    const unknown = { taskId, id: 'unknown' }
    expect((await refusal(pushing.fetch, binding, 'GetTaskPushNotificationConfig', unknown)).reason).toBe('TASK_NOT_FOUND')
    await result(pushing.fetch, binding, 'DeleteTaskPushNotificationConfig', unknown)
    expect((await call(pushing.fetch, binding, 'ListTaskPushNotificationConfigs', { taskId })).text).toContain('mine')
    await pushing.world.advance(50_000)
    expect(pushing.posts).toHaveLength(1)
    expect(dump()).toEqual(before)
    // And what is fine is seen to change it.
    const message = userMessage('ask')
    expect((await result(pushing.fetch, binding, 'SendMessage', { message, configuration: {} })).task).toBeDefined()
    expect(dump()).not.toEqual(before)
  })
})
