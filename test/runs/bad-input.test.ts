/** What an author or a caller gets wrong is a clear error to them, and never a task that is stuck. */

import { describe, expect, test } from 'vitest'
import type { TaskHandle } from '../../src/index.js'
import { openCrashable, resultOf } from './kit.js'

/** What no compiler stops in JavaScript. */
type Loose = Record<keyof TaskHandle, any>

const step = () => 1
const consent = { callback: ({ state }: any) => `https://consent.example/${state}` }

const wrong: readonly [string, (task: Loose) => unknown, RegExp][] = [
  ['sleep for an unknown unit', (task) => task.sleep('3 moons'), /3 moons/],
  ['sleep for no number', (task) => task.sleep('s'), /'20s'/],
  ['sleep for a negative time', (task) => task.sleep(-1), /-1/],
  ['sleep for ever', (task) => task.sleep(Number.POSITIVE_INFINITY), /null|Infinity/],
  ['sleep for NaN', (task) => task.sleep(Number.NaN), /null|NaN/],
  ['sleep for nothing given', (task) => task.sleep(), /undefined/],
  ['sleep with a misspelt option', (task) => task.sleep('1s', { keys: 'a' }), /"keys"/],
  ['ask with a negative timeout', (task) => task.ask('A?', { timeout: -5 }), /timeout/],
  ['ask with an unknown duration', (task) => task.ask('A?', { timeout: 'soon' }), /timeout/],
  ['ask with a misspelt option', (task) => task.ask('A?', { shema: {} }), /"shema"/],
  ['ask with what is no schema', (task) => task.ask('A?', { schema: { type: 'string' } }), /schema/],
  ['ask with a key that is no text', (task) => task.ask('A?', { key: 5 }), /key/],
  ['ask nothing', (task) => task.ask(), /part|text|prompt/],
  ['ask with a wrong part', (task) => task.ask({ txt: 'A?' }), /part/],
  ['ask with options that are no object', (task) => task.ask('A?', '3d'), /options/],
  ['wait without a name', (task) => task.wait(), /name/],
  ['wait with an empty name', (task) => task.wait(''), /name/],
  ['wait with a negative timeout', (task) => task.wait('paid', { timeout: '-1s' }), /timeout/],
  ['wait with a misspelt option', (task) => task.wait('paid', { timeOut: '1s' }), /"timeOut"/],
  ['step without a key', (task) => task.step(step), /key/],
  ['step with an empty key', (task) => task.step('', step), /key/],
  ['step with a key that is no text', (task) => task.step(1, step), /key/],
  ['step without a function', (task) => task.step('s'), /function/],
  ['step with a promise for a function', (task) => task.step('s', Promise.resolve(1)), /function/],
  ['step with a misspelt option', (task) => task.step('s', step, { retries: 3 }), /"retries"/],
  ['step with a negative number of tries', (task) => task.step('s', step, { retry: -1 }), /retry/],
  ['step with half a try', (task) => task.step('s', step, { retry: 1.5 }), /retry/],
  ['step with tries that are no number', (task) => task.step('s', step, { retry: '3' }), /retry/],
  ['step with an unknown duration', (task) => task.step('s', step, { timeout: '5 minutes' }), /timeout/],
  ['step with a negative timeout', (task) => task.step('s', step, { timeout: -5 }), /timeout/],
  ['authorize without a request', (task) => task.authorize(), /oauth|callback|options/],
  ['authorize by nothing', (task) => task.authorize({ prompt: 'Allow' }), /oauth|callback/],
  ['authorize by two things', (task) => task.authorize({ ...consent, oauth: 'x', scopes: [] }), /oauth|callback/],
  ['authorize by a provider that is not there', (task) => task.authorize({ oauth: 'nobody', scopes: ['a'] }), /nobody/],
  ['authorize by what is no function', (task) => task.authorize({ callback: 'https://consent.example' }), /callback/],
  ['authorize with a negative timeout', (task) => task.authorize({ ...consent, timeout: -1 }), /timeout/],
  ['authorize with a misspelt option', (task) => task.authorize({ ...consent, promt: 'Allow' }), /"promt"/],
  ['authorize with scopes that are no list', (task) => task.authorize({ oauth: 'nobody', scopes: 'a' }), /scopes/],
  ['inbox.next with a negative timeout', (task) => task['inbox'].next({ timeout: -1 }), /-1|timeout/],
  ['inbox.next with a misspelt option', (task) => task['inbox'].next({ timeOut: '1s' }), /"timeOut"/],
]

