/** Sleeps, signals and consent: what a run waits for, over crashes, by the server's clock. */

import { describe, expect, test } from 'vitest'
import { inputRequired, WaitTimeoutError } from '../../src/index.js'
import { brokenLaws, historyOf, openCrashable, type Program, resultOf, toldBy, wordsOf } from './kit.js'

const minuteMs = 60_000

describe('sleep', () => {
  const sleeping: Program =
    ({ world }) =>
    async (task) => {
      const begun = await task.step('begun', () => world.now())
      await task.sleep('1h')
      return world.now() - begun
    }

  test('takes its time, and the task stays WORKING', async () => {
    const server = await openCrashable(sleeping)
    const id = await server.send('go')
    await server.advance(60 * minuteMs - 1)
    expect(await server.state(id)).toBe('WORKING')
    await server.advance(1)
    expect(resultOf(await server.get(id))).toBe(60 * minuteMs)
  })

  test('goes on over a crash as if there had been none', async () => {
    const server = await openCrashable(sleeping)
    const id = await server.send('go')
    await server.advance(20 * minuteMs)
    await server.crash()
    await server.advance(39 * minuteMs)
    expect(await server.state(id)).toBe('WORKING')
    await server.crash()
    await server.advance(minuteMs)
    expect(resultOf(await server.get(id))).toBe(60 * minuteMs)
    expect(await server.outline(id)).toEqual(['SUBMITTED', 'WORKING', `result=${60 * minuteMs}`, 'COMPLETED'])
  })

  test('that ends while no server is there has ended at the next start', async () => {
    const server = await openCrashable(sleeping)
    const id = await server.send('go')
    await server.rest()
    server.kill()
    await server.world.advance(100 * minuteMs)
    await server.restart()
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toBe(100 * minuteMs)
  })

  test('that was slept is not slept again', async () => {
    const server = await openCrashable(({ hold }) => async (task) => {
      await task.sleep('1h')
      await hold(1)
    })
    const id = await server.send('go')
    await server.advance(60 * minuteMs)
    await server.crash()
    expect(await server.state(id)).toBe('COMPLETED')
  })

  test('of nothing comes back at once, and one of many days by its day', async () => {
    const server = await openCrashable(() => async (task) => {
      await task.sleep(0)
      await task.sleep('5d')
    })
    const id = await server.send('go')
    await server.advance(4 * 1_440 * minuteMs)
    expect(await server.state(id)).toBe('WORKING')
    await server.advance(1_440 * minuteMs)
    expect(await server.state(id)).toBe('COMPLETED')
  })

  test('hundreds that end at the same moment all end', async () => {
    const server = await openCrashable(() => (task) => task.sleep('1h'), { concurrency: 10 })
    const ids = await Promise.all(Array.from({ length: 300 }, () => server.send('go')))
    await server.advance(30 * minuteMs)
    await server.crash()
    await server.advance(30 * minuteMs)
    const states = new Set(await Promise.all(ids.map((id) => server.state(id))))
    expect([...states]).toEqual(['COMPLETED'])
  })
})

