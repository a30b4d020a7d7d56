/** What the types promise to authors of agents: the right compiles and is inferred, the wrong does not compile. */

import { describe, expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import {
  type Agent,
  type AgentInfo,
  agent,
  artifact,
  chunk,
  completed,
  type Emission,
  type Ending,
  failed,
  type Grant,
  inputRequired,
  type PartLike,
  type Result,
  type Run,
  rejected,
  type StopReason,
  type TaskHandle,
  type Turn,
  type User,
  working,
} from '../../src/index.js'
import type { Json, JsonObject, Message } from '../../src/protocol/wire.js'

const info = { name: 'Typed', description: 'Is looked at by the compiler.' }

describe('agent()', () => {
  test('takes functions, promises and generators of both kinds', () => {
    expectTypeOf(agent(info, () => {})).toEqualTypeOf<Agent>()
    expectTypeOf(agent(info, ({ text }) => text)).toEqualTypeOf<Agent>()
    expectTypeOf(agent(info, async () => completed('done', { total: 3 }))).toEqualTypeOf<Agent>()
    expectTypeOf(
      agent(info, function* () {
        yield 'a piece of the result'
        yield working('on it')
        return { total: 3 }
      }),
    ).toEqualTypeOf<Agent>()
    expectTypeOf(
      agent(info, async function* (task) {
        yield chunk('list', [task.text, { data: { n: 1 }, mediaType: 'application/json' }], { last: true })
        return task.text === '' ? inputRequired('What is it?') : undefined
      }),
    ).toEqualTypeOf<Agent>()
  })

  test('knows what the function is given', () => {
    agent(info, (task) => {
      expectTypeOf(task).toEqualTypeOf<TaskHandle>()
      expectTypeOf(task.history).toEqualTypeOf<readonly Message[]>()
      expectTypeOf(task.inbox.take()).resolves.toEqualTypeOf<Message | undefined>()
      expectTypeOf(task.signal).toEqualTypeOf<AbortSignal>()
      expectTypeOf(task.context.get<{ city: string }>('brief')).toEqualTypeOf<{ city: string } | undefined>()
      expectTypeOf(task.context.set).parameters.toEqualTypeOf<[key: string, value: Json]>()
    })
    expectTypeOf<NonNullable<AgentInfo['answer']>>().parameters.toEqualTypeOf<[turn: Turn]>()
    expectTypeOf<NonNullable<AgentInfo['extendedCard']>>().parameters.toEqualTypeOf<[user: User]>()
  })

  test('takes no option that does not exist, none that is wrong, and misses none that is needed', () => {
    // @ts-expect-error there is no such option
    expect(() => agent({ ...info, skils: [] }, () => {})).toThrow(TypeError)
    // @ts-expect-error a list, not a text
    expect(() => agent({ ...info, tags: 'one' }, () => {})).toThrow(TypeError)
    // @ts-expect-error a description is needed
    expect(() => agent({ name: 'Typed' }, () => {})).toThrow(TypeError)
    // @ts-expect-error and so is the function
    expect(() => agent(info)).toThrow(TypeError)
    // @ts-expect-error a card has no such value
    agent({ ...info, extendedCard: () => ({ description: () => 'late' }) }, () => {})
  })

  test('takes no generator that yields what is no output', () => {
    // @ts-expect-error a number is no output
    agent(info, function* () {
      yield 7
    })
    // @ts-expect-error the end of a turn is returned, not yielded
    agent(info, function* () {
      yield completed('done')
    })
    // @ts-expect-error a promise is awaited first
    agent(info, function* () {
      yield Promise.resolve('later')
    })
  })

  test('an agent is made by agent() only', () => {
    // @ts-expect-error what looks like one has not been checked
    const made: Agent = { ...info, version: '1', inputModes: [], outputModes: [], run: () => {} }
    expect(made).toBeDefined()
  })

  test('what an agent says of itself is read only', () => {
    const rename = (made: Agent) => {
      // @ts-expect-error the name is part of the card
      made.name = 'Other'
    }
    expect(() => rename(agent(info, () => {}))).toThrow(TypeError)
  })
})

describe('what a run waits for', () => {
  const unused = (run: (task: TaskHandle) => unknown) => expect(run).toBeTypeOf('function')
  const guests = z.object({ guests: z.coerce.number(), name: z.string().optional() })

  test('a step is of the type of what its function gives', () => {
    unused(async (task) => {
      expectTypeOf(task.step('quote', () => ({ total: 3 }))).resolves.toEqualTypeOf<{ total: number }>()
      expectTypeOf(task.step('quote', async () => ['a'], { retry: 3, timeout: '30s' })).resolves.toEqualTypeOf<string[]>()
      expectTypeOf(task.step('notify', () => {})).resolves.toEqualTypeOf<void>()
      task.step('book', (step) => {
        expectTypeOf(step).toEqualTypeOf<{ readonly idempotencyKey: string; readonly signal: AbortSignal }>()
      })
      // @ts-expect-error a step has a key
      task.step(() => 1)
      // @ts-expect-error which is a text
      task.step(1, () => 1)
      // @ts-expect-error it is `retry`
      task.step('a', () => 1, { retries: 3 })
      // @ts-expect-error a number of tries
      task.step('a', () => 1, { retry: '3' })
      // @ts-expect-error a duration is a number or a text
      task.step('a', () => 1, { timeout: new Date() })
    })
  })

  test('a stream is delegated to, and gives its text', () => {
    unused(async function* (task) {
      const text = yield* task.stream('story.md', async function* ({ idempotencyKey }) {
        yield idempotencyKey
      })
      expectTypeOf(text).toEqualTypeOf<string>()
      expectTypeOf(task.stream('a', () => ['one', 'two'], { key: 'k' })).toEqualTypeOf<AsyncGenerator<Emission, string, void>>()
      // @ts-expect-error chunks are texts
      task.stream('a', () => [1, 2])
      // @ts-expect-error a stream is no promise
      expectTypeOf(task.stream('a', () => ['one'])).resolves.toBeString()
    })
  })

  test('an answer is a message, or what the schema makes of it', () => {
    unused(async (task) => {
      const { message, text } = await task.ask('How many?')
      expectTypeOf(message).toEqualTypeOf<Message>()
      expectTypeOf(text).toEqualTypeOf<string>()
      expectTypeOf(task.ask('How many?', { timeout: '1d', key: 'guests' })).resolves.toEqualTypeOf<{
        readonly message: Message
        readonly text: string
      }>()
      expectTypeOf(task.ask('How many?', { schema: guests })).resolves.toEqualTypeOf<{ guests: number; name?: string | undefined }>()
      expectTypeOf(task.ask({ data: { n: 1 } }, { schema: z.string().transform((given) => given.length) })).resolves.toEqualTypeOf<number>()
      const answer = await task.ask('How many?', { schema: guests })
      // @ts-expect-error with a schema there is no message
      expectTypeOf(answer.text).toBeString()
      // @ts-expect-error a prompt is a text or one part
      task.ask(['one', 'two'])
      // @ts-expect-error a schema is one of Standard Schema
      task.ask('How many?', { schema: { type: 'number' } })
      // @ts-expect-error it is `timeout`
      task.ask('How many?', { within: '1d' })
    })
  })

  test('a consent is granted, or the caller said something instead', () => {
    unused(async (task) => {
      const consent = await task.authorize({ oauth: 'calendar', scopes: ['book'], prompt: 'Book it?', timeout: '1h' })
      // @ts-expect-error nothing is known about it yet
      expectTypeOf(consent.granted).not.toBeAny()
      if ('message' in consent) {
        expectTypeOf(consent.message).toEqualTypeOf<Message>()
        return inputRequired('What instead?')
      }
      expectTypeOf(consent.granted).toEqualTypeOf<Grant>()
      expectTypeOf(consent.granted.token).toEqualTypeOf<string>()
      return completed('done')
    })
    unused(async (task) => {
      task.authorize({
        callback: (place) => {
          expectTypeOf(place).toEqualTypeOf<{ readonly callbackUrl: string; readonly state: string }>()
          return `https://calendar.example/?state=${place.state}`
        },
      })
      // @ts-expect-error a provider is asked for scopes
      task.authorize({ oauth: 'calendar' })
      // @ts-expect-error the link is a text
      task.authorize({ callback: () => new URL('https://calendar.example') })
      // @ts-expect-error somebody has to be asked
      task.authorize({ prompt: 'Book it?' })
    })
  })

  test('a signal is JSON of the type that the author names', () => {
    unused(async (task) => {
      expectTypeOf(task.wait<{ pages: number }>('printed')).resolves.toEqualTypeOf<{ pages: number }>()
      expectTypeOf(task.wait('printed', { timeout: '7d' })).resolves.toEqualTypeOf<Json>()
      // @ts-expect-error a date is no JSON
      task.wait<Date>('printed')
      // @ts-expect-error a signal has a name
      task.wait()
      expectTypeOf(task.sleep('3h')).resolves.toBeVoid()
      expectTypeOf(task.inbox.next({ timeout: '10s' })).resolves.toEqualTypeOf<Message | undefined>()
    })
  })

  test('why a run is told to stop is one of a few words', () => {
    expectTypeOf<StopReason>().toEqualTypeOf<'canceled' | 'fenced' | 'shutdown' | 'inactive' | 'evicted' | 'lost' | 'failed'>()
    // @ts-expect-error it is 'restart' or 'fail'
    expect(() => agent({ ...info, recovery: 'never' }, () => {})).toThrow(TypeError)
    // @ts-expect-error a duration, such as '10m'
    expect(() => agent({ ...info, inactivity: true }, () => {})).toThrow(TypeError)
    expectTypeOf(agent({ ...info, recovery: 'fail', inactivity: '10m' }, () => {})).toEqualTypeOf<Agent>()
  })
})

describe('parts', () => {
  test('a part is a text or has exactly one content', () => {
    expectTypeOf<'hello'>().toExtend<PartLike>()
    expectTypeOf<{ text: string }>().toExtend<PartLike>()
    expectTypeOf<{ data: { n: number }; mediaType: string }>().toExtend<PartLike>()
    expectTypeOf<{ url: string; filename: string }>().toExtend<PartLike>()
    expectTypeOf<{ raw: string }>().toExtend<PartLike>()
    expectTypeOf<{ filename: string }>().not.toExtend<PartLike>()
    expectTypeOf<{ text: string; url: string }>().not.toExtend<PartLike>()
    expectTypeOf<{ text: number }>().not.toExtend<PartLike>()
    expectTypeOf<7>().not.toExtend<PartLike>()
  })

  test('a wrong part does not compile, and is refused where it comes all the same', () => {
    // @ts-expect-error no content
    expect(() => working({ filename: 'a.txt' })).toThrow(TypeError)
    // @ts-expect-error two contents
    expect(() => artifact('a', { text: 'one', url: 'https://two.test' })).toThrow(TypeError)
    // @ts-expect-error a content of the wrong type
    expect(() => chunk('a', { text: 7 })).toThrow(TypeError)
    // @ts-expect-error the name of the older version of the protocol
    working({ text: 'hi', mimeType: 'text/plain' })
    // @ts-expect-error a number is no part
    expect(() => failed(7)).toThrow(TypeError)
    // @ts-expect-error an artifact needs parts
    expect(() => artifact('a')).toThrow(TypeError)
  })

  test('options of outputs are known by name', () => {
    // @ts-expect-error it is `last`
    expect(() => chunk('a', 'b', { lastChunk: true })).toThrow('chunk has no option "lastChunk"; it takes id, last')
    // @ts-expect-error a whole artifact has no last chunk
    expect(() => artifact('a', 'b', { last: true })).toThrow('artifact has no option "last"; it takes id, description')
    expectTypeOf(artifact('a', 'b', { id: 'one', description: 'two' })).toEqualTypeOf<Emission>()
  })
})

describe('results', () => {
  test('completed() carries the type of its result', () => {
    const ending = completed('done', { total: 3, names: ['a'] })
    expectTypeOf<(typeof ending)['~result']['total']>().toExtend<number>()
    expectTypeOf<(typeof ending)['~result']['names']>().toExtend<readonly string[]>()
    expectTypeOf<(typeof ending)['~result']>().not.toHaveProperty('sum')
    expectTypeOf(completed('done')).toEqualTypeOf<Ending<undefined>>()
    expectTypeOf(completed<{ total: number }>('done', { total: 3 })).toEqualTypeOf<Ending<{ total: number }>>()
  })

  test('every ending ends every run', () => {
    for (const ending of [failed('no'), rejected('no'), inputRequired('what?')]) expectTypeOf(ending).toEqualTypeOf<Ending<never>>()
    expectTypeOf<Ending<never>>().toExtend<Result>()
    expectTypeOf<Ending<{ total: number }>>().toExtend<Result>()
    expectTypeOf<{ total: number }>().toExtend<Result>()
    expectTypeOf<readonly [1, { a: null }]>().toExtend<Result>()
    expectTypeOf<undefined>().toExtend<Result>()
    expectTypeOf<(task: TaskHandle) => Promise<string>>().toExtend<Run>()
  })

  test('a result is JSON', () => {
    // @ts-expect-error a function is none
    expect(() => completed('done', () => 'later')).toThrow(TypeError)
    // @ts-expect-error neither is a symbol inside an object
    expect(() => completed('done', { key: Symbol('no') })).toThrow(TypeError)
    expectTypeOf<JsonObject>().toExtend<Json>()
  })

  test('only the functions make outputs and endings', () => {
    // @ts-expect-error what looks like one is none
    const output: Emission = { kind: 'working', parts: [] }
    expect(output).toBeDefined()
  })
})
