/** What a skill is called with and what becomes of what it gives, with the schemas of three libraries and of one's own. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import {
  type Agent,
  agent,
  artifact,
  chunk,
  completed,
  failed,
  inputRequired,
  type Skill,
  type SkillTask,
  skill,
  sqlite,
  working,
} from '../../src/index.js'
import { call, refusal, result, userMessage } from '../harness/server.js'
import { getTask, openStill, until } from './kit.js'

const info = { name: 'Book', description: 'Books a room.' }
const of = (one: Skill, more: object = {}): Agent => agent({ name: 'Travel', description: 'Travels.', skills: { book: one }, ...more })
const withData = (data: unknown, more: object = {}) => ({ ...userMessage('', { ...more }), parts: [{ data }] })
const toBook = (data: unknown) => withData(data, { metadata: { 'urn:errand:skill': 'book' } })

async function send(made: Agent, message: object) {
  const { fetch, lines } = await openStill(made)
  const { task } = await result(fetch, 'JSONRPC', 'SendMessage', { message })
  return { task, lines, parts: task.artifacts?.[0]?.parts, state: task.status.state.replace('TASK_STATE_', '') }
}

/** A schema by the letter of Standard Schema, made of one function. */
const own = <Output>(validate: StandardSchemaV1.Props<unknown, Output>['validate']): StandardSchemaV1<unknown, Output> => ({
  '~standard': { version: 1, vendor: 'own', validate },
})

const soon = async <T>(value: T): Promise<T> => value

describe.each<[string, StandardSchemaV1<unknown, { city: string; nights: number; from: Date }>]>([
  [
    'zod',
    z.object({
      city: z.string().trim().min(1),
      nights: z.coerce.number().int().max(30).default(1),
      from: z.iso.date().transform((text) => new Date(text)),
    }),
  ],
  [
    'zod, asynchronous',
    z.object({
      city: z
        .string()
        .trim()
        .refine(async (city) => (await soon(city)) !== ''),
      nights: z.coerce.number().max(30).default(1),
      from: z.string().transform((text) => soon(new Date(text))),
    }),
  ],
  [
    'valibot',
    v.object({
      city: v.pipe(v.string(), v.trim(), v.nonEmpty()),
      nights: v.optional(v.pipe(v.unknown(), v.transform(Number), v.integer(), v.maxValue(30)), 1),
      from: v.pipe(
        v.string(),
        v.transform((text) => new Date(text)),
        v.date(),
      ),
    }),
  ],
  [
    'valibot, asynchronous',
    v.objectAsync({
      city: v.pipeAsync(
        v.string(),
        v.trim(),
        v.checkAsync(async (city) => (await soon(city)) !== ''),
      ),
      nights: v.optional(v.pipe(v.unknown(), v.transform(Number), v.maxValue(30)), 1),
      from: v.pipeAsync(
        v.string(),
        v.transformAsync((text) => soon(new Date(text))),
      ),
    }),
  ],
  [
    'arktype',
    type({
      city: 'string.trim |> string > 0',
      nights: type('string.numeric.parse | number').to('number.integer <= 30').default(1),
      from: 'string.date.iso.parse',
    }),
  ],
])('a schema of %s', (_, input) => {
  const made = of(
    skill({
      ...info,
      input,
      run: ({ input: { city, nights, from } }) => ({ city, nights, from: from instanceof Date ? from.getTime() : null }),
    }),
  )

  test('converts, fills in defaults, and the function gets what it made', async () => {
    const { parts } = await send(made, withData({ city: ' Oslo ', from: '2026-12-24' }))
    expect(parts).toEqual([{ data: { city: 'Oslo', nights: 1, from: Date.UTC(2026, 11, 24) } }])
    expect((await send(made, toBook({ city: 'Oslo', nights: '3', from: '2026-12-24' }))).parts[0].data.nights).toBe(3)
  })

  test('names the fields that are wrong', async () => {
    const { fetch } = await openStill(made)
    const ask = (data: unknown) => refusal(fetch, 'JSONRPC', 'SendMessage', { message: toBook(data) })
    expect(await ask({ city: '', from: '2026-12-24' })).toMatchObject({ reason: 'INVALID_PARAMS', fields: ['message.parts[0].data.city'] })
    expect((await ask({ city: 'Oslo', nights: 31, from: '2026-12-24' })).fields).toEqual(['message.parts[0].data.nights'])
  })
})

