/** A question opens in one commit, is answered by the commit of its message, and judged once. */

import type { StandardSchemaV1 } from '@standard-schema/spec'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { chunk, inputRequired, WaitTimeoutError, working } from '../../src/index.js'
import { result, userMessage } from '../harness/server.js'
import { brokenLaws, historyOf, openCrashable, type Program, resultOf, toldBy, wordsOf } from './kit.js'

/** Asks for a city, then for a hotel, and keeps what came to its inbox meanwhile. */
const twoQuestions: Program = () => async (task) => {
  const city = await task.ask('Which city?')
  const hotel = await task.ask('Which hotel?')
  const inbox: string[] = []
  for (let message = await task.inbox.take(); message; message = await task.inbox.take()) inbox.push(wordsOf(message.parts))
  return { city: city.text, hotel: hotel.text, inbox }
}

const questionOf = (task: any): string => task.status.message.messageId

describe('ask, crash, answer', () => {
  test('the question is asked once, and its answer goes on where it was', async () => {
    const server = await openCrashable(twoQuestions)
    const id = await server.send('go')
    const asked = await server.comesTo(id, 'INPUT_REQUIRED', /city/)
    await server.crash()
    await server.crash()
    expect(await server.get(id)).toEqual(asked)
    await server.say(id, 'Oslo', questionOf(asked))
    await server.comesTo(id, 'INPUT_REQUIRED', /hotel/)
    await server.crash()
    await server.say(id, 'Grand')
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toEqual({ city: 'Oslo', hotel: 'Grand', inbox: [] })
    expect((await server.outline(id)).filter((word) => word.startsWith('INPUT_REQUIRED'))).toEqual([
      'INPUT_REQUIRED: Which city?',
      'INPUT_REQUIRED: Which hotel?',
    ])
    expect(await brokenLaws(server, id)).toEqual([])
  })

  test('the answer is WORKING and history in the very commit that accepts it', async () => {
    const server = await openCrashable(({ hold }) => async (task) => {
      await hold(2)
      return (await task.ask('Which city?')).text
    })
    const id = await server.send('go')
    const asked = await server.comesTo(id, 'INPUT_REQUIRED')
    await server.crash()
    const params = { message: userMessage('Oslo', { taskId: id }), configuration: { returnImmediately: true } }
    const { task } = await result(server.fetch, 'JSONRPC', 'SendMessage', params)
    expect(task.status.state).toBe('TASK_STATE_WORKING')
    expect(historyOf(task)).toEqual(['> go', '< Which city?', '> Oslo'])
    expect(asked.status.message.role).toBe('ROLE_AGENT')
    expect((await server.header(id)).waiting).toBeUndefined()
  })

  test('a blocking answer comes back with what follows it', async () => {
    const server = await openCrashable(twoQuestions)
    const id = await server.send('go')
    await server.comesTo(id, 'INPUT_REQUIRED', /city/)
    const { task } = await result(server.fetch, 'HTTP+JSON', 'SendMessage', { message: userMessage('Oslo', { taskId: id }) })
    expect([task.status.state, wordsOf(task.status.message.parts)]).toEqual(['TASK_STATE_INPUT_REQUIRED', 'Which hotel?'])
  })
})

