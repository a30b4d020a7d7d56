/** Every option of every door, unknown, missing and wrong: one sentence that names it, what it got and what it takes. */

import { describe, expect, test } from 'vitest'
import { agent, anonymous, bearerTokens, createServer, serve, sqlite } from '../../src/index.js'
import { defaultLimits, defaultMounts, serverRules } from '../../src/server/options.js'
import { openServer, openSocket } from '../harness/server.js'

const echo = agent({ name: 'Echo', description: 'Says it again.' }, ({ text }) => text)
const settled = { store: sqlite(':memory:'), auth: anonymous(), url: 'https://agent.test' }

// The types forbid what is tried here; people without them, and settings from files, do it all the same.
type Untyped = (...args: readonly unknown[]) => unknown
const doors = {
  agent: (info: unknown) => (agent as Untyped)(info, () => 'done'),
  createServer: (options: unknown) => (createServer as Untyped)(echo, options),
  serve: (options: unknown) => (serve as Untyped)(echo, options),
  sqlite: (options: unknown) => (sqlite as Untyped)(':memory:', options),
} as const

/** The message of the TypeError that `attempt` ends in, at once or later. */
async function complaint(attempt: () => unknown): Promise<string> {
  try {
    await attempt()
  } catch (error) {
    if (error instanceof TypeError) return error.message
    throw error
  }
  throw new Error('it was accepted')
}

const wrongInfo: Readonly<Record<string, readonly unknown[]>> = {
  name: ['', '  ', 7, null, 'half \ud83d'],
  description: ['', 7, null],
  version: ['', 2],
  inputModes: ['text/plain', [''], [7], [], ['banana']],
  outputModes: ['text/plain', [null], {}],
  tags: ['one', [1]],
  examples: ['one', [{}]],
  provider: [
    'Acme',
    { organization: 'Acme' },
    { organization: 'Acme', url: 'acme' },
    { organization: 'A', url: 'https://a.test', x: 1 },
    { organization: '', url: 'https://acme.test' },
  ],
  documentationUrl: ['docs', 'ftp://acme.test', 7],
  iconUrl: ['icon.png', 'javascript:alert(1)'],
  extensions: [
    {},
    ['https://acme.test/x'],
    [{ uri: '' }],
    [{ uri: 'urn:x', requird: true }],
    [{ uri: 'urn:x', required: 'false' }],
    [{ uri: 'urn:a,urn:b' }],
    [{ uri: 'urn:x\r\nset-cookie: a' }],
    [{ uri: 'urn:x' }, { uri: 'urn:x' }],
  ],
  extendedCard: [{}, true],
  recovery: ['resume', '', true, null],
  inactivity: ['soon', '', '0s', 0, -1, '-1m', Number.NaN, Number.POSITIVE_INFINITY, null, {}],
  answer: ['Hello!', {}],
}

const wrongOptions: Readonly<Record<keyof typeof serverRules, readonly unknown[]>> = {
  store: ['tasks.db', {}, 7, null],
  auth: ['token', { token: 'alice' }, null, true],
  url: ['agent.test', 'https://agent.test/?a=1', 'https://user:word@agent.test', 'https://agent.test/#top', 443],
  trustedProxies: ['10.0.0.1', ['proxy.test'], ['10.0.0.0/99'], [7]],
  signing: [
    {},
    { key: {}, kid: 'k' },
    { key: {}, kid: 'k', alg: 'none' },
    { key: {}, kid: 'k', alg: 'HS256' },
    { key: {}, kid: 'k', alg: 'ES256', x: 1 },
  ],
  scopes: [['a'], { Nothing: ['a'] }, { GetTask: 'a' }, { '*': [''] }],
  cors: [
    ['https://app.test'],
    { origins: 'https://app.test' },
    { origins: ['https://app.test/'] },
    { origins: ['*'], credentials: true },
    { origins: [], x: 1 },
  ],
  mounts: ['/a2a', 7, []],
  limits: [100, 'many', []],
  concurrency: [0, -1, 1.5, '10', Number.NaN, Number.POSITIVE_INFINITY, 10n],
  idempotency: ['yes', 1, null],
  clientContextIds: ['no', 0],
  push: ['yes', 1, []],
  outbound: [
    ['10.0.0.0/8'],
    { allow: '10.0.0.0/8' },
    { allow: ['169.254.169.254'] },
    { allow: ['*.internal'] },
    { allow: ['ftp://files.internal'] },
    { open: [] },
  ],
  oauth: ['calendar', [], null],
  lostKey: ['ignore', true],
  secretKey: ['too short', 7, 'x'.repeat(31), ' '.repeat(40)],
  log: [true, {}, { info: () => {} }],
  world: [{}, { now: () => 0 }, 'real'],
}

