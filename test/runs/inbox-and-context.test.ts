/** Messages that are taken and the memory that is seen are records too: a rerun takes and sees the same. */

import { describe, expect, test } from 'vitest'
import { inputRequired, type TaskHandle } from '../../src/index.js'
import { historyOf, openCrashable, resultOf, wordsOf } from './kit.js'

const takenBy = async (task: TaskHandle) => {
  const message = await task.inbox.take()
  return message ? wordsOf(message.parts) : undefined
}

describe('inbox.take', () => {
  test('gives each message once and in order, over crashes between them', async () => {
    const seen: unknown[] = []
    const server = await openCrashable(({ number, hold }) => async (task) => {
      await task.sleep(1_000)
      const taken: unknown[] = []
      for (let count = 0; count < 4; count++) {
        taken.push(await takenBy(task))
        if (count === number) await hold(1, 2)
      }
      seen.push(...taken)
      return taken.map((one) => one ?? null)
    })
    const id = await server.send('go')
    for (const text of ['one', 'two', 'three']) await server.say(id, text)
    await server.advance(1_000)
    await server.crash()
    await server.crash()
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toEqual(['one', 'two', 'three', null])
    expect(seen).toEqual(['one', 'two', 'three', undefined])
  })

  test('that found nothing finds nothing on a rerun, though there is something by then; the next one has it', async () => {
    const server = await openCrashable(({ hold }) => async (task) => {
      const first = await takenBy(task)
      await hold(1)
      return [first ?? null, (await takenBy(task)) ?? null]
    })
    const id = await server.send('go')
    await server.rest()
    await server.say(id, 'late')
    await server.crash()
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toEqual([null, 'late'])
  })

  test('in one turn leaves what it did not take to the next, over a crash', async () => {
    const server = await openCrashable(() => async (task) => {
      if (task.turn === 2) return [await takenBy(task), await takenBy(task), (await takenBy(task)) ?? null]
      await task.sleep(1_000)
      return inputRequired(`${await takenBy(task)}?`)
    })
    const id = await server.send('go')
    for (const text of ['one', 'two', 'three']) await server.say(id, text)
    await server.advance(1_000)
    await server.comesTo(id, 'INPUT_REQUIRED', /one/)
    await server.crash()
    await server.say(id, 'on')
    const task = await server.comesTo(id, 'COMPLETED')
    expect(resultOf(task)).toEqual(['two', 'three', null])
    expect(historyOf(task)).toEqual(['> go', '> one', '> two', '> three', '< one?', '> on'])
  })

  test('of several at once gives each another message, the same ones on a rerun', async () => {
    const seen: unknown[] = []
    const server = await openCrashable(({ hold }) => async (task) => {
      await task.sleep(1_000)
      seen.push(await Promise.all([takenBy(task), takenBy(task), takenBy(task)]))
      await hold(1)
    })
    const id = await server.send('go')
    for (const text of ['one', 'two', 'three']) await server.say(id, text)
    await server.advance(1_000)
    await server.crash()
    await server.comesTo(id, 'COMPLETED')
    expect(seen).toEqual([
      ['one', 'two', 'three'],
      ['one', 'two', 'three'],
    ])
  })

  test('messages that were acknowledged before a crash are there after it, in the order of the log', async () => {
    const server = await openCrashable(({ hold }) => async (task) => {
      await hold(1)
      const taken: string[] = []
      for (let one = await takenBy(task); one !== undefined; one = await takenBy(task)) taken.push(one)
      return taken
    })
    const id = await server.send('go')
    await server.rest()
    const texts = Array.from({ length: 50 }, (_, i) => `message ${i}`)
    for (const text of texts) await server.say(id, text)
    await server.crash()
    const task = await server.comesTo(id, 'COMPLETED')
    expect(resultOf(task)).toEqual(texts)
    expect(historyOf(task).slice(1)).toEqual(texts.map((text) => `> ${text}`))
  })
})

describe('the memory of a context', () => {
  const countingIn = (context: TaskHandle['context']) => {
    const count = (context.get<number>('count') ?? 0) + 1
    context.set('count', count)
    return count
  }

  test('is seen as the turn first saw it: a rerun counts once', async () => {
    const counts: number[] = []
    const server = await openCrashable(({ hold }) => async (task) => {
      if (task.text === 'tell') return task.context.get<number>('count') ?? null
      counts.push(countingIn(task.context))
      await task.step('s', () => 1)
      await hold(1, 2)
      return undefined
    })
    const id = await server.send('go', { contextId: 'here' })
    await server.rest()
    await server.crash()
    await server.crash()
    await server.comesTo(id, 'COMPLETED')
    expect(counts).toEqual([1, 1, 1])
    expect(resultOf(await server.comesTo(await server.send('tell', { contextId: 'here' }), 'COMPLETED'))).toBe(1)
  })

  test('is seen so too where another task of the context wrote between the attempts', async () => {
    const seen: unknown[] = []
    const server = await openCrashable(({ hold }) => async (task) => {
      if (task.text === 'write') return task.context.set('who', 'another')
      seen.push(task.context.get('who') ?? null)
      await task.step('s', () => 1)
      await hold(1)
      return undefined
    })
    const id = await server.send('go', { contextId: 'here' })
    await server.rest()
    await server.comesTo(await server.send('write', { contextId: 'here' }), 'COMPLETED')
    await server.crash()
    await server.comesTo(id, 'COMPLETED')
    expect(seen).toEqual([null, null])
  })

  test('is seen anew in the next turn', async () => {
    const server = await openCrashable(() => async (task) => {
      if (task.text === 'write') return task.context.set('who', 'another')
      const who = task.context.get<string>('who') ?? 'nobody'
      return task.turn === 1 ? inputRequired(who) : who
    })
    const id = await server.send('go', { contextId: 'here' })
    await server.comesTo(id, 'INPUT_REQUIRED', /nobody/)
    await server.comesTo(await server.send('write', { contextId: 'here' }), 'COMPLETED')
    await server.crash()
    await server.say(id, 'on')
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toBe('another')
  })

  test('that a run wrote before its crash is not seen by its rerun before it writes it again', async () => {
    const seen: unknown[] = []
    const server = await openCrashable(({ number, hold }) => async (task) => {
      seen.push(task.context.get('mine') ?? null)
      task.context.set('mine', number)
      seen.push(task.context.get('mine') ?? null)
      await task.step('s', () => 1)
      await hold(1)
    })
    const id = await server.send('go')
    await server.rest()
    await server.crash()
    await server.comesTo(id, 'COMPLETED')
    expect(seen).toEqual([null, 1, null, 2])
  })

  test('is written with the record that follows it, and there for others though the run goes no further', async () => {
    const server = await openCrashable(({ hold }) => async (task) => {
      if (task.text === 'tell') return { a: task.context.get('a') ?? null }
      task.context.set('a', 1)
      await task.step('s', () => 1)
      await hold(1, 2)
      return undefined
    })
    await server.send('go', { contextId: 'here' })
    await server.rest()
    await server.crash()
    const id = await server.send('tell', { contextId: 'here' })
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toEqual({ a: 1 })
  })
})
