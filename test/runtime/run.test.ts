/** One run of an agent's function: what it yields and returns becomes the log of its task, and its mistakes stay its own. */

import { describe, expect, test } from 'vitest'
import { type Agent, agent, artifact, chunk, completed, failed, inputRequired, type Run, rejected, working } from '../../src/index.js'
import { frames, result, userMessage } from '../harness/server.js'
import { begin, foldFrames, gate, getTask, openStill, statesOf, subscribe, take, takeAll, withStore } from './kit.js'

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

describe('WORKING is written by the runtime before the first output', () => {
  test.each<[string, Run]>([
    ['a returned value', () => 'result'],
    [
      'a chunk',
      async function* () {
        yield chunk('a', 'text')
      },
    ],
    [
      'an artifact',
      function* () {
        yield artifact('a', 'text')
      },
    ],
    [
      'a yielded string',
      async function* () {
        yield 'text'
      },
    ],
  ])('%s', async (_, run) => {
    expect((await live(run)).states).toEqual(['SUBMITTED', 'WORKING', 'COMPLETED'])
  })

  test('and once only: a note that comes first is that WORKING', async () => {
    const { states, all } = await live(async function* () {
      yield working('on it')
      yield chunk('a', 'text')
      yield working()
    })
    expect(states).toEqual(['SUBMITTED', 'WORKING', 'WORKING', 'COMPLETED'])
    expect(all[1]?.data.statusUpdate.status.message.parts).toEqual([{ text: 'on it' }])
  })
})

describe('every kind of function is a run', () => {
  test.each<[string, Run]>([
    ['a plain function', () => 'said'],
    ['an async function', async () => 'said'],
    [
      'a generator',
      function* () {
        return 'said'
      },
    ],
    [
      'an async generator',
      async function* () {
        return 'said'
      },
    ],
    [
      'a function that gives a generator',
      () =>
        (async function* () {
          return 'said'
        })(),
    ],
    [
      'an async function that gives a generator',
      untyped(async () =>
        (function* () {
          return 'said'
        })(),
      ),
    ],
  ])('%s', async (_, run) => {
    const { artifacts, task } = await live(run)
    expect(task.status.state).toBe('TASK_STATE_COMPLETED')
    expect(artifacts).toEqual([{ artifactId: 'result', name: 'result', parts: [{ text: 'said' }] }])
  })
})

describe('what is returned ends the turn', () => {
  test.each<[string, Run, string, readonly unknown[] | undefined]>([
    ['nothing', () => undefined, 'COMPLETED', undefined],
    ['a string', () => 'a', 'COMPLETED', [{ text: 'a' }]],
    ['an empty string', () => '', 'COMPLETED', [{ text: '' }]],
    ['a part', () => ({ text: 'a', mediaType: 'text/markdown' }), 'COMPLETED', [{ text: 'a', mediaType: 'text/markdown' }]],
    ['a list of parts', () => [{ text: 'a' }, { data: 1 }], 'COMPLETED', [{ text: 'a' }, { data: 1 }]],
    ['an object', () => ({ a: [1, null] }), 'COMPLETED', [{ data: { a: [1, null] } }]],
    ['a list of texts', () => ['a', 'b'], 'COMPLETED', [{ data: ['a', 'b'] }]],
    ['an empty list', () => [], 'COMPLETED', [{ data: [] }]],
    ['a number', () => 0, 'COMPLETED', [{ data: 0 }]],
    ['false', () => false, 'COMPLETED', [{ data: false }]],
    ['null', () => null, 'COMPLETED', [{ data: null }]],
    ['completed()', () => completed(), 'COMPLETED', undefined],
    ['completed(note, result)', () => completed('note', { a: 1 }), 'COMPLETED', [{ data: { a: 1 } }]],
    ['failed(reason)', () => failed('no'), 'FAILED', undefined],
    ['rejected(reason)', () => rejected('no'), 'REJECTED', undefined],
    ['inputRequired(prompt)', () => inputRequired('what?'), 'INPUT_REQUIRED', undefined],
  ])('%s', async (_, run, state, parts) => {
    const { states, artifacts } = await live(run)
    expect(states.at(-1)).toBe(state)
    expect(artifacts.map((one: any) => one.parts)).toEqual(parts === undefined ? [] : [parts])
  })

  test.each<[string, unknown]>([
    ['undefined in a list', [undefined]],
    ['a function', () => 1],
    ['a big integer', 1n],
    ['a symbol', Symbol('secret')],
    ['an output', working('secret')],
    [
      'an object that goes in a circle',
      (() => {
        const circle: Record<string, unknown> = {}
        circle['self'] = circle
        return circle
      })(),
    ],
  ])('what is no JSON fails the task: %s', async (_, value) => {
    const { states, text } = await live(untyped(() => value))
    expect(states).toEqual(['SUBMITTED', 'FAILED'])
    expect(text).toBe(publicFault)
  })
})

