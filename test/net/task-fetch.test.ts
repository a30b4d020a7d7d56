/** What a caller writes, and where it can make a server go: URLs in messages that the agent fetches, and push configurations. */

import { describe, expect, onTestFinished, test } from 'vitest'
import { createServer as createEdgeServer } from '../../src/edge.js'
import { AddressRefusedError, agent, anonymous, completed, FetchLimitError, type ServerOptions, sqlite } from '../../src/index.js'
import { openGuardedFetch } from '../../src/net/guarded-fetch.js'
import { type Server as ErrandServer, mountServer } from '../../src/server/create-server.js'
import { scriptAgent } from '../harness/script-agent.js'
import { bindingNames, openServer, openSocket, people, refusal, result, userMessage } from '../harness/server.js'
import { begin, until } from '../runtime/kit.js'
import { listen, recorder, ssrfVectors } from './kit.js'

/** Fetches the URL that the message is. */
const reader = agent({ name: 'Reader', description: 'Reads what is at a URL.' }, async (task) => {
  try {
    const response = await task.fetch(task.text)
    return completed('read', { status: response.status, text: await response.text() })
  } catch (error) {
    if (error instanceof AddressRefusedError) return completed('refused', { reason: error.reason })
    return completed('failed', { name: error instanceof FetchLimitError ? error.limit : String(error) })
  }
})

/** The data of the artifact that the reader made. */
const readingOf = async (server: Pick<ErrandServer, 'fetch'>, binding: (typeof bindingNames)[number], url: string) =>
  (await result(server.fetch, binding, 'SendMessage', { message: userMessage(url) })).task.artifacts[0].parts[0].data

/** The reader's server: names lead where the vectors say, nothing answers, and what is dialled is noted. */
async function openReader(options: Partial<ServerOptions> = {}) {
  const { dial, dialled } = recorder()
  const names = new Map(ssrfVectors.flatMap(({ url, dns }) => (dns ? [[new URL(url).hostname, dns]] : [])))
  const server = await mountServer(
    reader,
    { store: sqlite(':memory:'), auth: people, url: 'http://agent.test', ...options },
    {
      openFetch: (given) => openGuardedFetch({ ...given, dial, resolve: async (name) => names.get(name) ?? [] }),
    },
  )
  onTestFinished(() => server.close())
  return { server, dialled }
}

describe.each(bindingNames)('over %s', (binding) => {
  test('a URL in a message takes the agent nowhere but to the public internet', async () => {
    const { server, dialled } = await openReader()
    // A message of nothing but blanks is another matter, and of two answers for one name the last counts here.
    const asked = ssrfVectors.filter(({ url, result }) => url.trim() !== '' && result === 'refused')
    for (const { id, url, reason } of asked) expect([id, await readingOf(server, binding, url)]).toEqual([id, { reason }])
    expect(dialled).toEqual([])
    expect(await readingOf(server, binding, 'https://93.184.216.34/')).toEqual({ name: 'TypeError: fetch failed' })
    expect(dialled.map(({ address }) => address)).toEqual(['93.184.216.34'])
  })

  test('no push configuration takes an address that its form gives away, inline and by its own operation', async () => {
    const server = await openServer(scriptAgent, { push: true })
    onTestFinished(() => server.close())
    const { task } = await result(server.fetch, binding, 'SendMessage', { message: userMessage('ask') })
    const { totalSize } = await result(server.fetch, binding, 'ListTasks', {})
    for (const { id, url } of ssrfVectors.filter(({ dns, result }) => !dns && result === 'refused')) {
      const own = await refusal(server.fetch, binding, 'CreateTaskPushNotificationConfig', { taskId: task.id, url })
      const configuration = { taskPushNotificationConfig: { url } }
      const inline = await refusal(server.fetch, binding, 'SendMessage', { message: userMessage('ask'), configuration })
      expect([id, own.reason, own.fields, inline.reason, inline.fields]).toEqual([
        id,
        'INVALID_PARAMS',
        ['url'],
        'INVALID_PARAMS',
        ['configuration.taskPushNotificationConfig.url'],
      ])
    }
    expect((await result(server.fetch, binding, 'ListTaskPushNotificationConfigs', { taskId: task.id })).configs).toEqual([])
    expect((await result(server.fetch, binding, 'ListTasks', {})).totalSize).toBe(totalSize)
  })

  test('a push configuration takes a public address, and what the operator opened', async () => {
    const server = await openServer(scriptAgent, { push: true, outbound: { allow: ['http://127.0.0.1:3000', '10.1.0.0/16'] } })
    onTestFinished(() => server.close())
    const { task } = await result(server.fetch, binding, 'SendMessage', { message: userMessage('ask') })
    for (const url of ['https://93.184.216.34/', 'https://hook.example/', 'http://127.0.0.1:3000/hook', 'https://10.1.0.1/']) {
      expect(await result(server.fetch, binding, 'CreateTaskPushNotificationConfig', { taskId: task.id, url })).toMatchObject({ url })
    }
    const closed = { taskId: task.id, url: 'http://169.254.169.254/' }
    expect((await refusal(server.fetch, binding, 'CreateTaskPushNotificationConfig', closed)).reason).toBe('INVALID_PARAMS')
  })
})

