/** Scopes: what a caller may do beyond being known, a 403 that says what is missing, and one line in the log. RFC 6750 §3.1, D16. */

import { beforeAll, describe, expect, test } from 'vitest'
import { agent, anonymous, bearerTokens, createServer, jwt, type ServerOptions, sqlite } from '../../src/index.js'
import { operationNames } from '../../src/protocol/operations.js'
import { scriptAgent } from '../harness/script-agent.js'
import { bindingNames, call, refusal, result, userMessage } from '../harness/server.js'
import { openStill } from '../runtime/kit.js'
import { audience, issuer, makeKey, type TestKey, tokenOf } from './issuer.js'

const auth = bearerTokens({
  reader: { id: 'alice', scopes: ['tasks:read'] },
  writer: { id: 'alice', scopes: ['tasks:read', 'tasks:write'] },
  nobody: 'alice',
})
const scopes = { '*': ['tasks:read'], SendMessage: ['tasks:read', 'tasks:write'], GetTask: [] } as const
const open = (options: Partial<ServerOptions> = {}) => openStill(scriptAgent, { auth, scopes, ...options })

describe.each(bindingNames)('over %s', (binding) => {
  test('a caller with the scopes of an operation may use it', async () => {
    const { fetch } = await open()
    const { task } = await result(fetch, binding, 'SendMessage', { message: userMessage('x') }, { as: 'writer' })
    expect((await result(fetch, binding, 'ListTasks', {}, { as: 'reader' })).totalSize).toBe(1)
    // An empty list takes an operation out of what * asks for.
    expect((await result(fetch, binding, 'GetTask', { id: task.id }, { as: 'nobody' })).id).toBe(task.id)
  })

  test('a caller without one of them gets a 403 that names them, and nothing is stored', async () => {
    const { fetch } = await open()
    const answer = await call(fetch, binding, 'SendMessage', { message: userMessage('x') }, { as: 'reader' })
    expect(answer.status).toBe(403)
    expect(answer.headers.get('www-authenticate')).toBe('Bearer error="insufficient_scope", scope="tasks:read tasks:write"')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const { error } = answer.body as any
    expect(error.code).toBe(binding === 'JSONRPC' ? -32000 : 403)
    expect((error.data ?? error.details)[0].reason).toBe('PERMISSION_DENIED')
    expect((await result(fetch, binding, 'ListTasks', {}, { as: 'reader' })).totalSize).toBe(0)
  })

  test('what stands under * is asked for every operation that is not named', async () => {
    const { fetch } = await open({ push: true, scopes: { '*': ['all'] } })
    const params = { id: 'x', taskId: 'x', message: userMessage('x') }
    for (const operation of operationNames) {
      const { reason } = await refusal(fetch, binding, operation, params, { as: 'writer' })
      expect([operation, reason]).toEqual([operation, operation === 'GetExtendedAgentCard' ? 'UNSUPPORTED_OPERATION' : 'PERMISSION_DENIED'])
    }
  })

  test('a missing scope is told after the version and before the parameters, and never instead of a 401 (D16)', async () => {
    const { fetch } = await open()
    const bad = { message: { parts: [] } }
    expect(await refusal(fetch, binding, 'SendMessage', bad, { as: 'reader' })).toMatchObject({ reason: 'PERMISSION_DENIED' })
    expect(await refusal(fetch, binding, 'SendMessage', bad, { as: 'writer' })).toMatchObject({ reason: 'INVALID_PARAMS' })
    const old = { as: 'reader', headers: { 'a2a-version': '0.3' } }
    expect(await refusal(fetch, binding, 'SendMessage', bad, old)).toMatchObject({ reason: 'VERSION_NOT_SUPPORTED' })
    expect(await refusal(fetch, binding, 'SendMessage', bad, { as: 'mallory' })).toMatchObject({ reason: 'UNAUTHENTICATED' })
  })

  test('a missing scope says nothing of the task that was asked for', async () => {
    const { fetch } = await open()
    const { task } = await result(fetch, binding, 'SendMessage', { message: userMessage('x') }, { as: 'writer' })
    const cancel = (id: string) => call(fetch, binding, 'CancelTask', { id }, { as: 'nobody' })
    expect((await cancel(task.id)).text).toBe((await cancel('nope')).text)
  })

  test('a stream is refused by a plain 403', async () => {
    const { fetch } = await open({ scopes: { SendStreamingMessage: ['stream'], SubscribeToTask: ['stream'] } })
    for (const operation of ['SendStreamingMessage', 'SubscribeToTask'] as const) {
      const answer = await call(fetch, binding, operation, { id: 'x', message: userMessage('x') }, { as: 'reader' })
      expect([answer.status, answer.headers.get('content-type')]).toEqual([
        403,
        binding === 'JSONRPC' ? 'application/json' : 'application/a2a+json',
      ])
    }
  })

  test.each([
    ['a missing scope', 'reader', 403],
    ['a token that does not hold', 'mallory-secret', 401],
  ])('%s leaves one line in the log, without the token', async (_, as, status) => {
    const { fetch, lines } = await open()
    expect((await call(fetch, binding, 'SendMessage', { message: userMessage('x') }, { as })).status).toBe(status)
    const path = binding === 'JSONRPC' ? '/a2a/v1' : '/rest/message:send'
    expect(lines).toEqual([{ level: 'info', message: 'a caller was refused', fields: { status, method: 'POST', path, peer: undefined } }])
    expect(JSON.stringify(lines)).not.toMatch(/reader|secret/)
  })

  test('an answer that is no refusal of the caller leaves none', async () => {
    const { fetch, lines } = await open()
    await call(fetch, binding, 'GetTask', { id: 'nope' }, { as: 'reader' })
    await call(fetch, binding, 'ListTasks', { pageSize: -1 }, { as: 'reader' })
    expect(lines).toEqual([])
  })
})

