/** What the types promise to whoever runs a server: an option that is unknown, missing or wrong does not compile. */

import { describe, expect, expectTypeOf, test } from 'vitest'
import {
  type Agent,
  type Auth,
  agent,
  anonymous,
  bearerTokens,
  createServer,
  type RunningServer,
  type Server,
  serve,
  sqlite,
} from '../../src/index.js'

const echo = agent({ name: 'Echo', description: 'Says it again.' }, ({ text }) => text)
const store = sqlite(':memory:')
const auth = anonymous()
const url = 'https://agent.test'

test('doors give what they say', () => {
  expectTypeOf(createServer).returns.resolves.toEqualTypeOf<Server>()
  expectTypeOf(serve).returns.resolves.toEqualTypeOf<RunningServer>()
  expectTypeOf(serve).parameter(0).toEqualTypeOf<Agent>()
  expectTypeOf<RunningServer>().toExtend<Server>()
  expectTypeOf(bearerTokens({ token: 'alice' })).toEqualTypeOf<Auth>()
  expectTypeOf<RunningServer['url']>().toEqualTypeOf<string>()
})

describe('createServer and serve', () => {
  test('an unknown option does not compile', async () => {
    // @ts-expect-error it is `store`
    await expect(createServer(echo, { stores: store, auth, url })).rejects.toThrow(TypeError)
    // @ts-expect-error only serve() has a port
    await expect(createServer(echo, { store, auth, url, port: 4000 })).rejects.toThrow(TypeError)
    // @ts-expect-error it is `host`
    await expect(serve(echo, { store, hostname: '127.0.0.1' })).rejects.toThrow(TypeError)
    // @ts-expect-error it is `bodyBytes`
    await expect(serve(echo, { store, limits: { bodyMb: 1 } })).rejects.toThrow(TypeError)
    // @ts-expect-error there is no such mount
    await expect(serve(echo, { store, mounts: { grpc: '/grpc' } })).rejects.toThrow(TypeError)
  })

  test('a wrong option does not compile', async () => {
    // @ts-expect-error a store, not the name of a file
    await expect(serve(echo, { store: 'tasks.db' })).rejects.toThrow(TypeError)
    // @ts-expect-error a table goes into bearerTokens()
    await expect(serve(echo, { store, auth: { token: 'alice' } })).rejects.toThrow(TypeError)
    // @ts-expect-error a number
    await expect(serve(echo, { store, port: '4000' })).rejects.toThrow(TypeError)
    // @ts-expect-error true, false or 'strict'
    await expect(serve(echo, { store, idempotency: 'loose' })).rejects.toThrow(TypeError)
    // @ts-expect-error milliseconds
    await expect(serve(echo, { store, limits: { keepAliveMs: '15s' } })).rejects.toThrow(TypeError)
  })

  test('what is missing does not compile', async () => {
    // @ts-expect-error options are needed
    await expect(createServer(echo)).rejects.toThrow(TypeError)
    // @ts-expect-error and an agent is
    await expect(serve()).rejects.toThrow(TypeError)
    // @ts-expect-error what looks like an agent is none
    await expect(serve({ name: 'Echo', description: 'Says it again.', run: () => 'hi' })).rejects.toThrow(TypeError)
  })
})

describe('bearerTokens and sqlite', () => {
  test('a wrong user does not compile', () => {
    // @ts-expect-error a user has an id
    expect(() => bearerTokens({ token: { tenants: [] } })).toThrow(TypeError)
    // @ts-expect-error a user has no roles
    expect(() => bearerTokens({ token: { id: 'alice', roles: [] } })).toThrow(TypeError)
    // @ts-expect-error scopes are a list
    expect(() => bearerTokens({ token: { id: 'alice', scopes: 'read' } })).toThrow(TypeError)
  })

  test('a wrong store does not compile', () => {
    // @ts-expect-error a path is needed
    expect(() => sqlite()).toThrow(TypeError)
    // @ts-expect-error power or process
    expect(() => sqlite('tasks.db', { durability: 'full' })).toThrow(TypeError)
    // @ts-expect-error there is no such option
    expect(() => sqlite('tasks.db', { synchronous: 'off' })).toThrow(TypeError)
  })
})
