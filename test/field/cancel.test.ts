/** Field cases of cancelling: one end, whoever comes first, and nothing after it. */

import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { agent, chunk, completed, type TaskHandle, working } from '../../src/index.js'
import { scriptAgent } from '../harness/script-agent.js'
import { bindingNames, call, frames, refusal, result, userMessage } from '../harness/server.js'
import { begin, getTask, openStill, statesOf, take, takeAll, until } from '../runtime/kit.js'

const isFinal = (state: string) => /COMPLETED|FAILED|CANCELED|REJECTED/.test(state)

describe.each(bindingNames)('over %s', (binding) => {
  const cancel = (fetch: (request: Request) => Promise<Response>, id: string) => result(fetch, binding, 'CancelTask', { id })

  test.each([
    ['returns a result', async () => completed('done', { late: true })],
    ['returns nothing', async () => undefined],
    ['throws', async () => Promise.reject(new Error('late'))],
    ['remembers something', async (task: TaskHandle) => task.context.set('late', true)],
  ])('F010 a cancel that is undone: nothing of a run that goes on for 3 s and then %s comes after CANCELED', async (_, finish) => {
    let written = 0
    let heard: unknown
    let isOver = false
    const { fetch, world } = await openStill(
      agent({ name: 'Stubborn', description: 'Ignores its signal for a while.' }, async function* (task) {
        const pause = (ms: number) => new Promise<void>((resolve) => void world.timer(ms, resolve))
        task.signal.addEventListener('abort', () => {
          heard = task.signal.reason.why
        })
        try {
          for (let second = 0; second < 4; second++) {
            yield chunk('log', `${second};`)
            written++
            await pause(1_000)
          }
          return await finish(task)
        } finally {
          isOver = true
        }
      }),
    )
    const stream = frames(fetch, binding, 'SendStreamingMessage', { message: userMessage('go', { contextId: 'mine' }) })
    const seen = await take(stream, 3)
    const { id } = seen[0]?.data.task ?? {}
    await world.advance(1_500)
    expect(heard).toBeUndefined()
    const canceled = await cancel(fetch, id)
    expect([canceled.status.state, heard]).toEqual(['TASK_STATE_CANCELED', 'canceled'])
    const atCancel = await call(fetch, binding, 'GetTask', { id })
    await world.advance(10_000)
    await until(() => isOver)
    expect(written).toBeLessThan(4)
    expect((await call(fetch, binding, 'GetTask', { id })).text).toBe(atCancel.text)
    const all = [...seen, ...(await takeAll(stream))]
    expect(statesOf(all)).toEqual(['SUBMITTED', 'WORKING', 'CANCELED'])
    expect(all.at(-1)?.data.statusUpdate.status.state).toBe('TASK_STATE_CANCELED')
    const missed = frames(fetch, binding, 'SubscribeToTask', { id }, { headers: { 'last-event-id': '1' } })
    expect(statesOf(await takeAll(missed)).filter(isFinal)).toEqual(['CANCELED'])
  })

  test('F010 a function that never settles: its task is canceled at once, and its place is given on', async () => {
    const { fetch, world } = await openStill(
      agent({ name: 'Deaf', description: 'Never stops.' }, async function* (task) {
        yield working('on it')
        if (task.text === 'deaf') await new Promise(() => undefined)
        return 'done'
      }),
      { concurrency: 1 },
    )
    const id = await begin(fetch, 'deaf')
    expect((await cancel(fetch, id)).status.state).toBe('TASK_STATE_CANCELED')
    const next = result(fetch, binding, 'SendMessage', { message: userMessage('next') })
    await world.advance(20_000)
    expect((await next).task.status.state).toBe('TASK_STATE_COMPLETED')
  })

  test('F055 a second cancel: a canceled task is the answer again, however often and on either binding', async () => {
    const { fetch } = await openStill(scriptAgent)
    const id = await begin(fetch, 'hold')
    const first = await cancel(fetch, id)
    for (const other of bindingNames) expect(await result(fetch, other, 'CancelTask', { id, metadata: { again: true } })).toEqual(first)
    expect(await result(fetch, binding, 'GetTask', { id })).toEqual(first)
  })

  test.each(['echo', 'fail', 'throw', 'reject'])('F055 a cancel too late: a task that ended by “%s” is not cancelable', async (text) => {
    const { fetch } = await openStill(scriptAgent)
    const { task } = await result(fetch, binding, 'SendMessage', { message: userMessage(text) })
    const expected = {
      reason: 'TASK_NOT_CANCELABLE',
      status: binding === 'JSONRPC' ? 200 : 400,
      code: binding === 'JSONRPC' ? -32002 : 400,
    }
    expect(await refusal(fetch, binding, 'CancelTask', { id: task.id })).toMatchObject(expected)
    expect(await getTask(fetch, task.id)).toEqual(task)
  })

  test('F056 both outcomes: in 240 races of the end and ten cancels the task has one end, and every answer tells it', async () => {
    const { fetch } = await openStill(scriptAgent)
    const outcomes = new Set<string>()
    for (let race = 0; race < 240; race++) {
      const id = await begin(fetch, 'hold')
      const message = userMessage('go', { taskId: id })
      const go = () => call(fetch, binding, 'SendMessage', { message, configuration: { returnImmediately: true } })
      const cancels = () =>
        Array.from({ length: race % 5 === 0 ? 10 : 1 }, async () => {
          const { body } = await call(fetch, binding, 'CancelTask', { id })
          const { error, result: task = body, status = task?.status } = body as any
          return error ? `refused: ${(error.data ?? error.details)[0].reason}` : status ? status.state : task.status.state
        })
      let going: Promise<unknown> | undefined
      if (race % 2 === 0) going = go()
      for (let turns = race % 2 === 0 ? (race >> 1) % 5 : 0; turns > 0; turns--) await turn()
      const asked = cancels()
      for (let turns = race % 2 === 1 ? (race >> 1) % 3 : 0; turns > 0; turns--) await turn()
      await (going ?? go())
      const answers = new Set(await Promise.all(asked))
      const log = frames(fetch, binding, 'SubscribeToTask', { id }, { headers: { 'last-event-id': '1' } })
      const states = statesOf(await takeAll(log))
      const { state } = (await getTask(fetch, id)).status
      expect([...answers]).toEqual([state === 'TASK_STATE_CANCELED' ? state : 'refused: TASK_NOT_CANCELABLE'])
      expect(states.filter(isFinal)).toEqual([state.replace('TASK_STATE_', '')])
      expect(isFinal(states.at(-1) ?? '')).toBe(true)
      outcomes.add(state)
    }
    expect([...outcomes].sort()).toEqual(['TASK_STATE_CANCELED', 'TASK_STATE_COMPLETED'])
  })
})
