/** A conversation with everything in it, and an accident at each of its COMMITs: it comes to the same. */

import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { artifact, chunk, inputRequired, StepFailedError, working } from '../../src/index.js'
import { type Play, withEachAccident } from './each-commit.js'
import { type AccidentKind, accidentKinds, artifactsOf, brokenLaws, historyOf, type Program, resultOf, wordsOf } from './kit.js'

/** Effects in the world outside, by idempotency key: of a second one with the same key nothing is seen. */
interface Outside {
  readonly effects: Map<string, unknown>
}

const booking =
  ({ effects }: Outside): Program =>
  ({ wait }) =>
    async function* (task) {
      if (task.text === 'tell') return { visits: task.context.get<number>('visits') ?? 0 }
      if (task.turn === 2) {
        const paid = await task.wait<number>('paid', { timeout: '1d' })
        const quote = await task.step('quote', ({ idempotencyKey }) => {
          effects.set(idempotencyKey, `second ${task.text}`)
          return 7
        })
        yield chunk('log', `paid ${paid};`)
        return { paid, quote, history: task.history.length }
      }
      task.context.set('visits', (task.context.get<number>('visits') ?? 0) + 1)
      yield working('looking')
      yield chunk('log', 'begun;')
      const quote = await task.step('quote', async ({ idempotencyKey }) => {
        await wait(20)
        effects.set(idempotencyKey, 'quote')
        return { price: 5, at: new Date(0) as unknown as string }
      })
      yield chunk('log', `${quote.price} ${quote.at};`)
      try {
        await task.step('refused', ({ idempotencyKey }) => {
          effects.set(idempotencyKey, 'refused')
          throw new RangeError('no room')
        })
      } catch (error) {
        yield chunk('log', error instanceof StepFailedError ? `${error.reason.name} ${error.reason.message};` : 'something else;')
      }
      const story = yield* task.stream('story.md', async function* () {
        yield 'once;'
        await wait(10)
        yield 'upon a time;'
      })
      const { city } = await task.ask('Which city?', { schema: z.object({ city: z.string() }), timeout: '3d' })
      const [left, right] = await Promise.all([
        task.step('left', async ({ idempotencyKey }) => {
          await wait(30)
          effects.set(idempotencyKey, 'left')
          return 'l'
        }),
        task.step('right', async ({ idempotencyKey }) => {
          await wait(10)
          effects.set(idempotencyKey, 'right')
          return 'r'
        }),
      ])
      yield artifact('receipt', { data: { city, left, right, story } })
      await task.sleep('1m')
      const taken = await task.inbox.take()
      yield chunk('log', `${wordsOf(taken?.parts ?? [])};`, { last: true })
      return inputRequired('Pay now?')
    }

function play(): Play {
  const outside = { effects: new Map<string, unknown>() }
  return {
    program: booking(outside),
    async run(server) {
      const id = await server.send('go', { contextId: 'here' })
      await server.comesTo(id, 'INPUT_REQUIRED', /city/)
      await server.say(id, 'by the way', 'another question')
      await server.send('', { taskId: id, parts: [{ data: { city: 5 } }] })
      await server.comesTo(id, 'INPUT_REQUIRED', /string/)
      await server.send('', { taskId: id, parts: [{ data: { city: 'Oslo' } }] })
      await server.comesTo(id, 'INPUT_REQUIRED', /Pay/)
      await server.signal(id, 'paid', 12)
      await server.say(id, 'yes')
      const task = await server.comesTo(id, 'COMPLETED')
      const told = await server.comesTo(await server.send('tell', { contextId: 'here' }), 'COMPLETED')
      return {
        artifacts: artifactsOf(task),
        history: historyOf(task),
        effects: [...outside.effects.values()].toSorted(),
        visits: resultOf(told),
        broken: await brokenLaws(server, id),
      }
    },
  }
}

