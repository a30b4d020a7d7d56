/** Field cases of who may see what. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SignJWT } from 'jose'
import { describe, expect, onTestFinished, test } from 'vitest'
import { agent, anonymous, bearerTokens, chunk, completed, jwt, type Server, sqlite, working } from '../../src/index.js'
import type { OperationName } from '../../src/protocol/operations.js'
import { operationNames } from '../../src/protocol/operations.js'
import { virtualWorld } from '../../src/testing/virtual-world.js'
import { scriptAgent } from '../harness/script-agent.js'
import { bindingNames, call, frames, openServer, refusal, requestFor, result, userMessage } from '../harness/server.js'
import { closeStill, openStill, statesOf, take, takeAll, until, withStore } from '../runtime/kit.js'

const madeUp = '019b7a3c-1111-7222-8333-444455556666'
const url = 'https://hook.test/'
const secrets = { token: 'secret-token', authentication: { scheme: 'Bearer', credentials: 'secret-credentials' } }

/** Every way to reach a task by its id. */
const reaches: readonly (readonly [OperationName, (id: string) => Record<string, unknown>])[] = [
  ['SendMessage', (taskId) => ({ message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'mine' }], taskId } })],
  ['SendStreamingMessage', (taskId) => ({ message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'mine' }], taskId } })],
  ['GetTask', (id) => ({ id })],
  ['CancelTask', (id) => ({ id })],
  ['SubscribeToTask', (id) => ({ id })],
  ['CreateTaskPushNotificationConfig', (taskId) => ({ taskId, id: 'hook', url })],
  ['GetTaskPushNotificationConfig', (taskId) => ({ taskId, id: 'hook' })],
  ['ListTaskPushNotificationConfigs', (taskId) => ({ taskId })],
  ['DeleteTaskPushNotificationConfig', (taskId) => ({ taskId, id: 'hook' })],
]

/** The least that each operation takes. */
const least = (name: OperationName): Record<string, unknown> =>
  name === 'ListTasks' || name === 'GetExtendedAgentCard' ? {} : (reaches.find(([one]) => one === name)?.[1](madeUp) ?? {})

