/** What travels beside a request on both bindings: the version and the extensions. Spec §3.6, §4.6. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { agent, type Server } from '../../src/index.js'
import { type BindingName, bindingNames, openServer, userMessage } from '../harness/server.js'
import { envelope, raw, rpcPath } from './raw.js'

const seen: (readonly string[])[] = []
const watcher = (required: boolean) =>
  agent(
    {
      name: 'Watcher',
      description: 'Notes which extensions are active.',
      extensions: [
        { uri: 'urn:test:a', description: 'The first.' },
        { uri: 'urn:test:b' },
        ...(required ? [{ uri: 'urn:test:must', required: true }] : []),
      ],
    },
    (task) => {
      seen.push(task.extensions)
    },
  )

let open: Server
let strict: Server
beforeAll(async () => {
  open = await openServer(watcher(false))
  strict = await openServer(watcher(true))
})
afterAll(() => Promise.all([open.close(), strict.close()]))

const list = (server: Server, binding: BindingName, headers: Readonly<Record<string, string | undefined>>, query = '') =>
  binding === 'JSONRPC' ? raw(server, `${rpcPath}${query}`, { body: envelope(), headers }) : raw(server, `/rest/tasks${query}`, { headers })

const send = (server: Server, binding: BindingName, extensions: string | undefined, stream = false) => {
  const params = { message: userMessage('x') }
  const headers = { 'a2a-extensions': extensions }
  if (binding === 'JSONRPC')
    return raw(server, rpcPath, { body: envelope({ method: stream ? 'SendStreamingMessage' : 'SendMessage', params }), headers })
  return raw(server, `/rest/message:${stream ? 'stream' : 'send'}`, { body: JSON.stringify(params), headers })
}

describe.each(bindingNames)('the version over %s', (binding) => {
  test.each(['1.0', '1.0.1', '1.0.99', ' 1.0 '])('%j is spoken', async (version) => {
    expect((await list(open, binding, { 'a2a-version': version })).text).toContain('"tasks":[]')
  })

  test.each(['0.3', '0.3.0', '1.1', '2.0', '1', '1.0.0.0', 'v1.0', '01.0', 'latest', '1.0, 1.1'])(
    '%j is not, and the answer names what is',
    async (version) => {
      const answer = await list(open, binding, { 'a2a-version': version })
      expect([answer.status, answer.reason]).toEqual([binding === 'JSONRPC' ? 200 : 400, 'VERSION_NOT_SUPPORTED'])
      const { error } = answer.body
      expect(error.code).toBe(binding === 'JSONRPC' ? -32009 : 400)
      expect((error.data ?? error.details)[0].metadata).toEqual({ requestedVersion: version, supportedVersions: '1.0' })
      expect(error.message).toContain('1.0')
    },
  )

  test('absent or empty it is 0.3', async () => {
    for (const version of [undefined, '']) {
      const answer = await list(open, binding, { 'a2a-version': version })
      expect((answer.body.error.data ?? answer.body.error.details)[0].metadata.requestedVersion).toBe('0.3')
    }
  })

  test('it may stand in the query; a header says more', async () => {
    expect((await list(open, binding, { 'a2a-version': undefined }, '?A2A-Version=1.0')).text).toContain('"tasks":[]')
    expect((await list(open, binding, { 'a2a-version': '0.3' }, '?A2A-Version=1.0')).reason).toBe('VERSION_NOT_SUPPORTED')
  })
})

describe.each(bindingNames)('extensions over %s', (binding) => {
  test.each([
    [undefined, null, []],
    ['', null, []],
    ['urn:test:unknown', null, []],
    ['urn:test:a', 'urn:test:a', ['urn:test:a']],
    ['urn:test:b,urn:test:unknown , urn:test:a,urn:test:b', 'urn:test:b, urn:test:a', ['urn:test:b', 'urn:test:a']],
  ])('of %j the answer names %j, and the agent sees those', async (sent, named, active) => {
    for (const stream of [false, true]) {
      seen.length = 0
      const answer = await send(open, binding, sent, stream)
      expect([answer.status, answer.headers.get('a2a-extensions'), seen]).toEqual([200, named, [active]])
    }
  })

  test('repeated headers count as one list', async () => {
    const headers = new Headers({ 'a2a-version': '1.0', authorization: 'Bearer alice', 'content-type': 'application/json' })
    headers.append('a2a-extensions', 'urn:test:a')
    headers.append('a2a-extensions', 'urn:test:b')
    const request =
      binding === 'JSONRPC'
        ? new Request(`http://agent.test${rpcPath}`, { method: 'POST', headers, body: envelope() })
        : new Request('http://agent.test/rest/tasks', { headers })
    expect((await open.fetch(request)).headers.get('a2a-extensions')).toBe('urn:test:a, urn:test:b')
  })

  test('a required one that is not listed refuses the call before anything is stored', async () => {
    for (const extensions of [undefined, 'urn:test:a', 'urn:test:mus', 'URN:TEST:MUST']) {
      for (const stream of [false, true]) {
        seen.length = 0
        const answer = await send(strict, binding, extensions, stream)
        expect([answer.reason, answer.body.error.code]).toEqual(['EXTENSION_SUPPORT_REQUIRED', binding === 'JSONRPC' ? -32008 : 400])
        expect((answer.body.error.data ?? answer.body.error.details)[0].metadata).toEqual({ extension: 'urn:test:must' })
        expect(seen).toEqual([])
      }
    }
    expect((await list(strict, binding, { 'a2a-extensions': 'urn:test:must' })).text).toContain('"totalSize":0')
  })

  test('the card names them', async () => {
    const { body } = await raw(strict, '/.well-known/agent-card.json', { headers: { authorization: undefined, 'a2a-version': undefined } })
    expect(body.capabilities.extensions).toEqual([
      { uri: 'urn:test:a', description: 'The first.' },
      { uri: 'urn:test:b' },
      { uri: 'urn:test:must', required: true },
    ])
  })
})

test.each(bindingNames)('a required extension that is listed lets the call pass over %s', async (binding) => {
  seen.length = 0
  const own = await openServer(watcher(true))
  expect((await send(own, binding, 'urn:test:must')).headers.get('a2a-extensions')).toBe('urn:test:must')
  expect(seen).toEqual([['urn:test:must']])
  await own.close()
})
