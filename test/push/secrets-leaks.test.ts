/** No token and no credentials of a push configuration are stored in the clear, told to anybody but its receiver, or logged: every byte is looked at. */

import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { agent, chunk, completed, inputRequired, sqlite } from '../../src/index.js'
import { openPost } from '../../src/push/post.js'
import { mountServer, type Server } from '../../src/server/create-server.js'
import { type VirtualWorld, virtualWorld } from '../../src/testing/virtual-world.js'
import { type BindingName, bindingNames, call, people, result, userMessage } from '../harness/server.js'
import { listen } from '../net/kit.js'
import { closeStill, keptLog, until } from '../runtime/kit.js'
import { copyOf, filesIn, laidOpen, newFolder, type Places, tracesOf } from '../server/secret-traces.js'

/** With characters that JSON, headers, addresses and HTML write in ways of their own. */
const token = 'tok-Zq8"SECRET"+47/11=&%<'
const credentials = 'cred-Zq8"SECRET"\\47 11=&%<'
const secrets = [token, credentials]
const sealed = { token, authentication: { scheme: 'Bearer', credentials } }
/** Part of an address, which its owner is shown and the log is not. */
const inAddress = 'key-Zq8-in-the-address'

const chatty = agent({ name: 'Chatty', description: 'Says a few things.' }, async function* (task) {
  yield chunk('a', 'it has begun;')
  return task.turn > 1 ? completed('done') : inputRequired('And?')
})

/** A receiver that takes no post of the first event and is wayward about the others; and one to which it sends posts on. */
async function openReceivers() {
  const elsewhere = await listen((_, response) => void response.writeHead(204).end())
  const attempts = new Map<string, number>()
  const receiver = await listen(({ socket, headers }, response) => {
    const key = String(headers['idempotency-key'])
    const count = attempts.get(key) ?? 0
    attempts.set(key, count + 1)
    const act = key.endsWith(':2') ? ([503, 'cut', 302] as const)[count % 3] : (['hang', 'nonsense'] as const)[count]
    if (act === 'cut') socket.destroy()
    else if (act === 'nonsense') socket.end('nonsense\r\n\r\n')
    else if (act !== 'hang') response.writeHead(act ?? 204, { location: `http://127.0.0.1:${elsewhere.port}/` }).end('thank you')
  })
  return { receiver, elsewhere, origins: [receiver, elsewhere].map(({ port }) => `http://127.0.0.1:${port}`) }
}

type Receivers = Awaited<ReturnType<typeof openReceivers>>

/** A server on the file of `folder`. All that it answers or logs is kept. */
async function openWatched(folder: string, { origins }: Receivers, world: VirtualWorld) {
  const { log, lines } = keptLog()
  const store = sqlite(join(folder, 'tasks.db'))
  const options = { store, auth: people, url: 'http://agent.test', push: true, outbound: { allow: origins }, log, world }
  const server = await mountServer(chatty, options, { openPost })
  let isOpen = true
  const close = async () => {
    if (isOpen) await closeStill(server, world)
    isOpen = false
  }
  onTestFinished(close)
  const answers: string[] = []
  const fetching: Server['fetch'] = async (request) => {
    const response = await server.fetch(request)
    const copy = Buffer.from(await response.clone().arrayBuffer())
    answers.push(laidOpen([response.status, [...response.headers]]) + copy.toString('latin1'))
    return response
  }
  return { server, fetch: fetching, answers, close, logged: () => lines.map(laidOpen) }
}

type Watched = Awaited<ReturnType<typeof openWatched>>

/** Whatever a caller may ask for about a task and its configurations. */
async function askAll({ fetch }: Watched, id: string): Promise<void> {
  for (const binding of bindingNames) {
    await result(fetch, binding, 'GetTask', { id })
    await result(fetch, binding, 'ListTasks', { includeArtifacts: true, historyLength: 100 })
    const { configs } = await result(fetch, binding, 'ListTaskPushNotificationConfigs', { taskId: id, pageSize: 1 })
    for (const config of configs) await result(fetch, binding, 'GetTaskPushNotificationConfig', { taskId: id, id: config.id })
  }
}

