/** The four operations on push configurations, and those that come inside a send. Spec §4.3, §3.1.7 to §3.1.10. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Server } from '../../src/index.js'
import { UnavailableError } from '../../src/protocol/errors.js'
import { scriptAgent } from '../harness/script-agent.js'
import { type BindingName, bindingNames, call, openServer, refusal, result, userMessage } from '../harness/server.js'
import { withStore } from '../runtime/kit.js'

const url = 'https://hook.test/path?query=1'
const secrets = { token: 'very-secret-token', authentication: { scheme: 'Bearer', credentials: 'very-secret-credentials' } }

let server: Server
beforeAll(async () => {
  server = await openServer(scriptAgent, { push: true })
})
afterAll(() => server.close())

const newTask = async (more: object = {}, as = 'alice'): Promise<string> =>
  (await result(server.fetch, 'JSONRPC', 'SendMessage', { message: userMessage('ask'), ...more }, { as })).task.id

describe.each(bindingNames)('over %s', (binding) => {
  const create = (taskId: string, more: object = {}) =>
    result(server.fetch, binding, 'CreateTaskPushNotificationConfig', { taskId, url, ...more })
  const list = (taskId: string, more: object = {}) => result(server.fetch, binding, 'ListTaskPushNotificationConfigs', { taskId, ...more })
  const get = (taskId: string, id: string) => result(server.fetch, binding, 'GetTaskPushNotificationConfig', { taskId, id })
  const remove = (taskId: string, id: string) => result(server.fetch, binding, 'DeleteTaskPushNotificationConfig', { taskId, id })

  test('one is made, read, listed and deleted', async () => {
    const taskId = await newTask()
    expect(await list(taskId)).toEqual({ configs: [], nextPageToken: '' })
    const made = await create(taskId, { id: 'mine' })
    expect(made).toEqual({ id: 'mine', taskId, url })
    expect(await get(taskId, 'mine')).toEqual(made)
    expect(await list(taskId)).toEqual({ configs: [made], nextPageToken: '' })
    expect(await remove(taskId, 'mine')).toEqual({})
    expect(await list(taskId)).toEqual({ configs: [], nextPageToken: '' })
  })

  test('without an id it gets one of its own, each time another', async () => {
    const taskId = await newTask()
    const made = [await create(taskId), await create(taskId), await create(taskId, { id: '' })]
    const ids = made.map(({ id }) => id)
    expect(new Set(ids).size).toBe(3)
    for (const id of ids) expect(await get(taskId, id)).toEqual({ id, taskId, url })
  })

  test('token and credentials are never shown, the scheme is', async () => {
    const taskId = await newTask()
    const shown = { id: 'mine', taskId, url, authentication: { scheme: 'Bearer' } }
    expect(await create(taskId, { id: 'mine', ...secrets })).toEqual(shown)
    expect(await get(taskId, 'mine')).toEqual(shown)
    expect((await list(taskId)).configs).toEqual([shown])
    const sent = await call(server.fetch, binding, 'SendMessage', {
      message: userMessage('ask'),
      configuration: { taskPushNotificationConfig: { url, ...secrets } },
    })
    const task = await call(server.fetch, binding, 'GetTask', { id: taskId })
    expect(sent.text + task.text).not.toContain('very-secret')
  })

  test('one of the same id replaces the other, wholly and at its place', async () => {
    const taskId = await newTask()
    await create(taskId, { id: 'a', ...secrets })
    await create(taskId, { id: 'b' })
    expect(await create(taskId, { id: 'a', url: 'https://other.test/' })).toEqual({ id: 'a', taskId, url: 'https://other.test/' })
    expect((await list(taskId)).configs.map((config: any) => [config.id, config.url, config.authentication]).sort()).toEqual([
      ['a', 'https://other.test/', undefined],
      ['b', url, undefined],
    ])
  })

  test('the same id on another task is another one', async () => {
    const [one, other] = [await newTask(), await newTask()]
    await create(one, { id: 'same' })
    await create(other, { id: 'same', url: 'https://other.test/' })
    await remove(one, 'same')
    expect((await get(other, 'same')).url).toBe('https://other.test/')
  })

  test('deleting twice is fine, reading what is deleted is TaskNotFound', async () => {
    const taskId = await newTask()
    await create(taskId, { id: 'mine' })
    for (let times = 0; times < 2; times++) expect(await remove(taskId, 'mine')).toEqual({})
    expect(await remove(taskId, 'never there')).toEqual({})
    expect(await refusal(server.fetch, binding, 'GetTaskPushNotificationConfig', { taskId, id: 'mine' })).toMatchObject({
      reason: 'TASK_NOT_FOUND',
    })
  })

  test('ids may hold whatever a text may', async () => {
    const taskId = await newTask()
    for (const id of ['a/b', 'a:cancel', 'ü x', '100%', '?#', '__proto__']) {
      expect(await create(taskId, { id })).toMatchObject({ id })
      expect(await get(taskId, id)).toMatchObject({ id })
      expect(await remove(taskId, id)).toEqual({})
    }
    expect((await list(taskId)).configs).toEqual([])
  })

  test('pages of any size visit each once, in the order of their making', async () => {
    const taskId = await newTask()
    const ids = ['q', 'w', 'e', 'r', 't', 'z', 'u']
    for (const id of ids) await create(taskId, { id })
    for (let pageSize = 1; pageSize <= 8; pageSize++) {
      const seen: string[] = []
      let pageToken = ''
      do {
        const page = await list(taskId, { pageSize, ...(pageToken !== '' && { pageToken }) })
        expect(page.configs.length).toBeLessThanOrEqual(pageSize)
        seen.push(...page.configs.map(({ id }: any) => id))
        pageToken = page.nextPageToken
      } while (pageToken !== '')
      expect(seen).toEqual(ids)
    }
  })

  test.each([
    ['CreateTaskPushNotificationConfig', { url: 'ftp://hook.test' }, 'url'],
    ['CreateTaskPushNotificationConfig', { url: 'hook.test' }, 'url'],
    ['CreateTaskPushNotificationConfig', { url: '' }, 'url'],
    ['CreateTaskPushNotificationConfig', { url: 'https://me:pw@hook.test/' }, 'url'],
    ['CreateTaskPushNotificationConfig', { url, authentication: { credentials: 'x' } }, 'authentication.scheme'],
    ['ListTaskPushNotificationConfigs', { pageSize: -1 }, 'pageSize'],
    ['ListTaskPushNotificationConfigs', { pageSize: 101 }, 'pageSize'],
    ['ListTaskPushNotificationConfigs', { pageSize: 'x' }, 'pageSize'],
    ['ListTaskPushNotificationConfigs', { pageToken: 'forged' }, 'pageToken'],
  ] as const)('%s with %j is refused by the name of the field', async (operation, params, field) => {
    const taskId = await newTask()
    expect(await refusal(server.fetch, binding, operation, { taskId, ...params })).toMatchObject({
      reason: 'INVALID_PARAMS',
      fields: [field],
    })
    expect((await list(taskId)).configs).toEqual([])
  })

  test('nobody else reads, changes or deletes it', async () => {
    const taskId = await newTask()
    const made = await create(taskId, { id: 'mine' })
    const asked = [
      ['CreateTaskPushNotificationConfig', { taskId, id: 'mine', url: 'https://mallory.test/' }],
      ['GetTaskPushNotificationConfig', { taskId, id: 'mine' }],
      ['ListTaskPushNotificationConfigs', { taskId }],
      ['DeleteTaskPushNotificationConfig', { taskId, id: 'mine' }],
    ] as const
    for (const [operation, params] of asked)
      expect([operation, (await refusal(server.fetch, binding, operation, params, { as: 'bob' })).reason]).toEqual([
        operation,
        'TASK_NOT_FOUND',
      ])
    expect((await list(taskId)).configs).toEqual([made])
  })

  test('one that comes with a message is kept with the task, new or not', async () => {
    const { task } = await result(server.fetch, binding, 'SendMessage', {
      message: userMessage('ask'),
      configuration: { taskPushNotificationConfig: { id: 'sent', url } },
    })
    expect((await list(task.id)).configs).toEqual([{ id: 'sent', taskId: task.id, url }])
    const again = { id: 'second', url, taskId: task.id }
    await result(server.fetch, binding, 'SendMessage', {
      message: userMessage('42', { taskId: task.id }),
      configuration: { taskPushNotificationConfig: again },
    })
    expect((await list(task.id)).configs.map(({ id }: any) => id)).toEqual(['sent', 'second'])
    const bad = { taskPushNotificationConfig: { url: 'ftp://hook.test' } }
    expect(await refusal(server.fetch, binding, 'SendMessage', { message: userMessage('ask'), configuration: bad })).toMatchObject({
      fields: ['configuration.taskPushNotificationConfig.url'],
    })
  })

  test('without an id, one that comes with a message and equals one of the task is that one (D24)', async () => {
    const first = { url, ...secrets }
    const send = (taskPushNotificationConfig: object, more: object = {}) =>
      result(server.fetch, binding, 'SendMessage', {
        message: userMessage('ask', { ...more }),
        configuration: { taskPushNotificationConfig },
      })
    const { task } = await send(first)
    await send(first, { taskId: task.id })
    expect((await list(task.id)).configs).toHaveLength(1)
    const others = [
      { ...first, token: 'another' },
      { url },
      { ...first, authentication: { scheme: 'Bearer', credentials: 'another' } },
      { ...first, url: `${url}&more` },
    ]
    for (const other of [...others, ...others]) await send(other, { taskId: task.id })
    expect((await list(task.id)).configs).toHaveLength(1 + others.length)
    await create(task.id, first)
    expect((await list(task.id)).configs).toHaveLength(2 + others.length)
  })

  test('in a tenant it is shown with it, and found there alone', async () => {
    const tenant = { tenant: 'red' }
    const taskId = await newTask(tenant, 'carol')
    const as = { as: 'carol' }
    const made = await result(server.fetch, binding, 'CreateTaskPushNotificationConfig', { taskId, id: 'mine', url, ...tenant }, as)
    expect(made).toEqual({ tenant: 'red', id: 'mine', taskId, url })
    expect(await result(server.fetch, binding, 'GetTaskPushNotificationConfig', { taskId, id: 'mine', ...tenant }, as)).toEqual(made)
    expect(await refusal(server.fetch, binding, 'GetTaskPushNotificationConfig', { taskId, id: 'mine' }, as)).toMatchObject({
      reason: 'TASK_NOT_FOUND',
    })
  })

  test('a server without push refuses all four, and one inside a send, and stores nothing', async () => {
    const plain = await openServer(scriptAgent)
    const asked = {
      CreateTaskPushNotificationConfig: { taskId: 'nope', url },
      GetTaskPushNotificationConfig: { taskId: 'nope', id: 'x' },
      ListTaskPushNotificationConfigs: { taskId: 'nope' },
      DeleteTaskPushNotificationConfig: { taskId: 'nope', id: 'x' },
      SendMessage: { message: userMessage('echo'), configuration: { taskPushNotificationConfig: { url } } },
      SendStreamingMessage: { message: userMessage('echo'), configuration: { taskPushNotificationConfig: { url } } },
    } as const
    // Object.entries gives the entries of this very table.
    for (const [operation, params] of Object.entries(asked) as [keyof typeof asked, Record<string, unknown>][]) {
      expect([operation, await reasonOf(plain, binding, operation, params)]).toEqual([operation, 'PUSH_NOTIFICATION_NOT_SUPPORTED'])
    }
    expect((await result(plain.fetch, binding, 'ListTasks', {})).totalSize).toBe(0)
    await plain.close()
  })
})

async function reasonOf(
  of: Server,
  binding: BindingName,
  operation: Parameters<typeof refusal>[2],
  params: Readonly<Record<string, unknown>>,
): Promise<string> {
  return (await refusal(of.fetch, binding, operation, params)).reason
}

test.each(bindingNames)('a configuration in a follow-up is kept with its message or not at all, over %s', async (binding) => {
  let fails = false
  const store = withStore((inner) => ({
    putPushConfig: (...given) => (fails ? Promise.reject(new UnavailableError()) : inner.putPushConfig(...given)),
  }))
  const server = await openServer(scriptAgent, { push: true, store })
  const { task } = await result(server.fetch, binding, 'SendMessage', { message: userMessage('ask') })
  fails = true
  const message = userMessage('42', { taskId: task.id })
  const configuration = { taskPushNotificationConfig: { url: 'https://hook.example/x', id: 'mine' } }
  await result(server.fetch, binding, 'SendMessage', { message, configuration })
  const { configs } = await result(server.fetch, binding, 'ListTaskPushNotificationConfigs', { taskId: task.id })
  expect(configs.map(({ id }: any) => id)).toEqual(['mine'])
  await server.close()
})