describe('answer, crash', () => {
  test('an answer that was accepted is not asked for again', async () => {
    const server = await openCrashable(({ hold }) => async (task) => {
      const city = await task.ask('Which city?')
      await hold(1)
      return city.text
    })
    const id = await server.send('go')
    await server.comesTo(id, 'INPUT_REQUIRED')
    await server.say(id, 'Oslo')
    await server.crash()
    const task = await server.comesTo(id, 'COMPLETED')
    expect(resultOf(task)).toBe('Oslo')
    expect(historyOf(task)).toEqual(['> go', '< Which city?', '> Oslo'])
  })

  test('right after its acknowledgement, before the run saw it, too', async () => {
    const server = await openCrashable(twoQuestions)
    const id = await server.send('go')
    await server.comesTo(id, 'INPUT_REQUIRED', /city/)
    const params = { message: userMessage('Oslo', { taskId: id }), configuration: { returnImmediately: true } }
    await result(server.fetch, 'JSONRPC', 'SendMessage', params)
    server.kill()
    await server.restart()
    await server.comesTo(id, 'INPUT_REQUIRED', /hotel/)
    await server.say(id, 'Grand')
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toEqual({ city: 'Oslo', hotel: 'Grand', inbox: [] })
  })

  test('gives the whole message again', async () => {
    const seen: unknown[] = []
    const server = await openCrashable(({ hold }) => async (task) => {
      seen.push((await task.ask('Which city?')).message)
      await hold(1)
    })
    const id = await server.send('go')
    await server.comesTo(id, 'INPUT_REQUIRED')
    await server.send('Oslo', { taskId: id, metadata: { why: 'fjord' } })
    await server.rest()
    await server.crash()
    await server.comesTo(id, 'COMPLETED')
    expect(seen).toHaveLength(2)
    expect(seen[0]).toMatchObject({ role: 'ROLE_USER', parts: [{ text: 'Oslo' }], metadata: { why: 'fjord' }, taskId: id })
    expect(seen[1]).toEqual(seen[0])
  })
})

describe('which message answers', () => {
  test('a message between question and answer that names another question goes to the inbox', async () => {
    const server = await openCrashable(twoQuestions)
    const id = await server.send('go')
    const asked = await server.comesTo(id, 'INPUT_REQUIRED', /city/)
    await server.say(id, 'by the way', 'some-other-question')
    expect(await server.state(id)).toBe('INPUT_REQUIRED')
    await server.crash()
    await server.say(id, 'Oslo', questionOf(asked))
    await server.comesTo(id, 'INPUT_REQUIRED', /hotel/)
    await server.say(id, 'Grand')
    const task = await server.comesTo(id, 'COMPLETED')
    expect(resultOf(task)).toEqual({ city: 'Oslo', hotel: 'Grand', inbox: ['by the way'] })
    expect(historyOf(task)).toEqual(['> go', '< Which city?', '> by the way', '> Oslo', '< Which hotel?', '> Grand'])
  })

  test('a late answer to an old question does not answer the new one', async () => {
    const server = await openCrashable(twoQuestions)
    const id = await server.send('go')
    const first = await server.comesTo(id, 'INPUT_REQUIRED', /city/)
    await server.say(id, 'Oslo', questionOf(first))
    const second = await server.comesTo(id, 'INPUT_REQUIRED', /hotel/)
    await server.say(id, 'Bergen', questionOf(first))
    expect((await server.get(id)).status).toEqual(second.status)
    await server.crash()
    await server.say(id, 'Grand', questionOf(second))
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toEqual({ city: 'Oslo', hotel: 'Grand', inbox: ['Bergen'] })
  })

  test.each([false, true])(
    'of two clients that answer one question at once the first is heard, the other is in the inbox (crash: %s)',
    async (crash) => {
      const server = await openCrashable(twoQuestions)
      const id = await server.send('go')
      const asked = await server.comesTo(id, 'INPUT_REQUIRED', /city/)
      await Promise.all(['Oslo', 'Bergen', 'Tromsø'].map((city) => server.say(id, city, questionOf(asked))))
      if (crash) await server.crash()
      const next = await server.comesTo(id, 'INPUT_REQUIRED', /hotel/)
      await server.say(id, 'Grand', questionOf(next))
      const task = await server.comesTo(id, 'COMPLETED')
      const { city, hotel, inbox } = resultOf(task)
      expect(hotel).toBe('Grand')
      expect([city, ...inbox].toSorted()).toEqual(['Bergen', 'Oslo', 'Tromsø'])
      const said = historyOf(task).filter((line) => line.startsWith('> '))
      expect(said).toEqual(['> go', `> ${city}`, ...inbox.map((one: string) => `> ${one}`), '> Grand'])
    },
  )

  test('the same answer sent twice is one answer', async () => {
    const server = await openCrashable(twoQuestions)
    const id = await server.send('go')
    await server.comesTo(id, 'INPUT_REQUIRED', /city/)
    await server.send('Oslo', { taskId: id, messageId: 'the-answer' })
    await server.comesTo(id, 'INPUT_REQUIRED', /hotel/)
    await server.send('Oslo', { taskId: id, messageId: 'the-answer' })
    expect(await server.state(id)).toBe('INPUT_REQUIRED')
    await server.say(id, 'Grand')
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toEqual({ city: 'Oslo', hotel: 'Grand', inbox: [] })
  })

  test('a message that came before the question does not answer it', async () => {
    const server = await openCrashable(({ wait }) => async (task) => {
      await wait(1_000)
      const city = await task.ask('Which city?')
      return { city: city.text, inbox: wordsOf((await task.inbox.take())?.parts ?? []) }
    })
    const id = await server.send('go')
    await server.say(id, 'early')
    await server.advance(1_000)
    expect(await server.state(id)).toBe('INPUT_REQUIRED')
    await server.say(id, 'Oslo')
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toEqual({ city: 'Oslo', inbox: 'early' })
  })
})

