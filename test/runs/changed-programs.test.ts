/** A program that changed between attempts asks and does what is new, and reads nobody else's record. */

import { describe, expect, test } from 'vitest'
import { chunk } from '../../src/index.js'
import { artifactsOf, openCrashable, resultOf } from './kit.js'

describe('a question', () => {
  test('that was added is asked, and the answer to the old one stays its own', async () => {
    const server = await openCrashable(() => async (task) => ({ city: (await task.ask('Which city?')).text }))
    const id = await server.send('go')
    await server.comesTo(id, 'INPUT_REQUIRED', /city/)
    await server.crash(() => async (task) => {
      const country = await task.ask('Which country?')
      const city = await task.ask('Which city?')
      return { country: country.text, city: city.text }
    })
    await server.say(id, 'Oslo')
    await server.comesTo(id, 'INPUT_REQUIRED', /country/)
    await server.say(id, 'Norway')
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toEqual({ country: 'Norway', city: 'Oslo' })
  })

  test('that was added before one that is answered and judged is asked', async () => {
    const server = await openCrashable(({ hold }) => async (task) => {
      await task.ask('Which city?')
      await hold(1)
    })
    const id = await server.send('go')
    await server.comesTo(id, 'INPUT_REQUIRED', /city/)
    await server.say(id, 'Oslo')
    await server.rest()
    await server.crash(() => async (task) => {
      const country = await task.ask('Which country?')
      const city = await task.ask('Which city?')
      return { country: country.text, city: city.text }
    })
    await server.comesTo(id, 'INPUT_REQUIRED', /country/)
    await server.say(id, 'Norway')
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toEqual({ country: 'Norway', city: 'Oslo' })
  })

  test('that was removed leaves its answer to nobody', async () => {
    const server = await openCrashable(() => async (task) => [(await task.ask('Which city?')).text, (await task.ask('Which hotel?')).text])
    const id = await server.send('go')
    await server.comesTo(id, 'INPUT_REQUIRED', /city/)
    await server.crash(() => async (task) => ({ hotel: (await task.ask('Which hotel?')).text }))
    await server.say(id, 'Oslo')
    await server.comesTo(id, 'INPUT_REQUIRED', /hotel/)
    await server.say(id, 'Grand')
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toEqual({ hotel: 'Grand' })
  })

  test('that was removed, as the only one, does not keep the task from its end', async () => {
    const server = await openCrashable(() => async (task) => (await task.ask('Which city?')).text)
    const id = await server.send('go')
    await server.comesTo(id, 'INPUT_REQUIRED', /city/)
    await server.crash(() => () => 'no need to ask')
    await server.say(id, 'Oslo')
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toBe('no need to ask')
  })

  test('whose words changed is asked again', async () => {
    const server = await openCrashable(({ hold }) => async (task) => {
      await task.ask('Really delete?')
      await hold(1)
    })
    const id = await server.send('go')
    await server.comesTo(id, 'INPUT_REQUIRED', /delete/)
    await server.say(id, 'yes')
    await server.rest()
    await server.crash(() => async (task) => (await task.ask('Really delete everything?')).text)
    await server.comesTo(id, 'INPUT_REQUIRED', /everything/)
    await server.say(id, 'no')
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toBe('no')
  })

  test('that became a step, and a step that became a question, read nothing of each other', async () => {
    const server = await openCrashable(({ hold }) => async (task) => {
      await task.step('city', () => 'from the step')
      await task.ask('Really?')
      await hold(1)
    })
    const id = await server.send('go')
    await server.comesTo(id, 'INPUT_REQUIRED', /Really/)
    await server.say(id, 'yes')
    await server.rest()
    await server.crash(() => async (task) => {
      const city = await task.ask('Which city?')
      const really = await task.step('Really?', () => 'from the new step')
      return [city.text, really]
    })
    await server.comesTo(id, 'INPUT_REQUIRED', /city/)
    await server.say(id, 'Oslo')
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toEqual(['Oslo', 'from the new step'])
  })
})

describe('a step', () => {
  test('that was renamed is done under its new name, and the task comes to its end', async () => {
    const done: string[] = []
    const server = await openCrashable(
      ({ hold }) =>
        async function* (task) {
          yield chunk('a', 'old;')
          await task.step('quote', () => void done.push('quote'))
          yield chunk('a', 'quoted;')
          await hold(1)
        },
    )
    const id = await server.send('go')
    await server.rest()
    await server.crash(
      () =>
        async function* (task) {
          yield chunk('a', 'new;')
          const value = await task.step('price', () => {
            done.push('price')
            return 5
          })
          yield chunk('a', `priced ${value};`)
          return value
        },
    )
    const task = await server.comesTo(id, 'COMPLETED')
    expect(resultOf(task)).toBe(5)
    expect(artifactsOf(task)['a']).toBe('new;priced 5;')
    expect(done).toEqual(['quote', 'price'])
  })

  test('that was renamed among others lets those keep their records', async () => {
    const done: string[] = []
    const steps = async (task: any, keys: readonly string[]) => {
      const values: string[] = []
      for (const key of keys) values.push(await task.step(key, () => `${key} ${done.push(key)}`))
      return values
    }
    const server = await openCrashable(({ hold }) => async (task) => {
      await steps(task, ['a', 'b', 'c'])
      await hold(1)
    })
    const id = await server.send('go')
    await server.rest()
    await server.crash(() => (task) => steps(task, ['a', 'B', 'c']))
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toEqual(['a 1', 'B 4', 'c 3'])
  })

  test('that was removed is missed by nobody', async () => {
    const server = await openCrashable(({ hold }) => async (task) => {
      await task.step('a', () => 1)
      await task.step('b', () => 2)
      await hold(1)
    })
    const id = await server.send('go')
    await server.rest()
    await server.crash(() => async (task) => [await task.step('b', () => 'again'), await task.step('c', () => 'new')])
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toEqual([2, 'new'])
  })

  test('that was added in front is done before the others are read', async () => {
    const order: string[] = []
    const server = await openCrashable(({ hold }) => async (task) => {
      await task.step('a', () => 'recorded')
      await hold(1)
    })
    const id = await server.send('go')
    await server.rest()
    await server.crash(({ wait }) => async (task) => {
      const fresh = await task.step('fresh', async () => {
        await wait(10)
        return order.push('fresh')
      })
      return [fresh, await task.step('a', () => 'again')]
    })
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toEqual([1, 'recorded'])
  })
})

test('a sleep that was recorded does not pass for one of another length', async () => {
  const server = await openCrashable(({ hold }) => async (task) => {
    await task.sleep('1m', { key: 'short' })
    await hold(1)
  })
  const id = await server.send('go')
  await server.advance(60_000)
  await server.crash(() => (task) => task.sleep('1h', { key: 'long' }))
  await server.advance(3_599_000)
  expect(await server.state(id)).toBe('WORKING')
  await server.advance(1_000)
  expect(await server.state(id)).toBe('COMPLETED')
})
