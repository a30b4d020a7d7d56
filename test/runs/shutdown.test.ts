/** SIGTERM, as `server.close()`: what runs is recorded and handed back, nothing is lost, and no attempt is counted. */

import { describe, expect, test } from 'vitest'
import { chunk } from '../../src/index.js'
import { artifactsOf, brokenLaws, type Crashable, openCrashable, type Program, resultOf } from './kit.js'

/** Closes the server while the clock moves by `ms`, and says whether it was done by then. */
async function closeWithin(server: Crashable, ms: number): Promise<boolean> {
  let isDone = false
  const closed = server.close().then(() => {
    isDone = true
  })
  await server.world.advance(ms)
  await server.rest()
  if (!isDone) {
    await server.world.advance(60_000)
    await closed
    return false
  }
  return true
}

test('during a step: it is recorded, the run handed back, no attempt counted, and another start goes on', async () => {
  const ran: string[] = []
  const server = await openCrashable(({ number, wait }) => async (task) => {
    const one = await task.step('one', async () => {
      ran.push(`one in ${number}`)
      await wait(5_000)
      return number
    })
    const two = await task.step('two', () => {
      ran.push(`two in ${number}`)
      return number
    })
    return { one, two, attempt: task.attempt }
  })
  const id = await server.send('go')
  await server.rest()
  const before = await server.header(id)
  expect(await closeWithin(server, 5_000)).toBe(true)
  expect(ran).toEqual(['one in 1'])
  await server.restart()
  expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toEqual({ one: 1, two: 2, attempt: 1 })
  expect(ran).toEqual(['one in 1', 'two in 2'])
  expect((await server.header(id)).epoch).toBeGreaterThan(before.epoch)
  expect(await brokenLaws(server, id)).toEqual([])
})

test('during steps at once: all of them are recorded first', async () => {
  const ran: string[] = []
  const server = await openCrashable(({ number, wait }) => async (task) => {
    const one = (key: string, ms: number) =>
      task.step(key, async () => {
        ran.push(`${key} in ${number}`)
        await wait(ms)
        return key
      })
    return Promise.all([one('a', 1_000), one('b', 3_000), one('c', 2_000)])
  })
  const id = await server.send('go')
  await server.rest()
  expect(await closeWithin(server, 3_000)).toBe(true)
  await server.restart()
  expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toEqual(['a', 'b', 'c'])
  expect(ran).toEqual(['a in 1', 'b in 1', 'c in 1'])
})

test('a step that is called now never starts', async () => {
  const ran: number[] = []
  const server = await openCrashable(({ number, wait }) => async (task) => {
    await wait(2_000)
    return task.step('s', () => {
      ran.push(number)
      return task.attempt
    })
  })
  const id = await server.send('go')
  await server.rest()
  expect(await closeWithin(server, 2_000)).toBe(true)
  expect(ran).toEqual([])
  await server.restart()
  expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toBe(1)
  expect(ran).toEqual([2])
})

const waits: readonly [string, Program, (server: Crashable, id: string) => Promise<void>][] = [
  ['an answer', () => async (task) => (await task.ask('A?')).text, (server, id) => server.say(id, 'came')],
  ['a signal', () => (task) => task.wait<string>('paid'), (server, id) => server.signal(id, 'paid', 'came')],
  ['a time', () => async (task) => task.sleep('1h').then(() => 'came'), (server) => server.advance(3_600_000)],
  [
    'consent',
    () => async (task) => task.authorize({ callback: ({ state }) => `https://consent.example/${state}` }).then(() => 'came'),
    (server, id) => server.say(id, 'no'),
  ],
]
test.each(waits)('a run that waits for %s holds nobody up, and goes on in another start', async (_, program, goOn) => {
  const attempts: number[] = []
  const server = await openCrashable((process) => {
    const run = program(process)
    return (task) => {
      attempts.push(task.attempt)
      return run(task)
    }
  })
  const id = await server.send('go')
  await server.rest()
  expect(await closeWithin(server, 0)).toBe(true)
  await server.restart()
  await goOn(server, id)
  expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toBe('came')
  expect(new Set(attempts)).toEqual(new Set([1]))
})

test('a run that calls no step may go on for 10 s and end by itself', async () => {
  const server = await openCrashable(
    ({ wait }) =>
      async function* () {
        yield chunk('a', 'one;')
        await wait(9_000)
        yield chunk('a', 'two;')
        return 'made it'
      },
  )
  const id = await server.send('go')
  await server.rest()
  expect(await closeWithin(server, 9_000)).toBe(true)
  await server.restart(() => () => 'never run')
  const task = await server.comesTo(id, 'COMPLETED')
  expect(artifactsOf(task)).toEqual({ a: 'one;two;', result: 'made it' })
})

