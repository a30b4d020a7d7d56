/** Runs that wait beyond the bound are dropped from memory, by a commit; what they wait for brings them back. */

import { describe, expect, test } from 'vitest'
import { chunk, working } from '../../src/index.js'
import { artifactsOf, brokenLaws, type Crashable, openCrashable, type Program, resultOf } from './kit.js'

const waits: readonly [string, Program, (server: Crashable, id: string) => Promise<void>][] = [
  ['an answer', () => async (task) => void (await task.ask('A?')), (server, id) => server.say(id, 'yes')],
  ['a signal', () => async (task) => void (await task.wait('paid')), (server, id) => server.signal(id, 'paid', 1)],
  ['a time', () => (task) => task.sleep('1h'), (server) => server.advance(3_600_000)],
  [
    'consent',
    () => async (task) => void (await task.authorize({ callback: ({ state }) => `https://consent.example/${state}` })),
    (server, id) => server.say(id, 'no'),
  ],
]

describe('an evicted run', () => {
  test.each(waits)('that waits for %s is told so, holds nothing, and goes on when it comes', async (_, program, goOn) => {
    const reasons: unknown[] = []
    const attempts: number[] = []
    const server = await openCrashable(
      (process) => {
        const run = program(process)
        return (task) => {
          task.signal.addEventListener('abort', () => reasons.push(task.signal.reason.why))
          attempts.push(task.attempt)
          return run(task)
        }
      },
      { limits: { waitingRuns: 1 } },
    )
    const ids = [await server.send('1'), await server.send('2'), await server.send('3')]
    await server.advance(1_000)
    expect(reasons).toEqual(['evicted', 'evicted'])
    const headers = await Promise.all(ids.map((id) => server.header(id)))
    expect(headers.filter(({ holder }) => holder !== undefined)).toHaveLength(1)
    expect(headers.filter(({ waiting }) => waiting === undefined)).toEqual([])
    for (const id of ids) await goOn(server, id)
    for (const id of ids) {
      await server.comesTo(id, 'COMPLETED')
      expect(await brokenLaws(server, id)).toEqual([])
    }
    expect(new Set(attempts)).toEqual(new Set([1]))
  })

  test('asks nothing twice, tells nothing twice, and does no step twice', async () => {
    const done: string[] = []
    const server = await openCrashable(
      () =>
        async function* (task) {
          yield working('begun')
          yield chunk('log', 'one;')
          await task.step('s', () => void done.push(task.text))
          yield chunk('log', 'two;')
          const { text } = await task.ask('A?')
          yield chunk('log', `${text};`)
          return text
        },
      { limits: { waitingRuns: 1 } },
    )
    const ids = [await server.send('1'), await server.send('2')] as const
    await server.comesTo(ids[0], 'INPUT_REQUIRED')
    await server.comesTo(ids[1], 'INPUT_REQUIRED')
    for (const id of ids) await server.say(id, 'yes')
    for (const id of ids) {
      const task = await server.comesTo(id, 'COMPLETED')
      expect(artifactsOf(task)).toEqual({ log: 'one;two;yes;', result: 'yes' })
      const outline = await server.outline(id)
      expect(outline.filter((word) => /begun|A\?/.test(word))).toEqual(['WORKING: begun', 'INPUT_REQUIRED: A?'])
    }
    expect(done).toEqual(['1', '2'])
  })

  test('is none while a step of it runs', async () => {
    const reasons: unknown[] = []
    const done: string[] = []
    const server = await openCrashable(
      ({ wait }) =>
        async (task) => {
          task.signal.addEventListener('abort', () => reasons.push(task.signal.reason.why))
          await Promise.all([
            task.ask('A?'),
            task.step('s', async () => {
              await wait(60_000)
              done.push(task.text)
            }),
          ])
          return 'done'
        },
      { limits: { waitingRuns: 1 } },
    )
    const ids = [await server.send('1'), await server.send('2'), await server.send('3')]
    await server.advance(59_000)
    expect(reasons).toEqual([])
    await server.advance(2_000)
    expect(done).toEqual(['1', '2', '3'])
    for (const id of ids) await server.say(id, 'yes')
    for (const id of ids) expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toBe('done')
    expect(done).toEqual(['1', '2', '3'])
  })

  test('can be canceled, and times out like any other', async () => {
    const server = await openCrashable(
      () => async (task) =>
        task.ask('A?', { timeout: '1h' }).then(
          () => 'answered',
          (error: Error) => error.name,
        ),
      { limits: { waitingRuns: 1 } },
    )
    const ids = [await server.send('1'), await server.send('2'), await server.send('3')] as const
    await server.rest()
    await server.cancel(ids[0])
    await server.advance(3_600_000)
    expect(await server.state(ids[0])).toBe('CANCELED')
    for (const id of ids.slice(1)) expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toBe('WaitTimeoutError')
  })
})

test('hundreds of runs beyond the bound are answered in any order, before and after a crash', async () => {
  const server = await openCrashable(
    () =>
      async function* (task) {
        yield chunk('log', 'begun;')
        const number = await task.step('number', () => Number(task.text))
        const { text } = await task.ask(`${number}?`)
        yield chunk('log', `${text};`)
        return `${number} ${text}`
      },
    { limits: { waitingRuns: 20 } },
  )
  const count = 400
  const ids = await Promise.all(Array.from({ length: count }, (_, i) => server.send(`${i}`)))
  await server.rest()
  const answer = async (from: number, to: number) => {
    for (let i = to - 1; i >= from; i--) await server.say(ids[i] ?? '', `answer ${i}`)
  }
  await answer(0, count / 2)
  await server.rest()
  await server.crash()
  await answer(count / 2, count)
  await server.rest()
  for (const [i, id] of ids.entries()) expect(resultOf(await server.get(id)), `task ${i}`).toBe(`${i} answer ${i}`)
}, 120_000)
