/** No credential is stored in the clear, sent to anybody but whom it is for, or logged: every byte is looked at. */

import { statSync } from 'node:fs'
import { join } from 'node:path'
import { SignJWT } from 'jose'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  agent,
  chunk,
  completed,
  failed,
  inputRequired,
  jwt,
  type Run,
  type Server,
  type ServerOptions,
  sqlite,
  type TaskHandle,
  working,
} from '../../src/index.js'
import { type VirtualWorld, virtualWorld } from '../../src/testing/virtual-world.js'
import { type BindingName, bindingNames, frames, openServer, people, result, userMessage } from '../harness/server.js'
import { closeStill, gate, getTask, keptLog, statesOf, subscribe, take, takeAll, until } from '../runtime/kit.js'
import { openProvider, type TestProvider } from './consent-kit.js'
import { copyOf, filesIn, laidOpen, newFolder, type Places, tracesOf } from './secret-traces.js'

/** With characters that JSON, forms, addresses and HTML write in ways of their own. */
const credential = 'tok-Zq8"SECRET"+47/11=&%<'
/** Of somebody who works elsewhere for the task, and says it by a signal. */
const session = 'session-Zq8"SECRET"\\47 11=&%<'
const secrets = [credential, session]

const ways = ['oauth', 'callback'] as const
type Way = (typeof ways)[number]

interface Place {
  readonly callbackUrl: string
  readonly state: string
}

/** A person who agrees, and what stands behind the link. */
interface Desk {
  readonly way: Way
  readonly provider: TestProvider
  readonly places: Place[]
}

async function openDesk(way: Way): Promise<Desk> {
  const provider = await openProvider()
  provider.answer({ status: 200, body: JSON.stringify({ access_token: credential, token_type: 'Bearer', scope: 'calendar.book' }) })
  return { way, provider, places: [] }
}

const requestOf = (desk: Desk) =>
  desk.way === 'oauth'
    ? { oauth: 'calendar', scopes: ['calendar.book'] }
    : {
        callback(place: Place) {
          desk.places.push(place)
          return 'https://calendar.example/consent'
        },
      }

/** A server on the file of `folder`. All that it answers or logs is kept. */
async function openWatched(run: Run, folder: string, desk: Desk, options: Partial<ServerOptions> & { readonly world: VirtualWorld }) {
  const { log, lines } = keptLog()
  const { provider } = desk
  const made = agent({ name: 'Booking', description: 'Books a room.' }, run)
  const oauth = { calendar: { issuer: provider.url, clientId: 'venue' } }
  const server = await openServer(made, { store: sqlite(join(folder, 'tasks.db')), oauth, log, push: true, ...options })
  const sent: Promise<string>[] = []
  const fetching: Server['fetch'] = async (request) => {
    const response = await server.fetch(request)
    const head = laidOpen([response.status, [...response.headers]])
    // A stream that is cut has sent what it had sent.
    sent.push(readWhole(response.clone()).then((body) => head + body))
    return response
  }
  return {
    server,
    fetch: fetching,
    close: () => closeStill(server, options.world),
    /** Complete once the server is closed. */
    sent: () => Promise.all(sent),
    logged: () => lines.map(laidOpen),
  }
}

type Watched = Awaited<ReturnType<typeof openWatched>>

async function readWhole({ body }: Response): Promise<string> {
  let text = ''
  try {
    for await (const piece of body ?? []) text += Buffer.from(piece).toString('latin1')
  } catch {
    return `${text} and it was cut`
  }
  return text
}

const linkOf = (task: any): string => /http:\S+/.exec(task.status.message.parts[0].text)?.[0] ?? ''

/** The person reads the page, agrees, and the place behind the link brings the credential. */
async function agree(fetching: Server['fetch'], link: string, desk: Desk): Promise<void> {
  expect(await (await fetching(new Request(link))).text()).toContain('Booking')
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' }
  const agreed = await fetching(new Request(link, { method: 'POST', headers, body: 'decision=agree' }))
  expect(agreed.status).toBe(303)
  if (desk.way === 'oauth') {
    const query = desk.provider.allow(agreed.headers.get('location') ?? '')
    const cookie = agreed.headers.get('set-cookie')?.split(';')[0] ?? ''
    const back = await fetching(new Request(`http://agent.test/consent/callback?${query}`, { headers: { cookie } }))
    expect(await back.text()).toContain('You may close this window')
    return
  }
  const { callbackUrl, state } = desk.places.at(-1) ?? { callbackUrl: '', state: '' }
  const body = JSON.stringify({ state, token: credential, scopes: ['calendar.book'] })
  const given = await fetching(new Request(callbackUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body }))
  expect(given.status).toBe(204)
}