describe('a signal', () => {
  const waiting: Program = () => async (task) => {
    const values: unknown[] = []
    for (let count = 0; count < 2; count++) values.push(await task.wait('paid'))
    return values
  }

  test('wakes the run that waits for it, with its value, and the task stays WORKING', async () => {
    const server = await openCrashable(waiting)
    const id = await server.send('go')
    await server.rest()
    expect(await server.state(id)).toBe('WORKING')
    await server.signal(id, 'paid', { eur: 5 })
    await server.rest()
    expect(await server.state(id)).toBe('WORKING')
    await server.signal(id, 'paid', null)
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toEqual([{ eur: 5 }, null])
    expect((await server.outline(id)).slice(0, 2)).toEqual(['SUBMITTED', 'WORKING'])
    expect(await server.outline(id)).toHaveLength(4)
  })

  test.each([false, true])('that comes before its wait is kept under its name, several in their order (crashes: %s)', async (crashes) => {
    const server = await openCrashable(({ wait }) => async (task) => {
      await wait(minuteMs)
      return [await task.wait('a'), await task.wait('b'), await task.wait('a'), await task.wait('a')]
    })
    const id = await server.send('go')
    await server.rest()
    for (const [name, value] of [
      ['a', 1],
      ['a', 2],
      ['b', 3],
      ['a', 4],
      ['c', 5],
    ] as const) {
      await server.signal(id, name, value)
    }
    if (crashes) await server.crash()
    await server.advance(minuteMs)
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toEqual([1, 3, 2, 4])
  })

  test('of another name does not wake it', async () => {
    const server = await openCrashable(waiting)
    const id = await server.send('go')
    await server.signal(id, 'unpaid', 1)
    await server.rest()
    expect(await server.state(id)).toBe('WORKING')
  })

  test.each(['before the wait', 'while it waits', 'after it'] as const)('survives a crash %s', async (when) => {
    const server = await openCrashable(({ wait, hold }) => async (task) => {
      if (when === 'before the wait') await wait(minuteMs)
      const value = await task.wait('paid')
      if (when === 'after it') await hold(1)
      return value
    })
    const id = await server.send('go')
    await server.rest()
    if (when === 'while it waits') await server.crash()
    await server.signal(id, 'paid', 'yes')
    if (when !== 'while it waits') await server.crash()
    await server.advance(minuteMs)
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toBe('yes')
  })

  test('is taken by one wait only, over crashes too', async () => {
    const server = await openCrashable(() => async (task) => {
      const values: unknown[] = []
      for (let count = 0; count < 5; count++) values.push(await task.wait('n'))
      return values
    })
    const id = await server.send('go')
    for (let value = 1; value <= 5; value++) {
      await server.signal(id, 'n', value)
      await server.crash()
    }
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toEqual([1, 2, 3, 4, 5])
  })

  test('that came in one turn is there for the next', async () => {
    const server = await openCrashable(() => async (task) => (task.turn === 1 ? inputRequired('more?') : task.wait('paid')))
    const id = await server.send('go')
    await server.comesTo(id, 'INPUT_REQUIRED')
    await server.signal(id, 'paid', 'early')
    expect(await server.state(id)).toBe('INPUT_REQUIRED')
    await server.say(id, 'yes')
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toBe('early')
  })

  test('while a question is open is kept', async () => {
    const server = await openCrashable(() => async (task) => [(await task.ask('A?')).text, await task.wait('paid')])
    const id = await server.send('go')
    await server.comesTo(id, 'INPUT_REQUIRED')
    await server.signal(id, 'paid', 5)
    expect(await server.state(id)).toBe('INPUT_REQUIRED')
    await server.say(id, 'yes')
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toEqual(['yes', 5])
  })

  test('a message during a wait does not end it, and is in the inbox', async () => {
    const server = await openCrashable(() => async (task) => {
      const value = await task.wait('paid')
      return [value, wordsOf((await task.inbox.take())?.parts ?? [])]
    })
    const id = await server.send('go')
    await server.say(id, 'are you there?')
    await server.rest()
    expect(await server.state(id)).toBe('WORKING')
    await server.signal(id, 'paid', 1)
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toEqual([1, 'are you there?'])
  })

  test('to an unknown task is an error that says so', async () => {
    const server = await openCrashable(waiting)
    await expect(server.signal('no-such-task', 'paid', 1)).rejects.toThrow(/no-such-task|not found|no task/i)
  })

  test.each(['COMPLETED', 'CANCELED', 'FAILED'])('to a task that is %s is an error that says so, and changes nothing', async (state) => {
    const server = await openCrashable(() => async (task) => {
      if (task.text === 'FAILED') throw new Error('no')
      if (task.text === 'CANCELED') await task.wait('paid')
    })
    const id = await server.send(state)
    await server.rest()
    if (state === 'CANCELED') await server.cancel(id)
    const before = await server.comesTo(id, state)
    await expect(server.signal(id, 'paid', 1)).rejects.toThrow(/./)
    await server.crash()
    expect(await server.get(id)).toEqual(before)
  })

  test.each<[string, unknown]>([
    ['undefined', undefined],
    ['a function', () => 1],
    ['a bigint', 1n],
  ])('whose value JSON does not know is refused, and the task waits on: %s', async (_, value) => {
    const server = await openCrashable(waiting)
    const id = await server.send('go')
    await server.rest()
    await expect(server.signal(id, 'paid', value as never)).rejects.toThrow(TypeError)
    await server.signal(id, 'paid', 1)
    await server.signal(id, 'paid', 2)
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toEqual([1, 2])
  })
})

