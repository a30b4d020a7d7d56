/** What every answer has, whatever it answers: names, times, ids, and the parts of an error. Spec §3.3.2, §3.4, §5.5, §5.6. */

import { describe, expect, test } from 'vitest'
import { agent, artifact, completed, working } from '../../../src/index.js'
import { scriptAgent } from '../../harness/script-agent.js'
import { bindingNames, call, frames, openServer, requestFor, result, userMessage } from '../../harness/server.js'
import { openStill } from '../../runtime/kit.js'

const madeUp = '019b7a3c-1111-7222-8333-444455556666'

const wordy = agent({ name: 'Wordy', description: 'Fills every member.' }, async function* () {
  yield working('at it')
  yield artifact('some-parts', [
    { text: 'a', mediaType: 'text/plain', filename: 'a.txt' },
    { url: 'https://example.com/b' },
    { data: { c: 1 } },
  ])
  return completed('done', { d: true })
})

/** Every member and every text of `value`, but nothing inside what the agent itself put in. */
function* entriesOf(value: unknown): Generator<[string, unknown]> {
  if (typeof value !== 'object' || value === null) return
  for (const [name, member] of Object.entries(value)) {
    if (!Array.isArray(value)) yield [name, member]
    if (name !== 'data') yield* entriesOf(member)
  }
}

describe.each(bindingNames)('over %s', (binding) => {
  const everything = async () => {
    const { fetch } = await openStill(wordy)
    const streamed: unknown[] = []
    for await (const { data } of frames(fetch, binding, 'SendStreamingMessage', { message: userMessage('go') })) streamed.push(data)
    const { task } = await result(fetch, binding, 'SendMessage', { message: userMessage('go') })
    const list = await result(fetch, binding, 'ListTasks', { includeArtifacts: true })
    return { streamed, task, list }
  }

  test('members are in camelCase, states and roles by their full names', async () => {
    const entries = [...entriesOf(await everything())]
    expect(entries.map(([name]) => name).filter((name) => !/^[a-z][A-Za-z]*$/.test(name))).toEqual([])
    for (const [name, value] of entries) {
      if (name === 'state') expect(value).toMatch(/^TASK_STATE_[A-Z_]+$/)
      if (name === 'role') expect(value).toMatch(/^ROLE_(USER|AGENT)$/)
    }
  })

  test('times are of UTC with a Z, to the millisecond', async () => {
    const times = [...entriesOf(await everything())].filter(([name]) => name === 'timestamp')
    expect(times.length).toBeGreaterThan(3)
    for (const [, time] of times) expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  })

  test('every new task has an id of its own and a context, and says both in its answer', async () => {
    const server = await openServer(scriptAgent)
    const tasks = await Promise.all(
      Array.from({ length: 50 }, async () => (await result(server.fetch, binding, 'SendMessage', { message: userMessage('echo') })).task),
    )
    for (const name of ['id', 'contextId']) expect(new Set(tasks.map((task) => task[name])).size).toBe(50)
    await server.close()
  })

  test('a direct reply says the context that was made for it', async () => {
    const { fetch } = await openStill(scriptAgent)
    const { message } = await result(fetch, binding, 'SendMessage', { message: userMessage('hello') })
    expect(message.contextId).toMatch(/./)
    expect(message.taskId).toBeUndefined()
  })

  test('a new task keeps the name that its caller gave to the context', async () => {
    const { fetch } = await openStill(scriptAgent)
    const { task } = await result(fetch, binding, 'SendMessage', { message: userMessage('echo', { contextId: 'my thread' }) })
    expect(task.contextId).toBe('my thread')
  })

  test.each([
    ['a task that is not there', 'GetTask', { id: madeUp }, {}],
    ['a bad field', 'ListTasks', { pageSize: 101 }, {}],
    ['no credentials', 'ListTasks', {}, { authorization: 'Bearer nobody' }],
    ['a version', 'ListTasks', {}, { 'a2a-version': '0.5' }],
    ['an operation that is not offered', 'GetExtendedAgentCard', {}, {}],
  ] as const)('an error about %s has a code, a text and typed details', async (_, operation, params, headers) => {
    const { fetch } = await openStill(scriptAgent)
    const { body } = await call(fetch, binding, operation, params, { headers })
    const { code, message, details, data = details } = (body as any).error
    expect(Number.isInteger(code)).toBe(true)
    expect(message).toMatch(/\w+ .*\.$/)
    expect(data.length).toBeGreaterThan(0)
    for (const detail of data) expect(detail['@type']).toMatch(/^type\.googleapis\.com\/google\.rpc\.(ErrorInfo|BadRequest)$/)
    expect(data[0]).toMatchObject({ reason: expect.stringMatching(/^[A-Z_]+$/), domain: 'a2a-protocol.org' })
  })

  test.each(['A2A-Version', 'a2a-version', 'A2A-VERSION'])('the header %s names the version', async (name) => {
    const { fetch } = await openStill(scriptAgent)
    const request = requestFor(binding, 'ListTasks', {})
    request.headers.delete('a2a-version')
    expect(await (await fetch(request.clone())).text()).toContain('VERSION_NOT_SUPPORTED')
    request.headers.set(name, '1.0')
    expect(await (await fetch(request)).text()).toContain('"totalSize":0')
  })

  test('the tasks that a message refers to reach the agent', async () => {
    const seen: unknown[] = []
    const reader = agent({ name: 'Reader', description: 'Notes references.' }, (task) => void seen.push(task.message.referenceTaskIds))
    const { fetch } = await openStill(reader)
    await result(fetch, binding, 'SendMessage', { message: userMessage('go', { referenceTaskIds: [madeUp] }) })
    expect(seen).toEqual([[madeUp]])
  })
})
