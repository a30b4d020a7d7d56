/** Whatever becomes of a request to the consent door, the log never shows the state: whoever reads it could use it. */

import { connect } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { agent, bearerTokens, type Server, type ServerOptions, serve, sqlite } from '../../src/index.js'
import { begin, getTask, keptLog, openStill, until } from '../runtime/kit.js'
import { laidOpen } from './secret-traces.js'

const made = agent({ name: 'Booking', description: 'Books a room.' }, async (task) => {
  await task.authorize({ callback: () => 'https://calendar.example/consent' })
})
const form = { 'content-type': 'application/x-www-form-urlencoded' }
const json = { 'content-type': 'application/json' }

interface Attempt {
  readonly method?: string
  /** `STATE` stands for the state of the open request. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Whoever may do so begins a task: what its link names, and how to send an attempt with that. */
async function openAsked(options: Partial<ServerOptions> = {}) {
  const { log, lines } = keptLog()
  const opened = await openStill(made, { log, ...options })
  const { fetch } = opened
  const id = await begin(fetch, 'book')
  await until(async () => (await getTask(fetch, id)).status.state === 'TASK_STATE_AUTH_REQUIRED')
  const link = new URL(/http:\S+/.exec((await getTask(fetch, id)).status.message.parts[0].text)?.[0] ?? '')
  const state = link.pathname.split('/').at(-1) ?? ''
  expect(state.length).toBeGreaterThanOrEqual(64)
  const attempt = async ({ method = 'GET', path, headers = {}, body }: Attempt) => {
    const put = (text: string) => text.replaceAll('STATE', state)
    const init = { method, headers, ...(body !== undefined && { body: put(body) }) }
    return (await fetch(new Request(`http://agent.test${put(path)}`, init))).status
  }
  return { ...opened, id, state, lines, attempt }
}

const attempts: readonly [number, string, Attempt][] = [
  [400, 'a decision that is none', { method: 'POST', path: '/consent/STATE', headers: form, body: 'decision=perhaps' }],
  [400, 'a broken callback', { method: 'POST', path: '/consent/callback', headers: json, body: '{"state":"STATE","token":' }],
  [403, 'a form of another page', { method: 'POST', path: '/consent/STATE', headers: { ...form, origin: 'https://evil.example' } }],
  [403, 'a form of another site', { method: 'POST', path: '/consent/STATE', headers: { ...form, 'sec-fetch-site': 'cross-site' } }],
  [404, 'a state that is not quite one', { path: '/consent/STATEx' }],
  [
    404,
    'a state of nobody by the callback',
    { method: 'POST', path: '/consent/callback', headers: json, body: '{"state":"STATEx","token":"t"}' },
  ],
  [404, 'a code for a request that asks no provider', { path: '/consent/callback?code=c&state=STATE' }],
  [404, 'a proxy that does not take its own path away', { path: '/base/consent/STATE' }],
  [404, 'a slash in percent encoding', { path: '/consent%2FSTATE' }],
  [404, 'two slashes', { path: '//consent/STATE' }],
  [405, 'a method that is none', { method: 'PUT', path: '/consent/STATE' }],
  [405, 'a credential in the address', { path: '/consent/callback?token=t&state=STATE' }],
  [413, 'a large form', { method: 'POST', path: '/consent/STATE', headers: form, body: 'x'.repeat((64 << 10) + 1) }],
  [413, 'one that says so', { method: 'POST', path: '/consent/STATE', headers: { ...form, 'content-length': '99999999' }, body: 'x' }],
  [415, 'a form that is none', { method: 'POST', path: '/consent/STATE', headers: json, body: '{"decision":"agree"}' }],
  [401, 'the state as a task of somebody', { path: '/rest/tasks/STATE' }],
  [401, 'the state as a tenant', { path: '/rest/STATE/tasks' }],
]

describe('a refusal shows no state in the log, and leaves the request open:', () => {
  test.each(attempts)('%i for %s', async (status, _, attempt) => {
    const { lines, attempt: send, state, fetch, id } = await openAsked()
    expect(await send(attempt)).toBe(status)
    expect(lines.map(laidOpen).join('\n')).not.toContain(state)
    expect((await getTask(fetch, id)).status.state).toBe('TASK_STATE_AUTH_REQUIRED')
    expect(await send({ path: '/consent/STATE' })).toBe(200)
  })
})

test('refusals of callers and of pages are in the log by their path', async () => {
  const { lines, attempt } = await openAsked()
  await attempt({ path: '/rest/tasks' })
  await attempt({ path: '/rest/tasks/STATE' })
  await attempt({ method: 'POST', path: '/consent/STATE', headers: { ...form, origin: 'https://evil.example' } })
  const paths = lines.flatMap(({ message, fields }) => (message === 'a caller was refused' ? [fields['path']] : []))
  expect(paths).toEqual(['/rest/tasks', '/rest/tasks/…', '/consent/…'])
  expect(lines.map(({ fields }) => fields['reason'])).toContain('the form came from another page')
})

test('where the server itself refuses a foreign page or name, no state is shown either', async () => {
  const { log, lines } = keptLog()
  const server = await serve(made, { store: sqlite(':memory:'), log, port: 0 })
  onTestFinished(() => server.close())
  const state = 'A'.repeat(78)
  for (const [name, value] of [
    ['origin', 'https://evil.example'],
    ['sec-fetch-site', 'cross-site'],
    ['host', 'evil.example'],
  ] as const) {
    const answer = await raw(server, `POST /base/consent/${state} HTTP/1.1`, { host: 'localhost', [name]: value })
    expect(answer).toMatch(/^HTTP\/1.1 403/)
  }
  expect(lines.filter(({ message }) => message === 'a caller was refused')).toHaveLength(3)
  expect(lines.map(laidOpen).join('\n')).not.toContain(state.slice(0, 64))
})

test('after the server has stopped there is nothing about a state in the log', async () => {
  const { server, world, lines, state, attempt } = await openAsked({ auth: bearerTokens({ alice: 'alice' }) })
  const closed = server.close()
  await world.advance(60_000)
  await closed
  expect(await attempt({ path: '/consent/STATE' })).toBe(503)
  expect(lines.map(laidOpen).join('\n')).not.toContain(state)
})

/** One request by hand: browsers and Fetch set these headers themselves. */
function raw(server: Pick<Server, 'close'> & { readonly url: string }, line: string, headers: Readonly<Record<string, string>>) {
  const { hostname, port } = new URL(server.url)
  const all = { connection: 'close', 'content-length': '0', ...headers }
  return new Promise<string>((resolve, reject) => {
    let text = ''
    const socket = connect(Number(port), hostname)
    socket.on('data', (data) => {
      text += data
    })
    socket.on('end', () => resolve(text))
    socket.on('error', reject)
    socket.write(
      `${line}\r\n${Object.entries(all)
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join('')}\r\n`,
    )
  })
}
