/** Field cases of the life of a task: turns, follow-ups, and how a task ends. */

import { describe, expect, test } from 'vitest'
import { agent, artifact, chunk, completed, failed, inputRequired, type Run, working } from '../../src/index.js'
import { scriptAgent } from '../harness/script-agent.js'
import { bindingNames, call, frames, refusal, result, userMessage } from '../harness/server.js'
import { begin, getTask, openStill, statesOf, subscribe, take, takeAll, taskIdOf, until } from '../runtime/kit.js'
import { bookingWithConsent, sends, taskOfSend } from './kit.js'

const extension = 'https://ext.example/required'
const textsOf = (messages: readonly any[]) =>
  messages.map(({ role, parts }) => `${role === 'ROLE_USER' ? 'user' : 'agent'}: ${parts[0].text}`)
const finals = [
  ['COMPLETED', 'echo'],
  ['FAILED', 'fail'],
  ['REJECTED', 'reject'],
  ['CANCELED', 'hold'],
] as const

/** Each turn leaves an artifact and asks again, until it is told to end. */
const patient = agent({ name: 'Patient', description: 'Takes turns.' }, async function* (task) {
  yield working(`turn ${task.turn}`)
  if (task.text !== 'nothing new') yield artifact(`of-turn-${task.turn}`, task.text)
  return task.text === 'end' ? completed('done') : inputRequired(`what after ${task.text}?`)
})