describe('input', () => {
  test('is judged when the message comes, and again where the task had to wait for a place: its run begins from the log', async () => {
    let judged = 0
    const counting = own((value) => {
      judged++
      return { value }
    })
    const { fetch } = await openStill(of(skill({ ...info, input: counting, run: ({ input }) => ({ input: input as string }) })), {
      concurrency: 1,
    })
    const sent = await Promise.all([1, 2, 3].map((n) => result(fetch, 'JSONRPC', 'SendMessage', { message: withData(n) })))
    expect(sent.map(({ task }) => task.artifacts[0].parts[0].data.input)).toEqual([1, 2, 3])
    expect(judged).toBe(3 + 2)
  })

  test('belongs to the function: what it or the schema does to it is not seen in history', async () => {
    const changing = own((value: any) => {
      value.city = 'Rome'
      return { value }
    })
    const run = ({ input }: SkillTask<any>) => {
      input.city += '!'
      return input.city
    }
    const { task, parts } = await send(of(skill({ ...info, input: changing, run })), withData({ city: 'Oslo' }))
    expect(parts).toEqual([{ text: 'Rome!' }])
    expect(task.history[0].parts).toEqual([{ data: { city: 'Oslo' } }])
  })

  test.each<[string, PropertyKey[] | StandardSchemaV1.PathSegment[], string]>([
    ['keys and places', ['a', 0, 'b_1', 'ä'], '.a[0].b_1.ä'],
    ['segments that are objects', [{ key: 'a' }, { key: 1 }], '.a[1]'],
    ['what is no name', ['a b', '', '1', 'x'.repeat(100)], `["a b"][""]["1"]["${'x'.repeat(64)}…"]`],
    ['symbols', [Symbol('s')], '["Symbol(s)"]'],
  ])('a path of %s is written as one reads it', async (_, path, written) => {
    const never = own(() => ({ issues: [{ message: 'is wrong', path }] }))
    const { fetch } = await openStill(of(skill({ ...info, input: never, run: () => 'never' })))
    expect((await refusal(fetch, 'JSONRPC', 'SendMessage', { message: toBook({}) })).fields).toEqual([`message.parts[0].data${written}`])
  })

  test.each<[string, StandardSchemaV1]>([
    [
      'throws',
      own(() => {
        throw new Error('secret detail')
      }),
    ],
    [
      'rejects',
      own(async () => {
        throw new Error('secret detail')
      }),
    ],
    ['gives no verdict', own(() => undefined as any)],
  ])('a schema that %s is an internal error for the caller, and its reason is in the log', async (_, input) => {
    const { fetch, lines } = await openStill(of(skill({ ...info, input, run: () => 'never' })))
    const refused = await refusal(fetch, 'JSONRPC', 'SendMessage', { message: toBook({}) })
    expect(refused.reason).toBe('INTERNAL')
    expect(refused.message).not.toMatch(/secret/)
    expect(lines).toMatchObject([
      { level: 'error', fields: { error: { message: expect.stringMatching(/secret detail|gave no verdict/) } } },
    ])
    expect((await result(fetch, 'JSONRPC', 'ListTasks', {})).totalSize).toBe(0)
  })
})

