/** What the types of the test kit promise: a sandbox knows the skills of its agent. */

import { type Agent, agent, skill } from 'errand'
import type { Client, Json, Sending } from 'errand/client'
import {
  type CrashOptions,
  type CrashReport,
  crashEverywhere,
  type Sandbox,
  type TaskEvent,
  type TestOptions,
  testAgent,
} from 'errand/testing'
import { describe, expectTypeOf, test } from 'vitest'
import { z } from 'zod'

const info = { name: 'Typed', description: 'Is looked at by the compiler.' }
const travel = agent({
  ...info,
  skills: {
    book: skill({ ...info, input: z.object({ city: z.string() }), output: z.object({ price: z.number() }), run: () => ({ price: 7 }) }),
  },
})

describe('a sandbox', () => {
  test('has a client of its agent', () => {
    const open = () => testAgent(travel, { now: '2026-12-01T00:00:00Z', seed: 1 })
    expectTypeOf(open).returns.resolves.toEqualTypeOf<Sandbox<typeof travel>>()
    expectTypeOf<Sandbox<typeof travel>['client']>().toEqualTypeOf<Client<typeof travel>>()
    const call = (t: Sandbox<typeof travel>) => t.client.skill('book').send({ city: 'Oslo' })
    expectTypeOf(call).returns.toEqualTypeOf<Sending<{ price: number }>>()
    // @ts-expect-error unknown skill
    const wrong = (t: Sandbox<typeof travel>) => t.client.skill('nope')
    expectTypeOf(wrong).toBeFunction()
  })

  test('of an agent of one function calls it by any message', () => {
    const call = (t: Sandbox) => t.client.send('Hello')
    expectTypeOf(call).returns.toEqualTypeOf<Sending<Json>>()
    expectTypeOf<Sandbox>().toEqualTypeOf<Sandbox<Agent>>()
  })

  test('is disposed of by `await using`, and tells the events that callers see', () => {
    expectTypeOf<Sandbox>().toExtend<AsyncDisposable>()
    expectTypeOf<Sandbox['events']>().returns.resolves.toEqualTypeOf<readonly TaskEvent[]>()
    expectTypeOf<Sandbox['pushes'][number]>().toEqualTypeOf<{ readonly url: string; readonly attempt: number; readonly event: TaskEvent }>()
  })

  test('takes options of a server, but for those it sees to itself', () => {
    expectTypeOf<TestOptions>().toHaveProperty('limits')
    expectTypeOf<TestOptions>().not.toHaveProperty('store')
    expectTypeOf<TestOptions>().not.toHaveProperty('world')
    expectTypeOf<CrashOptions>().toExtend<TestOptions>()
  })
})

test('a scenario is given a sandbox of its agent, and may return whatever there is to compare', () => {
  const run = () => crashEverywhere(travel, (t) => void expectTypeOf(t).toEqualTypeOf<Sandbox<typeof travel>>())
  expectTypeOf(run).returns.resolves.toEqualTypeOf<CrashReport>()
})
