/** Field cases of hosts: whatever carries the requests, the same handler gives the same answers. */

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Server } from '../../src/index.js'
import { scriptAgent } from '../harness/script-agent.js'
import { type BindingName, bindingNames, openServer, openSocket, requestFor, result, userMessage } from '../harness/server.js'
import { type Bundle, bundle, runBundle } from '../letter/neutral-bundle.js'
import { openStill } from '../runtime/kit.js'

/** A server where `url` leads, and the way to ask it. */
interface Hosted {
  readonly fetch: Server['fetch']
  readonly url: string
}

/** Any framework's adapter in its smallest form: node's request in, a Response out. */
async function behindAdapter(server: Server): Promise<Hosted> {
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const leaving = new AbortController()
    response.once('close', () => leaving.abort())
    const hasBody = request.method !== 'GET' && request.method !== 'HEAD'
    const asked = new Request(`http://agent.test${request.url}`, {
      method: request.method ?? 'GET',
      headers: Object.entries(request.headers).flatMap(([name, value]) =>
        typeof value === 'string' ? [[name, value] as [string, string]] : [],
      ),
      signal: leaving.signal,
      ...(hasBody && { body: Readable.toWeb(request) as ReadableStream, duplex: 'half' }),
    })
    const { status, headers, body } = await server.fetch(asked)
    response.writeHead(status, Object.fromEntries(headers))
    response.flushHeaders()
    try {
      for await (const piece of body ?? []) response.write(piece)
      response.end()
    } catch {
      // The reader left, and with it the stream.
    }
  }
  const http = createServer((request, response) => void answer(request, response))
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  onTestFinished(() => {
    http.closeAllConnections()
    http.close()
  })
  // Listening on a port, the address is one of host and port.
  return { fetch: globalThis.fetch, url: `http://127.0.0.1:${(http.address() as AddressInfo).port}` }
}

let worker: Bundle
beforeAll(async () => {
  worker = await bundle(new URL('./neutral-worker.ts', import.meta.url), { format: 'iife' })
})

const hosts: Readonly<Record<string, () => Promise<Hosted>>> = {
  'the handler itself': async () => {
    const { fetch } = await openStill(scriptAgent, { push: true })
    return { fetch, url: 'http://agent.test' }
  },
  'serve()': async () => {
    const server = await openSocket(scriptAgent, { push: true })
    onTestFinished(() => server.close())
    return { fetch: globalThis.fetch, url: server.url }
  },
  'an adapter on node:http': async () => {
    const server = await openServer(scriptAgent, { push: true, limits: { shutdownMs: 0 } })
    onTestFinished(() => server.close())
    return behindAdapter(server)
  },
  'a bundle where there is nothing of Node': async () => {
    const server: Server = await runBundle(worker).open()
    onTestFinished(() => server.close())
    return { fetch: server.fetch, url: 'http://agent.test' }
  },
}

const steps: readonly (readonly [Parameters<typeof requestFor>[1], (id: string) => Record<string, unknown>, Record<string, string>?])[] = [
  ['SendMessage', () => ({ message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'grüße' }] } })],
  ['SendMessage', () => ({ message: { messageId: 'm2', role: 'ROLE_USER', parts: [{ text: 'hello' }] } })],
  ['SendStreamingMessage', () => ({ message: { messageId: 'm3', role: 'ROLE_USER', parts: [{ text: 'chunks 3' }] } })],
  ['SendMessage', () => ({ message: { messageId: 'm4', role: 'ROLE_USER', parts: [{ text: 'throw' }] } })],
  ['SendMessage', () => ({ message: { messageId: 'm5', role: 'ROLE_USER', parts: [{ text: 'ask' }] } })],
  ['GetTask', (id) => ({ id, historyLength: 1 })],
  ['CreateTaskPushNotificationConfig', (taskId) => ({ taskId, id: 'c', url: 'https://hook.test/' })],
  ['ListTaskPushNotificationConfigs', (taskId) => ({ taskId })],
  ['CancelTask', (id) => ({ id })],
  ['SubscribeToTask', (id) => ({ id })],
  ['SubscribeToTask', (id) => ({ id }), { 'last-event-id': '1' }],
  ['ListTasks', () => ({ status: 'TASK_STATE_CANCELED', includeArtifacts: true })],
  ['ListTasks', () => ({ pageSize: 0 })],
  ['GetTask', () => ({ id: 'nope' })],
  ['GetTask', (id) => ({ id }), { 'a2a-version': '0.3' }],
  ['GetTask', (id) => ({ id }), { authorization: 'Bearer mallory' }],
  ['GetExtendedAgentCard', () => ({})],
]