const everyWrong = (table: Readonly<Record<string, readonly unknown[]>>) =>
  Object.entries(table).flatMap(([option, values]) => values.map((value) => ({ option, value })))

describe('agent', () => {
  test.each(everyWrong(wrongInfo))('option $option does not take $value', async ({ option, value }) => {
    expect(await complaint(() => doors.agent({ name: 'A', description: 'Does it.', [option]: value }))).toMatch(
      new RegExp(`^agent: option ${option} takes .+; it got .+$`),
    )
  })

  test.each(['name', 'description'])('option %s is needed', async (option) => {
    const rest = option === 'name' ? { description: 'Does it.' } : { name: 'A' }
    expect(await complaint(() => doors.agent(rest))).toBe(`agent needs the option ${option}: a text`)
  })

  test('an option that does not exist is named beside those that do', async () => {
    const said = await complaint(() => doors.agent({ name: 'A', description: 'Does it.', skils: [] }))
    expect(said).toBe(`agent has no option "skils"; it takes ${Object.keys(wrongInfo).join(', ')}`)
  })

  test.each([undefined, null, 'A', 7, []])('%j is no object of options', async (info) => {
    expect(await complaint(() => doors.agent(info))).toMatch(/^agent takes an object of options; it got /)
  })

  test.each([undefined, null, 'done', {}])('%j is no function that does the work', async (run) => {
    const said = await complaint(() => (agent as Untyped)({ name: 'A', description: 'Does it.' }, run))
    expect(said).toMatch(/^agent takes the function that does the work as its second argument; it got /)
  })

  test('an option that is undefined counts as left out', () => {
    expect(doors.agent({ name: 'A', description: 'Does it.', version: undefined, tags: undefined })).toMatchObject({ version: '1.0.0' })
  })

  test('what agent() made cannot be changed', () => {
    expect(Object.isFrozen(echo)).toBe(true)
  })
})