describe('output', () => {
  const Booked = z.object({ confirmation: z.string(), price: z.coerce.number().default(7) })
  const giving = (run: (task: SkillTask<string>) => any) =>
    of(skill({ ...info, output: Booked as StandardSchemaV1<any, any>, run }), { run })
  const call = { ...userMessage('please', { metadata: { 'urn:errand:skill': 'book' } }) }

  test.each<[string, (task: SkillTask<string>) => any]>([
    ['returned', () => ({ confirmation: 'a', more: 1 })],
    ['promised', async () => ({ confirmation: 'a' })],
    [
      'returned by a generator',
      function* () {
        yield working('on it')
        return { confirmation: 'a' }
      },
    ],
    [
      'returned by an asynchronous one',
      async function* () {
        yield working('on it')
        return { confirmation: 'a', price: '7' }
      },
    ],
    ['told by an ending', () => completed('Booked.', { confirmation: 'a' })],
  ])('that is %s goes out as its schema made it', async (_, run) => {
    const { state, parts } = await send(giving(run), call)
    expect([state, parts]).toEqual(['COMPLETED', [{ data: { confirmation: 'a', price: 7 } }]])
  })

  test.each<[string, (task: SkillTask<string>) => any]>([
    ['of another shape', () => ({ confirmation: 1 })],
    ['that is not there', () => undefined],
    ['that is a text', () => 'a'],
    [
      'of a generator',
      async function* () {
        yield artifact('note', 'secret so far')
        return {}
      },
    ],
    ['of an ending', () => completed('Booked.', { confirmation: null })],
    ['of several parts', () => [{ text: 'a' }, { text: 'b' }]],
  ])('%s fails the task with a safe text, and the log says why', async (_, run) => {
    const { task, state, lines } = await send(giving(run), call)
    expect(state).toBe('FAILED')
    expect(task.status.message.parts).toEqual([{ text: 'The agent failed because of an internal error.' }])
    const { error } = lines.find(({ level }) => level === 'error')?.fields ?? {}
    expect(error.message).toMatch(/^the result of the skill book does not fit its output: (the whole|\.confirmation): ./)
  })

  test('a note of completed() stays, and so do the other endings', async () => {
    const ending = async (run: (task: SkillTask<string>) => any) => {
      const { state, task } = await send(giving(run), call)
      return [state, task.status.message?.parts[0].text, task.artifacts?.length]
    }
    expect(await ending(() => completed('Booked.', { confirmation: 'a' }))).toEqual(['COMPLETED', 'Booked.', 1])
    expect(await ending(() => completed('Nothing was booked.'))).toEqual(['COMPLETED', 'Nothing was booked.', undefined])
    expect(await ending(() => failed('No room.'))).toEqual(['FAILED', 'No room.', undefined])
    expect(await ending(() => inputRequired('When?'))).toEqual(['INPUT_REQUIRED', 'When?', undefined])
  })

  test('that looks like a part is data all the same, and a text is a text', async () => {
    const Note = z.object({ text: z.string() })
    expect((await send(of(skill({ ...info, output: Note, run: () => ({ text: 'a' }) })), call)).parts).toEqual([{ data: { text: 'a' } }])
    const Word = z.string().toUpperCase()
    for (const run of [() => 'a', () => completed('done', 'a')])
      expect((await send(of(skill({ ...info, output: Word, run })), call)).parts).toEqual([{ text: 'A' }])
  })

  test('that its schema turns into what is no JSON fails the task', async () => {
    const Odd = z.string().transform(() => () => 'later')
    expect((await send(of(skill({ ...info, output: Odd, run: () => 'a' })), call)).state).toBe('FAILED')
  })

  test('an error thrown into a generator for a wrong output can be caught there', async () => {
    const { state, parts } = await send(
      giving(async function* () {
        yield chunk('a', 'closed', { last: true })
        try {
          yield chunk('a', 'again')
        } catch {
          return { confirmation: 'caught' }
        }
        return { confirmation: 'not caught' }
      }),
      call,
    )
    expect([state, parts]).toEqual(['COMPLETED', [{ text: 'closed' }]])
  })

  test('a generator without a schema for its output runs as ever', async () => {
    const run = async function* ({ input }: SkillTask<string>) {
      yield 'one '
      yield input
    }
    expect((await send(of(skill({ ...info, run })), call)).parts).toEqual([{ text: 'one ' }, { text: 'please' }])
  })

  test('the signal of a canceled task reaches the skill', async () => {
    let reason: unknown
    const run = async ({ signal }: SkillTask<string>) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      reason = signal.reason.why
    }
    const { fetch } = await openStill(of(skill({ ...info, run })))
    const configuration = { returnImmediately: true }
    const { task } = await result(fetch, 'JSONRPC', 'SendMessage', { message: { ...call, messageId: 'c' }, configuration })
    await result(fetch, 'JSONRPC', 'CancelTask', { id: task.id })
    await until(() => reason !== undefined)
    expect(reason).toBe('canceled')
  })
})