/** Begins a task, and gives what it asks for. */
async function begin(watched: Watched, binding: BindingName, desk: Desk) {
  const stream = frames(watched.fetch, binding, 'SendStreamingMessage', {
    message: userMessage('book'),
    configuration: { taskPushNotificationConfig: { id: 'hook', url: 'https://hook.test/' } },
  })
  const seen = await take(stream, 3)
  expect(statesOf(seen)).toEqual(['SUBMITTED', 'WORKING', 'AUTH_REQUIRED'])
  const { id } = seen[0]?.data.task ?? {}
  const rest = takeAll(stream)
  await agree(watched.fetch, linkOf(await getTask(watched.fetch, id)), desk)
  return { id: id as string, seen, rest }
}

/** Whatever a caller may ask for about a task. */
async function askAll(watched: Watched, id: string): Promise<void> {
  for (const binding of bindingNames) {
    await result(watched.fetch, binding, 'GetTask', { id })
    await result(watched.fetch, binding, 'ListTasks', { includeArtifacts: true, historyLength: 100 })
    await result(watched.fetch, binding, 'ListTaskPushNotificationConfigs', { taskId: id })
  }
}

/** What the agent's services got, and where its run stands. */
interface Service {
  readonly got: string[]
  readonly reached: ReturnType<typeof gate>
}

/**
 * Uses the credential in every way that leaves something behind: it comes out of a step, out of a step that failed and out
 * of signals, and is used again after a crash. `hold` is where that happens.
 */
const booking = (desk: Desk, { got, reached }: Service, hold: Promise<void>) =>
  async function* (task: TaskHandle) {
    yield working('I need your calendar.')
    const consent = await task.authorize(requestOf(desk))
    if ('message' in consent) return failed('Then not.')
    const { token } = await task.step('sign in', () => ({ token: consent.granted.token, seconds: 3600 }))
    got.push(token)
    try {
      await task.step('refresh', () => {
        throw new Error(`the token ${token} is too old`)
      })
    } catch (error) {
      got.push((error as Error).message)
    }
    const early = await task.wait<{ session: string }>('session')
    got.push(early.session)
    yield chunk('log', 'signed in;')
    reached.open()
    await hold
    const late = await task.wait<{ session: string }>('session')
    got.push(late.session)
    await task.step('book', ({ idempotencyKey }) => void got.push(`${idempotencyKey} ${token}`))
    return completed('Booked.', { room: 2 })
  }

