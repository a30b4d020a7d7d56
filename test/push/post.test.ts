/** The wire of pushes, over sockets of this machine: hostile receivers, redirects, and the address guard at each connection. */

import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { sqlite } from '../../src/index.js'
import { AddressRefusedError, createAddressGuard } from '../../src/net/address-guard.js'
import { openPost, type PostOptions } from '../../src/push/post.js'
import { mountServer } from '../../src/server/create-server.js'
import { virtualWorld } from '../../src/testing/virtual-world.js'
import { scriptAgent } from '../harness/script-agent.js'
import { bindingNames, people, refusal, result, userMessage } from '../harness/server.js'
import { dialTrusting, failureOf, honeypots, listen, recorder, ssrfVectors } from '../net/kit.js'
import { until } from '../runtime/kit.js'
import { outcomesOf, send } from './kit.js'

const request = { headers: { 'content-type': 'application/a2a+json', 'x-a2a-notification-token': 't' }, body: '{"statusUpdate":{}}' }
const never = new AbortController().signal

interface OpenOptions {
  readonly allow?: readonly string[]
  readonly names?: Readonly<Record<string, readonly string[]>>
}

function open({ allow = [], names = {} }: OpenOptions = {}) {
  const world = virtualWorld()
  const record = recorder(dialTrusting)
  const resolve: PostOptions['resolve'] = async (name) => {
    const found = names[name]
    if (!found) throw new Error('no such name')
    return found
  }
  const opened = openPost({ guard: createAddressGuard(allow), world, resolve, dial: record.dial })
  onTestFinished(() => opened.close())
  return { ...opened, world, dialled: record.dialled }
}

/** A receiver that says what it likes, byte by byte. */
async function rawReceiver(answer: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('data', () => answer(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  return typeof address === 'object' && address ? address.port : 0
}

test('the body and the headers arrive, over one connection for several posts', async () => {
  const receiver = await listen((_, response) => response.writeHead(202).end('thank you'))
  const origin = `http://127.0.0.1:${receiver.port}`
  const { post, dialled } = open({ allow: [origin] })
  for (let n = 0; n < 3; n++) expect(await post({ ...request, url: `${origin}/hook?x=1` }, never)).toBe(202)
  expect(receiver.heard).toHaveLength(3)
  expect(receiver.heard[0]).toMatchObject({ method: 'POST', path: '/hook?x=1', body: request.body, headers: request.headers })
  expect(dialled.length).toBeLessThan(3)
})

test('TLS names the host that the connection was checked for', async () => {
  const receiver = await listen((_, response) => response.end(), { tls: true })
  const { post, dialled } = open({ allow: [`files.internal:${receiver.port}`], names: { 'files.internal': ['127.0.0.1'] } })
  expect(await post({ ...request, url: `https://files.internal:${receiver.port}/` }, never)).toBe(200)
  expect(dialled).toMatchObject([{ address: '127.0.0.1', tlsHost: 'files.internal' }])
})

test('a redirect is an answer and is not followed', async () => {
  const target = await listen((_, response) => response.end())
  const receiver = await listen((_, response) => response.writeHead(307, { location: `http://127.0.0.1:${target.port}/` }).end())
  const origins = [receiver, target].map(({ port }) => `http://127.0.0.1:${port}`)
  const { post } = open({ allow: origins })
  expect(await post({ ...request, url: `${origins[0]}/` }, never)).toBe(307)
  expect(target.heard).toEqual([])
})

describe('a hostile receiver', () => {
  test('that sends without end is heard to its status, and cut off', async () => {
    let written = 0
    let isClosed = false
    const port = await rawReceiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n')
      const more = () => {
        while (!isClosed && socket.write('x'.repeat(65_536))) written += 65_536
      }
      socket.on('drain', more).on('close', () => {
        isClosed = true
      })
      more()
    })
    const { post } = open({ allow: [`http://127.0.0.1:${port}`] })
    expect(await post({ ...request, url: `http://127.0.0.1:${port}/` }, never)).toBe(200)
    await until(() => isClosed)
    expect(written).toBeLessThan(64 << 20)
  })

  test('that dribbles its body is heard to its status, and cut off after a second', async () => {
    let isClosed = false
    const port = await rawReceiver((socket) => {
      socket.write('HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\n')
      socket.on('close', () => {
        isClosed = true
      })
    })
    const slow = await rawReceiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nx')
      socket.on('close', () => {
        isClosed = true
      })
    })
    const { post, world } = open({ allow: [port, slow].map((one) => `http://127.0.0.1:${one}`) })
    expect(await post({ ...request, url: `http://127.0.0.1:${port}/` }, never)).toBe(204)
    isClosed = false
    expect(await post({ ...request, url: `http://127.0.0.1:${slow}/` }, never)).toBe(200)
    await world.advance(1_000)
    await until(() => isClosed)
  })

  test('that says nothing, nonsense, or headers without end has no answer', async () => {
    const silent = await rawReceiver(() => {})
    const nonsense = await rawReceiver((socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'))
    const headers = await rawReceiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n')
      const more = () => socket.write(`x: ${'y'.repeat(8_000)}\r\n`, (error) => error ?? more())
      more()
    })
    const { post } = open({ allow: [silent, nonsense, headers].map((one) => `http://127.0.0.1:${one}`) })
    for (const port of [nonsense, headers]) await failureOf(post({ ...request, url: `http://127.0.0.1:${port}/` }, never))
    const end = new AbortController()
    const posting = failureOf(post({ ...request, url: `http://127.0.0.1:${silent}/` }, end.signal))
    end.abort()
    expect((await posting).name).toBe('AbortError')
  })
})

