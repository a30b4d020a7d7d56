/** Tenants: those that a caller's credentials grant, each a world of its own. D8, §13.1. */

import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { bearerTokens, jwt } from '../../src/index.js'
import type { OperationName } from '../../src/protocol/operations.js'
import { scriptAgent } from '../harness/script-agent.js'
import { bindingNames, call, openSocket, refusal, result, userMessage } from '../harness/server.js'
import { openStill } from '../runtime/kit.js'
import { audience, issuer, makeKey, type TestKey, tokenOf } from './issuer.js'

let key: TestKey
let carol: string
let dave: string
beforeAll(async () => {
  key = await makeKey('one')
  carol = await tokenOf(key, { claims: { sub: 'carol', orgs: ['red', 'blue'] } })
  dave = await tokenOf(key, { claims: { sub: 'dave', orgs: 'red' } })
})
const open = () =>
  openStill(scriptAgent, { push: true, auth: jwt({ issuer, audience, jwks: { keys: [key.publicJwk] as never }, tenantsClaim: 'orgs' }) })

describe.each(bindingNames)('over %s', (binding) => {
  test.each<[OperationName, Readonly<Record<string, unknown>>]>([
    ['GetTask', {}],
    ['CancelTask', {}],
    ['SubscribeToTask', {}],
    ['CreateTaskPushNotificationConfig', { url: 'https://hook.test/' }],
    ['GetTaskPushNotificationConfig', { config: true }],
    ['ListTaskPushNotificationConfigs', {}],
    ['DeleteTaskPushNotificationConfig', { config: true }],
  ])('%s of a task of one tenant is answered in another as of a task that is not there', async (operation, more) => {
    const { fetch } = await open()
    const message = userMessage('ask')
    const { task } = await result(fetch, binding, 'SendMessage', { message, tenant: 'red' }, { as: carol })
    const { config, ...rest } = more
    const paramsFor = (id: string) =>
      /Push/.test(operation) ? { taskId: id, ...(config === true && { id: 'c' }), ...rest } : { id, ...rest }
    const ask = async (id: string, tenant: string, as: string) => {
      const { status, text } = await call(fetch, binding, operation, { ...paramsFor(id), tenant }, { as })
      return { status, text: text.replaceAll(id, 'ID') }
    }
    for (const [tenant, as] of [
      ['', carol],
      ['blue', carol],
      ['red', dave],
    ] as const) {
      const answer = await ask(task.id, tenant, as)
      expect(answer.text).toContain('TASK_NOT_FOUND')
      expect(answer).toEqual(await ask('019b7a3c-1111-7222-8333-444455556666', tenant, as))
    }
    expect((await result(fetch, binding, 'GetTask', { id: task.id, tenant: 'red' }, { as: carol })).status.state).toBe(
      'TASK_STATE_INPUT_REQUIRED',
    )
  })

  test('a message may go on with a task in its own tenant only', async () => {
    const { fetch } = await open()
    const { task } = await result(fetch, binding, 'SendMessage', { message: userMessage('ask'), tenant: 'red' }, { as: carol })
    const answer = { message: userMessage('42', { taskId: task.id }) }
    for (const tenant of ['', 'blue'])
      expect(await refusal(fetch, binding, 'SendMessage', { ...answer, tenant }, { as: carol })).toMatchObject({ reason: 'TASK_NOT_FOUND' })
    expect((await result(fetch, binding, 'SendMessage', { ...answer, tenant: 'red' }, { as: carol })).task.status.state).toBe(
      'TASK_STATE_COMPLETED',
    )
  })

  test('lists, contexts, memory and repeated sends are each tenant’s own', async () => {
    const { fetch } = await open()
    const message = { ...userMessage('remember k v'), messageId: 'same', contextId: 'same' }
    const sends = await Promise.all(
      ['', 'red', 'blue'].map((tenant) => result(fetch, binding, 'SendMessage', { message, tenant }, { as: carol })),
    )
    expect(new Set(sends.map(({ task }) => task.id)).size).toBe(3)
    for (const tenant of ['', 'red', 'blue'])
      expect((await result(fetch, binding, 'ListTasks', { tenant }, { as: carol })).totalSize).toBe(1)
    const { task } = await result(
      fetch,
      binding,
      'SendMessage',
      { message: userMessage('recall k', { contextId: 'same' }), tenant: 'red' },
      { as: dave },
    )
    expect(task.artifacts[0].parts[0].data).toEqual({ value: null })
  })

  test('a page token of one tenant is refused in another', async () => {
    const { fetch } = await open()
    for (const text of ['a', 'b']) await result(fetch, binding, 'SendMessage', { message: userMessage(text), tenant: 'red' }, { as: carol })
    const { nextPageToken } = await result(fetch, binding, 'ListTasks', { tenant: 'red', pageSize: 1 }, { as: carol })
    const ask = (tenant: string) => refusal(fetch, binding, 'ListTasks', { tenant, pageSize: 1, pageToken: nextPageToken }, { as: carol })
    for (const tenant of ['', 'blue']) expect(await ask(tenant)).toMatchObject({ reason: 'INVALID_PARAMS', fields: ['pageToken'] })
  })

  test.each(['green', 'RED', 'red ', ' red', 'red/blue', '%72ed', 'red,blue', 'orgs', '__proto__', 'constructor', 'x'.repeat(2000)])(
    'the tenant %j was not granted, and is refused by name before anything is looked up',
    async (tenant) => {
      const { fetch } = await open()
      for (const operation of ['ListTasks', 'GetTask', 'SendMessage'] as const) {
        const params = { id: 'x', message: userMessage('x'), tenant }
        if (operation === 'ListTasks' && binding === 'HTTP+JSON') Reflect.deleteProperty(params, 'message')
        const error = await refusal(fetch, binding, operation, params, { as: carol })
        expect(error).toMatchObject({ reason: 'INVALID_PARAMS', fields: ['tenant'] })
        expect(error.message.length).toBeLessThan(300)
      }
    },
  )
})

test('tenants of a path need no more than a granted one, and its spelling may be encoded', async () => {
  const server = await openSocket(scriptAgent, { auth: bearerTokens({ carol: { id: 'carol', tenants: ['red', 'a b/ü', 'tasks'] } }) })
  onTestFinished(() => server.close())
  const ask = (path: string) => fetch(`${server.url}/rest${path}`, { headers: { 'a2a-version': '1.0', authorization: 'Bearer carol' } })
  for (const path of ['/red/tasks', '/%72%65%64/tasks', '/a%20b%2F%C3%BC/tasks', '/tasks?tenant=red', '/red/tasks?tenant=red']) {
    expect([path, (await ask(path)).status]).toEqual([path, 200])
  }
  // The task named tasks; the list of the tenant of that name is to be had by its field.
  expect(((await (await ask('/tasks/tasks')).json()) as any).error.details[0].reason).toBe('TASK_NOT_FOUND')
  expect((await ask('/tasks?tenant=tasks')).status).toBe(200)
})
