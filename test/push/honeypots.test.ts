/**
 * Three honeypots see nothing, ever: whatever callers write, names answer and servers send elsewhere. The record of the connector tells;
 * honeypots-namespace.test.ts runs these tests again where real listeners have the addresses.
 */

import { connect } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { agent, completed, inputRequired, type ServerOptions, sqlite } from '../../src/index.js'
import type { Resolve } from '../../src/net/connector.js'
import { openGuardedFetch } from '../../src/net/guarded-fetch.js'
import { openPost } from '../../src/push/post.js'
import { mountServer } from '../../src/server/create-server.js'
import { virtualWorld } from '../../src/testing/virtual-world.js'
import { type BindingName, bindingNames, people, refusal, result, userMessage } from '../harness/server.js'
import { honeypots, ssrfVectors, type Vector } from '../net/kit.js'
import { until } from '../runtime/kit.js'
import { isListening, openWatch, publicAddress } from './honeypots-watch.js'
import { outcomesOf } from './kit.js'

/** Waits for somebody, or fetches the URL that the message is. */
const reader = agent({ name: 'Reader', description: 'Reads what is at a URL.' }, async (task) => {
  if (task.text === 'wait') return inputRequired('For what?')
  try {
    return completed('read', { status: (await task.fetch(task.text)).status })
  } catch (error) {
    return completed('not read', { error: error instanceof Error ? error.name : String(error) })
  }
})

const refused = ssrfVectors.filter(({ result }) => result === 'refused')
const hookUrl = 'https://hook.example/'

async function open(options: Partial<ServerOptions> = {}) {
  const watch = await openWatch()
  const world = virtualWorld()
  /** What a name answers, look-up by look-up; the last answer stays. */
  const names = new Map<string, (readonly string[])[]>()
  const resolve: Resolve = async (name) => {
    const answers = names.get(name) ?? []
    const found = answers.length > 1 ? answers.shift() : answers[0]
    if (!found) throw new Error('no such name')
    return found
  }
  const server = await mountServer(
    reader,
    { store: sqlite(':memory:'), auth: people, url: 'http://agent.test', push: true, world, ...options },
    {
      openPost: (given) => openPost({ ...given, resolve, dial: watch.dial }),
      openFetch: (given) => openGuardedFetch({ ...given, resolve, dial: watch.dial }),
    },
  )
  onTestFinished(() => server.close())
  const taskOf = async (binding: BindingName, text: string, more: object = {}) =>
    (await result(server.fetch, binding, 'SendMessage', { message: userMessage(text), ...more })).task
  return {
    ...server,
    watch,
    world,
    names,
    taskOf,
    lead: ({ url, dns }: Pick<Vector, 'url' | 'dns'>) => dns && names.set(new URL(url).hostname, [dns]),
    readingOf: async (binding: BindingName, text: string) => (await taskOf(binding, text)).artifacts[0].parts[0].data,
  }
}

type Opened = Awaited<ReturnType<typeof open>>

/** Nobody but the public server was dialled, and nothing went past the connector. */
async function expectUntouched({ watch }: Opened): Promise<void> {
  // What was on its way to a listener is there by now.
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  expect(watch.reached).toEqual([])
  expect(watch.dialled.filter((address) => address !== publicAddress)).toEqual([])
  expect(watch.begun()).toBe(watch.dialled.length)
}

test('the watch sees: what an operator opened is dialled, and reached where somebody listens', async () => {
  const opened = await open({ outbound: { allow: ['10.0.0.5', '127.0.0.1'] } })
  for (const address of ['10.0.0.5', '127.0.0.1']) await opened.readingOf('JSONRPC', `https://${address}:8443/`)
  expect(opened.watch.dialled).toEqual(['10.0.0.5', '127.0.0.1'])
  if (!isListening) return
  for (const address of honeypots) connect({ host: address, port: 80 }).on('error', () => {})
  await until(() => opened.watch.reached.length === 5)
  expect(opened.watch.reached.toSorted()).toEqual(['10.0.0.5:80', '10.0.0.5:8443', '127.0.0.1:80', '127.0.0.1:8443', '169.254.169.254:80'])
  expect(opened.watch.begun()).toBe(5)
})