test('what the option outbound opens is fetched, up to fetchBytes, by both doors with sockets', async () => {
  const { port, heard } = await listen((request, response) => void response.end('x'.repeat(request.url === '/long' ? 101 : 100)))
  const options = { outbound: { allow: [`http://127.0.0.1:${port}`] }, limits: { fetchBytes: 100 } }
  for (const server of [await openServer(reader, options), await openSocket(reader, options)]) {
    onTestFinished(() => server.close())
    expect(await readingOf(server, 'JSONRPC', `http://127.0.0.1:${port}/`)).toEqual({ status: 200, text: 'x'.repeat(100) })
    expect(await readingOf(server, 'JSONRPC', `http://127.0.0.1:${port}/long`)).toEqual({ name: 'bytes' })
    expect(await readingOf(server, 'JSONRPC', `http://127.0.0.1:${port + 1}/`)).toEqual({ reason: 'scheme' })
  }
  expect(heard).toHaveLength(4)
})

test('the task is at work while it fetches, and canceling it ends the call', async () => {
  let closed = false
  const { port, heard } = await listen((_, response) => {
    response.on('close', () => {
      closed = true
    })
  })
  const ended: unknown[] = []
  const waiting = agent({ name: 'Waiting', description: 'Waits.' }, (task) =>
    task.fetch(`http://127.0.0.1:${port}/`, { signal: new AbortController().signal }).then(
      () => 'answered',
      (error) => void ended.push(error.why),
    ),
  )
  const server = await openServer(waiting, { outbound: { allow: [`http://127.0.0.1:${port}`] } })
  onTestFinished(() => server.close())
  const id = await begin(server.fetch, 'go')
  await until(() => heard.length === 1)
  expect((await result(server.fetch, 'JSONRPC', 'GetTask', { id })).status.state).toBe('TASK_STATE_WORKING')
  await result(server.fetch, 'JSONRPC', 'CancelTask', { id })
  await until(() => closed && ended.length === 1)
  expect(ended).toEqual(['canceled'])
})

test('a server without sockets says that it has no fetch', async () => {
  const said: unknown[] = []
  const curious = agent({ name: 'Curious', description: 'Tries.' }, (task) =>
    task.fetch('https://hook.example/').catch((error) => void said.push(error)),
  )
  const server = await createEdgeServer(curious, { store: sqlite(':memory:'), auth: anonymous(), url: 'http://agent.test' })
  onTestFinished(() => server.close())
  await result(server.fetch, 'JSONRPC', 'SendMessage', { message: userMessage('go') })
  expect(said).toEqual([
    expect.objectContaining({ name: 'TypeError', message: expect.stringMatching(/^task\.fetch needs a server with sockets/) }),
  ])
})