describe.each(bindingNames)('over %s', (binding) => {
  const send = async (fetch: (request: Request) => Promise<Response>, text: string, more: object = {}) =>
    (await result(fetch, binding, 'SendMessage', { message: userMessage(text, { ...more }) })).task

  test('F028 lost turns: every turn keeps the history and the artifacts of those before it', async () => {
    const { fetch } = await openStill(patient)
    const { id } = await send(fetch, 'one')
    await send(fetch, 'nothing new', { taskId: id })
    await takeAll(frames(fetch, binding, 'SendStreamingMessage', { message: userMessage('three', { taskId: id }) }))
    const last = await send(fetch, 'end', { taskId: id })
    expect(textsOf(last.history)).toEqual([
      'user: one',
      'agent: what after one?',
      'user: nothing new',
      'agent: what after nothing new?',
      'user: three',
      'agent: what after three?',
      'user: end',
      'agent: done',
    ])
    expect(last.artifacts.map((one: any) => one.artifactId)).toEqual(['of-turn-1', 'of-turn-3', 'of-turn-4'])
    expect(await result(fetch, binding, 'GetTask', { id })).toEqual(last)
  })

  test.each(sends)(
    'F029 a question that cannot be answered: %s with the taskId goes on with that task in its context',
    async (operation) => {
      const { fetch } = await openStill(patient)
      const { id, contextId } = await send(fetch, 'one')
      for (const text of ['two', 'end']) {
        const params = { message: userMessage(text, { taskId: id }) }
        const task = await taskOfSend(fetch, binding, operation, params)
        expect(task).toMatchObject({ id, contextId })
      }
      expect(await result(fetch, binding, 'ListTasks', {})).toMatchObject({
        totalSize: 1,
        tasks: [{ status: { state: 'TASK_STATE_COMPLETED' } }],
      })
    },
  )

  test('F029 a reference is no answer: a message that only refers to a task begins another and leaves the question open', async () => {
    const { fetch } = await openStill(scriptAgent)
    const asked = await send(fetch, 'ask')
    const other = await send(fetch, 'echo', { referenceTaskIds: [asked.id], contextId: asked.contextId })
    expect(other.id).not.toBe(asked.id)
    expect(await result(fetch, binding, 'GetTask', { id: asked.id })).toEqual(asked)
    expect(await send(fetch, '42', { taskId: asked.id })).toMatchObject({ id: asked.id, status: { state: 'TASK_STATE_COMPLETED' } })
  })

  test('F032 a refusal that leaves traces: no refused follow-up, whatever it is refused for, changes its task', async () => {
    const strict = agent({ name: 'Strict', description: 'Wants an extension.', extensions: [{ uri: extension, required: true }] }, () =>
      inputRequired('And now?'),
    )
    const { fetch } = await openStill(strict)
    const headers = { 'a2a-extensions': extension }
    const { task } = await result(fetch, binding, 'SendMessage', { message: userMessage('go') }, { headers })
    const before = await call(fetch, binding, 'ListTasks', { includeArtifacts: true }, { headers })
    const follow = (more: object = {}) => ({ message: userMessage('more', { taskId: task.id, ...more }) })
    const refused: readonly (readonly [string, object, object])[] = [
      ['EXTENSION_SUPPORT_REQUIRED', follow(), { 'a2a-extensions': 'https://ext.example/other' }],
      ['EXTENSION_SUPPORT_REQUIRED', { message: userMessage('new one') }, { 'a2a-extensions': '' }],
      ['VERSION_NOT_SUPPORTED', follow(), { ...headers, 'a2a-version': '2.0' }],
      ['CONTENT_TYPE_NOT_SUPPORTED', follow({ parts: [{ text: 'x', mediaType: 'application/x-foo' }] }), headers],
      [
        'PUSH_NOTIFICATION_NOT_SUPPORTED',
        { ...follow(), configuration: { taskPushNotificationConfig: { url: 'https://hook.test' } } },
        headers,
      ],
      ['INVALID_PARAMS', follow({ contextId: 'another' }), headers],
      ['INVALID_PARAMS', follow({ parts: [] }), headers],
      ['INVALID_PARAMS', follow({ role: 'ROLE_AGENT' }), headers],
      ['INVALID_PARAMS', { ...follow(), configuration: { historyLength: -1 } }, headers],
      ['INVALID_PARAMS', { ...follow(), tenant: 'nobodys' }, headers],
    ]
    for (const operation of sends) {
      for (const [reason, params, sent] of refused) {
        expect(
          await refusal(fetch, binding, operation, params as Record<string, unknown>, { headers: sent as Record<string, string> }),
        ).toMatchObject({ reason })
      }
    }
    expect((await call(fetch, binding, 'ListTasks', { includeArtifacts: true }, { headers })).text).toBe(before.text)
    expect((await result(fetch, binding, 'GetTask', { id: task.id }, { headers })).history).toEqual(task.history)
  })

  test('F050 a task that waits for a credential: the send returns, streams stay open, and the task goes on without a message', async () => {
    const { booking, bring } = bookingWithConsent()
    const { fetch } = await openStill(booking)
    const task = await send(fetch, 'book')
    expect(task.status).toMatchObject({
      state: 'TASK_STATE_AUTH_REQUIRED',
      message: {
        role: 'ROLE_AGENT',
        parts: [{ text: expect.stringMatching(/^May I use your calendar\?\nhttp:\/\/agent\.test\/consent\/[\w-]+$/) }],
      },
    })
    const sender = frames(fetch, binding, 'SendStreamingMessage', { message: userMessage('book') })
    const seen = await take(sender, 3)
    const subscriber = subscribe(fetch, binding === 'JSONRPC' ? 'JSONRPC' : 'GET', taskIdOf(seen))
    const [first] = await take(subscriber, 1)
    expect((await bring(fetch, 1)).status).toBe(204)
    const rest = await takeAll(sender)
    expect(statesOf([...seen, ...rest])).toEqual(['SUBMITTED', 'WORKING', 'AUTH_REQUIRED', 'WORKING', 'COMPLETED'])
    expect(first?.data.task.status.state).toBe('TASK_STATE_AUTH_REQUIRED')
    expect(await takeAll(subscriber)).toEqual(rest)
    expect(await result(fetch, binding, 'GetTask', { id: task.id })).toEqual(task)
    expect((await bring(fetch, 0)).status).toBe(204)
    await until(async () => (await getTask(fetch, task.id)).status.state === 'TASK_STATE_COMPLETED')
    expect(await getTask(fetch, task.id)).toMatchObject({ artifacts: [{ parts: [{ data: { scopes: ['calendar.book'] } }] }] })
  })

  test('F050 a message while waiting: a task that waits for a credential takes one, and it wakes the run', async () => {
    const { booking, bring } = bookingWithConsent()
    const { fetch } = await openStill(booking)
    const { id } = await send(fetch, 'book')
    const after = await send(fetch, 'no thanks', { taskId: id })
    expect(after).toMatchObject({
      id,
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ parts: [{ data: { declined: 'no thanks' } }] }],
    })
    expect(textsOf(after.history)).toEqual([
      'user: book',
      expect.stringMatching(/^agent: May I use your calendar\?/),
      'user: no thanks',
      'agent: Thank you.',
    ])
    // Too late, the credential changes nothing.
    expect((await bring(fetch, 0)).status).toBe(404)
    expect(await result(fetch, binding, 'GetTask', { id })).toEqual(after)
  })

  test.each(sends)(
    'F058 a run that falls silent: after the time that its author gives it is FAILED for whoever waits with %s, and its place is free',
    async (operation) => {
      const reasons: unknown[] = []
      const hung = agent({ name: 'Hung', description: 'Waits for a model.', inactivity: '10m' }, async function* (task) {
        if (task.text === 'next') return 'next'
        task.signal.addEventListener('abort', () => reasons.push(task.signal.reason.why))
        yield chunk('a', 'half')
        return new Promise<never>(() => undefined)
      })
      const { fetch, world } = await openStill(hung, { concurrency: 1 })
      const waiting = taskOfSend(fetch, binding, operation, { message: userMessage('go') })
      await world.advance(10 * 60_000 - 1)
      const [{ id, status }] = (await result(fetch, binding, 'ListTasks', {})).tasks
      expect(status.state).toBe('TASK_STATE_WORKING')
      await world.advance(1)
      expect((await waiting).id).toBe(id)
      const task = await result(fetch, binding, 'GetTask', { id })
      expect(task.status).toMatchObject({
        state: 'TASK_STATE_FAILED',
        message: { parts: [{ text: expect.stringMatching(/inactivity/i) }] },
      })
      expect(task.artifacts).toMatchObject([{ artifactId: 'a', parts: [{ text: 'half' }] }])
      expect(reasons).toEqual(['inactive'])
      const next = send(fetch, 'next')
      await world.advance(10_000)
      expect((await next).status.state).toBe('TASK_STATE_COMPLETED')
    },
  )

  test('F058 silence that is no fault: a run that puts something out now and then, or waits for somebody, is left alone', async () => {
    const hour = 3_600_000
    const patientOne = agent({ name: 'Careful', description: 'Takes its time.', inactivity: '10m' }, async function* (task) {
      if (task.text === 'ask') return { answer: (await task.ask('Which?')).text }
      for (let quarter = 0; quarter < 10; quarter++) {
        yield working(`${quarter}`)
        await new Promise<void>((resolve) => void world.timer(9 * 60_000, resolve))
      }
      return 'done'
    })
    const { fetch, world } = await openStill(patientOne)
    const atWork = await begin(fetch, 'work')
    const asked = await send(fetch, 'ask')
    await world.advance(24 * hour)
    expect((await getTask(fetch, atWork)).status.state).toBe('TASK_STATE_COMPLETED')
    expect((await getTask(fetch, asked.id)).status.state).toBe('TASK_STATE_INPUT_REQUIRED')
    expect(await send(fetch, 'this one', { taskId: asked.id })).toMatchObject({
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ parts: [{ data: { answer: 'this one' } }] }],
    })
  })

  test('F070 artifacts of others: tasks of one context show their own artifacts only', async () => {
    const { fetch, world } = await openStill(scriptAgent)
    const first = await send(fetch, 'whole a first', { contextId: 'shared' })
    await world.advance(1)
    const second = await send(fetch, 'whole b second', { contextId: 'shared' })
    await world.advance(1)
    const third = await send(fetch, 'note nothing to show', { contextId: 'shared' })
    const own = (task: any) => task.artifacts?.map((one: any) => one.artifactId)
    expect([first, second, third].map(own)).toEqual([['a'], ['b'], undefined])
    const { tasks } = await result(fetch, binding, 'ListTasks', { contextId: 'shared', includeArtifacts: true })
    expect(tasks.map(own)).toEqual([[], ['b'], ['a']])
  })

  test.each<[string, Run]>([
    ['thrown before anything', () => Promise.reject(new Error('upstream: quota'))],
    [
      'thrown half way',
      async function* () {
        yield chunk('a', 'half')
        throw new Error('upstream: quota')
      },
    ],
    ['returned in place of a result', () => new Error('upstream: quota')],
    [
      'returned in place of a result, half way',
      async function* () {
        yield chunk('a', 'half')
        return new Error('upstream: quota')
      },
    ],
    [
      'yielded in place of a chunk',
      async function* () {
        yield chunk('a', 'half')
        yield new Error('upstream: quota') as never
      },
    ],
    ['told by failed()', () => failed('The model is out of quota.')],
  ])('F073 an error that passes for a result: one that is %s ends the task as FAILED, with a text for people', async (how, run) => {
    const { fetch, lines } = await openStill(agent({ name: 'Adapter', description: 'Calls another service.' }, run))
    const task = await send(fetch, 'go')
    expect(task.status.state).toBe('TASK_STATE_FAILED')
    expect(task.status.message.parts).toEqual([
      { text: how.startsWith('told') ? 'The model is out of quota.' : 'The agent failed because of an internal error.' },
    ])
    expect(lines.some(({ level }) => level === 'error')).toBe(!how.startsWith('told'))
  })

  test('F100 a lost rejection: a task declined at once is REJECTED for the sender, the stream, the reader and the list', async () => {
    const { fetch } = await openStill(scriptAgent)
    const task = await send(fetch, 'reject')
    expect(task.status).toMatchObject({
      state: 'TASK_STATE_REJECTED',
      message: { role: 'ROLE_AGENT', parts: [{ text: 'Not my line of work.' }] },
    })
    expect(await result(fetch, binding, 'GetTask', { id: task.id })).toEqual(task)
    expect(statesOf(await takeAll(frames(fetch, binding, 'SendStreamingMessage', { message: userMessage('reject') })))).toEqual([
      'SUBMITTED',
      'REJECTED',
    ])
    expect((await result(fetch, binding, 'ListTasks', { status: 'TASK_STATE_REJECTED' })).totalSize).toBe(2)
    expect(await refusal(fetch, binding, 'CancelTask', { id: task.id })).toMatchObject({ reason: 'TASK_NOT_CANCELABLE' })
  })

  test.each(finals)('F101 a message too late: a task that is %s takes none and stays as it is', async (state, text) => {
    const { fetch } = await openStill(scriptAgent)
    const id = await begin(fetch, text)
    if (state === 'CANCELED') await result(fetch, binding, 'CancelTask', { id })
    await until(async () => (await getTask(fetch, id)).status.state === `TASK_STATE_${state}`)
    const before = await call(fetch, binding, 'GetTask', { id })
    for (const operation of sends) {
      const error = await refusal(fetch, binding, operation, { message: userMessage('more', { taskId: id }) })
      expect(error).toMatchObject({ reason: 'UNSUPPORTED_OPERATION', code: binding === 'JSONRPC' ? -32004 : 400 })
    }
    expect((await call(fetch, binding, 'GetTask', { id })).text).toBe(before.text)
    expect((await result(fetch, binding, 'ListTasks', {})).totalSize).toBe(1)
  })
})