/** Everything that the host answers, without what is of chance and time. */
async function transcript({ fetch, url }: Hosted, binding: BindingName): Promise<readonly unknown[]> {
  const lines: unknown[] = []
  let id = ''
  for (const [operation, params, headers = {}] of steps) {
    const response = await fetch(requestFor(binding, operation, params(id), { url, headers }))
    const text = await response.text()
    if (operation === 'SendMessage') id = /"task":\{"id":"([^"]+)"/.exec(text)?.[1] ?? id
    const kept = ['content-type', 'cache-control', 'www-authenticate', 'x-accel-buffering'].map((name) => response.headers.get(name))
    lines.push([operation, response.status, kept, valuesIn(anonymized(text, url))])
  }
  const card = await fetch(new Request(`${url}/.well-known/agent-card.json`))
  lines.push([
    card.status,
    card.headers.get('content-type'),
    valuesIn(anonymized((await card.text()).replaceAll('http://agent.test', url), url)),
  ])
  return lines
}

/** The order of members is the store's affair; that of frames and their lines is not. */
function valuesIn(text: string): readonly unknown[] {
  return text.split('\n').map((line) => (/^(data: )?\{/.test(line) ? JSON.parse(line.replace(/^data: /, '')) : line))
}

function anonymized(text: string, url: string): string {
  const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}(-[\w-]{22})?/g
  return text
    .replaceAll(url, 'URL')
    .replaceAll(uuid, 'ID')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
}

describe.each(bindingNames)('over %s', (binding) => {
  test('F116 a server tied to its host: every host gives the same answers, streams and errors among them', async () => {
    const [first, ...others] = Object.entries(hosts)
    const expected = await transcript(await (first?.[1] ?? openNothing)(), binding)
    expect(JSON.stringify(expected)).toContain('TASK_STATE_COMPLETED')
    for (const [name, open] of others) expect([name, await transcript(await open(), binding)]).toEqual([name, expected])
  })

  test.each(Object.keys(hosts).flatMap((host) => ['abort', 'cancel'].map((way) => [host, way])))(
    'F116 a host that does not tell: a reader who leaves %s by %s ends the stream and not the task',
    async (host, way) => {
      const { fetch, url } = await (hosts[host] ?? openNothing)()
      const leaving = new AbortController()
      const params = { message: userMessage('hold') }
      const response = await fetch(requestFor(binding, 'SendStreamingMessage', params, { url, signal: leaving.signal }))
      const reader = (response.body as ReadableStream<Uint8Array>).getReader()
      let text = ''
      while (!text.includes('holding')) text += new TextDecoder().decode((await reader.read()).value)
      // It waits for the next event when the reader goes.
      const next = reader.read().catch(() => ({ done: true }))
      if (way === 'abort') leaving.abort()
      else await reader.cancel()
      expect((await next).done).toBe(true)
      const id = /"task":\{"id":"([^"]+)"/.exec(text)?.[1]
      const { task } = await result(fetch, binding, 'SendMessage', { message: userMessage('go', { taskId: id }) }, { url })
      expect(task).toMatchObject({ id, status: { state: 'TASK_STATE_COMPLETED' } })
    },
  )
})

const openNothing = (): Promise<Hosted> => Promise.reject(new Error('there is no such host'))