describe('one wait is open at a time', () => {
  test.each([false, true])('a second question opens when the first has been returned to the function (crashes: %s)', async (crashes) => {
    const server = await openCrashable(() => async (task) => {
      const answers = await Promise.all(['A?', 'B?', 'C?'].map(async (prompt) => (await task.ask(prompt)).text))
      return answers
    })
    const id = await server.send('go')
    for (const prompt of ['A', 'B', 'C']) {
      await server.comesTo(id, 'INPUT_REQUIRED', new RegExp(prompt))
      if (crashes) await server.crash()
      await server.say(id, `answer ${prompt}`)
      if (crashes) await server.crash()
    }
    const task = await server.comesTo(id, 'COMPLETED')
    expect(resultOf(task)).toEqual(['answer A', 'answer B', 'answer C'])
    expect(historyOf(task)).toEqual(['> go', '< A?', '> answer A', '< B?', '> answer B', '< C?', '> answer C'])
  })

  test('a sleep that is called while a question is open begins after the answer', async () => {
    const server = await openCrashable(({ world }) => async (task) => {
      const begun = world.now()
      await Promise.all([task.ask('A?'), task.sleep('10s')])
      return world.now() - begun
    })
    const id = await server.send('go')
    await server.advance(60_000)
    expect(await server.state(id)).toBe('INPUT_REQUIRED')
    await server.say(id, 'yes')
    await server.advance(9_000)
    expect(await server.state(id)).toBe('WORKING')
    await server.advance(1_000)
    expect(resultOf(await server.get(id))).toBe(70_000)
  })

  test('steps go on while a question is open', async () => {
    const server = await openCrashable(({ wait }) => async (task) => {
      const [answer, value] = await Promise.all([
        task.ask('A?'),
        task.step('s', async () => {
          await wait(5_000)
          return 'worked'
        }),
      ])
      return [answer.text, value]
    })
    const id = await server.send('go')
    await server.advance(10_000)
    expect(await server.state(id)).toBe('INPUT_REQUIRED')
    // Its record is there already.
    await server.crash()
    await server.say(id, 'yes')
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toEqual(['yes', 'worked'])
  })
})

