/** ListTasks through both bindings: walks that visit each task once, and refusals that name the field. Spec §3.1.4, D20. */

import { describe, expect, test } from 'vitest'
import type { Server } from '../../src/index.js'
import { virtualWorld } from '../../src/testing/virtual-world.js'
import { scriptAgent } from '../harness/script-agent.js'
import { type BindingName, bindingNames, openServer, refusal, result, userMessage } from '../harness/server.js'

const send = (server: Server, text: string, more: Readonly<Record<string, unknown>> = {}, as = 'alice') =>
  result(server.fetch, 'JSONRPC', 'SendMessage', { message: userMessage(text, more) }, { as })

/** `count` finished tasks, a few of the same millisecond, and one of Bob's that no walk of Alice's may show. */
async function openWith(count: number) {
  const world = virtualWorld()
  const server = await openServer(scriptAgent, { world })
  const ids: string[] = []
  for (let made = 0; made < count; made += 5) {
    const batch = Array.from({ length: Math.min(5, count - made) }, (_, i) =>
      send(server, `echo ${made + i}`, (made + i) % 2 ? { contextId: 'odd' } : { contextId: 'even' }),
    )
    for (const { task } of await Promise.all(batch)) ids.push(task.id)
    await world.advance(10)
  }
  await send(server, 'echo not hers', {}, 'bob')
  return { server, world, ids }
}

/** The pages of a walk from `params` on. */
async function* walk(server: Server, binding: BindingName, params: Readonly<Record<string, unknown>>): AsyncGenerator<any> {
  for (let pageToken = params['pageToken'] ?? ''; ; ) {
    const page = await result(server.fetch, binding, 'ListTasks', { ...params, ...(pageToken !== '' && { pageToken }) })
    yield page
    if (page.nextPageToken === '') return
    pageToken = page.nextPageToken
  }
}

async function tasksOf(server: Server, binding: BindingName, params: Readonly<Record<string, unknown>>): Promise<any[]> {
  const tasks: any[] = []
  for await (const page of walk(server, binding, params)) tasks.push(...page.tasks)
  return tasks
}

