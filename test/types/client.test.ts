/** What the types promise to callers: outcomes are told apart by their state, and only what can be done is there. */

import { describe, expectTypeOf, test } from 'vitest'
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