describe('artifacts', () => {
  test('the first chunk of a turn starts one, the next add to it, a whole one replaces it', async () => {
    const { all, artifacts } = await live(async function* () {
      yield chunk('a', 'one')
      yield chunk('a', 'two')
      yield artifact('a', 'whole')
      yield artifact('a', 'whole again', { description: 'at last' })
    })
    const updates = all.flatMap(({ data }) => data.artifactUpdate ?? [])
    expect(updates.map(({ append, lastChunk }) => [append, lastChunk])).toEqual([
      [false, false],
      [true, false],
      [false, true],
      [false, true],
    ])
    expect(artifacts).toEqual([{ artifactId: 'a', name: 'a', description: 'at last', parts: [{ text: 'whole again' }] }])
  })

  test('the first chunk of a later turn starts it anew', async () => {
    const { fetch } = await openStill(
      of(async function* (task) {
        yield chunk('a', `turn ${task.turn}`, { last: true })
        return task.turn === 1 ? inputRequired('more?') : completed()
      }),
    )
    const { task } = await result(fetch, 'JSONRPC', 'SendMessage', { message: userMessage('go') })
    const after = await result(fetch, 'JSONRPC', 'SendMessage', { message: userMessage('yes', { taskId: task.id }) })
    expect(after.task.artifacts).toEqual([{ artifactId: 'a', name: 'a', parts: [{ text: 'turn 2' }] }])
  })

  test('what the agent does later to a value that it yielded changes nothing', async () => {
    const { artifacts, states } = await live(async function* () {
      const part = { data: { count: 1 } }
      yield artifact('a', part)
      part.data.count = 2
      const parts = [{ text: 'first' }]
      yield chunk('b', parts)
      parts.push({ text: 'second' })
    })
    expect(artifacts.map((one: any) => one.parts)).toEqual([[{ data: { count: 1 } }], [{ text: 'first' }]])
    expect(states.at(-1)).toBe('COMPLETED')
  })

  test('many outputs without a pause are all there, in order, and no more than 64 are ahead of the store', async () => {
    const storing = gate()
    const store = withStore((inner) => ({ append: (...given) => storing.opened.then(() => inner.append(...given)) }))
    let made = 0
    const { fetch, world } = await openStill(
      of(async function* () {
        for (; made < 500; made++) yield chunk('a', `${made}`)
      }),
      { store },
    )
    const id = await begin(fetch, 'go')
    const stream = subscribe(fetch, 'JSONRPC', id)
    await take(stream, 1)
    await world.advance(0)
    expect(made).toBeGreaterThan(50)
    expect(made).toBeLessThanOrEqual(64)
    storing.open()
    const all = await takeAll(stream)
    expect(all.flatMap(({ data }) => data.artifactUpdate?.artifact.parts[0].text ?? [])).toEqual(
      Array.from({ length: 500 }, (_, number) => `${number}`),
    )
  })
})

test('a blocking send returns with everything that was put out before the end', async () => {
  const { fetch } = await openStill(
    of(function* () {
      yield chunk('a', 'one')
      yield chunk('a', 'two', { last: true })
      return completed('done', 3)
    }),
  )
  const { task } = await result(fetch, 'HTTP+JSON', 'SendMessage', { message: userMessage('go') })
  expect(task.artifacts.map((one: any) => one.parts.length)).toEqual([2, 1])
  expect(task.status.message.parts).toEqual([{ text: 'done' }])
})