/** Secrets at places where they are refused. */
async function askWrongly({ fetch }: Watched, binding: BindingName, taskId: string, url: string): Promise<void> {
  const wrong = [
    { url, token: `${token}\n` },
    { url, token: { value: token } },
    { url, token: [token] },
    { url, authentication: { scheme: credentials, credentials } },
    { url, authentication: { scheme: 'Bearer', credentials: `${credentials}\r\nX-Evil: 1` } },
    { url, authentication: { scheme: 'Bearer', credentials: [credentials] } },
    { url, authentication: credentials },
    { url: `https://me:${encodeURIComponent(credentials)}@hook.example/`, ...sealed },
    { url: 'no url', ...sealed },
    { url, id: 'a\nb', ...sealed },
    { url, [token]: credentials, id: 7 },
  ]
  for (const config of wrong) {
    for (const [operation, params] of [
      ['CreateTaskPushNotificationConfig', { taskId, ...config }],
      ['SendMessage', { message: userMessage('go'), configuration: { taskPushNotificationConfig: config } }],
    ] as const) {
      expect([config, (await call(fetch, binding, operation, params)).text]).toEqual([
        config,
        expect.stringMatching(/INVALID_PARAMS|-32602/),
      ])
    }
  }
  // Of somebody else's task, and of none.
  for (const [as, id] of [
    ['bob', taskId],
    ['alice', 'nope'],
  ] as const) {
    const { text } = await call(fetch, binding, 'CreateTaskPushNotificationConfig', { taskId: id, url, ...sealed }, { as })
    expect(text).toContain('TASK_NOT_FOUND')
  }
}

describe.each(bindingNames)('over %s', (binding) => {
  test('token and credentials are nowhere in the clear but in the posts to their receiver, whatever it does, after a crash and after the end', async () => {
    const world = virtualWorld()
    const receivers = await openReceivers()
    const folder = newFolder()
    const first = await openWatched(folder, receivers, world)
    const url = `${receivers.origins[0]}/hook?key=${inAddress}`
    const send = async (more: object, text = 'go') => {
      const configuration = { returnImmediately: true, taskPushNotificationConfig: { url, ...sealed } }
      return (await result(first.fetch, binding, 'SendMessage', { message: userMessage(text, { ...more }), configuration })).task
    }
    const { id } = await send({})
    await until(async () => (await first.server.deliveries(id)).length > 0)
    await askWrongly(first, binding, id, url)
    await askAll(first, id)
    const running = copyOf(folder)
    // The process that went on with it opens them with the key beside the store.
    const second = await openWatched(copyOf(running), receivers, world)
    const made = { taskId: id, url, ...sealed }
    for (const name of ['own', 'own', 'gone'])
      await result(second.fetch, binding, 'CreateTaskPushNotificationConfig', { ...made, id: name })
    await result(second.fetch, binding, 'DeleteTaskPushNotificationConfig', { taskId: id, id: 'gone' })
    // Equal to what the task has, so its secrets are compared.
    await send({ taskId: id }, 'on')
    const isDelivered = async ({ server }: Watched) => (await server.deliveries(id)).at(-1)?.outcome === 'delivered'
    await until(async () => {
      await world.advance(1_000)
      return (await isDelivered(first)) && (await isDelivered(second))
    })
    for (const one of [first, second]) await askAll(one, id)
    const deliveries = await Promise.all([first, second].map(({ server }) => server.deliveries(id)))
    const later = copyOf(folder)
    await first.close()
    await second.close()
    const places: Places = {
      files: [running, later, folder].flatMap((one) => [...filesIn(one).values()]),
      answers: [...first.answers, ...second.answers],
      log: [...first.logged(), ...second.logged()],
      deliveries: deliveries.map(laidOpen),
      'posts elsewhere': receivers.elsewhere.heard.map(laidOpen),
    }
    // The receiver had both, with each post.
    expect(receivers.receiver.heard.length).toBeGreaterThan(7)
    for (const { headers } of receivers.receiver.heard) {
      expect(headers).toMatchObject({ authorization: `Bearer ${credentials}`, 'x-a2a-notification-token': token })
    }
    // What is looked through is the right thing: the store with its configurations, answers and lines about them.
    expect(tracesOf([inAddress], places)).toEqual(expect.arrayContaining(['files: raw', 'answers: raw']))
    expect(new Set(deliveries.flat().map(({ outcome }) => outcome))).toEqual(new Set(['failed', 'dropped', 'delivered']))
    expect(places['log']?.join()).toContain('a push was dropped')
    expect(tracesOf(secrets, places)).toEqual([])
    const { log = [], deliveries: told = [], 'posts elsewhere': elsewhere = [] } = places
    expect(tracesOf([inAddress], { log, told, elsewhere })).toEqual([])
  })
})