describe.each(ways)('a credential that came by %s', (way) => {
  test.each(bindingNames)(
    'is nowhere in the clear over %s: not in a file, an answer or a log, after a crash or after the end',
    async (binding) => {
      const world = virtualWorld()
      const desk = await openDesk(way)
      const service: Service = { got: [], reached: gate() }
      const folder = newFolder()
      const first = await openWatched(booking(desk, service, new Promise(() => undefined)), folder, desk, { world })
      const { id, seen, rest } = await begin(first, binding, desk)
      await until(async () => service.got.length >= 2)
      await first.server.signal(id, 'session', { session })
      await service.reached.opened
      // Nobody waits for this one yet, and then nobody is left to.
      await first.server.signal(id, 'session', { session })
      await askAll(first, id)
      const [crashed, looked] = [copyOf(folder), copyOf(folder)]
      const second = await openWatched(booking(desk, service, Promise.resolve()), crashed, desk, { world })
      const missed = takeAll(subscribe(second.fetch, binding === 'JSONRPC' ? 'JSONRPC' : 'GET', id, { lastEventId: seen.at(-1)?.id ?? '' }))
      expect(statesOf(await missed)).toEqual(['WORKING', 'COMPLETED'])
      await askAll(second, id)
      const ended = copyOf(crashed)
      await second.close()
      await first.close()
      await rest
      const stored = [looked, ended, crashed, folder].map(filesIn)
      const places: Places = {
        files: stored.flatMap((files) => [...files.values()]),
        answers: [...(await first.sent()), ...(await second.sent())],
        log: [...first.logged(), ...second.logged()],
        'requests to the provider': [...desk.provider.asked, ...desk.provider.forms.map(({ form }) => form.toString())],
      }
      // The agent had it all, before and after the crash, and used it once.
      const tooOld = `the step "refresh" failed: the token ${credential} is too old`
      expect(service.got).toEqual([
        ...[credential, tooOld, session],
        ...[credential, tooOld, session, session],
        expect.stringMatching(/^\S+ tok-Zq8/),
      ])
      // What is looked through is the right thing: the database, its log of writes, and what comes of the task.
      expect([...(stored[0]?.keys() ?? [])].sort()).toEqual(expect.arrayContaining(['tasks.db', 'tasks.db-wal', 'tasks.db.key']))
      expect(tracesOf(['signed in;'], places)).toEqual(expect.arrayContaining(['files: raw', 'answers: raw']))
      expect(places['log']?.join()).toContain('consent was given')
      expect(tracesOf(secrets, places)).toEqual([])
    },
  )

  test('is not in the answer to a caller when the agent throws it; the log has the error of the agent, and nothing else has it', async () => {
    const world = virtualWorld()
    const desk = await openDesk(way)
    const folder = newFolder()
    const run: Run = async function* (task) {
      yield working()
      const consent = await task.authorize(requestOf(desk))
      if ('message' in consent) return failed('Then not.')
      const { token } = consent.granted
      throw new Error('the calendar refused', { cause: { request: { headers: { authorization: `Bearer ${token}` } } } })
    }
    const watched = await openWatched(run, folder, desk, { world })
    const { id, rest } = await begin(watched, 'JSONRPC', desk)
    expect(statesOf(await rest)).toEqual(['WORKING', 'FAILED'])
    await askAll(watched, id)
    const running = copyOf(folder)
    await watched.close()
    const logged = watched.logged()
    const ofTheAgent = logged.filter((line) => line.includes('the agent failed'))
    expect(ofTheAgent).toHaveLength(1)
    const places: Places = {
      files: [running, folder].flatMap((one) => [...filesIn(one).values()]),
      answers: await watched.sent(),
      log: logged,
    }
    expect(tracesOf(secrets, places)).toEqual([])
  })

  test('that the agent itself puts out is found, wherever that shows', async () => {
    const world = virtualWorld()
    const desk = await openDesk(way)
    const folder = newFolder()
    const run: Run = async function* (task) {
      yield working()
      const consent = await task.authorize(requestOf(desk))
      if ('message' in consent) return failed('Then not.')
      const { token } = consent.granted
      task.log.debug('signed in', { authorization: `Basic ${Buffer.from(`venue:${token}`).toString('base64')}` })
      task.context.set('token', encodeURIComponent(token))
      return completed('Booked.', { token })
    }
    const watched = await openWatched(run, folder, desk, { world })
    const { rest } = await begin(watched, 'HTTP+JSON', desk)
    expect(statesOf(await rest)).toEqual(['WORKING', 'COMPLETED'])
    const running = copyOf(folder)
    await watched.close()
    const places: Places = {
      files: [...filesIn(running).values()],
      answers: await watched.sent(),
      log: watched.logged(),
    }
    expect(tracesOf(secrets, places).sort()).toEqual(
      expect.arrayContaining(['answers: JSON', 'files: JSON', 'files: percent-encoded', 'log: base64']),
    )
  })
})

describe('the key', () => {
  const run = (desk: Desk): Run =>
    async function* (task) {
      yield working()
      const consent = await task.authorize(requestOf(desk))
      return 'message' in consent ? failed('Then not.') : inputRequired('Which room?')
    }

  test('is in a file beside the store that its owner alone may read, and nowhere else', async () => {
    const desk = await openDesk('callback')
    const folder = newFolder()
    const watched = await openWatched(run(desk), folder, desk, { world: virtualWorld() })
    const { rest } = await begin(watched, 'JSONRPC', desk)
    await rest
    const running = copyOf(folder)
    await watched.close()
    expect(statSync(join(folder, 'tasks.db.key')).mode & 0o777).toBe(0o600)
    const files = filesIn(running)
    const key = files.get('tasks.db.key')?.toString().trim() ?? ''
    expect(key).toMatch(/^[0-9a-f]{64}$/)
    files.delete('tasks.db.key')
    const places: Places = { files: [...files.values()], answers: await watched.sent(), log: watched.logged() }
    expect(tracesOf([key, Buffer.from(key, 'hex').toString('latin1')], places)).toEqual([])
    const bytes = Buffer.from(key, 'hex').toString('latin1')
    expect([...files.values()].some((one) => one.toString('latin1').includes(bytes))).toBe(false)
  })

  test('of the option secretKey makes no file, and is nowhere either', async () => {
    const desk = await openDesk('callback')
    const folder = newFolder()
    const secretKey = 'a "secret" key of more than 32 characters'
    const watched = await openWatched(run(desk), folder, desk, { world: virtualWorld(), secretKey })
    const { rest } = await begin(watched, 'JSONRPC', desk)
    await rest
    const running = copyOf(folder)
    await watched.close()
    const files = filesIn(running)
    expect([...files.keys()]).not.toContain('tasks.db.key')
    const places: Places = { files: [...files.values()], answers: await watched.sent(), log: watched.logged() }
    expect(tracesOf([secretKey, credential], places)).toEqual([])
  })
})