describe.each(bindingNames)('over %s', (binding) => {
  test('every page size from 1 to 50 visits each of 137 tasks once, newest first', async () => {
    const { server, ids } = await openWith(137)
    const sorted = [...ids].sort()
    for (let pageSize = 1; pageSize <= 50; pageSize++) {
      const seen: any[] = []
      for await (const page of walk(server, binding, { pageSize })) {
        expect(Object.keys(page)).toEqual(['tasks', 'nextPageToken', 'pageSize', 'totalSize'])
        expect(page).toMatchObject({ pageSize, totalSize: 137 })
        expect(page.tasks.length).toBe(Math.min(pageSize, 137 - seen.length))
        seen.push(...page.tasks)
      }
      expect(seen.map(({ id }) => id).sort()).toEqual(sorted)
      const times = seen.map(({ status }) => status.timestamp)
      expect(times).toEqual([...times].sort().reverse())
    }
    await server.close()
  })

  test('a page of 50 is the default, and all four members are there when there is nothing to list', async () => {
    const { server } = await openWith(55)
    const page = await result(server.fetch, binding, 'ListTasks', {})
    expect([page.tasks.length, page.pageSize, page.totalSize]).toEqual([50, 50, 55])
    expect(await result(server.fetch, binding, 'ListTasks', { pageSize: 7 }, { as: 'carol' })).toEqual({
      tasks: [],
      nextPageToken: '',
      pageSize: 7,
      totalSize: 0,
    })
    expect(await result(server.fetch, binding, 'ListTasks', { contextId: 'no such' })).toEqual({
      tasks: [],
      nextPageToken: '',
      pageSize: 50,
      totalSize: 0,
    })
    await server.close()
  })

  test('a stale token goes on with the walk it began, whatever was added or moved meanwhile', async () => {
    const { server, world, ids } = await openWith(20)
    const { task: open } = await send(server, 'ask')
    await world.advance(10)
    const first = await result(server.fetch, binding, 'ListTasks', { pageSize: 4 })
    expect(first.tasks[0].id).toBe(open.id)
    for (let i = 0; i < 30; i++) await send(server, 'echo later')
    await world.advance(1000)
    await send(server, 'the answer', { taskId: open.id })
    const rest = await tasksOf(server, binding, { pageSize: 4, pageToken: first.nextPageToken })
    const all = [...first.tasks, ...rest]
    expect(all.map(({ id }) => id).sort()).toEqual([...ids, open.id].sort())
    // The same token again shows the same page.
    expect((await result(server.fetch, binding, 'ListTasks', { pageSize: 4, pageToken: first.nextPageToken })).tasks).toEqual(
      rest.slice(0, 4),
    )
    expect((await result(server.fetch, binding, 'ListTasks', { pageSize: 4, pageToken: first.nextPageToken })).totalSize).toBe(21)
    await server.close()
  })

  test('a walk may change its page size, historyLength and includeArtifacts on the way', async () => {
    const { server, ids } = await openWith(20)
    const first = await result(server.fetch, binding, 'ListTasks', { pageSize: 3 })
    const rest = await tasksOf(server, binding, { pageSize: 8, pageToken: first.nextPageToken, historyLength: 0, includeArtifacts: true })
    expect([...first.tasks, ...rest].map(({ id }) => id).sort()).toEqual([...ids].sort())
    expect(rest.every((task) => !('history' in task) && task.artifacts.length === 1)).toBe(true)
    await server.close()
  })

  test('filters by context, state and time show what matches and count it', async () => {
    const { server, world } = await openWith(11)
    await world.advance(1000)
    const since = new Date(world.now()).toISOString()
    await send(server, 'ask', { contextId: 'even' })
    await send(server, 'fail', { contextId: 'odd' })
    const list = async (params: Readonly<Record<string, unknown>>) => (await result(server.fetch, binding, 'ListTasks', params)).totalSize
    expect(await list({ contextId: 'even' })).toBe(7)
    expect(await list({ contextId: 'odd', status: 'TASK_STATE_COMPLETED' })).toBe(5)
    expect(await list({ status: 'TASK_STATE_INPUT_REQUIRED' })).toBe(1)
    expect(await list({ status: 'TASK_STATE_UNSPECIFIED' })).toBe(13)
    expect(await list({ statusTimestampAfter: since })).toBe(2)
    expect(await list({ statusTimestampAfter: since, contextId: 'odd', status: 'TASK_STATE_FAILED' })).toBe(1)
    // At or after: the task's own time is in.
    const { tasks } = await result(server.fetch, binding, 'ListTasks', { status: 'TASK_STATE_FAILED' })
    expect(await list({ status: 'TASK_STATE_FAILED', statusTimestampAfter: tasks[0].status.timestamp })).toBe(1)
    await server.close()
  })

  test('artifacts are there only where includeArtifacts is true, then also when there are none', async () => {
    const server = await openServer(scriptAgent)
    await send(server, 'ask')
    await send(server, 'whole a text')
    const members = async (params: object) =>
      (await result(server.fetch, binding, 'ListTasks', { ...params })).tasks.map((task: any) => task.artifacts?.length ?? 'absent')
    expect(await members({})).toEqual(['absent', 'absent'])
    expect(await members({ includeArtifacts: false })).toEqual(['absent', 'absent'])
    expect(await members({ includeArtifacts: true })).toEqual([1, 0])
    await server.close()
  })

  test('historyLength is unset for all, 0 for none, n for the most recent (§3.2.4)', async () => {
    const server = await openServer(scriptAgent)
    const { task } = await send(server, 'ask')
    await send(server, 'answer', { taskId: task.id })
    const lengths = async (params: object) =>
      (await result(server.fetch, binding, 'ListTasks', { ...params })).tasks[0].history?.map(({ role }: any) => role)
    expect(await lengths({})).toEqual(['ROLE_USER', 'ROLE_AGENT', 'ROLE_USER', 'ROLE_AGENT'])
    expect(await lengths({ historyLength: 0 })).toBeUndefined()
    expect(await lengths({ historyLength: 2 })).toEqual(['ROLE_USER', 'ROLE_AGENT'])
    expect(await lengths({ historyLength: 99 })).toHaveLength(4)
    await server.close()
  })

  test.each([
    ['pageSize', 0],
    ['pageSize', -1],
    ['pageSize', 101],
    ['pageSize', 'x'],
    ['pageSize', 1.5],
    ['pageToken', 'forged'],
    ['pageToken', '_'.repeat(80)],
    ['status', 'COMPLETED'],
    ['status', 99],
    ['statusTimestampAfter', 'yesterday'],
    ['statusTimestampAfter', '2026-02-30T00:00:00Z'],
    ['statusTimestampAfter', '2026-01-01'],
    ['historyLength', -1],
    ['historyLength', 'x'],
    ['includeArtifacts', 'yes'],
  ])('%s %j is refused by the name of the field', async (field, value) => {
    const server = await openServer(scriptAgent)
    expect(await refusal(server.fetch, binding, 'ListTasks', { [field]: value })).toMatchObject({
      reason: 'INVALID_PARAMS',
      fields: [field],
    })
    await server.close()
  })

  test('several bad fields are named together', async () => {
    const server = await openServer(scriptAgent)
    const { fields } = await refusal(server.fetch, binding, 'ListTasks', { pageSize: 0, historyLength: -1, pageToken: 'forged' })
    expect([...fields].sort()).toEqual(['historyLength', 'pageSize', 'pageToken'])
    await server.close()
  })

  test('a token that is cut, changed, somebody else’s or of other filters is refused', async () => {
    const { server } = await openWith(6)
    for (let i = 0; i < 3; i++) await send(server, 'echo', { contextId: 'even' }, 'carol')
    const tokenOf = async (params: object, as = 'alice'): Promise<string> =>
      (await result(server.fetch, binding, 'ListTasks', { pageSize: 1, ...params }, { as })).nextPageToken
    const token = await tokenOf({})
    const filtered = await tokenOf({ contextId: 'even' })
    const changed = `${token.slice(0, 5)}${token[5] === 'A' ? 'B' : 'A'}${token.slice(6)}`
    const refused: readonly (readonly [object, string])[] = [
      [{ pageToken: token.slice(0, -1) }, 'alice'],
      [{ pageToken: token.slice(0, 20) }, 'alice'],
      [{ pageToken: `${token}A` }, 'alice'],
      [{ pageToken: changed }, 'alice'],
      [{ pageToken: token }, 'bob'],
      [{ pageToken: await tokenOf({}, 'carol'), tenant: 'red' }, 'carol'],
      [{ pageToken: token, contextId: 'even' }, 'alice'],
      [{ pageToken: token, status: 'TASK_STATE_COMPLETED' }, 'alice'],
      [{ pageToken: token, statusTimestampAfter: '2020-01-01T00:00:00Z' }, 'alice'],
      [{ pageToken: filtered }, 'alice'],
      [{ pageToken: filtered, contextId: 'odd' }, 'alice'],
      [{ pageToken: filtered, contextId: 'even' }, 'carol'],
    ]
    for (const [params, as] of refused) {
      expect([params, await refusal(server.fetch, binding, 'ListTasks', { ...params }, { as })]).toMatchObject([
        params,
        { reason: 'INVALID_PARAMS', fields: ['pageToken'] },
      ])
    }
    expect((await result(server.fetch, binding, 'ListTasks', { pageToken: token })).tasks).toHaveLength(5)
    await server.close()
  })

  test('a token of one server is refused by another', async () => {
    const { server } = await openWith(3)
    const { nextPageToken: pageToken } = await result(server.fetch, binding, 'ListTasks', { pageSize: 1 })
    const stranger = await openServer(scriptAgent)
    expect(await refusal(stranger.fetch, binding, 'ListTasks', { pageToken })).toMatchObject({ fields: ['pageToken'] })
    await Promise.all([server.close(), stranger.close()])
  })
})
