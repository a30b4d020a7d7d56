/** The door for hosts that know Request and Response alone: bundled, it asks for nothing else and answers the same. F116. */

import { gzipSync } from 'node:zlib'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Server } from '../../src/edge.js'
import { verifyCard } from '../../src/edge.js'
import { bindingNames, call, frames, refusal, requestFor, result, userMessage } from '../harness/server.js'
import { type Bundle, bundle, runBundle } from './neutral-bundle.js'

const door = await bundle(new URL('../../src/edge.ts', import.meta.url), { format: 'esm', minify: true })
/** One turn of the event loop. */
const turn = () => new Promise((resolve) => setImmediate(resolve))
const kib = (bytes: number) => `${(bytes / 1024).toFixed(1)} KiB`

test(`F116: the door is one file of ${kib(door.code.length)}, ${kib(gzipSync(door.code).length)} gzipped, that imports nothing`, () => {
  expect(door.imports).toEqual([])
  expect(door.warnings).toEqual([])
  // The name of no module of Node, however it is asked for.
  expect(door.code).not.toMatch(/["'`]node:|\brequire\(["'`]/)
})

test('what a door would ask a host for is found: the one for Node asks for sockets and files', async () => {
  const { imports } = await bundle(new URL('../../src/index.ts', import.meta.url), { format: 'esm' })
  expect(imports).toEqual(expect.arrayContaining(['node:http', 'node:fs']))
})

describe('F116: a worker in a place without process, Buffer, require and setImmediate', () => {
  let worker: Bundle
  let exports: any
  let server: Server

  beforeAll(async () => {
    worker = await bundle(new URL('./edge-worker.ts', import.meta.url), { format: 'iife' })
    exports = runBundle(worker)
    server = await exports.open()
  })
  afterAll(() => server.close())

  test('is one file that imports nothing', () => {
    expect(worker.imports).toEqual([])
    expect(worker.warnings).toEqual([])
  })

  test('is run where a use of Node’s own names fails', () => {
    for (const name of ['process', 'Buffer', 'require', 'setImmediate', 'global']) {
      expect(() => runBundle({ ...worker, code: `var bundled = ${name}` })).toThrow(`${name} is not defined`)
    }
  })

  test('shows its card, and 304 to whoever has it', async () => {
    const ask = (headers = {}) => server.fetch(new Request('http://agent.test/.well-known/agent-card.json', { headers }))
    const answer = await ask()
    expect(await answer.json()).toMatchObject({ name: 'Edge', capabilities: { streaming: true, extendedAgentCard: true } })
    expect((await ask({ 'if-none-match': answer.headers.get('etag') })).status).toBe(304)
    expect((await server.fetch(new Request('http://agent.test/.well-known/agent-card.json', { method: 'HEAD' }))).status).toBe(200)
  })

  describe.each(bindingNames)('over %s', (binding) => {
    test('answers a send with the finished task, and with a direct Message', async () => {
      const { task } = await result(server.fetch, binding, 'SendMessage', { message: userMessage('grüße') })
      expect(task).toMatchObject({
        status: { state: 'TASK_STATE_COMPLETED' },
        artifacts: [{ artifactId: 'heard', parts: [{ text: 'grüße' }] }],
      })
      expect(await result(server.fetch, binding, 'GetTask', { id: task.id })).toEqual(task)
      const { message } = await result(server.fetch, binding, 'SendMessage', { message: userMessage('hello') })
      expect(message.parts).toEqual([{ text: 'Hello from the edge.' }])
    })

    test('streams, asks, sleeps and goes on', async () => {
      const seen: string[] = []
      for await (const { data } of frames(server.fetch, binding, 'SendStreamingMessage', { message: userMessage('chunks') })) {
        seen.push(data.artifactUpdate?.artifact.parts[0].text ?? (data.task ?? data.statusUpdate).status.state)
      }
      expect(seen).toEqual(['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING', 'one', 'two', 'TASK_STATE_COMPLETED'])
      const { task } = await result(server.fetch, binding, 'SendMessage', { message: userMessage('ask') })
      expect(task.status.state).toBe('TASK_STATE_INPUT_REQUIRED')
      const answered = await result(server.fetch, binding, 'SendMessage', { message: userMessage('that one', { taskId: task.id }) })
      expect(answered.task.artifacts[0].parts).toEqual([{ data: { answer: 'that one' } }])
      const { task: rested } = await result(server.fetch, binding, 'SendMessage', { message: userMessage('nap') })
      expect(rested.status.state).toBe('TASK_STATE_COMPLETED')
    })

    test('walks through the list by tokens of its own making', async () => {
      const sent: string[] = []
      const contextId = `edge-${binding}`
      for (const text of ['a', 'b', 'c'])
        sent.push((await result(server.fetch, binding, 'SendMessage', { message: userMessage(text, { contextId }) })).task.id)
      const seen: string[] = []
      for (let pageToken: string | undefined; pageToken !== ''; ) {
        const page: any = await result(server.fetch, binding, 'ListTasks', { contextId, pageSize: 1, ...(pageToken && { pageToken }) })
        seen.push(page.tasks[0].id)
        pageToken = page.nextPageToken
      }
      expect(seen.sort()).toEqual(sent.sort())
    })

    test('refuses by the table of errors, and shows nothing of what was thrown', async () => {
      const { task } = await result(server.fetch, binding, 'SendMessage', { message: userMessage('fail') })
      expect(task.status.state).toBe('TASK_STATE_FAILED')
      expect(await refusal(server.fetch, binding, 'GetTask', { id: 'nope' })).toMatchObject({ reason: 'TASK_NOT_FOUND' })
      expect(await refusal(server.fetch, binding, 'GetTask', { id: task.id }, { as: 'bob' })).toMatchObject({ reason: 'TASK_NOT_FOUND' })
      expect(await refusal(server.fetch, binding, 'CancelTask', { id: task.id })).toMatchObject({ reason: 'TASK_NOT_CANCELABLE' })
      expect(await refusal(server.fetch, binding, 'SubscribeToTask', { id: task.id })).toMatchObject({ reason: 'UNSUPPORTED_OPERATION' })
      expect(await refusal(server.fetch, binding, 'ListTasks', { pageToken: 'forged' })).toMatchObject({ reason: 'INVALID_PARAMS' })
      expect(await refusal(server.fetch, binding, 'ListTasks', {}, { headers: { 'a2a-version': '0.3' } })).toMatchObject({
        reason: 'VERSION_NOT_SUPPORTED',
      })
      const nobody = await call(server.fetch, binding, 'ListTasks', {}, { as: 'mallory' })
      expect([nobody.status, nobody.headers.get('www-authenticate')]).toEqual([401, expect.stringContaining('Bearer')])
      const thrown = await call(server.fetch, binding, 'SendMessage', { message: userMessage('throw') })
      expect(thrown.text).toContain('TASK_STATE_FAILED')
      expect(thrown.text).not.toContain('secret')
    })

    test('takes no push configurations, for it has no sockets, and shows an extended card', async () => {
      const { task } = await result(server.fetch, binding, 'SendMessage', { message: userMessage('x') })
      const config = { taskId: task.id, url: 'https://hook.test/' }
      const refused = await refusal(server.fetch, binding, 'CreateTaskPushNotificationConfig', config)
      expect(refused.reason).toBe('PUSH_NOTIFICATION_NOT_SUPPORTED')
      expect(await result(server.fetch, binding, 'GetExtendedAgentCard', {})).toMatchObject({ description: 'For alice.' })
    })

    test.each(['abort', 'cancel'])('a reader who leaves by %s ends the stream, and the task goes on without it', async (way) => {
      const leaving = new AbortController()
      const request = requestFor(binding, 'SendStreamingMessage', { message: userMessage('hold') }, { signal: leaving.signal })
      const response = await server.fetch(request)
      const reader = (response.body as ReadableStream<Uint8Array>).getReader()
      let text = ''
      for (let step = await reader.read(); !step.done; step = await reader.read()) {
        text += new TextDecoder().decode(step.value)
        if (text.includes('holding')) break
      }
      const id = /"id":"([0-9a-f-]{36})"/.exec(text)?.[1] ?? ''
      if (way === 'cancel') await reader.cancel()
      else {
        const next = reader.read()
        leaving.abort()
        expect((await next).done).toBe(true)
      }
      const { task } = await result(server.fetch, binding, 'SendMessage', { message: userMessage('go', { taskId: id }) })
      expect(task.status.state).toBe('TASK_STATE_COMPLETED')
    })

    test('a caller who leaves a blocking send leaves the task as it is', async () => {
      const leaving = new AbortController()
      const contextId = `left-${binding}`
      const waiting = server.fetch(
        requestFor(binding, 'SendMessage', { message: userMessage('hold', { contextId }) }, { signal: leaving.signal }),
      )
      let tasks: any[] = []
      for (; tasks[0]?.status.message === undefined; await turn())
        tasks = (await result(server.fetch, binding, 'ListTasks', { contextId })).tasks
      leaving.abort()
      await waiting
      const canceled = await result(server.fetch, binding, 'CancelTask', { id: tasks[0].id })
      expect(canceled.status.state).toBe('TASK_STATE_CANCELED')
    })
  })

  test('takes tokens of an issuer, and signs its card', async () => {
    const secret = 'a secret of more than thirty-two characters'
    const withJwt: Server = await exports.openWithJwt(secret)
    const token = await new SignJWT({ sub: 'alice' })
      .setProtectedHeader({ alg: 'HS256' })
      .setIssuer('https://issuer.test')
      .setAudience('edge')
      .setExpirationTime('5m')
      .sign(new TextEncoder().encode(secret))
    expect(await result(withJwt.fetch, 'JSONRPC', 'ListTasks', {}, { as: token })).toMatchObject({ pageSize: 50 })
    expect((await call(withJwt.fetch, 'JSONRPC', 'ListTasks', {}, { as: `${token}x` })).status).toBe(401)

    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
    const signing = { key: await exportJWK(privateKey), kid: 'one', alg: 'ES256' }
    const signed: Server = await exports.open({ signing })
    const card = await (await signed.fetch(new Request('http://agent.test/.well-known/agent-card.json'))).json()
    await expect(verifyCard(card, async () => publicKey)).resolves.not.toThrow()
  })
})