describe('what is put out while a question is open', () => {
  test('a note is not published, a chunk is, and the question stays', async () => {
    const server = await openCrashable(
      ({ wait }) =>
        async function* (task) {
          const asked = task.ask('A?')
          await wait(1_000)
          yield working('still here')
          yield chunk('a', 'more;')
          const { text } = await asked
          yield working('thanks')
          return text
        },
    )
    const id = await server.send('go')
    await server.advance(2_000)
    const asked = await server.get(id)
    expect([asked.status.state, wordsOf(asked.status.message.parts)]).toEqual(['TASK_STATE_INPUT_REQUIRED', 'A?'])
    await server.say(id, 'yes')
    await server.comesTo(id, 'COMPLETED')
    const outline = await server.outline(id)
    expect(outline.filter((word) => /still here|thanks/.test(word))).toEqual(['WORKING: thanks'])
    expect(outline.indexOf('a=more;')).toBeLessThan(outline.indexOf('answer: yes'))
  })

  test('a return withdraws the question: the task ends, and a later answer is refused', async () => {
    const server = await openCrashable(({ wait }) => async (task) => {
      const asked = task.ask('A?').then(
        () => 'answered',
        () => 'given up',
      )
      return Promise.race([asked, wait(5_000).then(() => 'gone on')])
    })
    const id = await server.send('go')
    await server.advance(1_000)
    expect(await server.state(id)).toBe('INPUT_REQUIRED')
    await server.advance(5_000)
    expect(resultOf(await server.get(id))).toBe('gone on')
    expect(await server.header(id)).toMatchObject({ state: 'TASK_STATE_COMPLETED', waiting: undefined, holder: undefined })
    await expect(server.say(id, 'yes')).rejects.toThrow(/-32004|UNSUPPORTED/)
    expect(await brokenLaws(server, id)).toEqual([])
  })

  test('so does a throw', async () => {
    const server = await openCrashable(({ wait }) => async (task) => {
      task.ask('A?').catch(() => undefined)
      await wait(5_000)
      throw new Error('gone')
    })
    const id = await server.send('go')
    await server.advance(10_000)
    expect(await server.header(id)).toMatchObject({ state: 'TASK_STATE_FAILED', waiting: undefined, holder: undefined })
  })

  test('an end of the turn in INPUT_REQUIRED replaces it with a question of its own', async () => {
    const server = await openCrashable(({ wait }) => async (task) => {
      if (task.turn === 2) return task.text
      task.ask('A?').catch(() => undefined)
      await wait(5_000)
      return inputRequired('B?')
    })
    const id = await server.send('go')
    const first = await server.comesTo(id, 'INPUT_REQUIRED', /A/)
    const second = await server.comesTo(id, 'INPUT_REQUIRED', /B/)
    await server.say(id, 'to A', questionOf(first))
    expect((await server.get(id)).status).toEqual(second.status)
    await server.say(id, 'to B', questionOf(second))
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toBe('to B')
  })
})

