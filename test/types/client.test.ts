/** What the types promise to callers: outcomes are told apart by their state, and only what can be done is there. */

import { describe, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import {
  type Client,
  type ConnectOptions,
  connect,
  type Json,
  type Message,
  type Outcome,
  type Sending,
  type Task,
  type TaskEvent,
} from '../../src/client.js'
import { type Agent, agent, skill } from '../../src/index.js'

type In<State extends Outcome['state']> = Extract<Outcome, { state: State }>

describe('an outcome', () => {
  test('has what its state has', () => {
    expectTypeOf<In<'completed'>['output']>().toEqualTypeOf<Json>()
    expectTypeOf<In<'message'>['message']>().toEqualTypeOf<Message>()
    expectTypeOf<In<'failed' | 'rejected' | 'canceled'>['reason']>().toEqualTypeOf<string>()
    expectTypeOf<In<'auth-required'>['links']>().toEqualTypeOf<readonly string[]>()
    expectTypeOf<In<'input-required'>['reply']>().returns.toEqualTypeOf<Sending>()
    expectTypeOf<In<'auth-required'>['follow']>().returns.toEqualTypeOf<Sending>()
  })

  test('offers no reply where nobody waits for one', () => {
    expectTypeOf<In<'completed'>>().not.toHaveProperty('reply')
    expectTypeOf<In<'failed' | 'rejected' | 'canceled'>>().not.toHaveProperty('reply')
    expectTypeOf<In<'input-required'>>().not.toHaveProperty('follow')
    expectTypeOf<In<'message'>>().not.toHaveProperty('task')
  })
})

describe('a client', () => {
  test('is what connect() promises', () => {
    expectTypeOf(connect).returns.resolves.toEqualTypeOf<Client>()
    expectTypeOf<Sending>().toExtend<AsyncIterable<TaskEvent>>()
    expectTypeOf<Sending['outcome']>().toEqualTypeOf<Promise<Outcome>>()
    expectTypeOf<ReturnType<Client['tasks']>>().toEqualTypeOf<AsyncIterable<Task>>()
  })

  test('takes texts, parts and lists of them, and the Fetch of its host', () => {
    expectTypeOf<Parameters<Client['send']>[0]>().extract<string>().toEqualTypeOf<string>()
    const send = (client: Client) => [
      client.send('text'),
      client.send({ data: { n: 1 } }),
      client.send(['text', { url: 'https://x.test' }] as const),
    ]
    expectTypeOf(send).returns.toEqualTypeOf<Sending[]>()
    expectTypeOf<typeof globalThis.fetch>().toExtend<NonNullable<ConnectOptions['fetch']>>()
    // @ts-expect-error a part has one content
    const wrong = (client: Client) => client.send({ text: 'a', url: 'https://x.test' })
    expectTypeOf(wrong).toBeFunction()
  })
})

const Stay = z.object({ city: z.string(), nights: z.number().int().default(1) })
const Booked = z.object({ confirmation: z.string(), price: z.number() })
const info = { name: 'Typed', description: 'Is looked at by the compiler.' }
const travel = agent({
  ...info,
  skills: {
    book: skill({ ...info, input: Stay, output: Booked, run: () => ({ confirmation: 'a', price: 7 }) }),
    chat: skill({ ...info, run: ({ input }) => input }),
  },
})
type Travel = Client<typeof travel>
type Bought = z.infer<typeof Booked>

describe('a client of an agent whose type is known', () => {
  test('has its skills, what they take and what they give', () => {
    const open = () => connect<typeof travel>('https://travel.example')
    expectTypeOf(open).returns.resolves.toEqualTypeOf<Travel>()
    const call = (client: Travel) => client.skill('book').send({ city: 'Oslo' }, { resume: true })
    expectTypeOf(call).returns.toEqualTypeOf<Sending<Bought>>()
    const chat = (client: Travel) => client.skill('chat').send('Hello')
    expectTypeOf(chat).returns.toEqualTypeOf<Sending<Json>>()
  })

  test('carries the result through replies and what follows', () => {
    const ask = async (sending: Sending<Bought>) => {
      for await (const event of sending) {
        if (event.kind === 'artifact') expectTypeOf(event.text).toEqualTypeOf<string>()
        if (event.kind === 'status') expectTypeOf(event.state).toExtend<string>()
      }
      let out = await sending.outcome
      if (out.state === 'input-required') out = await out.reply({ data: { yes: true } }).outcome
      if (out.state === 'auth-required') out = await out.follow().outcome
      return out.state === 'completed' ? out.output.confirmation : undefined
    }
    expectTypeOf(ask).returns.resolves.toEqualTypeOf<string | undefined>()
  })

  test('knows no other skill, input or output', () => {
    const wrong = (client: Travel, outcome: Outcome<Bought>) => [
      // @ts-expect-error unknown skill
      client.skill('nope'),
      // @ts-expect-error wrong input
      client.skill('book').send({ city: 1 }),
      // @ts-expect-error a text is no input of this one
      client.skill('book').send('Oslo'),
      // @ts-expect-error nor is data of that one
      client.skill('chat').send({ text: 'Hello' }),
      // @ts-expect-error the output has no such field
      outcome.state === 'completed' && outcome.output.nope,
      // @ts-expect-error there is an output in one state only
      outcome.output,
    ]
    expectTypeOf(wrong).toBeFunction()
  })

  test('of an agent that nothing is known of takes and gives any JSON', () => {
    const call = (client: Client) => client.skill('whatever').send({ city: 'Oslo' })
    expectTypeOf(call).returns.toEqualTypeOf<Sending<Json>>()
    const callAny = (client: Client<Agent>) => client.skill('whatever').send('Oslo')
    expectTypeOf(callAny).returns.toEqualTypeOf<Sending<Json>>()
  })
})