describe('after a restart', () => {
  async function file(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'errand-skills-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    return join(folder, 'tasks.db')
  }
  const Stay = z.object({ city: z.string(), nights: z.number().default(1) })
  const asking = of(
    skill({
      ...info,
      input: Stay,
      run: (task) => (task.turn < 3 ? inputRequired(`${task.turn}?`) : { turn: task.turn, input: task.input, said: task.text }),
    }),
  )
  async function oneTurn(made: Agent, path: string, message: object) {
    const { fetch, server, lines } = await openStill(made, { store: sqlite(path) })
    const { task } = await result(fetch, 'JSONRPC', 'SendMessage', { message })
    await server.close()
    return { task, lines }
  }

  test('a task goes on with its skill and its input, also one that had to be asked for them', async () => {
    for (const opening of [withData({ city: 'Oslo' }), toBook({ city: 'Oslo' })]) {
      const path = await file()
      const { task } = await oneTurn(asking, path, opening)
      await oneTurn(asking, path, userMessage('yes', { taskId: task.id }))
      const { task: done } = await oneTurn(asking, path, userMessage('really', { taskId: task.id }))
      expect(done.artifacts[0].parts[0].data).toEqual({ turn: 3, input: { city: 'Oslo', nights: 1 }, said: 'really' })
    }
    const path = await file()
    const { task } = await oneTurn(asking, path, userMessage('hello'))
    await oneTurn(asking, path, withData({ city: 'Oslo' }, { taskId: task.id }))
    const { task: done } = await oneTurn(asking, path, userMessage('yes', { taskId: task.id }))
    expect(done.artifacts[0].parts[0].data).toEqual({ turn: 3, input: { city: 'Oslo', nights: 1 }, said: 'yes' })
  })

  test('a task whose skill is gone, or takes its input no more, fails when it goes on, and the caller is not blamed', async () => {
    const others = agent({ name: 'Travel', description: 'Travels.', skills: { other: skill({ ...info, run: () => 'other' }) } })
    const stricter = of(skill({ ...info, input: z.object({ city: z.literal('Rome') }), run: () => 'never' }))
    for (const next of [others, stricter]) {
      const path = await file()
      const { task } = await oneTurn(asking, path, toBook({ city: 'Oslo' }))
      const { task: after, lines } = await oneTurn(next, path, userMessage('yes', { taskId: task.id }))
      expect(after.status).toMatchObject({ state: 'TASK_STATE_FAILED' })
      expect(lines.some(({ level, fields }) => level === 'error' && /message\./.test(String(fields['error'])))).toBe(true)
    }
  })
})

test('a message to a task at work goes to its inbox and is no call of a skill', async () => {
  const run = async (task: SkillTask<string>) => ({ got: (await task.inbox.next())?.parts[0]?.data ?? null })
  const { fetch } = await openStill(of(skill({ ...info, run })))
  const message = userMessage('go', { metadata: { 'urn:errand:skill': 'book' } })
  const { task } = await result(fetch, 'JSONRPC', 'SendMessage', { message, configuration: { returnImmediately: true } })
  await call(fetch, 'JSONRPC', 'SendMessage', { message: withData({ any: 1 }, { taskId: task.id }) })
  expect((await getTask(fetch, task.id)).artifacts[0].parts[0].data).toEqual({ got: { any: 1 } })
})
