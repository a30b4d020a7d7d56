/** The addresses of HTTP+JSON: ids, slashes, tenants and verbs, as they come over the wire. Spec §11.3, D1. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { agent, type Server } from '../../src/index.js'
import { operationNames, operationTable } from '../../src/protocol/operations.js'
import { scriptAgent } from '../harness/script-agent.js'
import { openServer, readFrames, result, userMessage } from '../harness/server.js'
import { raw } from './raw.js'

let server: Server
let id: string
beforeAll(async () => {
  server = await openServer(scriptAgent, { push: true, limits: { shutdownMs: 0 } })
  const { task } = await result(server.fetch, 'JSONRPC', 'SendMessage', {
    message: userMessage('hold'),
    configuration: { returnImmediately: true },
  })
  id = task.id
})
afterAll(() => server.close())

/** The task that the answer says is not there. */
const missing = async (path: string, options = {}) => {
  const answer = await raw(server, `/rest${path}`, options)
  expect([path, answer.status, answer.reason]).toEqual([path, 404, 'TASK_NOT_FOUND'])
  return answer.body.error.details[0].metadata.taskId
}

describe('ids in the path', () => {
  test.each([
    ['/tasks/plain', 'plain'],
    ['/tasks/plain/', 'plain'],
    ['/tasks/a%3Ab', 'a:b'],
    ['/tasks/a:b', 'a:b'],
    ['/tasks/a%2Fb', 'a/b'],
    ['/tasks/%C3%BC%20x', 'ü x'],
    ['/tasks/%E0%A4', '%E0%A4'],
    ['/tasks/100%25', '100%'],
    ['/tasks/a+b', 'a+b'],
    ['/tasks/tasks', 'tasks'],
    ['/tasks/x%3Acancel', 'x:cancel'],
    ['/%74asks/x', 'x'],
  ])('%s is the task %j', async (path, taskId) => {
    expect(await missing(path)).toBe(taskId)
  })

  test.each([
    ['/tasks/a:b:cancel', 'a:b'],
    ['/tasks/a%3Acancel:cancel', 'a:cancel'],
    ['/tasks/x:cancel/', 'x'],
    ['/tasks/x:subscribe', 'x'],
  ])('POST %s is the task %j', async (path, taskId) => {
    expect(await missing(path, { method: 'POST' })).toBe(taskId)
  })

  test('an own task is found under each spelling of its id', async () => {
    const escaped = id.replace(/[a-f]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`)
    for (const path of [`/tasks/${id}`, `/tasks/${id}/`, `/tasks/${escaped}`, `/tasks/${id}?`])
      expect((await raw(server, `/rest${path}`)).body?.id).toBe(id)
  })
})

describe('tenants in the path', () => {
  const as = { headers: { authorization: 'Bearer carol' } }

  test('a granted tenant leads to its own tasks', async () => {
    const { task } = await result(
      server.fetch,
      'HTTP+JSON',
      'SendMessage',
      { message: userMessage('echo'), tenant: 'red' },
      { as: 'carol' },
    )
    expect((await raw(server, `/rest/red/tasks/${task.id}`, as)).body.id).toBe(task.id)
    expect((await raw(server, `/rest/%72ed/tasks/${task.id}/`, as)).body.id).toBe(task.id)
    expect((await raw(server, `/rest/tasks/${task.id}`, as)).status).toBe(404)
    expect((await raw(server, '/rest/red/tasks', as)).body.totalSize).toBe(1)
    expect((await raw(server, '/rest/blue/tasks', as)).body.totalSize).toBe(0)
    expect((await raw(server, '/rest/tasks?tenant=red', as)).body.totalSize).toBe(1)
  })

  test('another tenant is refused by the name of the field (D8)', async () => {
    for (const path of ['/green/tasks', '/Red/tasks', '/red%20/tasks']) {
      const answer = await raw(server, `/rest${path}`, as)
      expect([path, answer.status, answer.body.error.details[1].fieldViolations[0].field]).toEqual([path, 400, 'tenant'])
    }
  })

  test('the path and the rest of a request must agree', async () => {
    const query = await raw(server, '/rest/red/tasks?tenant=blue', as)
    expect([query.status, query.reason]).toEqual([400, 'INVALID_PARAMS'])
    const body = await raw(server, '/rest/tasks/a:cancel', { body: '{"id":"b"}' })
    expect([body.status, body.body.error.details[1].fieldViolations[0].field]).toEqual([400, 'id'])
    expect((await raw(server, '/rest/tasks/a:cancel', { body: '{"id":"a"}' })).reason).toBe('TASK_NOT_FOUND')
  })
})

describe('verbs and addresses', () => {
  test.each([
    ['PUT', '/tasks/x', 'GET'],
    ['POST', '/tasks', 'GET'],
    ['GET', '/message:send', 'POST'],
    ['GET', '/tasks/x:cancel', 'POST'],
    ['DELETE', '/tasks/x:subscribe', 'GET, POST'],
    ['PATCH', '/tasks/x/pushNotificationConfigs', 'POST, GET'],
    ['POST', '/tasks/x/pushNotificationConfigs/y', 'GET, DELETE'],
    ['DELETE', '/extendedAgentCard', 'GET'],
    ['PUT', '/red/tasks/x', 'GET'],
  ])('%s %s is a 405 that allows %s', async (method, path, allow) => {
    const answer = await raw(server, `/rest${path}`, { method })
    const sorted = (list: string | null | undefined) => list?.split(', ').sort()
    expect([answer.status, answer.reason, sorted(answer.headers.get('allow'))]).toEqual([405, 'METHOD_NOT_FOUND', sorted(allow)])
    expect(answer.body.error.code).toBe(405)
  })

  test.each([
    '',
    '/',
    '/nothing',
    '/tasks/',
    '/tasks//',
    '/tasks/:cancel',
    '/tasks/a/b',
    '/a/b/tasks',
    '/message',
    '/Tasks',
    '/tasks/x:nothing/y',
    '/../a2a',
  ])('GET %j is a 404 without Allow, unless it is the list', async (path) => {
    const answer = await raw(server, `/rest${path}`)
    if (path === '/tasks/') expect(answer.body.tasks).toBeInstanceOf(Array)
    else expect([path, answer.status, answer.reason, answer.headers.get('allow')]).toEqual([path, 404, 'METHOD_NOT_FOUND', null])
  })

  test('every operation of the table is found at its address', async () => {
    for (const name of operationNames) {
      const { verbs, path } = operationTable[name]
      for (const method of verbs) {
        const answer = await raw(server, `/rest${path.replace(/\{\w+\}/g, 'x')}`, { method, ...(method === 'POST' && { body: '{}' }) })
        expect([name, method, answer.reason]).not.toEqual([name, method, 'METHOD_NOT_FOUND'])
      }
    }
  })

  test.each(['GET', 'POST'])('%s :subscribe opens the stream (D1)', async (method) => {
    const leaving = new AbortController()
    const response = await server.fetch(
      new Request(`http://agent.test/rest/tasks/${id}:subscribe`, {
        method,
        headers: { authorization: 'Bearer alice', 'a2a-version': '1.0' },
        signal: leaving.signal,
      }),
    )
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
    for await (const frame of readFrames(response, 'HTTP+JSON')) {
      expect(frame.data.task.id).toBe(id)
      break
    }
  })

  test('an empty body is fine on :cancel and :subscribe, and nowhere else', async () => {
    for (const headers of [{}, { 'content-type': 'application/json' }]) {
      expect((await raw(server, '/rest/tasks/x:cancel', { method: 'POST', headers })).reason).toBe('TASK_NOT_FOUND')
      expect((await raw(server, '/rest/tasks/x:subscribe', { method: 'POST', headers })).reason).toBe('TASK_NOT_FOUND')
      expect((await raw(server, '/rest/message:send', { method: 'POST', headers })).reason).toBe('PARSE_ERROR')
    }
    expect((await raw(server, '/rest/tasks/x:cancel', { body: '{' })).reason).toBe('PARSE_ERROR')
    expect((await raw(server, '/rest/tasks/x:cancel', { body: '[]' })).reason).toBe('INVALID_REQUEST')
    expect((await raw(server, '/rest/tasks/x:cancel', { body: '', headers: { 'content-type': 'text/html' } })).reason).toBe(
      'CONTENT_TYPE_NOT_SUPPORTED',
    )
  })

  test.each(['[]', '7', '"x"', 'null', 'true'])('the body %s is an invalid request', async (body) => {
    const answer = await raw(server, '/rest/message:send', { body })
    expect([answer.status, answer.reason, answer.headers.get('content-type')]).toEqual([400, 'INVALID_REQUEST', 'application/a2a+json'])
  })

  test('answers are application/a2a+json, and errors say the status thrice alike', async () => {
    expect((await raw(server, '/rest/tasks')).headers.get('content-type')).toBe('application/a2a+json')
    const error = await raw(server, '/rest/tasks/nope')
    expect([error.status, error.headers.get('content-type'), error.body.error.code, error.body.error.status]).toEqual([
      404,
      'application/a2a+json',
      404,
      'NOT_FOUND',
    ])
  })

  test('in a query an empty value is none, names come in both spellings, and a single member comes once', async () => {
    expect((await raw(server, '/rest/tasks?pageSize=&contextId=&unknown=1')).body.pageSize).toBe(50)
    expect((await raw(server, '/rest/tasks?page_size=3&include_artifacts=true')).body.pageSize).toBe(3)
    for (const query of ['pageSize=1&pageSize=2', 'pageSize=1&page_size=1']) {
      expect((await raw(server, `/rest/tasks?${query}`)).body.error.details[1].fieldViolations[0].field).toBe('pageSize')
    }
  })
})

test('what an agent throws shows nowhere', async () => {
  const leaky = agent(
    {
      name: 'Leaky',
      description: 'Throws.',
      answer: () => {
        throw new Error('secret at /etc/passwd')
      },
    },
    () => 'never',
  )
  const broken = await openServer(leaky)
  const message = userMessage('x')
  const http = await raw(broken, '/rest/message:send', { body: JSON.stringify({ message }) })
  expect([http.status, http.reason]).toEqual([500, 'INTERNAL'])
  const rpc = await raw(broken, '/a2a/v1', { body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }) })
  expect([rpc.status, rpc.body.error.code]).toEqual([200, -32603])
  expect(http.text + rpc.text).not.toMatch(/secret|passwd|stack/)
  await broken.close()
})