const expected = {
  artifacts: {
    log: 'paid 12;',
    'story.md': 'once;upon a time;',
    receipt: '{"city":"Oslo","left":"l","right":"r","story":"once;upon a time;"}',
    result: '{"paid":12,"quote":7,"history":8}',
  },
  history: [
    '> go',
    '< Which city?',
    '> by the way',
    '> {"city":5}',
    expect.stringMatching(/^< .*string/s),
    '> {"city":"Oslo"}',
    '< Pay now?',
    '> yes',
  ],
  effects: ['left', 'quote', 'refused', 'right', 'second yes'],
  visits: { visits: 1 },
  broken: [],
}

describe.each(accidentKinds)('each COMMIT of a booking: %s', (kind: AccidentKind) => {
  test('the outcome, the artifacts, the history and the effects outside are the same', async () => {
    const comparison = await withEachAccident(play, [kind])
    expect(comparison.expected).toEqual(expected)
    expect(comparison.commits).toBeGreaterThan(15)
    expect(comparison.differences).toEqual([])
  }, 300_000)
})

describe.each(accidentKinds)('each COMMIT of a task that only puts out: %s', (kind: AccidentKind) => {
  test('every reader ends with all of it, by one attempt', async () => {
    const comparison = await withEachAccident(
      () => ({
        program: ({ wait }) =>
          async function* () {
            for (let line = 0; line < 6; line++) {
              yield chunk('poem', `${line};`)
              await wait(10)
            }
            return 'done'
          },
        async run(server) {
          const id = await server.send('go')
          const task = await server.comesTo(id, 'COMPLETED')
          return { artifacts: artifactsOf(task), broken: await brokenLaws(server, id) }
        },
      }),
      [kind],
    )
    expect(comparison.expected).toEqual({ artifacts: { poem: '0;1;2;3;4;5;', result: 'done' }, broken: [] })
    expect(comparison.differences).toEqual([])
  }, 120_000)
})

describe('a COMMIT that fails', () => {
  test.each(['fails', 'takes effect and fails'] as const)('counts no attempt, and the run goes on by itself: it %s', async (how) => {
    const attempts: number[] = []
    const comparison = await withEachAccident(
      () => ({
        program: () => async (task) => {
          attempts.push(task.attempt)
          await task.step('one', () => 1)
          await task.step('two', () => 2)
          return 'done'
        },
        async run(server) {
          const id = await server.send('go')
          const task = await server.comesTo(id, 'COMPLETED')
          return { result: resultOf(task), starts: server.start() }
        },
      }),
      [how],
    )
    expect(comparison.expected).toEqual({ result: 'done', starts: 1 })
    expect(comparison.differences).toEqual([])
    expect(new Set(attempts)).toEqual(new Set([1]))
  })

  test('tells the run so: its signal fires, and nothing that it does later is committed', async () => {
    const reasons = new Set<unknown>()
    const comparison = await withEachAccident(() => {
      let begun = 0
      return {
        program: ({ wait }) =>
          async function* (task) {
            const attempt = ++begun
            task.signal.addEventListener('abort', () => reasons.add(task.signal.reason.why))
            for (let line = 0; line < 4; line++) {
              yield chunk('poem', `${attempt}:${line};`)
              await wait(10)
              await task.step(`${line}`, () => line).catch(() => undefined)
            }
            return 'done'
          },
        async run(server) {
          const id = await server.send('go')
          const task = await server.comesTo(id, 'COMPLETED')
          const lines = (artifactsOf(task)['poem'] ?? '').split(';').filter((line) => line !== '')
          const authors = new Set(lines.map((line) => line.split(':')[0]))
          return { lines: lines.map((line) => line.split(':')[1]), authors: authors.size, broken: await brokenLaws(server, id) }
        },
      }
    }, ['fails', 'takes effect and fails'])
    expect(comparison.expected).toEqual({ lines: ['0', '1', '2', '3'], authors: 1, broken: [] })
    expect(comparison.differences).toEqual([])
    expect([...reasons]).toEqual(['lost'])
  }, 60_000)
})
