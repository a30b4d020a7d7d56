/** What a run may put out, and what it is told where it may not. */

import { describe, expect, test } from 'vitest'
import { agent, artifact, chunk, inputRequired, type Run, working } from '../../src/index.js'
import { bindingNames, openServer, result, userMessage } from '../harness/server.js'

const half = 'half \ud83d'

async function stateOf(run: Run, binding: (typeof bindingNames)[number] = 'JSONRPC') {
  const server = await openServer(agent({ name: 'Test', description: 'Does what the test says.' }, run))
  const { task } = await result(server.fetch, binding, 'SendMessage', { message: userMessage('go') })
  await server.close()
  return task.status.state.replace('TASK_STATE_', '')
}

describe('half of a character', () => {
  test.each<[string, () => unknown]>([
    ['a note', () => working(half)],
    ['a chunk', () => chunk('a', half)],
    ['an artifact', () => artifact('a', [half])],
    ['the name of an artifact', () => artifact(half, 'x')],
    ['a question', () => inputRequired(half)],
  ])('is refused in %s', (_, put) => {
    expect(put).toThrow(/holds half of a character/)
  })

  test.each<[string, Run]>([
    [
      'yielded',
      async function* () {
        yield half
      },
    ],
    ['returned', () => half],
  ])('%s fails the task instead of going out', async (_, run) => {
    expect(await stateOf(run)).toBe('FAILED')
  })

  test('in an answer is no message', async () => {
    const server = await openServer(agent({ name: 'A', description: 'B', answer: () => half }, () => 'x'))
    await expect(result(server.fetch, 'JSONRPC', 'SendMessage', { message: userMessage('go') })).rejects.toThrow(/-32603/)
    await server.close()
  })
})

test.each(bindingNames)('an answer without parts is no message, over %s', async (binding) => {
  const server = await openServer(agent({ name: 'A', description: 'B', answer: () => [] }, () => 'x'))
  await expect(result(server.fetch, binding, 'SendMessage', { message: userMessage('go') })).rejects.toThrow(/INTERNAL/)
  await server.close()
})

describe('a returned value that JSON does not know fails the task', () => {
  class Money {
    #cents = 5
    get cents() {
      return this.#cents
    }
  }
  test.each<[string, Run]>([
    ['a Map', () => new Map([['a', 1]])],
    ['a Set', () => new Set([1])],
    ['bytes', () => new Uint8Array(2)],
    ['a Response', () => new Response('x')],
    ['an object of a class', () => new Money()],
    ['an Error', () => new Error('no')],
  ])('%s', async (_, run) => {
    expect(await stateOf(run)).toBe('FAILED')
  })

  test.each<[string, Run]>([
    ['a plain object', () => ({ a: [1, { b: null }] })],
    ['an object without a prototype', () => Object.assign(Object.create(null), { a: 1 })],
    ['a date, which knows its JSON', () => new Date(0)],
    ['a list', () => [1, 'two']],
  ])('%s does not', async (_, run) => {
    expect(await stateOf(run)).toBe('COMPLETED')
  })
})

test('a yielded promise that rejects fails the task and nothing else', async () => {
  const unhandled: unknown[] = []
  const onUnhandled = (reason: unknown) => unhandled.push(reason)
  process.on('unhandledRejection', onUnhandled)
  function* run() {
    yield Promise.reject(new Error('no')) as never
  }
  expect(await stateOf(run)).toBe('FAILED')
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', onUnhandled)
  expect(unhandled).toEqual([])
})

test('unknown options of outputs are named', () => {
  const untyped: (name: string, parts: string, options: object) => unknown = chunk
  expect(() => untyped('a', 'b', { lastChunk: true })).toThrow('chunk has no option "lastChunk"; it takes id, last')
  expect(() => untyped('a', 'b', { last: 'yes' })).toThrow('chunk: option last takes true or false; it got "yes"')
})
