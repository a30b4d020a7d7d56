/** Who is calling: tokens on every operation of both bindings, and what is open without. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { agent, bearerTokens, type RunningServer, type Server } from '../../src/index.js'
import { operationNames } from '../../src/protocol/operations.js'
import { scriptAgent } from '../harness/script-agent.js'
import { bindingNames, call, openServer, openSocket, refusal, requestFor, result, userMessage } from '../harness/server.js'

let server: RunningServer
beforeAll(async () => {
  server = await openSocket(scriptAgent, { push: true })
})
afterAll(() => server.close())

const everywhere = bindingNames.flatMap((binding) => operationNames.map((operation) => ({ binding, operation })))
const params = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] }, id: 'x', taskId: 'x' }

describe.each(everywhere)('$operation over $binding', ({ binding, operation }) => {
  test.each<[string, string | undefined]>([
    ['no credentials', undefined],
    ['an unknown token', 'Bearer mallory'],
    ['another scheme', 'Basic YWxpY2U6YWxpY2U='],
    ['a token without its scheme', 'alice'],
    ['a scheme without its token', 'Bearer'],
    ['a token in other letters', 'Bearer Alice'],
    ['more than a token', 'Bearer alice bob'],
    ['two credentials', 'Bearer alice, Bearer bob'],
  ])('asks for credentials where there is %s', async (_, authorization) => {
    const request = requestFor(binding, operation, params, { url: server.url })
    if (authorization === undefined) request.headers.delete('authorization')
    else request.headers.set('authorization', authorization)
    const response = await server.fetch(request.clone())
    const overSocket = await fetch(request)
    for (const answer of [response, overSocket]) {
      expect(answer.status).toBe(401)
      const isWrong = authorization !== undefined && /^Bearer \S+$/.test(authorization)
      expect(answer.headers.get('www-authenticate')).toBe(isWrong ? 'Bearer realm="a2a", error="invalid_token"' : 'Bearer realm="a2a"')
      const { error } = (await answer.json()) as any
      expect(binding === 'JSONRPC' ? error.code : error.status).toBe(binding === 'JSONRPC' ? -32000 : 'UNAUTHENTICATED')
      expect((error.data ?? error.details)[0].reason).toBe('UNAUTHENTICATED')
    }
  })
})

test.each(['Bearer alice', 'bearer alice', 'BEARER alice', 'bEaReR    alice', 'Bearer alice  '])(
  'the header %j names alice',
  async (authorization) => {
    const { status } = await call(server.fetch, 'JSONRPC', 'ListTasks', {}, { headers: { authorization } })
    expect(status).toBe(200)
  },
)

test('a long run of spaces is refused in no time to speak of', async () => {
  for (const authorization of [`Bearer ${' '.repeat(15_000)},`, `Bearer ${'a'.repeat(7000)}${' '.repeat(7000)}b`]) {
    expect((await call(server.fetch, 'HTTP+JSON', 'ListTasks', {}, { headers: { authorization } })).status).toBe(401)
  }
})

test('the public card is open to everybody, the extended one is not', async () => {
  const own = await openServer(
    agent({ name: 'A', description: 'B', extendedCard: (user) => ({ description: `For ${user.id}` }) }, () => 'x'),
  )
  const response = await own.fetch(new Request('http://agent.test/.well-known/agent-card.json'))
  expect(response.status).toBe(200)
  const card = (await response.json()) as any
  expect(card.securitySchemes).toEqual({ bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } })
  expect(card.securityRequirements).toEqual([{ schemes: { bearer: { list: [] } } }])
  for (const binding of bindingNames) {
    expect((await call(own.fetch, binding, 'GetExtendedAgentCard', {}, { as: 'mallory' })).status).toBe(401)
    expect(await result(own.fetch, binding, 'GetExtendedAgentCard', {})).toMatchObject({ description: 'For alice' })
  }
  await own.close()
})

describe('tenants', () => {
  let own: Server
  beforeAll(async () => {
    own = await openServer(scriptAgent)
  })
  afterAll(() => own.close())

  test.each(bindingNames)('a task of one tenant is not there in another over %s', async (binding) => {
    const { task } = await result(own.fetch, binding, 'SendMessage', { message: userMessage('x'), tenant: 'red' }, { as: 'carol' })
    expect(await result(own.fetch, binding, 'GetTask', { id: task.id, tenant: 'red' }, { as: 'carol' })).toEqual(task)
    for (const tenant of ['', 'blue']) {
      expect(await refusal(own.fetch, binding, 'GetTask', { id: task.id, tenant }, { as: 'carol' })).toMatchObject({
        reason: 'TASK_NOT_FOUND',
      })
    }
  })

  test.each(bindingNames)('a tenant that was not granted is refused by name over %s', async (binding) => {
    for (const tenant of ['green', 'Red', '__proto__', 'length', 'red ']) {
      expect(await refusal(own.fetch, binding, 'ListTasks', { tenant }, { as: 'carol' })).toMatchObject({
        reason: 'INVALID_PARAMS',
        fields: ['tenant'],
      })
    }
    expect(await refusal(own.fetch, binding, 'ListTasks', { tenant: 'red' }, { as: 'alice' })).toMatchObject({ fields: ['tenant'] })
  })

  test('a tenant in the path and another in the body are refused together', async () => {
    const headers = { 'a2a-version': '1.0', authorization: 'Bearer carol', 'content-type': 'application/json' }
    const body = JSON.stringify({ message: userMessage('x'), tenant: 'blue' })
    const response = await own.fetch(new Request('http://agent.test/rest/red/message:send', { method: 'POST', headers, body }))
    expect(response.status).toBe(400)
    expect(((await response.json()) as any).error.details[1].fieldViolations[0].field).toBe('tenant')
  })
})

describe('bearerTokens', () => {
  test.each<[string, any]>([
    ['an empty table', {}],
    ['an empty token', { '': 'alice' }],
    ['a token with a space', { 'a b': 'alice' }],
    ['a token with a comma', { 'a,b': 'alice' }],
    ['a user without id', { a: {} }],
    ['an empty id', { a: '' }],
    ['a user of an unknown member', { a: { id: 'a', admin: true } }],
    ['tenants that are no list', { a: { id: 'a', tenants: 'red' } }],
    ['an unset variable', { a: undefined }],
  ])('refuses %s', (_, tokens) => {
    expect(() => bearerTokens(tokens)).toThrow(TypeError)
  })

  test.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])('knows no token %s but its own', async (token) => {
    const own = await openServer(scriptAgent, { auth: bearerTokens({ secret: 'alice' }) })
    expect((await call(own.fetch, 'JSONRPC', 'ListTasks', {}, { as: token })).status).toBe(401)
    expect((await call(own.fetch, 'JSONRPC', 'ListTasks', {}, { as: 'secret' })).status).toBe(200)
    await own.close()
  })

  test('looks a token up by its digest, so that the table holds none', () => {
    const auth = bearerTokens({ 'very-secret': 'alice' })
    expect(JSON.stringify(auth)).not.toContain('very-secret')
    expect(auth.identify({ header: () => 'Bearer very-secret', now: Date.now })).toMatchObject({ id: 'alice', authenticated: true })
  })
})
