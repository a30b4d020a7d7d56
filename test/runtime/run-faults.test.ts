/** Mistakes of an agent: they fail its task at most, and show nothing to the caller. */

import { describe, expect, test } from 'vitest'
import { type Agent, agent, artifact, chunk, completed, inputRequired, type Run, rejected, working } from '../../src/index.js'
import { IllegalTransitionError } from '../../src/protocol/states.js'
import { frames, result, userMessage } from '../harness/server.js'
import { foldFrames, getTask, openStill, statesOf, takeAll } from './kit.js'

const of = (run: Run): Agent => agent({ name: 'Test', description: 'Does what the test says.' }, run)

/** The whole life of one task. */
async function live(run: Run) {
  const { fetch, lines } = await openStill(of(run))
  const all = await takeAll(frames(fetch, 'JSONRPC', 'SendStreamingMessage', { message: userMessage('go') }))
  const task = await getTask(fetch, all[0]?.data.task.id)
  expect(foldFrames(all)).toEqual(task)
  return { all, states: statesOf(all), task, artifacts: task.artifacts ?? [], text: task.status.message?.parts[0]?.text, lines }
}

/** What a function of JavaScript, which no compiler stops, may return or yield. */
const untyped = (run: (task: any) => unknown): Run => run as Run

const publicFault = 'The agent failed because of an internal error.'

describe('a fault of the agent is FAILED with a text that shows nothing, and its cause is in the log', () => {
  test.each<[string, unknown]>([
    ['an error', new Error('secret at /etc/passwd')],
    ['a text', 'secret'],
    ['nothing', undefined],
    ['null', null],
    ['a number', 42],
    ['an object that cannot be shown', Object.create(null)],
    ['an abort', new DOMException('secret', 'AbortError')],
  ])('thrown: %s', async (_, thrown) => {
    for (const run of [
      () => {
        throw thrown
      },
      async () => {
        throw thrown
      },
      async function* () {
        yield working('before')
        throw thrown
      },
      function* () {
        yield working('before')
        throw thrown
      },
    ] as Run[]) {
      const { task, all, lines, text } = await live(run)
      expect(task.status.state).toBe('TASK_STATE_FAILED')
      expect(text).toBe(publicFault)
      expect(JSON.stringify(all)).not.toMatch(/secret|passwd/)
      const errors = lines.filter(({ level }) => level === 'error')
      expect(errors).toHaveLength(1)
      expect(errors[0]?.fields['error']).toBe(thrown)
      expect(errors[0]?.fields).toMatchObject({ taskId: task.id, contextId: task.contextId })
    }
  })

  test('what was put out before stays', async () => {
    const { artifacts, states } = await live(async function* () {
      yield chunk('a', 'kept')
      throw new Error('later')
    })
    expect(artifacts[0].parts).toEqual([{ text: 'kept' }])
    expect(states).toEqual(['SUBMITTED', 'WORKING', 'FAILED'])
  })

  test('a throw in finally counts like any other, also over a value that was to be returned', async () => {
    const { states, artifacts } = await live(async function* () {
      try {
        yield working()
        return 'never seen'
      } finally {
        // biome-ignore lint/correctness/noUnsafeFinally: what such an agent does is what is tested.
        throw new Error('in finally')
      }
    })
    expect(states).toEqual(['SUBMITTED', 'WORKING', 'FAILED'])
    expect(artifacts).toEqual([])
  })
})

describe('an output that is not allowed is an error to the agent and changes nothing', () => {
  test('rejected after an output fails the task', async () => {
    const { states, text, lines } = await live(async function* () {
      yield working()
      return rejected('too late')
    })
    expect(states).toEqual(['SUBMITTED', 'WORKING', 'FAILED'])
    expect(text).toBe(publicFault)
    expect(lines[0]?.fields['error']).toBeInstanceOf(IllegalTransitionError)
  })

  test('rejected in a later turn fails the task', async () => {
    const { fetch } = await openStill(of((task) => (task.turn === 1 ? inputRequired('what?') : rejected('no'))))
    const { task } = await result(fetch, 'JSONRPC', 'SendMessage', { message: userMessage('go') })
    const after = await result(fetch, 'JSONRPC', 'SendMessage', { message: userMessage('that', { taskId: task.id }) })
    expect(after.task.status.state).toBe('TASK_STATE_FAILED')
  })

  test('rejected as the first act leaves no trace of work', async () => {
    expect((await live(() => rejected('no'))).states).toEqual(['SUBMITTED', 'REJECTED'])
  })

  test.each<[string, () => unknown]>([
    ['a chunk after the last one', () => chunk('a', 'more')],
    ['a number', () => 5],
    ['undefined', () => undefined],
    ['the end of a turn', () => completed()],
    ['an object that looks like an output', () => ({ kind: 'working', parts: [] })],
  ])('it can be caught inside the function: %s', async (_, make) => {
    const caught: unknown[] = []
    const { all, artifacts, states } = await live(
      untyped(async function* () {
        yield chunk('a', 'all', { last: true })
        try {
          yield make()
        } catch (error) {
          caught.push(error)
        }
        yield chunk('b', 'goes on', { last: true })
      }),
    )
    expect(caught).toEqual([expect.any(TypeError)])
    expect(states).toEqual(['SUBMITTED', 'WORKING', 'COMPLETED'])
    expect(artifacts.map((one: any) => one.parts)).toEqual([[{ text: 'all' }], [{ text: 'goes on' }]])
    expect(all.map(({ id }) => Number(id))).toEqual([1, 2, 3, 4, 5])
  })

  test('it fails the task where nobody catches it, in a generator of either kind', async () => {
    for (const run of [
      untyped(function* () {
        yield 5
      }),
      untyped(async function* () {
        yield 5
      }),
    ]) {
      expect((await live(run)).states).toEqual(['SUBMITTED', 'FAILED'])
    }
  })

  test('the makers of outputs refuse what is none at once', () => {
    for (const make of [
      () => artifact('', 'a'),
      () => artifact('a', []),
      () => chunk('a', [{ text: 'a', data: 1 } as never]),
      () => working(5 as never),
    ]) {
      expect(make).toThrow(TypeError)
    }
  })
})