describe.each(bindingNames)('over %s', (binding) => {
  const setting = (url: string) => ({ configuration: { taskPushNotificationConfig: { url } } })

  test('a configuration takes none of the forms of vectors/ssrf.json, inline and by its own operation', async () => {
    const opened = await open()
    const { id: taskId } = await opened.taskOf(binding, 'wait')
    expect(refused.length).toBeGreaterThanOrEqual(250)
    for (const vector of refused) {
      const { id, url } = vector
      opened.lead(vector)
      const own = await refusal(opened.fetch, binding, 'CreateTaskPushNotificationConfig', { taskId, url })
      const inline = await refusal(opened.fetch, binding, 'SendMessage', { message: userMessage('wait'), ...setting(url) })
      expect([id, own.reason, own.fields]).toEqual([id, 'INVALID_PARAMS', ['url']])
      expect([id, inline.reason, inline.fields]).toEqual([id, 'INVALID_PARAMS', ['configuration.taskPushNotificationConfig.url']])
    }
    expect(opened.watch.begun()).toBe(0)
    await expectUntouched(opened)
  })

  test('each post asks anew where its name leads: an answer that was public at the check and is not at the connection is dropped', async () => {
    const opened = await open()
    const taskId = (await opened.taskOf(binding, 'wait')).id
    const changing = [
      ...honeypots.flatMap((bad) => [[bad], [bad, publicAddress], [publicAddress, bad]]),
      ...refused.flatMap(({ dns }) => (dns ? [dns] : [])),
    ]
    for (const [n, answer] of changing.entries()) {
      const own = `own${n}.example`
      const inline = `inline${n}.example`
      for (const name of [own, inline]) opened.names.set(name, [[publicAddress], answer])
      await result(opened.fetch, binding, 'CreateTaskPushNotificationConfig', { taskId, id: own, url: `https://${own}/` })
      const task = await opened.taskOf(binding, 'wait', setting(`https://${inline}/`))
      const ofOwn = async () => (await opened.deliveries(taskId)).filter(({ configId }) => configId === own)
      await until(async () => (await ofOwn()).length + (await opened.deliveries(task.id)).length === 2)
      const dropped = { attempt: 1, outcome: 'dropped', failure: 'address' }
      expect([answer, ...outcomesOf(await ofOwn())]).toMatchObject([answer, dropped])
      expect([answer, ...outcomesOf(await opened.deliveries(task.id))]).toMatchObject([answer, dropped])
    }
    expect(opened.watch.begun()).toBe(0)
    await expectUntouched(opened)
  })

  test('the address that was checked is the one that is dialled: nobody asks again in between', async () => {
    const opened = await open()
    for (const [n, bad] of honeypots.entries()) {
      // For the check of the configuration, for the connection, and for whoever asks once more.
      opened.names.set(`again${n}.example`, [[publicAddress], [publicAddress], [bad]])
      const task = await opened.taskOf(binding, 'wait', setting(`https://again${n}.example/`))
      await until(async () => (await opened.deliveries(task.id)).length === 1)
      expect(outcomesOf(await opened.deliveries(task.id))).toEqual([{ number: 2, attempt: 1, outcome: 'delivered', status: 204 }])
    }
    await expectUntouched(opened)
  })

  test('a receiver that sends posts on to a honeypot is not followed', async () => {
    const opened = await open({ push: { attempts: 1 } })
    opened.names.set('hook.example', [[publicAddress]])
    const places = honeypots.flatMap((address) => [`https://${address}/`, `http://${address}/`, `//${address}/`])
    for (const location of places) {
      for (const status of [301, 302, 303, 307, 308]) {
        opened.watch.answer = (_, response) => void response.writeHead(status, { location }).end()
        const task = await opened.taskOf(binding, 'wait', setting(hookUrl))
        await until(async () => (await opened.deliveries(task.id)).length === 1)
        expect(outcomesOf(await opened.deliveries(task.id))).toEqual([{ number: 2, attempt: 1, outcome: 'dropped', status }])
      }
    }
    expect(opened.watch.dialled).toContain(publicAddress)
    await expectUntouched(opened)
  })

  // A message of nothing but blanks is another matter.
  const written = refused.filter(({ url }) => url.trim() !== '')

  test('a URL in a message takes the agent to none of them', async () => {
    const opened = await open()
    for (const vector of written) {
      opened.lead(vector)
      expect([vector.id, await opened.readingOf(binding, vector.url)]).toEqual([vector.id, { error: 'AddressRefusedError' }])
    }
    expect(opened.watch.begun()).toBe(0)
    await expectUntouched(opened)
  })

  test('nor does a redirect of what it fetches, nor a name that answers otherwise by then', async () => {
    const opened = await open()
    opened.names.set('hook.example', [[publicAddress]])
    let location: string | undefined
    opened.watch.answer = (_, response) => {
      // The second request of a form that leads back to this server.
      if (location === undefined) return void response.writeHead(204).end()
      response.writeHead(302, { location }).end()
      location = undefined
    }
    const seen: unknown[] = []
    for (const vector of written) {
      opened.lead(vector)
      // A header holds visible ASCII; what else a URL has can be written in it.
      location = vector.url.replace(/[^ -~]+/g, encodeURIComponent)
      seen.push((await opened.readingOf(binding, hookUrl)).error)
    }
    expect(seen.filter((error) => error === 'AddressRefusedError').length).toBeGreaterThanOrEqual(250)
    for (const bad of honeypots) {
      const name = `turning-to-${bad}.example`
      opened.names.set(name, [[publicAddress], [bad]])
      location = `https://${name}:8443/`
      expect(await opened.readingOf(binding, `https://${name}/`)).toEqual({ error: 'AddressRefusedError' })
    }
    expect(opened.watch.dialled).toContain(publicAddress)
    await expectUntouched(opened)
  })
})
