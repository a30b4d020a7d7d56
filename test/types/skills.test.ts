/** What the types promise to authors of skills: schemas of any library are inferred, and what does not fit them does not compile. */

import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import {
  type Agent,
  agent,
  completed,
  failed,
  inputRequired,
  type Skill,
  type SkillTask,
  skill,
  type TaskHandle,
  working,
} from '../../src/index.js'

const info = { name: 'Typed', description: 'Is looked at by the compiler.' }
const Count = z.object({ n: z.number().default(1), at: z.string().transform((text) => new Date(text)) })
const Booked = z.object({ confirmation: z.string(), price: z.string().transform(Number) })

describe('input', () => {
  test('is what the schema makes of it, and a caller sends what the schema takes', () => {
    const made = skill({
      ...info,
      input: Count,
      run(task) {
        expectTypeOf(task).toEqualTypeOf<SkillTask<{ n: number; at: Date }>>()
        expectTypeOf(task).toExtend<TaskHandle>()
        return task.input.n
      },
    })
    expectTypeOf(made).toEqualTypeOf<Skill<{ n?: number | undefined; at: string }, unknown>>()
  })

  test('is inferred from the schemas of other libraries too', () => {
    skill({
      ...info,
      input: v.object({ city: v.string(), nights: v.optional(v.number(), 1) }),
      run: ({ input }) => void expectTypeOf(input).toEqualTypeOf<{ city: string; nights: number }>(),
    })
    skill({
      ...info,
      input: type({ city: 'string', nights: 'number.integer = 1' }),
      run: ({ input }) => void expectTypeOf(input).toEqualTypeOf<{ city: string; nights: number }>(),
    })
  })

  test('is the text where there is no schema', () => {
    const made = skill({ ...info, run: ({ input }) => void expectTypeOf(input).toEqualTypeOf<string>() })
    expectTypeOf(made).toEqualTypeOf<Skill<string, unknown>>()
  })

  test('is known inside generators of both kinds', () => {
    skill({
      ...info,
      input: Count,
      async *run(task) {
        yield working(`for ${task.input.at.getTime()}`)
        return task.input.n
      },
    })
    skill({
      ...info,
      input: Count,
      *run(task) {
        yield 'a piece'
        expectTypeOf(task.input.n).toEqualTypeOf<number>()
      },
    })
  })
})

describe('output', () => {
  test('is returned as the schema takes it, and a caller gets what the schema makes of it', () => {
    const made = skill({ ...info, input: Count, output: Booked, run: async () => ({ confirmation: 'a', price: '7' }) })
    expectTypeOf(made).toEqualTypeOf<Skill<{ n?: number | undefined; at: string }, { confirmation: string; price: number }>>()
  })

  test('may be told by an ending, or be missing from one', () => {
    skill({
      ...info,
      output: Booked,
      run(task) {
        if (task.text === 'why') return failed('no reason')
        if (task.text === 'when') return inputRequired('When?')
        if (task.text === 'no') return completed('Nothing was booked.')
        return completed('Booked.', { confirmation: 'a', price: '7' })
      },
    })
  })

  test('of another shape does not compile', () => {
    // @ts-expect-error wrong output shape
    skill({ ...info, output: Booked, run: async () => ({ confirmation: 1, price: '7' }) })
    // @ts-expect-error a member is missing
    skill({ ...info, output: Booked, run: () => ({ confirmation: 'a' }) })
    // @ts-expect-error nothing is no result either
    skill({ ...info, output: Booked, run: () => {} })
    // @ts-expect-error an ending with a wrong result
    skill({ ...info, output: Booked, run: () => completed('Booked.', { confirmation: 1 }) })
    // biome-ignore format: the error is expected on the line below
    // @ts-expect-error a generator that returns a wrong result
    skill({ ...info, output: Booked, async *run() { yield working(); return { confirmation: 1, price: '7' } } })
  })

  test('is not what a generator yields', () => {
    // biome-ignore format: the error is expected on the line below
    // @ts-expect-error an object is no output
    skill({ ...info, output: Booked, async *run() { yield { state: 'working' }; return { confirmation: '', price: '' } } })
    // biome-ignore format: the error is expected on the line below
    // @ts-expect-error not even where any result is taken
    skill({ ...info, async *run() { yield { state: 'working' } } })
  })
})

describe('agents with skills', () => {
  const book = skill({ ...info, input: Count, output: Booked, run: () => ({ confirmation: 'a', price: '7' }) })

  test('know their skills, and are agents like any other', () => {
    const made = agent({
      ...info,
      skills: { book, echo: skill({ ...info, run: ({ input }) => input }) },
      answer: () => undefined,
      run: () => 1,
    })
    expectTypeOf<keyof NonNullable<typeof made.skills>>().toEqualTypeOf<'book' | 'echo'>()
    expectTypeOf<NonNullable<typeof made.skills>['book']>().toEqualTypeOf(book)
    expectTypeOf(made).toExtend<Agent>()
  })

  test('take no option that does not exist, none that is wrong, and miss none that is needed', () => {
    // @ts-expect-error there is no such option
    expect(() => skill({ ...info, inputs: Count, run: () => 1 })).toThrow(TypeError)
    // @ts-expect-error a function is needed
    expect(() => skill({ ...info, input: Count })).toThrow(TypeError)
    // @ts-expect-error a schema, not what one looks like
    expect(() => skill({ ...info, input: { type: 'object' }, run: () => 1 })).toThrow(TypeError)
    // @ts-expect-error what looks like a skill has not been checked
    expect(() => agent({ ...info, skills: { book: { ...info, run: () => 1 } } })).toThrow(TypeError)
    // @ts-expect-error tags belong to a skill
    expect(() => agent({ ...info, skills: { book }, tags: ['a'] })).toThrow(TypeError)
    // @ts-expect-error the plain function is an option here
    expect(() => agent({ ...info, skills: { book } }, () => 1)).toThrow(TypeError)
  })
})
