/** The receiver behind node:http and Express, over real sockets. */

import { EventEmitter, once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
// @ts-expect-error express brings no types of its own
import express from 'express'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { brief, chunk, gather, openReceiver, shows, status } from './push-kit.js'

async function listen(listener: RequestListener): Promise<string> {
  const http = createServer(listener)
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  onTestFinished(() => {
    http.closeAllConnections()
    http.close()
  })
  // Listening on a port, the address is one of host and port.
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`
}

const post = (url: string, body: unknown, headers: Record<string, string>) =>
  fetch(url, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { 'content-type': 'application/a2a+json', ...headers },
  })

describe('node:http', () => {
  test('the middleware alone answers every request', async () => {
    const { receiver } = openReceiver()
    const url = await listen(receiver.middleware)
    const target = receiver.target()
    const { seen } = gather(receiver)
    expect((await post(url, status('t'), shows(target, 't:p:1'))).status).toBe(200)
    expect((await post(`${url}/any?a=1`, status('t'), shows(target, 't:p:1'))).status).toBe(200)
    const forged = await post(url, status('t'), {})
    expect([forged.status, forged.headers.get('www-authenticate'), await forged.text()]).toEqual([401, 'Bearer', ''])
    expect((await post(url, status('u'), shows(target))).status).toBe(403)
    const get = await fetch(url)
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST'])
    const bad = await post(url, '{', shows(target))
    expect([bad.status, await bad.text()]).toEqual([400, 'The body is no JSON.'])
    expect((await post(url, status('t', 'COMPLETED'), shows(target, 't:p:2'))).status).toBe(200)
    await vi.waitFor(() => expect(seen.map(brief)).toEqual(['t WORKING', 't COMPLETED']))
  })

  test('a large body arrives whole, and one too large is refused', async () => {
    const { receiver } = openReceiver({ limits: { bodyBytes: 3 << 20 } })
    const url = await listen(receiver.middleware)
    const target = receiver.target()
    const text = 'é'.repeat(1 << 20)
    expect((await post(url, chunk('t', text), shows(target))).status).toBe(200)
    expect((await post(url, chunk('t', text + text), shows(target))).status).toBe(413)
    // The connection is in order again.
    expect((await post(url, status('t', 'COMPLETED'), shows(target))).status).toBe(200)
    const { seen, ended } = gather(target)
    await ended
    expect(seen).toMatchObject([{ delta: [{ text }] }, { state: 'TASK_STATE_COMPLETED' }])
  })

  test('a body that breaks off or does not come holds nobody else, and is no event', async () => {
    const { receiver, world } = openReceiver()
    const arrived: IncomingMessage[] = []
    const url = await listen((incoming, response) => {
      arrived.push(incoming)
      void receiver.middleware(incoming, response)
    })
    const target = receiver.target()
    const headers = { 'content-type': 'application/a2a+json', 'content-length': '1000', ...shows(target) }
    const cut = request(url, { method: 'POST', headers })
    cut.on('error', () => {})
    cut.write('{"status')
    await vi.waitFor(() => expect(arrived).toHaveLength(1))
    cut.destroy()
    expect((await post(url, status('t'), shows(target))).status).toBe(200)

    const stalls = request(url, { method: 'POST', headers })
    stalls.write('{')
    const answered = once(stalls, 'response')
    await vi.waitFor(() => expect(arrived).toHaveLength(3))
    await world.advance(10_000)
    const [answer] = await answered
    expect(answer.statusCode).toBe(408)
    stalls.destroy()
    expect((await post(url, status('t', 'COMPLETED'), shows(target))).status).toBe(200)
  })

  test('a connection that closes without an error has broken off, too', async () => {
    const { receiver } = openReceiver()
    const headers = { 'content-type': 'application/a2a+json', ...shows(receiver.target()) }
    const incoming = Object.assign(new EventEmitter(), { method: 'POST', headers, readableEnded: false })
    const end = vi.fn()
    const response = { statusCode: 0, setHeader: () => {}, end }
    const answered = receiver.middleware(incoming, response)
    await vi.waitFor(() => expect(incoming.listenerCount('close')).toBe(1))
    incoming.emit('close')
    await answered
    expect([response.statusCode, end.mock.calls]).toEqual([400, [['The body broke off.']]])
  })

  test('with next, only requests for the path of publicUrl are looked at', async () => {
    const { receiver } = openReceiver()
    const url = await listen((incoming, response) => {
      void receiver.middleware(incoming, response, () => response.end('passed on'))
    })
    const target = receiver.target()
    expect(await (await fetch(url)).text()).toBe('passed on')
    expect(await (await post(`${url}/a2a-push/more`, status('t'), shows(target))).text()).toBe('passed on')
    expect(await (await post(`${url}//`, status('t'), shows(target))).text()).toBe('passed on')
    expect((await post(`${url}/a2a-push`, status('t'), {})).status).toBe(401)
    for (const path of ['/a2a-push', '/a2a-push/', '/a2a-push?a=1']) {
      const answer = await post(url + path, status('t'), shows(target))
      expect([answer.status, await answer.text()]).toEqual([200, ''])
    }
  })
})

describe('Express', () => {
  test.each([
    ['no parser', []],
    ['a parser of JSON', [express.json({ type: ['application/json', 'application/a2a+json'] })]],
    ['a parser of text', [express.text({ type: '*/*' })]],
    ['a parser of bytes', [express.raw({ type: '*/*' })]],
  ])('with %s before it, wherever it is mounted', async (_, before) => {
    const { receiver } = openReceiver()
    const app = express()
    for (const one of before) app.use(one)
    app.use('/a2a-push', receiver.middleware)
    app.use((_: IncomingMessage, response: ServerResponse) => void response.end('passed on'))
    const url = await listen(app)
    const target = receiver.target()
    expect(await (await post(`${url}/other`, status('t'), shows(target))).text()).toBe('passed on')
    expect((await post(`${url}/a2a-push`, chunk('t', 'é'), shows(target))).status).toBe(200)
    expect((await post(`${url}/a2a-push`, 'null', shows(target))).status).toBe(400)
    expect((await post(`${url}/a2a-push`, status('t', 'COMPLETED'), shows(target))).status).toBe(200)
    const { seen, ended } = gather(target)
    await ended
    expect(seen.map(brief)).toEqual(['t é', 't COMPLETED'])
  })
})