describe.each(bindingNames)('over %s', (binding) => {
  test.each(['ask', 'hold', 'echo'])(
    'F002 a task that others can reach: after “%s” every operation answers a stranger as if it did not exist',
    async (text) => {
      const looked: string[] = []
      const store = withStore((inner) => ({
        find(caller, id) {
          looked.push(caller.owner)
          return inner.find(caller, id)
        },
      }))
      const { fetch } = await openStill(scriptAgent, { push: true, store })
      const { task } = await result(fetch, binding, 'SendMessage', {
        message: userMessage(text),
        configuration: { returnImmediately: text === 'hold', taskPushNotificationConfig: { id: 'hook', url, ...secrets } },
      })
      const all = async () => [
        (await call(fetch, binding, 'GetTask', { id: task.id })).text,
        (await call(fetch, binding, 'ListTaskPushNotificationConfigs', { taskId: task.id })).text,
      ]
      await until(async () => !(await all())[0]?.includes('SUBMITTED'))
      const before = await all()
      looked.length = 0
      for (const [operation, params] of reaches) {
        const seen = async (id: string) => {
          const { status, headers, text } = await call(fetch, binding, operation, params(id), { as: 'bob' })
          return { status, headers: [...headers], text: text.replaceAll(id, 'ID') }
        }
        const theirs = await seen(task.id)
        expect([operation, theirs]).toEqual([operation, await seen(madeUp)])
        expect(theirs.text).toContain('TASK_NOT_FOUND')
        expect(theirs.text).not.toContain('secret')
      }
      // Bob's own rows are all that was ever asked for.
      expect(new Set(looked)).toEqual(new Set(['bob']))
      expect(await all()).toEqual(before)
      expect((await result(fetch, binding, 'ListTasks', {}, { as: 'bob' })).totalSize).toBe(0)
    },
  )

  test.each([
    ['alice', undefined],
    ['carol', 'red'],
  ])('F034 work that forgets for whom: what is done later for %s (tenant %s) is hers, before and after a restart', async (as, tenant) => {
    const folder = mkdtempSync(join(tmpdir(), 'errand-field-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const world = virtualWorld()
    const open = () =>
      openServer(scriptAgent, { world, concurrency: 1, store: sqlite(join(folder, 'tasks.db'), { durability: 'process' }) })
    const more = tenant === undefined ? {} : { tenant }
    let { fetch, close } = await open()
    onTestFinished(() => closeStill({ close }, world))
    const ask = (operation: OperationName, params: object, who = as, where: object = more) =>
      result(fetch, binding, operation, { ...params, ...where }, { as: who })
    const send = async (text: string, context: object = {}) => {
      const { task } = await ask('SendMessage', { message: userMessage(text, { ...context }), configuration: { returnImmediately: true } })
      return task.id as string
    }
    const stateOf = async (id: string) => (await ask('GetTask', { id })).status.state
    // The only place is Bob's for now, so that these run later, out of the queue.
    const { task: bobs } = await ask('SendMessage', { message: userMessage('work'), configuration: { returnImmediately: true } }, 'bob', {})
    const ids = [await send('remember k v', { contextId: 'mine' }), await send('slow 5000'), await send('ask'), await send('work')]
    await ask('SendMessage', { message: userMessage('go', { taskId: bobs.id }), configuration: { returnImmediately: true } }, 'bob', {})
    await world.advance(6_000)
    const [, slept = '', asked = '', held = ''] = ids
    const states = await Promise.all(ids.map(stateOf))
    // Who sleeps has no place; when its time came, there was none either.
    expect(states).toEqual(['TASK_STATE_COMPLETED', 'TASK_STATE_WORKING', 'TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_WORKING'])
    const stream = frames(fetch, binding, 'SubscribeToTask', { id: held, ...more }, { as })
    await take(stream, 1)
    expect((await ask('CancelTask', { id: held })).status.state).toBe('TASK_STATE_CANCELED')
    expect(statesOf(await takeAll(stream))).toEqual(['CANCELED'])
    await until(async () => (await stateOf(slept)) === 'TASK_STATE_COMPLETED')
    const lost = await send('hold')
    await until(async () => (await stateOf(lost)) === 'TASK_STATE_WORKING')
    await closeStill({ close }, world)
    ;({ fetch, close } = await open())
    // Taken up by the next server, in the name of its owner.
    expect(await stateOf(lost)).toBe('TASK_STATE_WORKING')
    const go = userMessage('go', { taskId: lost })
    expect(await ask('SendMessage', { message: go })).toMatchObject({
      task: { id: lost, status: { state: 'TASK_STATE_COMPLETED' }, artifacts: [{ parts: [{ data: { by: go.messageId } }] }] },
    })
    expect((await ask('SendMessage', { message: userMessage('42', { taskId: asked }) })).task.status.state).toBe('TASK_STATE_COMPLETED')
    const { task } = await ask('SendMessage', { message: userMessage('recall k', { contextId: 'mine' }) })
    expect(task.artifacts[0].parts).toEqual([{ data: { value: 'v' } }])
    expect((await ask('ListTasks', {})).totalSize).toBe(6)
    for (const [who, where] of [
      ['bob', {}],
      ['carol', { tenant: 'blue' }],
      ['carol', {}],
    ] as const) {
      for (const id of ids)
        expect(await refusal(fetch, binding, 'GetTask', { id, ...where }, { as: who })).toMatchObject({ reason: 'TASK_NOT_FOUND' })
    }
  })

  test('F035 one id in two places: tasks of the same id share no stream, no inbox and no end', async () => {
    // Chance repeats itself wholly, so every task of this world has the same id.
    const world = { ...virtualWorld(), randomBytes: (length: number) => new Uint8Array(length).fill(7) }
    const { fetch } = await openStill(
      agent({ name: 'Echoing', description: 'Puts out what it hears.' }, async function* (task) {
        yield working('ready')
        for (let message = await task.inbox.next(); message; message = await task.inbox.next()) {
          const text = message.parts[0]?.text ?? ''
          if (text === 'end') break
          yield chunk('a', text)
        }
        return completed('done')
      }),
      { world },
    )
    const places = [
      { as: 'carol', more: { tenant: 'red' } },
      { as: 'carol', more: { tenant: 'blue' } },
      { as: 'carol', more: {} },
      { as: 'alice', more: {} },
    ]
    const opened = []
    for (const { as, more } of places) {
      const stream = frames(fetch, binding, 'SendStreamingMessage', { message: userMessage('go', { contextId: 'same' }), ...more }, { as })
      const seen = await take(stream, 2)
      const say = (text: string) =>
        result(
          fetch,
          binding,
          'SendMessage',
          { message: userMessage(text, { taskId: seen[0]?.data.task.id }), configuration: { returnImmediately: true }, ...more },
          { as },
        )
      opened.push({ stream, id: seen[0]?.data.task.id, say, name: `${as} ${JSON.stringify(more)}` })
    }
    expect(new Set(opened.map(({ id }) => id)).size).toBe(1)
    for (const { say, name } of opened) await say(name)
    for (const { say } of opened.reverse()) await say('end')
    for (const { stream, name } of opened) {
      const rest = await takeAll(stream)
      expect(rest.flatMap(({ data }) => data.artifactUpdate?.artifact.parts ?? [])).toEqual([{ text: name }])
      expect(statesOf(rest)).toEqual(['COMPLETED'])
    }
  })

  test.each<[string, string | undefined, string | null]>([
    ['without a token', undefined, null],
    ['with an unknown token', 'Bearer mallory', 'invalid_token'],
    ['with half a token', 'Bearer', null],
    ['with another scheme', 'Basic YWxpY2U6YWxpY2U=', null],
    ['with two tokens', 'Bearer alice, Bearer bob', null],
  ])('F113 an open door: every operation %s is 401 with WWW-Authenticate before any work is done', async (_, authorization, problem) => {
    const touched: string[] = []
    const store = withStore((inner) => {
      const told = Object.entries(inner).filter(([name]) => name !== 'close')
      const tell =
        (name: string, method: (...given: unknown[]) => unknown) =>
        (...given: unknown[]) => {
          touched.push(name)
          return method(...given)
        }
      return Object.fromEntries(told.map(([name, method]) => [name, tell(name, method)]))
    })
    const { fetch, world } = await openStill(scriptAgent, { store, push: true })
    // What the server looks for at its start is no work of theirs.
    await world.advance(0)
    touched.length = 0
    for (const operation of operationNames) {
      for (const method of operation === 'SubscribeToTask' && binding !== 'JSONRPC' ? ['GET', 'POST'] : [undefined]) {
        const made = requestFor(binding, operation, least(operation))
        const request = method === 'GET' ? new Request(made.url, { headers: made.headers }) : made
        request.headers.delete('authorization')
        if (authorization !== undefined) request.headers.set('authorization', authorization)
        const response = await fetch(request)
        expect([operation, response.status]).toEqual([operation, 401])
        expect(response.headers.get('www-authenticate')).toMatch(/^Bearer realm=/)
        if (problem) expect(response.headers.get('www-authenticate')).toContain(problem)
        expect(await response.text()).toContain('UNAUTHENTICATED')
      }
    }
    expect(touched).toEqual([])
  })
})

describe.each(bindingNames)('tokens of an issuer over %s', (binding) => {
  test('F113 a token that has run out: it is 401 from that moment on by the server’s clock, and one of another issuer always', async () => {
    const secret = 'more than thirty-two characters of text'
    const { fetch, world } = await openStill(scriptAgent, {
      auth: jwt({ issuer: 'https://issuer.test', audience: 'agent', secret, clockSkew: '10s' }),
    })
    const sign = (issuer: string, seconds: number, key = secret) =>
      new SignJWT({ sub: 'alice' })
        .setProtectedHeader({ alg: 'HS256' })
        .setIssuer(issuer)
        .setAudience('agent')
        .setExpirationTime(Math.floor(world.now() / 1000) + seconds)
        .sign(new TextEncoder().encode(key))
    const as = await sign('https://issuer.test', 60)
    const statusOf = async (token: string) => (await call(fetch, binding, 'ListTasks', {}, { as: token })).status
    expect(await statusOf(as)).toBe(200)
    for (const other of [
      await sign('https://other.test', 60),
      await sign('https://issuer.test', 60, `${secret}!`),
      `${as.slice(0, -3)}AAA`,
    ]) {
      expect(await statusOf(other)).toBe(401)
    }
    await world.advance(69_000)
    expect(await statusOf(as)).toBe(200)
    await world.advance(2_000)
    const late = await call(fetch, binding, 'SendStreamingMessage', { message: userMessage('echo') }, { as })
    expect([late.status, late.headers.get('www-authenticate')]).toEqual([401, expect.stringContaining('invalid_token')])
    expect((await call(fetch, binding, 'ListTasks', {}, { as: await sign('https://issuer.test', 60) })).text).toContain('"totalSize":0')
  })
})

test('F113 a card that promises too much: it names the schemes of the auth that is there, and is open to all', async () => {
  const cardOf = async (server: Server) =>
    (await (await server.fetch(new Request('http://agent.test/.well-known/agent-card.json'))).json()) as any
  const { server } = await openStill(scriptAgent)
  expect(await cardOf(server)).toMatchObject({
    securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }],
  })
  const { server: open } = await openStill(scriptAgent, { auth: anonymous() })
  for (const name of ['securitySchemes', 'securityRequirements']) expect(await cardOf(open)).not.toHaveProperty(name)
})

test('F113 a variable that was not set: bearerTokens refuses the token that it becomes, and an empty table', () => {
  expect(() => bearerTokens({ undefined: 'alice' })).toThrow(/is a variable not set/)
  expect(() => bearerTokens({ '': 'alice' })).toThrow(TypeError)
  expect(() => bearerTokens({})).toThrow(TypeError)
})