test('each vector of vectors/ssrf.json that is refused reaches nobody: not when it is made, and not when it is posted to', async () => {
  for (const { id, url, dns } of ssrfVectors.filter(({ result }) => result === 'refused')) {
    const names = dns && URL.canParse(url) ? { [new URL(url).hostname]: dns } : {}
    const { post, checkAddresses, dialled } = open({ names })
    expect([id, (await failureOf(post({ ...request, url }, never))) instanceof AddressRefusedError]).toEqual([id, true])
    if (dns) expect([id, (await failureOf(checkAddresses(new URL(url)))) instanceof AddressRefusedError]).toEqual([id, true])
    expect(dialled).toEqual([])
  }
})

describe.each(bindingNames)('over %s', (binding) => {
  /** Names lead where `names` says by then. */
  async function openServer(names: Map<string, readonly string[]>) {
    const world = virtualWorld()
    const { dial, dialled } = recorder()
    const server = await mountServer(
      scriptAgent,
      { store: sqlite(':memory:'), auth: people, url: 'http://agent.test', push: true, world },
      {
        openPost: (given) =>
          openPost({
            ...given,
            dial,
            resolve: async (name) => {
              const found = names.get(name)
              if (!found) throw new Error('no such name')
              return found
            },
          }),
      },
    )
    onTestFinished(() => server.close())
    return { ...server, world, dialled }
  }

  test('a name that leads into a private network is refused when the configuration is made, inline and by its own operation', async () => {
    const names = new Map([['evil.example', ['93.184.216.34', '10.0.0.5']]])
    const server = await openServer(names)
    const { task } = await result(server.fetch, binding, 'SendMessage', { message: userMessage('ask') })
    const config = { url: 'https://evil.example/' }
    const own = await refusal(server.fetch, binding, 'CreateTaskPushNotificationConfig', { taskId: task.id, ...config })
    expect([own.reason, own.fields]).toEqual(['INVALID_PARAMS', ['url']])
    const configuration = { taskPushNotificationConfig: config }
    const inline = await refusal(server.fetch, binding, 'SendMessage', { message: userMessage('ask'), configuration })
    expect(inline.fields).toEqual(['configuration.taskPushNotificationConfig.url'])
    expect(own.message + inline.message).not.toMatch(/10\.0|93\.184/)
    expect(server.dialled).toEqual([])
  })

  test.each(honeypots)(
    'a name that leads elsewhere at the connection than at the check does not reach %s: dropped at once, and recorded',
    async (honeypot) => {
      const names = new Map<string, readonly string[]>()
      const server = await openServer(names)
      // It does not resolve yet, and is taken.
      const task = await send(server, 'note x', { url: 'https://rebind.example/' })
      const deliveries = async () => outcomesOf(await server.deliveries(task.id))
      await until(async () => (await deliveries()).length === 1)
      names.set('rebind.example', ['93.184.216.34', honeypot])
      await server.world.advance(1_000)
      await until(async () => (await deliveries()).length === 3)
      expect(await deliveries()).toEqual([
        { number: 2, attempt: 1, outcome: 'failed', failure: 'connection' },
        { number: 2, attempt: 2, outcome: 'dropped', failure: 'address' },
        { number: 3, attempt: 1, outcome: 'dropped', failure: 'address' },
      ])
      expect(server.dialled).toEqual([])
    },
  )
})