describe.each(['createServer', 'serve'] as const)('%s', (door) => {
  test.each(everyWrong(wrongOptions))('option $option does not take $value', async ({ option, value }) => {
    const said = await complaint(() => doors[door]({ ...settled, [option]: value }))
    expect(said).toMatch(new RegExp(`^${door}: option ${option} takes .+; it got .+$`))
  })

  test.each(Object.keys(defaultLimits))('limit %s takes a whole number from 0 and nothing else', async (limit) => {
    for (const value of [-1, 1.5, '10', null, Number.NaN]) {
      const said = await complaint(() => doors[door]({ ...settled, limits: { [limit]: value } }))
      expect(said).toMatch(new RegExp(`^${door}: limits: option ${limit} takes a whole number.*; it got .+$`))
    }
  })

  test.each(Object.keys(defaultMounts))('mount %s takes a path and nothing else', async (mount) => {
    for (const value of [
      '',
      '/',
      'rest',
      '/rest/',
      '/a b',
      '/a?b',
      '//a',
      '/a/../b',
      '/./a',
      '/.well-known',
      '/.well-known/agent-card.json',
      7,
      null,
    ]) {
      const said = await complaint(() => doors[door]({ ...settled, mounts: { [mount]: value } }))
      expect(said).toMatch(new RegExp(`^${door}: mounts: option ${mount} takes a path such as '/a2a/v1'; it got .+$`))
    }
  })

  test.each([{ jsonRpc: '/rest' }, { jsonRpc: '/rest/rpc' }, { jsonRpc: '/a', httpJson: '/a/b' }])(
    'mounts %j lie within each other and are refused',
    async (mounts) => {
      expect(await complaint(() => doors[door]({ ...settled, mounts }))).toMatch(
        new RegExp(`^${door}: mounts jsonRpc and httpJson must not lie within each other; they are /`),
      )
    },
  )

  test('an option that does not exist is named beside those that do', async () => {
    const said = await complaint(() => doors[door]({ ...settled, stores: settled.store }))
    expect(said).toMatch(new RegExp(`^${door} has no option "stores"; it takes ${Object.keys(serverRules).join(', ')}`))
    expect(await complaint(() => doors[door]({ ...settled, limits: { bodyMb: 1 } }))).toBe(
      `${door}: limits has no option "bodyMb"; it takes ${Object.keys(defaultLimits).join(', ')}`,
    )
    expect(await complaint(() => doors[door]({ ...settled, mounts: { grpc: '/grpc' } }))).toBe(
      `${door}: mounts has no option "grpc"; it takes jsonRpc, httpJson`,
    )
  })

  test.each([null, 'tasks.db', 7, []])('%j is no object of options', async (options) => {
    expect(await complaint(() => doors[door](options))).toMatch(new RegExp(`^${door} takes an object of options; it got `))
  })

  test.each([undefined, null, {}, () => 'done', { ...echo }])('%s is no agent', async (given) => {
    const open: Untyped = door === 'serve' ? (serve as Untyped) : (createServer as Untyped)
    const said = await complaint(() => open(given, settled))
    expect(said).toMatch(/^a server takes what agent\(\) made as its first argument; it got /)
  })

  test('credentials given in the place of an auth are not shown', async () => {
    const said = await complaint(() => doors[door]({ ...settled, auth: { 'token-of-alice': 'alice' } }))
    expect(said).toBe(`${door}: option auth takes bearerTokens(…), jwt(…) or anonymous(); it got an object`)
    expect(await complaint(() => doors[door]({ ...settled, auth: 'token-of-alice' }))).not.toMatch(/alice/)
  })

  test('a wrong value is shown short, and whatever it is', async () => {
    const loop: Record<string, unknown> = {}
    loop['self'] = loop
    expect(await complaint(() => doors[door]({ ...settled, log: loop }))).toMatch(/it got an object$/)
    expect(await complaint(() => doors[door]({ ...settled, url: 'x'.repeat(10_000) }))).toHaveLength(
      `${door}: option url takes an http or https URL without query; it got `.length + 81,
    )
  })
})

describe('createServer', () => {
  test.each(['store', 'url', 'auth'] as const)('option %s is needed', async (option) => {
    const { [option]: _, ...rest } = settled
    expect(await complaint(() => doors.createServer(rest))).toMatch(new RegExp(`^createServer needs the option ${option}: .+`))
  })

  test('a server without options is refused', async () => {
    expect(await complaint(() => doors.createServer(undefined))).toBe('createServer takes an object of options; it got undefined')
  })

  test('an option that is undefined counts as left out', async () => {
    const server = await openServer(echo, Object.fromEntries(['concurrency', 'idempotency', 'limits'].map((name) => [name, undefined])))
    expect((await server.fetch(new Request('https://agent.test/.well-known/agent-card.json'))).status).toBe(200)
    await server.close()
  })
})