describe('a schema', () => {
  const city = z.object({ city: z.string() })
  const asking: Program = () => async (task) => task.ask('Where to?', { schema: city })

  test('takes the data part, or else the text, and gives what it makes of it', async () => {
    const server = await openCrashable(() => async (task) => {
      const first = await task.ask('Where to?', { schema: z.object({ city: z.string(), nights: z.number().default(1) }) })
      const second = await task.ask('How many?', { schema: z.coerce.number().int() })
      return { first, second }
    })
    const id = await server.send('go')
    await server.comesTo(id, 'INPUT_REQUIRED', /Where/)
    await server.send('', { taskId: id, parts: [{ text: 'see below' }, { data: { city: 'Oslo' } }] })
    await server.comesTo(id, 'INPUT_REQUIRED', /many/)
    await server.say(id, '42')
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toEqual({ first: { city: 'Oslo', nights: 1 }, second: 42 })
  })

  test.each([false, true])('an answer that does not fit is asked for again, with the reason (crashes: %s)', async (crashes) => {
    const server = await openCrashable(asking)
    const id = await server.send('go')
    const first = await server.comesTo(id, 'INPUT_REQUIRED', /Where/)
    await server.send('', { taskId: id, parts: [{ data: { city: 5 } }] })
    if (crashes) await server.crash()
    const second = await server.comesTo(id, 'INPUT_REQUIRED', /city/)
    expect(questionOf(second)).not.toBe(questionOf(first))
    expect(wordsOf(second.status.message.parts)).toMatch(/string/)
    // It names the first opening of the question, which is closed.
    await server.send('', { taskId: id, parts: [{ data: { city: 'Bergen' } }], metadata: { 'urn:errand:question': questionOf(first) } })
    expect((await server.get(id)).status).toEqual(second.status)
    if (crashes) await server.crash()
    await server.send('', { taskId: id, parts: [{ data: { city: 'Oslo' } }], metadata: { 'urn:errand:question': questionOf(second) } })
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toEqual({ city: 'Oslo' })
    expect(await brokenLaws(server, id)).toEqual([])
  })

  test('may be refused any number of times', async () => {
    const server = await openCrashable(asking)
    const id = await server.send('go')
    const questions = new Set<string>()
    for (let wrong = 0; wrong < 30; wrong++) {
      questions.add(questionOf(await server.comesTo(id, 'INPUT_REQUIRED')))
      await server.say(id, `wrong ${wrong}`)
    }
    await server.comesTo(id, 'INPUT_REQUIRED')
    await server.send('', { taskId: id, parts: [{ data: { city: 'Oslo' } }] })
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toEqual({ city: 'Oslo' })
    expect(questions.size).toBe(30)
  })

  /** Says of the n-th value what the list says, and counts. */
  function fickle(verdicts: readonly boolean[]) {
    const judged: unknown[] = []
    const schema: StandardSchemaV1<unknown, { value: unknown; verdict: number }> = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate(value) {
          judged.push(value)
          if (verdicts[judged.length - 1]) return { value: { value, verdict: judged.length } }
          return { issues: [{ message: `no, at verdict ${judged.length}` }] }
        },
      },
    }
    return { judged, schema }
  }

  test('whose verdict changes with time is asked once: what was accepted stays accepted', async () => {
    const { judged, schema } = fickle([true, false, false, false])
    const seen: unknown[] = []
    const server = await openCrashable(({ hold }) => async (task) => {
      const answer = await task.ask('A?', { schema })
      seen.push(answer)
      await hold(1, 2)
      return answer as never
    })
    const id = await server.send('go')
    await server.comesTo(id, 'INPUT_REQUIRED')
    await server.say(id, 'yes')
    await server.rest()
    await server.crash()
    await server.crash()
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toEqual({ value: 'yes', verdict: 1 })
    expect(judged).toEqual(['yes'])
    expect(seen).toEqual(Array(3).fill({ value: 'yes', verdict: 1 }))
  })

  test('whose verdict changes with time: what was refused stays refused, and the question open', async () => {
    const { judged, schema } = fickle([false, true, true])
    const server = await openCrashable(() => async (task) => (await task.ask('A?', { schema })) as never)
    const id = await server.send('go')
    await server.comesTo(id, 'INPUT_REQUIRED')
    await server.say(id, 'one')
    const again = await server.comesTo(id, 'INPUT_REQUIRED', /verdict 1/)
    await server.crash()
    expect((await server.get(id)).status).toEqual(again.status)
    await server.say(id, 'two')
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toEqual({ value: 'two', verdict: 2 })
    expect(judged).toEqual(['one', 'two'])
  })

  test('gives the same value live and on a rerun: what JSON makes of what it makes', async () => {
    const seen: unknown[] = []
    const server = await openCrashable(({ hold }) => async (task) => {
      seen.push(await task.ask('When?', { schema: z.string().transform((text) => ({ at: new Date(text), gone: undefined })) }))
      await hold(1)
    })
    const id = await server.send('go')
    await server.comesTo(id, 'INPUT_REQUIRED')
    await server.say(id, '2026-05-01T00:00:00Z')
    await server.rest()
    await server.crash()
    await server.comesTo(id, 'COMPLETED')
    expect(seen).toStrictEqual([{ at: '2026-05-01T00:00:00.000Z' }, { at: '2026-05-01T00:00:00.000Z' }])
  })

  test('may take its time', async () => {
    const server = await openCrashable(
      ({ wait }) =>
        async (task) =>
          task.ask('A?', {
            schema: z.string().refine(async (text) => {
              await wait(5_000)
              return text === 'right'
            }),
          }),
    )
    const id = await server.send('go')
    await server.comesTo(id, 'INPUT_REQUIRED')
    await server.say(id, 'wrong')
    await server.advance(1_000)
    expect(await server.state(id)).toBe('WORKING')
    await server.comesTo(id, 'INPUT_REQUIRED')
    await server.say(id, 'right')
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toBe('right')
  })

  test.each<[string, () => never]>([
    [
      'throws',
      () => {
        throw new Error('the schema is broken')
      },
    ],
    ['rejects', () => Promise.reject(new Error('the schema is broken')) as never],
    ['gives no verdict', () => undefined as never],
  ])('that %s fails the task and leaves it to nobody', async (_, validate) => {
    const schema: StandardSchemaV1 = { '~standard': { version: 1, vendor: 'test', validate } }
    const server = await openCrashable(() => async (task) => task.ask('A?', { schema }).then(() => undefined))
    const id = await server.send('go')
    await server.comesTo(id, 'INPUT_REQUIRED')
    await server.say(id, 'yes')
    const task = await server.comesTo(id, 'FAILED')
    expect(JSON.stringify(task)).not.toMatch(/broken/)
    expect(server.lines.filter(({ level }) => level === 'error')).toHaveLength(1)
  })

  test('that throws has judged: a rerun throws the same, whatever it would say by then', async () => {
    let isBroken = true
    const judging = (value: unknown) => {
      if (isBroken) throw new Error('the schema is broken')
      return { value }
    }
    const schema: StandardSchemaV1 = { '~standard': { version: 1, vendor: 'test', validate: judging } }
    const seen: unknown[] = []
    const server = await openCrashable(({ hold }) => async (task) => {
      seen.push(await task.ask('A?', { schema }).catch(String))
      await hold(1)
    })
    const id = await server.send('go')
    await server.comesTo(id, 'INPUT_REQUIRED')
    await server.say(id, 'yes')
    await server.advance(1_000)
    isBroken = false
    await server.crash()
    await server.comesTo(id, 'COMPLETED')
    const told = 'AnswerSchemaError: the schema of task.ask could not judge an answer: the schema is broken'
    expect(seen).toEqual([told, told])
    expect(await brokenLaws(server, id)).toEqual([])
  })
})