test('what a token says of its bearer is sealed in the record of the turn, and a run after a crash has it again', async () => {
  const world = virtualWorld()
  const desk = await openDesk('callback')
  const folder = newFolder()
  const claim = 'claim-Zq8"SECRET"'
  const shared = 'more than thirty-two characters of text'
  const seen: unknown[] = []
  const auth = jwt({ issuer: 'https://issuer.test', audience: 'agent', secret: shared })
  const as = await new SignJWT({ sub: 'alice', ssn: claim })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer('https://issuer.test')
    .setAudience('agent')
    .setExpirationTime(Math.floor(world.now() / 1000) + 600)
    .sign(new TextEncoder().encode(shared))
  const run = (hold: Promise<void>): Run =>
    async function* (task) {
      seen.push(task.user.claims['ssn'])
      yield working()
      await hold
      return 'done'
    }
  const first = await openWatched(run(new Promise(() => undefined)), folder, desk, { world, auth })
  const sent = await result(
    first.fetch,
    'JSONRPC',
    'SendMessage',
    { message: userMessage('go'), configuration: { returnImmediately: true } },
    { as },
  )
  await world.advance(0)
  const [crashed, looked] = [copyOf(folder), copyOf(folder)]
  const second = await openWatched(run(Promise.resolve()), crashed, desk, { world, auth })
  const state = async () => (await result(second.fetch, 'JSONRPC', 'GetTask', { id: sent.task.id }, { as })).status.state
  await until(async () => (await state()) === 'TASK_STATE_COMPLETED')
  const ended = copyOf(crashed)
  await second.close()
  await first.close()
  expect(seen).toEqual([claim, claim])
  const places: Places = {
    files: [looked, ended, crashed, folder].flatMap((one) => [...filesIn(one).values()]),
    answers: [...(await first.sent()), ...(await second.sent())],
    log: [...first.logged(), ...second.logged()],
  }
  expect(tracesOf([claim, as], places)).toEqual([])
})

describe('the search itself', () => {
  const planted: readonly (readonly [form: string, text: string | Uint8Array])[] = [
    ['raw', credential],
    ['JSON', JSON.stringify({ a: { b: credential } })],
    ['JSON in JSON', JSON.stringify(JSON.stringify({ token: credential }))],
    ['percent-encoded', `https://x.test/?t=${encodeURIComponent(credential)}&u=1`],
    ['form-encoded', new URLSearchParams({ a: 'b', token: `${session}` }).toString()],
    ['HTML', `<p>${credential.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')}</p>`],
    ['UTF-16', Buffer.from(`x${credential}`, 'utf16le')],
    ['hex', Buffer.from(`x${credential}`).toString('hex')],
    ...[0, 1, 2, 3].flatMap((before) =>
      (['base64', 'base64url'] as const).map(
        (alphabet) => ['base64', Buffer.from(`${'x'.repeat(before)}${credential}yz`).toString(alphabet)] as const,
      ),
    ),
    ['base64 of JSON', Buffer.from(JSON.stringify({ token: credential })).toString('base64')],
    ['raw', laidOpen(new Error('outer', { cause: Object.assign(new Error('inner'), { headers: { authorization: credential } }) }))],
  ]

  test.each(planted)('finds it %s in %j', (form, text) => {
    const around = Buffer.concat([Buffer.from([0, 255]), Buffer.from(text), Buffer.from([255, 0])])
    expect(tracesOf(secrets, { here: ['nothing', around], there: ['tok-Zq8"'] })).toContain(`here: ${form}`)
  })

  test('finds it in a file of the store that holds it in a row, and in one that held it', async () => {
    const folder = newFolder()
    const file = join(folder, 'tasks.db')
    const server = await openServer(
      agent({ name: 'Echo', description: 'Says it again.' }, ({ text }) => text),
      { store: sqlite(file), auth: people },
    )
    onTestFinished(() => server.close())
    await result(server.fetch, 'JSONRPC', 'SendMessage', { message: userMessage(credential) })
    expect(tracesOf(secrets, { files: [...filesIn(copyOf(folder)).values()] })).toEqual(['files: JSON'])
    await server.close()
    expect(tracesOf(secrets, { files: [...filesIn(folder).values()] })).toEqual(['files: JSON'])
  })
})