describe('serve', () => {
  test.each([
    { option: 'port', values: [-1, 65_536, 1.5, '4000', null] },
    { option: 'host', values: ['', 7, null] },
  ])('option $option does not take what is no $option', async ({ option, values }) => {
    for (const value of values) {
      expect(await complaint(() => doors.serve({ ...settled, [option]: value }))).toMatch(
        new RegExp(`^serve: option ${option} takes .+; it got .+$`),
      )
    }
  })

  test.each(['0.0.0.0', '::', '192.0.2.1', 'agent.test'])('without auth the host %s is refused', async (host) => {
    const said = await complaint(() => doors.serve({ store: settled.store, host }))
    expect(said).toMatch(/^serve: without the option auth the host must be a loopback address; it is ".+"\. Give auth: /)
  })

  test('the card names the url that was given, without a slash at its end', async () => {
    const server = await openSocket(echo, { url: 'https://agent.test/base/' })
    const request = new Request('https://agent.test/.well-known/agent-card.json')
    expect(await (await server.fetch(request)).json()).toMatchObject({
      supportedInterfaces: [{ url: 'https://agent.test/base/a2a/v1' }, {}],
    })
    await server.close()
  })

  test('a port that is taken is told, and the store is free again', async () => {
    const first = await openSocket(echo)
    const port = Number(new URL(first.url).port)
    await expect(openSocket(echo, { port })).rejects.toThrow(
      /^serve: cannot listen on 127\.0\.0\.1, port \d+ \(.*EADDRINUSE.*\)\. Choose another/,
    )
    await first.close()
  })
})

describe('bearerTokens', () => {
  const tokens = bearerTokens as Untyped

  test.each([undefined, null, 'token', 7, ['token']])('%j is no table of tokens', async (table) => {
    expect(await complaint(() => tokens(table))).toMatch(/^bearerTokens takes an object from token to user; it got /)
  })

  test('a table without tokens is refused', async () => {
    expect(await complaint(() => tokens({}))).toBe('bearerTokens takes an object from token to user; it got none')
  })

  test.each(['', 'a b', 'a,b', ' a'])('%j is no token, and is not shown', async (token) => {
    expect(await complaint(() => tokens({ [token]: 'alice' }))).toBe(
      `bearerTokens: a token is a text without spaces and commas; it got one of ${token.length} characters that is not`,
    )
  })

  test.each([undefined, null])('a variable that is %s is no token', async (unset) => {
    expect(await complaint(() => tokens({ [String(unset)]: 'alice' }))).toBe(`bearerTokens: a token is ${unset}; is a variable not set?`)
  })

  test.each(['', 7, null, [], {}, { id: '' }, { id: 7 }])('%j is no user', async (user) => {
    expect(await complaint(() => tokens({ token: user }))).toMatch(
      /^bearerTokens: a user is an id, or an object with id, scopes and tenants; it got /,
    )
  })

  test.each(['scopes', 'tenants'])('%s of a user is a list of texts', async (name) => {
    for (const list of ['red', [7], [''], {}, null]) {
      expect(await complaint(() => tokens({ token: { id: 'alice', [name]: list } }))).toMatch(
        new RegExp(`^bearerTokens: ${name} of user "alice" takes a list of texts; it got .+$`),
      )
    }
  })

  test('a member of a user that does not exist is named beside those that do', async () => {
    expect(await complaint(() => tokens({ token: { id: 'alice', roles: [] } }))).toBe(
      'bearerTokens: a user has id, scopes and tenants; there is no "roles"',
    )
  })

  test('a token is matched whole and with its case', () => {
    const auth = bearerTokens({ Secret: 'alice' })
    const who = (authorization?: string) => auth.identify({ header: () => authorization, now: Date.now })
    expect(who('Bearer Secret')).toMatchObject({ id: 'alice', authenticated: true })
    for (const wrong of [undefined, '', 'Bearer', 'Bearer secret', 'Bearer Secre', 'Bearer Secret2', 'Basic Secret', 'Secret']) {
      expect(who(wrong), wrong).toBeUndefined()
    }
  })
})

describe('sqlite', () => {
  test.each([undefined, null, '', 7, {}])('%j is no path', async (file) => {
    expect(await complaint(() => (sqlite as Untyped)(file))).toMatch(/^sqlite\(file\) takes the path of a file, or ":memory:"/)
  })

  test.each(['full', true, null])('option durability does not take %j', async (durability) => {
    expect(await complaint(() => doors.sqlite({ durability }))).toBe(
      `sqlite(): option durability takes "power" or "process"; it got ${JSON.stringify(durability)}`,
    )
  })

  test('an option that does not exist is named beside those that do', async () => {
    expect(await complaint(() => doors.sqlite({ synchronous: 'off' }))).toBe('sqlite() has no option "synchronous"; it takes durability')
  })
})