describe('a question with a timeout', () => {
  const asking: Program =
    ({ world }) =>
    async (task) => {
      const begun = world.now()
      try {
        return (await task.ask('A?', { timeout: '3d' })).text
      } catch (error) {
        if (task.text === 'let it') throw error
        return { name: toldBy(error).name, isTimeout: error instanceof WaitTimeoutError, after: world.now() - begun }
      }
    }
  const dayMs = 86_400_000

  test('fails the task that does not catch it', async () => {
    const server = await openCrashable(asking)
    const id = await server.send('let it')
    await server.advance(3 * dayMs - 1)
    expect(await server.state(id)).toBe('INPUT_REQUIRED')
    await server.advance(1)
    expect(await server.state(id)).toBe('FAILED')
    expect(await brokenLaws(server, id)).toEqual([])
  })

  test('throws a WaitTimeoutError, and the task is at work again', async () => {
    const server = await openCrashable(asking)
    const id = await server.send('catch it')
    await server.advance(3 * dayMs)
    expect(resultOf(await server.get(id))).toMatchObject({ name: 'WaitTimeoutError', isTimeout: true, after: 3 * dayMs })
    expect((await server.outline(id)).slice(0, 4)).toEqual(['SUBMITTED', 'WORKING', 'INPUT_REQUIRED: A?', 'WORKING'])
  })

  test('counts on over crashes, from when it was asked', async () => {
    const server = await openCrashable(asking)
    const id = await server.send('let it')
    await server.advance(2 * dayMs)
    await server.crash()
    await server.advance(dayMs - 1)
    expect(await server.state(id)).toBe('INPUT_REQUIRED')
    await server.crash()
    await server.advance(1)
    expect(await server.state(id)).toBe('FAILED')
  })

  test('that passed while no server was there throws at the next start', async () => {
    const server = await openCrashable(asking)
    const id = await server.send('catch it')
    await server.rest()
    server.kill()
    await server.world.advance(4 * dayMs)
    await server.restart()
    expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toMatchObject({ name: 'WaitTimeoutError' })
  })

  test('throws the same again after a crash', async () => {
    const seen: unknown[] = []
    const server = await openCrashable(({ hold }) => async (task) => {
      await task.ask('A?', { timeout: '1m' }).catch((error: unknown) => seen.push(toldBy(error)))
      await task.step('s', () => 1)
      await hold(1)
    })
    const id = await server.send('go')
    await server.advance(60_000)
    await server.crash()
    await server.comesTo(id, 'COMPLETED')
    expect(seen).toHaveLength(2)
    expect(seen[1]).toEqual(seen[0])
  })

  test('that was answered in time never fires, and a message after the timeout goes to the inbox', async () => {
    const server = await openCrashable(({ wait }) => async (task) => {
      const first = await task.ask('A?', { timeout: '1m' })
      const second = await task.ask('B?', { timeout: '1m' }).catch(() => ({ text: 'none' }))
      await wait(60_000)
      const late = await task.inbox.take()
      return [first.text, second.text, wordsOf(late?.parts ?? [])]
    })
    const id = await server.send('go')
    await server.advance(59_000)
    await server.say(id, 'in time')
    await server.advance(60_000)
    expect(await server.state(id)).toBe('WORKING')
    await server.say(id, 'too late')
    await server.advance(120_000)
    expect(resultOf(await server.get(id))).toEqual(['in time', 'none', 'too late'])
  })

  test('is asked again after an answer that does not fit, and still ends', async () => {
    const server = await openCrashable(() => async (task) => {
      return await task.ask('A?', { timeout: '1m', schema: z.enum(['yes', 'no']) }).catch((error: Error) => error.name)
    })
    const id = await server.send('go')
    await server.advance(30_000)
    await server.say(id, 'perhaps')
    await server.comesTo(id, 'INPUT_REQUIRED')
    await server.advance(120_000)
    expect(resultOf(await server.get(id))).toBe('WaitTimeoutError')
  })
})

