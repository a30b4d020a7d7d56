/** Steps that run at once settle in the same order on a rerun: what was recorded first comes first, and before anything new. */

import { describe, expect, test } from 'vitest'
import type { TaskHandle } from '../../src/index.js'
import { withEachAccident } from './each-commit.js'
import { accidentKinds, brokenLaws, openCrashable, type Process, resultOf } from './kit.js'

const steps = [
  ['a', 30],
  ['b', 10],
  ['c', 20],
] as const

/** Three steps at once, which take 30, 10 and 20 ms, and the order in which they settled. */
function three(task: TaskHandle, { wait }: Process, order: string[], effects?: Set<string>) {
  return steps.map(([key, ms]) =>
    task
      .step(key, async (step) => {
        await wait(ms)
        effects?.add(step.idempotencyKey)
        return `${key} ${ms}`
      })
      .then((value) => {
        order.push(key)
        return value
      }),
  )
}

describe.each(accidentKinds)('with each COMMIT: %s', (kind) => {
  test.each(['all', 'race', 'any', 'allSettled', 'race of two rounds'] as const)(
    'Promise.%s of three steps comes to the same, in the same order',
    async (how) => {
      const { expected, commits, differences } = await withEachAccident(() => {
        const effects = new Set<string>()
        return {
          program: (process) => async (task) => {
            const order: string[] = []
            const all = three(task, process, order, effects)
            const value =
              how === 'all'
                ? await Promise.all(all)
                : how === 'any'
                  ? await Promise.any(all)
                  : how === 'allSettled'
                    ? (await Promise.allSettled(all)).map((one) => (one.status === 'fulfilled' ? one.value : 'no'))
                    : await Promise.race(all)
            if (how === 'race of two rounds') {
              const second = await Promise.race([
                all[0],
                task.step('d', async () => {
                  await process.wait(5)
                  return 'd 5'
                }),
              ])
              return [value, second, [...order]]
            }
            return [value, [...order]]
          },
          async run(server) {
            const id = await server.send('go')
            const task = await server.comesTo(id, 'COMPLETED')
            return { result: resultOf(task), effects: effects.size, broken: await brokenLaws(server, id) }
          },
        }
      }, [kind])
      expect(differences).toEqual([])
      expect(commits).toBeGreaterThan(3)
      const results = {
        all: [
          ['a 30', 'b 10', 'c 20'],
          ['b', 'c', 'a'],
        ],
        race: ['b 10', ['b']],
        any: ['b 10', ['b']],
        allSettled: [
          ['a 30', 'b 10', 'c 20'],
          ['b', 'c', 'a'],
        ],
        'race of two rounds': ['b 10', 'd 5', ['b']],
      }
      expect(expected).toEqual({ result: results[how], effects: 3, broken: [] })
    },
    120_000,
  )
})

test('a race is won by the step that won before, though another would be faster now', async () => {
  const server = await openCrashable(({ number, wait, hold }) => async (task) => {
    const one = (key: string, ms: number) =>
      task.step(key, async () => {
        await wait(ms)
        return key
      })
    const winner = await Promise.race([one('slow later', number === 1 ? 10 : 90), one('fast later', number === 1 ? 20 : 0)])
    await hold(1)
    return winner
  })
  const id = await server.send('go')
  await server.advance(15)
  await server.crash()
  expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toBe('slow later')
})

test('records come back in the order in which they settled, whatever the order of the calls', async () => {
  const orders: string[][] = []
  const server = await openCrashable((process) => async (task) => {
    const order: string[] = []
    orders.push(order)
    await Promise.all(three(task, process, order))
    await process.hold(1)
  })
  const id = await server.send('go')
  await server.advance(100)
  await server.crash()
  expect(await server.state(id)).toBe('COMPLETED')
  expect(orders).toEqual([
    ['b', 'c', 'a'],
    ['b', 'c', 'a'],
  ])
})

test('a record comes back before a live result, even one that is there at once', async () => {
  const orders: string[][] = []
  const server = await openCrashable(({ number, wait, hold }) => async (task) => {
    const order: string[] = []
    orders.push(order)
    const quick = task
      .step('open', async () => {
        if (number === 1) await hold(1)
        return 'now at once'
      })
      .then(() => order.push('open'))
    await task.step('first', () => wait(10))
    order.push('first')
    await task.step('second', () => wait(10))
    order.push('second')
    await quick
  })
  const id = await server.send('go')
  await server.advance(100)
  await server.crash()
  expect(await server.state(id)).toBe('COMPLETED')
  expect(orders[1]).toEqual(['first', 'second', 'open'])
})

test('a question among steps comes back in its place', async () => {
  const orders: string[][] = []
  const server = await openCrashable(({ wait, hold }) => async (task) => {
    const order: string[] = []
    orders.push(order)
    await Promise.all([
      task.ask('A?').then(({ text }) => order.push(text)),
      task.step('early', () => wait(10)).then(() => order.push('early')),
      task.step('late', () => wait(50)).then(() => order.push('late')),
    ])
    await hold(1)
  })
  const id = await server.send('go')
  await server.advance(20)
  await server.say(id, 'answer')
  await server.advance(100)
  await server.crash()
  expect(await server.state(id)).toBe('COMPLETED')
  expect(orders).toEqual([
    ['early', 'answer', 'late'],
    ['early', 'answer', 'late'],
  ])
})

test('records that settle in the same moment keep one order', async () => {
  const orders: string[][] = []
  const server = await openCrashable(({ wait, hold }) => async (task) => {
    const order: string[] = []
    orders.push(order)
    await Promise.all(Array.from({ length: 50 }, (_, i) => task.step(`${i}`, () => wait((i * 7) % 5)).then(() => order.push(`${i}`))))
    await hold(1, 2)
  })
  const id = await server.send('go')
  await server.advance(100)
  await server.crash()
  await server.crash()
  expect(await server.state(id)).toBe('COMPLETED')
  expect(orders[0]).toHaveLength(50)
  expect(orders[1]).toEqual(orders[0])
  expect(orders[2]).toEqual(orders[0])
})