test('one that does not is told so after 10 s, is not heard any more, and is run again, no attempt counted', async () => {
  const reasons: unknown[] = []
  const server = await openCrashable(
    ({ number, wait }) =>
      async function* (task) {
        task.signal.addEventListener('abort', () => reasons.push(task.signal.reason.why))
        yield chunk('a', `${number}.${task.attempt};`)
        if (number === 1) await wait(30_000)
        yield chunk('a', 'end;')
      },
  )
  const id = await server.send('go')
  await server.rest()
  const closing = server.close()
  await server.world.advance(9_999)
  expect(reasons).toEqual([])
  await server.world.advance(1)
  expect(reasons).toEqual(['shutdown'])
  await server.world.advance(60_000)
  await closing
  await server.restart()
  expect(artifactsOf(await server.comesTo(id, 'COMPLETED'))).toEqual({ a: '2.1;end;' })
  expect(await brokenLaws(server, id)).toEqual([])
})

test('a step that is still running after 10 s is aborted; its abort is no record, and it is done again elsewhere', async () => {
  const ran: string[] = []
  const server = await openCrashable(({ number }) => async (task) => {
    const value = await task.step('s', ({ signal }) => {
      ran.push(`begun in ${number}`)
      if (number === 2) return 'done'
      return new Promise<string>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    })
    return { value, attempt: task.attempt }
  })
  const id = await server.send('go')
  await server.rest()
  expect(await closeWithin(server, 11_000)).toBe(true)
  await server.restart()
  expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toEqual({ value: 'done', attempt: 1 })
  expect(ran).toEqual(['begun in 1', 'begun in 2'])
})

test("a step that ignores the abort keeps nobody, and what it gives later is nobody's", async () => {
  const server = await openCrashable(({ number, hold }) => async (task) => {
    const value = await task.step('s', async () => {
      await hold(1)
      return number
    })
    return value
  })
  const id = await server.send('go')
  await server.rest()
  expect(await closeWithin(server, 25_000)).toBe(true)
  await server.restart()
  expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toBe(2)
})

test('tries of a step are not made any more: what remains of them is for another start', async () => {
  const tries: number[] = []
  const server = await openCrashable(
    ({ number }) =>
      (task) =>
        task.step(
          's',
          () => {
            tries.push(number)
            if (number === 1) throw new Error('not here')
            return 'done'
          },
          { retry: 20 },
        ),
  )
  const id = await server.send('go')
  await server.advance(40_000)
  const before = tries.length
  expect(await closeWithin(server, 11_000)).toBe(true)
  expect(tries).toHaveLength(before)
  await server.restart()
  expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toBe('done')
})

test('tasks that have not begun are begun by another start', async () => {
  const server = await openCrashable(
    ({ number, wait }) =>
      async (task) => {
        if (number === 1) await wait(5_000)
        return `${task.text} in ${number}`
      },
    { concurrency: 1 },
  )
  const ids = [await server.send('a'), await server.send('b'), await server.send('c')]
  await server.rest()
  expect(await closeWithin(server, 5_000)).toBe(true)
  await server.restart()
  const results = await Promise.all(ids.map(async (id) => resultOf(await server.get(id))))
  expect(results).toEqual(['a in 1', 'b in 2', 'c in 2'])
})

describe('nothing is lost', () => {
  test('of a hundred runs in all sorts of places, and each step is done once', async () => {
    const effects = new Map<string, number>()
    const server = await openCrashable(
      ({ wait }) =>
        async function* (task) {
          const order = Number(task.text)
          yield chunk('log', 'begun;')
          for (let step = 0; step < 4; step++) {
            await task.step(`${step}`, async ({ idempotencyKey }) => {
              effects.set(idempotencyKey, (effects.get(idempotencyKey) ?? 0) + 1)
              await wait((order * 37 + step * 101) % 500)
            })
            yield chunk('log', `${step};`)
          }
          if (order % 3 === 0) await task.sleep(400)
          return task.attempt
        },
    )
    const ids: string[] = []
    for (let order = 0; order < 100; order++) ids.push(await server.send(`${order}`))
    for (let stop = 0; stop < 5; stop++) {
      await server.advance(150)
      expect(await closeWithin(server, 500)).toBe(true)
      await server.restart()
    }
    for (const id of ids) {
      const task = await server.comesTo(id, 'COMPLETED')
      expect(artifactsOf(task)).toEqual({ log: 'begun;0;1;2;3;', result: '1' })
      expect(await brokenLaws(server, id)).toEqual([])
    }
    expect([effects.size, ...new Set(effects.values())]).toEqual([400, 1])
  })

  test('a second close waits for the first', async () => {
    const server = await openCrashable(
      ({ wait }) =>
        (task) =>
          task.step('s', () => wait(5_000)),
    )
    await server.send('go')
    await server.rest()
    let done = 0
    for (const closing of [server.close(), server.close()]) void closing.then(() => done++)
    await server.world.advance(4_000)
    expect(done).toBe(0)
    await server.world.advance(1_000)
    expect(done).toBe(2)
  })
})