test('a task that waits for an answer can be canceled, also after a crash, and takes none then', async () => {
  const server = await openCrashable(twoQuestions)
  const ids = [await server.send('one'), await server.send('two')] as const
  await server.comesTo(ids[0], 'INPUT_REQUIRED')
  await server.cancel(ids[0])
  await server.crash()
  await server.cancel(ids[1])
  for (const id of ids) {
    expect(await server.header(id)).toMatchObject({ state: 'TASK_STATE_CANCELED', waiting: undefined, holder: undefined })
    await expect(server.say(id, 'Oslo')).rejects.toThrow()
    expect(await brokenLaws(server, id)).toEqual([])
  }
})

test('named keys keep questions of one prompt apart', async () => {
  const server = await openCrashable(({ hold }) => async (task) => {
    const answers: Record<string, string> = {}
    for (const name of ['ann', 'ben', 'cid']) answers[name] = (await task.ask('Coming?', { key: `coming ${name}` })).text
    await hold(1)
    return answers
  })
  const id = await server.send('go')
  for (const answer of ['yes', 'no', 'perhaps']) {
    await server.comesTo(id, 'INPUT_REQUIRED')
    await server.say(id, answer)
    await server.rest()
  }
  await server.crash()
  expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toEqual({ ann: 'yes', ben: 'no', cid: 'perhaps' })
})

test('the same prompt asked again without a key is another question each time', async () => {
  const server = await openCrashable(({ hold }) => async (task) => {
    const answers = [await task.ask('Again?'), await task.ask('Again?'), await task.ask('Again?')]
    await hold(1)
    return answers.map(({ text }) => text)
  })
  const id = await server.send('go')
  for (const answer of ['1', '2', '3']) {
    await server.comesTo(id, 'INPUT_REQUIRED')
    await server.say(id, answer)
    await server.rest()
  }
  await server.crash()
  expect(resultOf(await server.comesTo(id, 'COMPLETED'))).toEqual(['1', '2', '3'])
})
