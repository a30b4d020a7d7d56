/** The runs of a process: how many at a time, what becomes of them when the store or the process fails. */

import { describe, expect, test } from 'vitest'
import { agent, completed, inputRequired, type Run, working } from '../../src/index.js'
import { result, userMessage } from '../harness/server.js'
import { begin, type Gate, gate, getTask, openStill, statesOf, subscribe, takeAll } from './kit.js'

const of = (run: Run) => agent({ name: 'Test', description: 'Does what the test says.' }, run)

/** An agent that works until the gate of its text is opened, and the order in which it was begun. */
function gated(names: readonly string[]) {
  const gates = new Map<string, Gate>(names.map((name) => [name, gate()]))
  const begun: string[] = []
  const run: Run = async function* (task) {
    begun.push(task.text)
    yield working()
    await gates.get(task.text)?.opened
    return completed(task.text)
  }
  return { begun, agent: of(run), open: (name: string) => gates.get(name)?.open() }
}

const stateOf = async (fetch: (request: Request) => Promise<Response>, id: string | undefined) =>
  (await getTask(fetch, id ?? '')).status.state.replace('TASK_STATE_', '')

describe('concurrency', () => {
  test('as many runs at a time as allowed; the others wait as SUBMITTED and are begun in order', async () => {
    const names = ['a', 'b', 'c', 'd', 'e']
    const { begun, agent, open } = gated(names)
    const { fetch, world } = await openStill(agent, { concurrency: 2 })
    const ids: string[] = []
    for (const name of names) ids.push(await begin(fetch, name))
    const states = () => Promise.all(ids.map((id) => stateOf(fetch, id)))
    await world.advance(0)
    expect(begun).toEqual(['a', 'b'])
    expect(await states()).toEqual(['WORKING', 'WORKING', 'SUBMITTED', 'SUBMITTED', 'SUBMITTED'])
    open('b')
    await world.advance(0)
    expect(begun).toEqual(['a', 'b', 'c'])
    expect(await states()).toEqual(['WORKING', 'COMPLETED', 'WORKING', 'SUBMITTED', 'SUBMITTED'])
    for (const name of names) open(name)
    await world.advance(0)
    expect(begun).toEqual(names)
    expect(await states()).toEqual(Array(5).fill('COMPLETED'))
  })

  test('a blocking send and a stream of a task that waits get its end', async () => {
    const { agent, open } = gated(['a', 'b', 'c'])
    const { fetch, world } = await openStill(agent, { concurrency: 1 })
    const first = await begin(fetch, 'a')
    const blocking = result(fetch, 'HTTP+JSON', 'SendMessage', { message: userMessage('b') })
    await world.advance(0)
    const id = await begin(fetch, 'c')
    const streaming = takeAll(subscribe(fetch, 'GET', id))
    for (const name of ['a', 'b', 'c']) open(name)
    expect((await blocking).task.status.state).toBe('TASK_STATE_COMPLETED')
    expect(statesOf(await streaming)).toEqual(['SUBMITTED', 'WORKING', 'COMPLETED'])
    expect(await stateOf(fetch, first)).toBe('COMPLETED')
  })

  test('a task that is canceled while it waits is never begun, and holds nobody up', async () => {
    const { begun, agent, open } = gated(['a', 'b', 'c'])
    const { fetch, world } = await openStill(agent, { concurrency: 1 })
    await begin(fetch, 'a')
    const canceled = await begin(fetch, 'b')
    const last = await begin(fetch, 'c')
    await result(fetch, 'JSONRPC', 'CancelTask', { id: canceled })
    for (const name of ['a', 'b', 'c']) open(name)
    await world.advance(0)
    expect(begun).toEqual(['a', 'c'])
    expect([await stateOf(fetch, canceled), await stateOf(fetch, last)]).toEqual(['CANCELED', 'COMPLETED'])
  })

  test('an answer waits for its turn like a new task', async () => {
    const begun: string[] = []
    const holding = gate()
    const { fetch, world } = await openStill(
      of(async function* (task) {
        begun.push(task.text)
        if (task.text === 'ask') return inputRequired('what?')
        if (task.text === 'hold') await holding.opened
        return completed(task.text)
      }),
      { concurrency: 1 },
    )
    const { task } = await result(fetch, 'JSONRPC', 'SendMessage', { message: userMessage('ask') })
    await begin(fetch, 'hold')
    const answer = result(fetch, 'JSONRPC', 'SendMessage', { message: userMessage('that', { taskId: task.id }) })
    await world.advance(0)
    expect(begun).toEqual(['ask', 'hold'])
    holding.open()
    expect((await answer).task.status.message.parts).toEqual([{ text: 'that' }])
    expect(begun).toEqual(['ask', 'hold', 'that'])
  })

  test('a hung run that was canceled frees its place after 10 s, one that settles at once', async () => {
    const begun: string[] = []
    const { fetch, world } = await openStill(
      of((task) => {
        begun.push(task.text)
        if (task.text === 'hang') return new Promise<never>(() => {})
        if (task.text === 'obey')
          return new Promise<undefined>((resolve) => task.signal.addEventListener('abort', () => resolve(undefined)))
        return 'done'
      }),
      { concurrency: 1 },
    )
    const hung = await begin(fetch, 'hang')
    await begin(fetch, 'after hang')
    await result(fetch, 'JSONRPC', 'CancelTask', { id: hung })
    await world.advance(9_999)
    expect(begun).toEqual(['hang'])
    await world.advance(1)
    expect(begun).toEqual(['hang', 'after hang'])
    const obedient = await begin(fetch, 'obey')
    await begin(fetch, 'after obey')
    await result(fetch, 'JSONRPC', 'CancelTask', { id: obedient })
    await world.advance(0)
    expect(begun).toEqual(['hang', 'after hang', 'obey', 'after obey'])
  })

  test('a place that was freed after 10 s is not freed again when the hung run settles at last', async () => {
    const late = gate()
    const begun: string[] = []
    const holding = gate()
    const { fetch, world } = await openStill(
      of(async (task) => {
        begun.push(task.text)
        await (task.text === 'hang' ? late : holding).opened
      }),
      { concurrency: 1 },
    )
    const hung = await begin(fetch, 'hang')
    await result(fetch, 'JSONRPC', 'CancelTask', { id: hung })
    await world.advance(10_000)
    for (const text of ['one', 'two']) await begin(fetch, text)
    late.open()
    await world.advance(20_000)
    expect(begun).toEqual(['hang', 'one'])
    holding.open()
    await world.advance(0)
    expect(begun).toEqual(['hang', 'one', 'two'])
  })
})