test('a line in the log holds no query, and not more of a path than it needs', async () => {
  const { fetch, lines } = await open()
  await fetch(new Request(`http://agent.test/rest/tasks/${'x.'.repeat(2500)}?token=secret`, { headers: { 'a2a-version': '1.0' } }))
  expect(lines).toHaveLength(1)
  expect(lines[0]?.fields['path']).toHaveLength(200)
  expect(JSON.stringify(lines)).not.toContain('secret')
})

describe('scopes of a JSON Web Token', () => {
  let key: TestKey
  beforeAll(async () => {
    key = await makeKey('one')
  })

  test.each<[string, unknown, string | undefined, number]>([
    ['a text', 'profile tasks:write tasks:read', undefined, 200],
    ['a list', ['tasks:read', 'tasks:write'], undefined, 200],
    ['a text under another name', 'tasks:read tasks:write', 'scp', 200],
    ['a text without one of them', 'tasks:read', undefined, 403],
    ['a text with another one that begins alike', 'tasks:read tasks:writer', undefined, 403],
    ['other letters', 'tasks:read TASKS:WRITE', undefined, 403],
    ['a list of one text with both', ['tasks:read tasks:write'], undefined, 403],
    ['no claim at all', undefined, undefined, 403],
    ['an object', { 'tasks:read': true, 'tasks:write': true }, undefined, 403],
    ['numbers', [1, 2], undefined, 403],
  ])('stand in their claim as %s', async (_, scope, scopeClaim, status) => {
    const byToken = jwt({ issuer, audience, jwks: { keys: [key.publicJwk] as never }, ...(scopeClaim !== undefined && { scopeClaim }) })
    const { fetch } = await open({ auth: byToken })
    const as = await tokenOf(key, { claims: { [scopeClaim ?? 'scope']: scope } })
    for (const binding of bindingNames) {
      expect((await call(fetch, binding, 'SendMessage', { message: userMessage('x') }, { as })).status).toBe(status)
    }
  })
})

test('the card names the scopes that every operation needs', async () => {
  const cardOf = async (options: Partial<ServerOptions>): Promise<any> => {
    const { fetch } = await open(options)
    return (await fetch(new Request('http://agent.test/.well-known/agent-card.json'))).json()
  }
  expect((await cardOf({})).securityRequirements).toEqual([{ schemes: { bearer: { list: ['tasks:read'] } } }])
  expect((await cardOf({ scopes: { SendMessage: ['a'] } })).securityRequirements).toEqual([{ schemes: { bearer: { list: [] } } }])
  const none = await cardOf({ auth: anonymous(), scopes: {} })
  expect([none.securitySchemes, none.securityRequirements]).toEqual([undefined, undefined])
})

test('the extended card may have scopes of its own', async () => {
  const more = agent({ name: 'A', description: 'B', extendedCard: () => ({ description: 'C' }) }, () => 'x')
  const { fetch } = await openStill(more, { auth, scopes: { GetExtendedAgentCard: ['tasks:write'] } })
  expect(await refusal(fetch, 'JSONRPC', 'GetExtendedAgentCard', {}, { as: 'reader' })).toMatchObject({ status: 403 })
  expect(await result(fetch, 'JSONRPC', 'GetExtendedAgentCard', {}, { as: 'writer' })).toMatchObject({ description: 'C' })
})

describe('options', () => {
  const start = (options: object) => createServer(scriptAgent, { store: sqlite(':memory:'), auth, url: 'https://agent.test', ...options })

  test.each([
    { SendMessage: ['a b'] },
    { SendMessage: ['a"b'] },
    { SendMessage: [''] },
    { SendMessage: ['ä'] },
    { sendMessage: ['a'] },
    [],
  ])('scopes do not take %j', async (wrong) => {
    await expect(start({ scopes: wrong })).rejects.toThrow(/^createServer: option scopes takes an object of lists of texts .+; it got .+$/)
  })

  test('scopes that nobody could ever have are refused', async () => {
    await expect(start({ auth: anonymous(), scopes: { ListTasks: [], SendMessage: ['a'] } })).rejects.toThrow(
      'the option scopes needs a server with auth: without credentials nobody has the scopes of "SendMessage"',
    )
    await (await start({ auth: anonymous(), scopes: { '*': [] } })).close()
  })
})
