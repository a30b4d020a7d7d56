/** CancelTask: what it finds, what it leaves, and its races with the run's own end. Spec §3.1.5, D12. */

import { describe, expect, test } from 'vitest'
import { agent, type Server, working } from '../../src/index.js'
import { scriptAgent } from '../harness/script-agent.js'
import { type BindingName, bindingNames, frames, openServer, refusal, result, userMessage } from '../harness/server.js'

const begin = async (server: Server, text: string) =>
  (await result(server.fetch, 'JSONRPC', 'SendMessage', { message: userMessage(text), configuration: { returnImmediately: true } })).task

/** The states in the task's log after the first. The task has ended. */
async function statesOf(server: Server, binding: BindingName, id: string): Promise<string[]> {
  const states: string[] = []
  for await (const { data } of frames(server.fetch, binding, 'SubscribeToTask', { id }, { headers: { 'last-event-id': '1' } })) {
    if (data.statusUpdate) states.push(data.statusUpdate.status.state)
  }
  return states
}

/** One turn of the event loop. */
const turn = () => new Promise((resolve) => setImmediate(resolve))

const isFinal = (state: string | undefined) => /COMPLETED|FAILED|CANCELED|REJECTED/.test(state ?? '')

describe.each(bindingNames)('over %s', (binding) => {
  test('a working task is canceled, its run hears it, and nothing the run does later is seen', async () => {
    let heard: unknown
    const ended: { settle: () => void } = { settle: () => undefined }
    const settled = new Promise<void>((resolve) => (ended.settle = resolve))
    const stubborn = agent({ name: 'Stubborn', description: 'Goes on after it was told to stop.' }, async function* (task) {
      try {
        yield working('busy')
        await new Promise((resolve) => task.signal.addEventListener('abort', resolve, { once: true }))
        heard = task.signal.reason.why
        yield working('still busy')
        return 'too late'
      } finally {
        ended.settle()
      }
    })
    const server = await openServer(stubborn)
    let id = ''
    const states: string[] = []
    for await (const { data } of frames(server.fetch, binding, 'SendStreamingMessage', { message: userMessage('x') })) {
      states.push((data.task ?? data.statusUpdate).status.state)
      id ||= data.task.id
      if (data.statusUpdate?.status.message)
        expect(await result(server.fetch, binding, 'CancelTask', { id })).toMatchObject({ id, status: { state: 'TASK_STATE_CANCELED' } })
    }
    await settled
    expect(heard).toBe('canceled')
    expect(states).toEqual(['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING', 'TASK_STATE_CANCELED'])
    const task = await result(server.fetch, binding, 'GetTask', { id })
    expect([task.status.state, task.artifacts]).toEqual(['TASK_STATE_CANCELED', undefined])
    await server.close()
  })

  test('a task that waits for an answer is canceled and takes none', async () => {
    const server = await openServer(scriptAgent)
    const { task } = await result(server.fetch, binding, 'SendMessage', { message: userMessage('ask') })
    expect(await result(server.fetch, binding, 'CancelTask', { id: task.id })).toMatchObject({ status: { state: 'TASK_STATE_CANCELED' } })
    expect(await refusal(server.fetch, binding, 'SendMessage', { message: userMessage('42', { taskId: task.id }) })).toMatchObject({
      reason: 'UNSUPPORTED_OPERATION',
    })
    await server.close()
  })

  test('a task that waits for a place is canceled before it begins, and never runs', async () => {
    const ran: string[] = []
    const slow = agent({ name: 'Slow', description: 'One at a time.' }, async (task) => {
      ran.push(task.text)
      if (task.text === 'first') await task.step('work', () => task.inbox.next())
    })
    const server = await openServer(slow, { concurrency: 1 })
    const first = await begin(server, 'first')
    const second = await begin(server, 'second')
    expect(await result(server.fetch, binding, 'CancelTask', { id: second.id })).toMatchObject({ status: { state: 'TASK_STATE_CANCELED' } })
    await result(server.fetch, binding, 'SendMessage', { message: userMessage('go', { taskId: first.id }) })
    await result(server.fetch, binding, 'SendMessage', { message: userMessage('third') })
    expect(ran).toEqual(['first', 'third'])
    await server.close()
  })

  test.each(['echo done', 'reject', 'fail', 'throw'])('a task that ended by “%s” is not cancelable and stays as it is', async (text) => {
    const server = await openServer(scriptAgent)
    const { task } = await result(server.fetch, binding, 'SendMessage', { message: userMessage(text) })
    expect(await refusal(server.fetch, binding, 'CancelTask', { id: task.id })).toMatchObject({
      reason: 'TASK_NOT_CANCELABLE',
      code: binding === 'JSONRPC' ? -32002 : 400,
    })
    expect(await result(server.fetch, binding, 'GetTask', { id: task.id })).toEqual(task)
    await server.close()
  })

  test('a second cancel is answered with the canceled task (D12)', async () => {
    const server = await openServer(scriptAgent)
    const { id } = await begin(server, 'hold')
    const first = await result(server.fetch, binding, 'CancelTask', { id })
    expect(await result(server.fetch, binding, 'CancelTask', { id })).toEqual(first)
    expect(await result(server.fetch, binding, 'CancelTask', { id, metadata: { why: 'again' } })).toEqual(first)
    await server.close()
  })

  test('ten cancels at once agree, and the log has one end', async () => {
    const server = await openServer(scriptAgent)
    const { id } = await begin(server, 'hold')
    const answers = await Promise.all(Array.from({ length: 10 }, () => result(server.fetch, binding, 'CancelTask', { id })))
    for (const answer of answers) expect(answer).toEqual(answers[0])
    expect(answers[0].status.state).toBe('TASK_STATE_CANCELED')
    expect((await statesOf(server, binding, id)).filter(isFinal)).toEqual(['TASK_STATE_CANCELED'])
    await server.close()
  })

  test('the sender who waits for a task gets it canceled', async () => {
    const server = await openServer(scriptAgent)
    const waiting = result(server.fetch, binding, 'SendMessage', { message: userMessage('hold') })
    let tasks: any[] = []
    for (; tasks.length === 0; await turn()) tasks = (await result(server.fetch, binding, 'ListTasks', {})).tasks
    const canceled = await result(server.fetch, binding, 'CancelTask', { id: tasks[0].id })
    expect((await waiting).task).toEqual(canceled)
    await server.close()
  })

  test('of a cancel and the run’s own end exactly one is the end, 200 times', async () => {
    const server = await openServer(scriptAgent)
    const outcomes = new Map<string, number>()
    for (let i = 0; i < 200; i++) {
      const { id } = await begin(server, 'hold')
      const race = [
        () =>
          result(server.fetch, binding, 'SendMessage', {
            message: userMessage('go', { taskId: id }),
            configuration: { returnImmediately: true },
          }).catch(() => 'refused'),
        () =>
          result(server.fetch, binding, 'CancelTask', { id }).catch((error: Error) =>
            /TASK_NOT_CANCELABLE/.test(error.message) ? 'not cancelable' : error,
          ),
      ]
      // A head start of so many turns of the loop, from none on, for either side.
      const [ahead, behind] = i % 2 ? race : race.reverse()
      const first = ahead?.()
      for (let turns = (i >> 1) % 5; turns > 0; turns--) await turn()
      const answers = await Promise.all([first, behind?.()])
      const cancel = i % 2 ? answers[1] : answers[0]
      const states = await statesOf(server, binding, id)
      expect(states.filter(isFinal)).toEqual([states.at(-1)])
      const end = (await result(server.fetch, binding, 'GetTask', { id })).status.state
      expect(end).toBe(states.at(-1))
      expect(cancel === 'not cancelable' ? 'TASK_STATE_COMPLETED' : (cancel as any).status.state).toBe(end)
      outcomes.set(end, (outcomes.get(end) ?? 0) + 1)
    }
    expect([...outcomes.keys()].sort()).toEqual(['TASK_STATE_CANCELED', 'TASK_STATE_COMPLETED'])
    await server.close()
  })
})
