/** The receiver takes the posts of a sender that nobody here wrote: that of `@a2a-js/sdk`. */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { StreamResponse, TaskPushNotificationConfig } from '@a2a-js/sdk'
import { DefaultPushNotificationSender, InMemoryPushNotificationStore, ServerCallContext } from '@a2a-js/sdk/server'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type PushConfig, pushReceiver } from '../../src/client.js'
import { brief, chunk, gather, secret, status } from './push-kit.js'

async function open() {
  vi.spyOn(console, 'info').mockImplementation(() => {})
  const refused = vi.spyOn(console, 'error').mockImplementation(() => {})
  const http = createServer((request, response) => void receiver.middleware(request, response))
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  onTestFinished(() => {
    vi.restoreAllMocks()
    http.closeAllConnections()
    http.close()
  })
  // Listening on a port, the address is one of host and port.
  const { port } = http.address() as AddressInfo
  const receiver = pushReceiver({ publicUrl: `http://127.0.0.1:${port}/a2a-push`, secret })
  const store = new InMemoryPushNotificationStore()
  const sender = new DefaultPushNotificationSender(store)
  const context = new ServerCallContext({ requestedVersion: '1.0' })
  return {
    receiver,
    /** What the sender reports as not delivered. */
    refused,
    register: (taskId: string, config: PushConfig) => store.save(taskId, context, TaskPushNotificationConfig.fromJSON(config)),
    send: (body: unknown) => sender.send(StreamResponse.fromJSON(body), context),
  }
}

const message = { messageId: 'm', taskId: 't', contextId: 'c', role: 'ROLE_AGENT', parts: [{ text: 'é' }] }
const bodies = [
  { task: { id: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' }, history: [message] } },
  status('t', 'WORKING', { message }),
  { message },
  chunk('t', '', {
    artifact: { artifactId: 'a', name: 'A', parts: [{ data: { n: [1, null] } }, { raw: 'AP/+gA==' }, { url: 'https://x.example/' }] },
  }),
  chunk('t', 'two', { lastChunk: true }),
  status('t', 'COMPLETED'),
]

test('every kind of event arrives, in order, with what it holds', async () => {
  const { receiver, refused, register, send } = await open()
  const target = receiver.target()
  await register('t', target)
  const { seen, ended } = gather(target)
  await Promise.all(bodies.map(send))
  expect(await ended).toBe('ended')
  expect(refused).not.toHaveBeenCalled()
  const parts = [{ text: 'é' }]
  expect(seen).toMatchObject([
    { kind: 'task', task: { id: 't', status: { state: 'TASK_STATE_WORKING' }, history: [{ messageId: 'm', parts }] } },
    { kind: 'status', state: 'TASK_STATE_WORKING', message: { messageId: 'm', role: 'ROLE_AGENT', parts } },
    { kind: 'message', taskId: 't', message: { messageId: 'm', parts } },
    {
      kind: 'artifact',
      artifact: { artifactId: 'a', name: 'A' },
      delta: [{ data: { n: [1, null] } }, { raw: 'AP/+gA==' }, { url: 'https://x.example/' }],
      append: true,
    },
    { kind: 'artifact', delta: [{ text: 'two' }], append: true, last: true },
    { kind: 'status', state: 'TASK_STATE_COMPLETED' },
  ])
})

test('a sender that knows the token alone is let in; one that tells of another task, or that has no credential, is not', async () => {
  const { receiver, refused, register, send } = await open()
  const { url, token = '', id } = receiver.target()
  await register('t', { id, url, token })
  await register('u', { id, url, token })
  await register('v', { url })
  const { seen } = gather(receiver)
  await send(status('t'))
  expect(refused).not.toHaveBeenCalled()
  await send(status('u'))
  await send(status('v'))
  await send(status('t', 'COMPLETED'))
  expect(refused.mock.calls.map(([, error]) => String(error))).toEqual([
    expect.stringContaining('HTTP 403'),
    expect.stringContaining('HTTP 401'),
  ])
  await vi.waitFor(() => expect(seen.map(brief)).toEqual(['t WORKING', 't COMPLETED']))
})
