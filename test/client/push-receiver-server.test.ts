/** The receiver and our own server: what one posts, the other takes, from the send on. */

import { describe, expect, test } from 'vitest'
import { type ClientBinding, connect, type PushEvent, type PushReceiverOptions, pushReceiver } from '../../src/client.js'
import { agent, completed, working } from '../../src/index.js'
import { virtualWorld } from '../../src/testing/virtual-world.js'
import { scriptAgent } from '../harness/script-agent.js'
import { openPushing, type PushingOptions } from '../push/kit.js'
import { gather, said, secret } from './push-kit.js'

const publicUrl = 'https://hook.example/path'

async function open(author = scriptAgent, { limits, ...options }: PushingOptions & Pick<PushReceiverOptions, 'limits'> = {}) {
  const world = virtualWorld()
  const start = () => pushReceiver({ publicUrl, secret, world, ...(limits && { limits }) })
  const pushing = await openPushing(author, { world, ...options })
  const opened = { pushing, world, start, receiver: start(), client: (prefer?: ClientBinding) => connected(pushing.fetch, prefer) }
  pushing.answer = async ({ url, headers, body }) => {
    const { status } = await opened.receiver.fetch(new Request(url, { method: 'POST', headers, body }))
    return status
  }
  return opened
}

const connected = (fetch: (request: Request) => Promise<Response>, prefer?: ClientBinding) =>
  connect('http://agent.test', { fetch, auth: 'alice', world: virtualWorld(), ...(prefer && { prefer: [prefer] }) })

describe.each<ClientBinding>(['JSONRPC', 'HTTP+JSON'])('over %s', (binding) => {
  test('a send with a target: its events are those of the stream but the first', async () => {
    const { receiver, client } = await open()
    const target = receiver.target()
    const sending = (await client(binding)).send('chunks 3', { push: target })
    const pushed = gather(target)
    const streamed = gather(sending)
    expect([await pushed.ended, await streamed.ended]).toEqual(['ended', 'ended'])
    const shown = streamed.seen.slice(1).map(said)
    expect(pushed.seen.map(said)).toEqual(shown)
    expect(shown.length).toBeGreaterThan(3)
  })

  test('all events come before the reply does', async () => {
    const { pushing, receiver } = await open()
    const target = receiver.target()
    const { seen, ended } = gather(target)
    const client = await connected(async (request) => {
      const response = await pushing.fetch(request)
      if (request.method === 'POST') await ended
      return response
    }, binding)
    const { text } = (await client.send('chunks 2', { push: target }).outcome) as { text: string }
    expect(text).toBe('chunk 0;chunk 1;')
    expect(seen.map((event) => event.kind)).toEqual(['status', 'artifact', 'artifact', 'status'])
  })
})

test('a question and what comes after its answer go to the same target', async () => {
  const { receiver, client } = await open()
  const target = receiver.target()
  const { seen, ended } = gather(target)
  const asked = await (await client()).send('ask', { push: target }).outcome
  if (asked.state !== 'input-required') throw new Error(asked.state)
  await asked.reply('this one').outcome
  await ended
  const told = seen.map(said)
  expect(told).toEqual(expect.arrayContaining(['INPUT_REQUIRED', 'WORKING', 'COMPLETED']))
  expect(told.indexOf('INPUT_REQUIRED')).toBeLessThan(told.lastIndexOf('WORKING'))
})

const reporter = agent({ name: 'Reporter', description: 'Reports once an hour.' }, async function* (task) {
  for (let hour = 1; hour < 4; hour++) {
    yield working(`hour ${hour}`)
    await task.sleep('1h')
  }
  return completed()
})

const notes = (seen: readonly PushEvent[]) =>
  seen.map((event) => (event.kind === 'status' ? (event.message?.parts[0]?.text ?? event.state) : event.kind))

test('a receiver that starts anew goes on where it was', async () => {
  const opened = await open(reporter)
  const target = opened.receiver.target()
  const before = gather(target)
  const controller = new AbortController()
  void (await opened.client()).send('go', { push: target, signal: controller.signal }).outcome.catch(() => {})
  await opened.world.advance(3_600_000)
  opened.receiver = opened.start()
  const after = gather(opened.receiver)
  await opened.world.advance(7_200_000)
  expect(notes(before.seen)).toEqual(['hour 1', 'hour 2'])
  expect(notes(after.seen)).toEqual(['hour 3', 'TASK_STATE_COMPLETED'])
  controller.abort()
})

test('a reader that falls behind loses nothing while the server tries again', async () => {
  const { receiver, client, world, pushing } = await open(scriptAgent, { limits: { waitingEvents: 2 }, push: { attempts: 100 } })
  const target = receiver.target()
  await (await client()).send('chunks 5', { push: target }).outcome
  await world.advance(10_000)
  const { seen, ended } = gather(target)
  await world.advance(600_000)
  await ended
  expect(seen.map(({ kind }) => kind)).toEqual(['status', ...Array(5).fill('artifact'), 'status'])
  expect(pushing.posts.length).toBeGreaterThan(7)
})

test('to leave the loop ends the configuration', async () => {
  const { receiver, client, world, pushing } = await open(reporter)
  const target = receiver.target()
  const sending = (await client()).send('go', { push: target })
  for await (const event of target) {
    expect(notes([event])).toEqual(['hour 1'])
    break
  }
  await world.advance(10_800_000)
  const outcomes = (await pushing.server.deliveries((await sending.taskId) ?? '')).map(({ outcome }) => outcome)
  expect(outcomes).toEqual(['delivered', 'ended'])
})