describe('a wait with a timeout', () => {
  test('throws a WaitTimeoutError, the same again after a crash, and a later signal is kept for the next wait', async () => {
    const seen: unknown[] = []
    const server = await openCrashable(({ hold }) => async (task) => {
      const first = await task.wait('paid', { timeout: '10m' }).catch((error: unknown) => {
        seen.push({ ...toldBy(error), isTimeout: error instanceof WaitTimeoutError })
        return 'nothing'
      })
      await task.step('s', () => 1)
      await hold(1)
      return [first, await task.wait('paid')]
    })
    const id = await server.send('go')
    await server.advance(10 * minuteMs - 1)
    expect(seen).toEqual([])
    await server.advance(1)
    expect(seen).toHaveLength(1)
    await server.signal(id, 'paid', 'late')
    await server.crash()
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toEqual(['nothing', 'late'])
    expect(seen[0]).toMatchObject({ name: 'WaitTimeoutError', isTimeout: true })
    expect(seen[1]).toEqual(seen[0])
  })

  test('that nobody catches fails the task, also when it passes while no server is there', async () => {
    const server = await openCrashable(() => (task) => task.wait<string>('paid', { timeout: '10m' }))
    const id = await server.send('go')
    await server.rest()
    server.kill()
    await server.world.advance(20 * minuteMs)
    await server.restart()
    await server.comesTo(id, 'FAILED')
    expect(await brokenLaws(server, id)).toEqual([])
  })

  test('of nothing takes what is there already, and else throws', async () => {
    const server = await openCrashable(({ wait }) => async (task) => {
      await wait(1_000)
      const look = () => task.wait<number>('n', { timeout: 0 }).catch((error: Error) => error.name)
      return [await look(), await look()]
    })
    const id = await server.send('go')
    await server.signal(id, 'n', 1)
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toEqual([1, 'WaitTimeoutError'])
  })
})

describe('consent', () => {
  const asking: Program =
    ({ hold }) =>
    async (task) => {
      const consent = await task
        .authorize({
          callback: ({ callbackUrl, state }) => `https://consent.example/?to=${encodeURIComponent(callbackUrl)}&state=${state}`,
          prompt: 'Allow one booking',
          ...(task.text === 'hurry' && { timeout: '10m' }),
        })
        .catch((error: Error) => ({ error: error.name }))
      await hold(1)
      if ('error' in consent) return consent
      return 'message' in consent ? { said: wordsOf(consent.message.parts) } : { granted: consent.granted.scopes.length }
    }

  test('is AUTH_REQUIRED with a message that holds a link, once, over crashes', async () => {
    const server = await openCrashable(asking)
    const id = await server.send('go')
    const asked = await server.comesTo(id, 'AUTH_REQUIRED')
    expect(wordsOf(asked.status.message.parts)).toMatch(/Allow one booking[\s\S]*https?:\/\//)
    await server.crash()
    expect(await server.get(id)).toEqual(asked)
  })

  test.each([false, true])('a message during AUTH_REQUIRED reaches the run, which may decline (crashes: %s)', async (crashes) => {
    const server = await openCrashable(asking)
    const id = await server.send('go')
    await server.comesTo(id, 'AUTH_REQUIRED')
    if (crashes) await server.crash()
    await server.say(id, 'no, thank you')
    await server.crash()
    const task = await server.comesTo(id, 'COMPLETED')
    expect(resultOf(task)).toEqual({ said: 'no, thank you' })
    expect(historyOf(task).at(-1)).toBe('> no, thank you')
    expect(historyOf(task)).toHaveLength(3)
  })

  test('ends after its timeout', async () => {
    const server = await openCrashable(asking)
    const id = await server.send('hurry')
    await server.advance(5 * minuteMs)
    expect(await server.state(id)).toBe('AUTH_REQUIRED')
    await server.crash()
    await server.advance(5 * minuteMs)
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toEqual({ error: 'WaitTimeoutError' })
  })

  test('ends after a day unless it says otherwise', async () => {
    const server = await openCrashable(asking)
    const id = await server.send('go')
    await server.advance(24 * 60 * minuteMs - 1)
    expect(await server.state(id)).toBe('AUTH_REQUIRED')
    await server.crash()
    await server.advance(1)
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toEqual({ error: 'WaitTimeoutError' })
  })

  test('a second request asks again', async () => {
    const server = await openCrashable(() => async (task) => {
      const said: string[] = []
      for (let count = 0; count < 2; count++) {
        const consent = await task.authorize({ callback: ({ state }) => `https://consent.example/${state}`, prompt: `Allow ${count}` })
        if ('message' in consent) said.push(wordsOf(consent.message.parts))
      }
      return said
    })
    const id = await server.send('go')
    const first = await server.comesTo(id, 'AUTH_REQUIRED', /Allow 0/)
    await server.say(id, 'no')
    const second = await server.comesTo(id, 'AUTH_REQUIRED', /Allow 1/)
    const linkOf = (task: any) => /https?:\/\/\S+/.exec(wordsOf(task.status.message.parts))?.[0]
    expect(linkOf(second)).not.toBe(linkOf(first))
    await server.say(id, 'neither')
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toEqual(['no', 'neither'])
  })
})
