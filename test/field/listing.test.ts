/** Field cases of lists, pages and how much of a task they show. */

import { describe, expect, test } from 'vitest'
import { scriptAgent } from '../harness/script-agent.js'
import { bindingNames, refusal, requestFor, result, userMessage } from '../harness/server.js'
import { begin, openStill } from '../runtime/kit.js'
import { taskOfSend } from './kit.js'

describe.each(bindingNames)('over %s', (binding) => {
  type Fetching = (request: Request) => Promise<Response>
  const list = (fetch: Fetching, params: object = {}, as = 'alice') => result(fetch, binding, 'ListTasks', { ...params }, { as })
  const send = async (fetch: Fetching, text: string, more: object = {}) =>
    (await result(fetch, binding, 'SendMessage', { message: userMessage(text, { ...more }) })).task

  async function walk(fetch: Fetching, params: object, between: () => Promise<unknown> = async () => undefined): Promise<any[]> {
    const tasks: any[] = []
    for (let pageToken = ''; ; await between()) {
      const page = await list(fetch, { ...params, ...(pageToken !== '' && { pageToken }) })
      tasks.push(...page.tasks)
      pageToken = page.nextPageToken
      if (pageToken === '') return tasks
    }
  }

  test.each([
    ['no filter', {}],
    ['an unspecified status', { status: 'TASK_STATE_UNSPECIFIED' }],
    ['an unspecified status by number', { status: 0 }],
    ['empty texts', { contextId: '', pageToken: '' }],
    ['everything that means nothing', { status: 'TASK_STATE_UNSPECIFIED', contextId: '', pageToken: '', includeArtifacts: false }],
  ])('F074 an unset filter that filters: with %s all tasks are listed', async (_, params) => {
    const { fetch } = await openStill(scriptAgent)
    for (const text of ['echo', 'ask', 'reject']) await send(fetch, text)
    expect(await list(fetch, params)).toMatchObject({ totalSize: 3, nextPageToken: '' })
    expect((await list(fetch, params)).tasks).toHaveLength(3)
    expect((await list(fetch, { ...params, status: 'TASK_STATE_REJECTED' })).totalSize).toBe(1)
  })

  test('F076 a page that skips: ten tasks of one millisecond come once each, newest status first and ties by id', async () => {
    const { fetch } = await openStill(scriptAgent)
    const made = await Promise.all(Array.from({ length: 10 }, () => send(fetch, 'ask', { contextId: 'names with | and \u2028 in them' })))
    expect(new Set(made.map(({ status }) => status.timestamp)).size).toBe(1)
    const ids = (await walk(fetch, { pageSize: 2 })).map(({ id }) => id)
    expect(ids).toEqual(
      made
        .map(({ id }) => id)
        .sort()
        .reverse(),
    )
  })

  test.each([1, 2, 3])(
    'F076 a page that skips: a walk by %i visits each task once while tasks move, end and are made',
    async (pageSize) => {
      const { fetch, world } = await openStill(scriptAgent)
      const made = await Promise.all(Array.from({ length: 10 }, () => send(fetch, 'ask')))
      const sorted = made.map(({ id }) => id).sort()
      let step = 0
      const tasks = await walk(fetch, { pageSize, status: 'TASK_STATE_INPUT_REQUIRED' }, async () => {
        // Among them the very task behind the token, the next one, and the last.
        for (const id of [sorted.at(-1 - step * pageSize), sorted.at(-2 - step * pageSize), sorted[step]]) {
          if (id) await send(fetch, 'forty-two', { taskId: id }).catch(() => undefined)
        }
        await send(fetch, 'ask')
        await world.advance(5)
        step++
      })
      expect(tasks.map(({ id }) => id).sort()).toEqual(sorted)
      for (const { status } of tasks) expect(status.state).toBe('TASK_STATE_INPUT_REQUIRED')
    },
  )

  test.each<[string, object, string]>([
    ['pageSize 0', { pageSize: 0 }, 'pageSize'],
    ['pageSize -1', { pageSize: -1 }, 'pageSize'],
    ['pageSize 101', { pageSize: 101 }, 'pageSize'],
    ['pageSize 2147483648', { pageSize: 2147483648 }, 'pageSize'],
    ['pageSize 1.5', { pageSize: 1.5 }, 'pageSize'],
    ['a page size in words', { pageSize: 'many' }, 'pageSize'],
    ['historyLength -1', { historyLength: -1 }, 'historyLength'],
    ['a token that nobody made', { pageToken: 'AAAA' }, 'pageToken'],
    ['a token that is no base64', { pageToken: '\u0000é%' }, 'pageToken'],
    ['an endless token', { pageToken: 'A'.repeat(5000) }, 'pageToken'],
    ['an unknown status', { status: 'DONE' }, 'status'],
    ['a time that is none', { statusTimestampAfter: 'yesterday' }, 'statusTimestampAfter'],
  ])('F077 a bad parameter that passes: %s is refused by its name', async (_, params, field) => {
    const { fetch } = await openStill(scriptAgent)
    await send(fetch, 'echo')
    const error = await refusal(fetch, binding, 'ListTasks', { ...params })
    expect(error).toMatchObject({ reason: 'INVALID_PARAMS', code: binding === 'JSONRPC' ? -32602 : 400, fields: [field] })
  })

  test('F077 a bad length that passes: a negative historyLength is refused wherever it can be said', async () => {
    const { fetch } = await openStill(scriptAgent)
    const { id } = await send(fetch, 'ask')
    expect(await refusal(fetch, binding, 'GetTask', { id, historyLength: -1 })).toMatchObject({
      reason: 'INVALID_PARAMS',
      fields: ['historyLength'],
    })
    for (const operation of ['SendMessage', 'SendStreamingMessage'] as const) {
      const error = await refusal(fetch, binding, operation, {
        message: userMessage('x', { taskId: id }),
        configuration: { historyLength: -1 },
      })
      expect(error).toMatchObject({ reason: 'INVALID_PARAMS', fields: ['configuration.historyLength'] })
    }
  })

  test('F077 a token of another walk: it is refused to another caller, with other filters, and when a character is changed', async () => {
    const { fetch } = await openStill(scriptAgent)
    for (let i = 0; i < 3; i++) await send(fetch, 'echo', { contextId: 'mine' })
    await result(fetch, binding, 'SendMessage', { message: userMessage('echo', { contextId: 'mine' }) }, { as: 'bob' })
    const filter = { contextId: 'mine', pageSize: 1 }
    const { nextPageToken: pageToken } = await list(fetch, filter)
    expect((await list(fetch, { ...filter, pageToken })).tasks).toHaveLength(1)
    const changed = pageToken.slice(0, 5) + (pageToken[5] === 'A' ? 'B' : 'A') + pageToken.slice(6)
    const refused: readonly (readonly [object, string])[] = [
      [{ ...filter, pageToken }, 'bob'],
      [{ pageSize: 1, pageToken }, 'alice'],
      [{ ...filter, contextId: 'other', pageToken }, 'alice'],
      [{ ...filter, status: 'TASK_STATE_COMPLETED', pageToken }, 'alice'],
      [{ ...filter, statusTimestampAfter: '2020-01-01T00:00:00Z', pageToken }, 'alice'],
      [{ ...filter, pageToken: changed }, 'alice'],
      [{ ...filter, pageToken: pageToken.slice(0, -4) }, 'alice'],
    ]
    for (const [params, as] of refused) {
      expect(await refusal(fetch, binding, 'ListTasks', { ...params }, { as })).toMatchObject({
        reason: 'INVALID_PARAMS',
        fields: ['pageToken'],
      })
    }
  })

  test('F079 a history too long: historyLength limits what sends, reads and lists show', async () => {
    const { fetch } = await openStill(scriptAgent)
    const { id } = await send(fetch, 'ask')
    for (let i = 0; i < 4; i++) await send(fetch, 'ask', { taskId: id })
    const whole = (await result(fetch, binding, 'GetTask', { id })).history
    expect(whole).toHaveLength(10)
    for (const historyLength of [0, 1, 3, 10, 99]) {
      const expected = historyLength === 0 ? undefined : whole.slice(-historyLength)
      expect((await result(fetch, binding, 'GetTask', { id, historyLength })).history).toEqual(expected)
      expect((await list(fetch, { historyLength })).tasks[0].history).toEqual(expected)
    }
    expect((await list(fetch)).tasks[0].history).toEqual(whole)
    for (const operation of ['SendMessage', 'SendStreamingMessage'] as const) {
      for (const historyLength of [0, 1, 2]) {
        const params = { message: userMessage('ask', { taskId: id }), configuration: { historyLength } }
        const task = await taskOfSend(fetch, binding, operation, params)
        expect(task.history?.length).toBe(historyLength === 0 ? undefined : historyLength)
        expect('history' in task).toBe(historyLength > 0)
      }
    }
    const { task: fresh } = await result(fetch, binding, 'SendMessage', {
      message: userMessage('echo'),
      configuration: { historyLength: 0 },
    })
    expect(fresh).not.toHaveProperty('history')
  })

  test('F080 artifacts nobody asked for: lists have them when includeArtifacts is true, an empty list too, and else not at all', async () => {
    const { fetch } = await openStill(scriptAgent)
    await begin(fetch, 'hold')
    const { artifacts } = await send(fetch, 'echo')
    for (const params of [{}, { includeArtifacts: false }, { includeArtifacts: null }]) {
      const request = requestFor('JSONRPC', 'ListTasks', params)
      const { tasks } =
        binding === 'JSONRPC'
          ? ((await (await fetch(request)).json()) as any).result
          : await list(fetch, params.includeArtifacts === null ? {} : params)
      expect(tasks).toHaveLength(2)
      for (const task of tasks) expect(task).not.toHaveProperty('artifacts')
    }
    const { tasks } = await list(fetch, { includeArtifacts: true })
    expect(tasks.map((task: any) => task.artifacts)).toEqual(expect.arrayContaining([[], artifacts]))
  })
})