describe('a mistake of the author is a TypeError that names it', () => {
  test.each(wrong)('%s', async (_, make, says) => {
    const server = await openCrashable(({ number }) => async (task) => {
      // Loose is the handle with its types taken off.
      const error = await Promise.resolve()
        .then(() => make(task as unknown as Loose))
        .then(
          () => undefined,
          (thrown: unknown) => thrown,
        )
      const told = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
      await task.step('told', () => number)
      return told
    })
    const id = await server.send('go')
    const told = resultOf(await server.comesTo(id, 'COMPLETED'))
    expect(told).toMatch(/^TypeError: /)
    expect(told).toMatch(says)
    expect(await server.header(id)).toMatchObject({ waiting: undefined, holder: undefined })
  })

  test.each(wrong)('uncaught it fails the task, and the caller reads nothing of it: %s', async (_, make) => {
    const server = await openCrashable(() => async (task) => {
      await make(task as unknown as Loose)
    })
    const id = await server.send('go')
    const task = await server.comesTo(id, 'FAILED')
    expect(task.status.message.parts[0].text).toBe('The agent failed because of an internal error.')
    expect(server.lines.filter(({ level }) => level === 'error').map(({ fields }) => fields['error'])).toEqual([expect.any(TypeError)])
  })
})

describe('a stream', () => {
  const wrongStreams: readonly [string, (task: any) => any, RegExp][] = [
    ['without a name', (task) => task.stream(), /name/],
    ['with an empty name', (task) => task.stream('', () => ['a']), /name/],
    ['without a function', (task) => task.stream('a'), /function/],
    ['with a misspelt option', (task) => task.stream('a', () => ['a'], { keys: 'b' }), /"keys"/],
  ]
  test.each(wrongStreams)('%s is a TypeError that names it', async (_, make, says) => {
    const server = await openCrashable(
      () =>
        async function* (task) {
          try {
            yield* make(task)
            return 'nothing thrown'
          } catch (error) {
            return String(error)
          }
        },
    )
    const told = resultOf(await server.comesTo(await server.send('go'), 'COMPLETED'))
    expect(told).toMatch(/^TypeError: /)
    expect(told).toMatch(says)
  })

  test.each<[string, () => any]>([
    ['gives no stream', () => 5],
    ['gives chunks that are no text', () => [5]],
    [
      'throws',
      () => {
        throw new Error('broken')
      },
    ],
    [
      'throws in the middle',
      function* () {
        yield 'one;'
        throw new Error('broken')
      },
    ],
    [
      'rejects',
      async function* () {
        yield 'one;'
        await Promise.reject(new Error('broken'))
      },
    ],
    ['gives half of a character', () => ['\u{1f600}'.slice(0, 1)]],
  ])('whose function %s throws to the author, who may go on', async (_, fn) => {
    const server = await openCrashable(
      ({ hold }) =>
        async function* (task) {
          let told = 'nothing thrown'
          try {
            yield* task.stream('a', fn)
          } catch (error) {
            told = error instanceof Error ? 'an error' : 'no error'
          }
          await task.step('s', () => 1)
          await hold(1)
          return told
        },
    )
    const id = await server.send('go')
    await server.rest()
    await server.crash()
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toBe('an error')
  })
})

describe('a signal', () => {
  const waiting = () => async (task: TaskHandle) => task.wait<number>('paid')

  test.each<[string, unknown]>([
    ['empty', ''],
    ['a number', 5],
    ['undefined', undefined],
    ['an object', {}],
  ])('whose name is %s is refused', async (_, name) => {
    const server = await openCrashable(waiting)
    const id = await server.send('go')
    await expect(server.signal(id, name as string, 1)).rejects.toThrow(TypeError)
    await server.signal(id, 'paid', 1)
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toBe(1)
  })

  test.each<[string, unknown]>([
    ['empty', ''],
    ['a number', 5],
    ['undefined', undefined],
  ])('to a task whose id is %s is refused', async (_, id) => {
    const server = await openCrashable(waiting)
    await expect(server.signal(id as string, 'paid', 1)).rejects.toThrow(/./)
  })
})

test('an author may go on after any of it: the task is not marked', async () => {
  const server = await openCrashable(() => async (task) => {
    for (const [, make] of wrong) {
      await Promise.resolve()
        .then(() => make(task as unknown as Loose))
        .catch(() => undefined)
    }
    const { text } = await task.ask('A?')
    return [text, await task.step('s', () => 'done')]
  })
  const id = await server.send('go')
  await server.comesTo(id, 'INPUT_REQUIRED')
  await server.say(id, 'yes')
  expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toEqual(['yes', 'done'])
})
