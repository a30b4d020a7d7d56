/** What tests of consents share: tasks that wait for one, a person with a browser, and a provider on loopback. */

import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { HttpReply } from '../../src/bindings/http.js'
import { type Consents, createConsents } from '../../src/runtime/consent.js'
import type { ConsentAsked } from '../../src/runtime/record-bodies.js'
import { createBody } from '../../src/server/body.js'
import { type ConsentDoorOptions, createConsentDoor } from '../../src/server/consent-door.js'
import { openSqlite } from '../../src/store/sqlite/sqlite.js'
import type { Store, TaskHeader, TaskRef } from '../../src/store/store.js'
import { createVault, openBody, sealBody, type Vault } from '../../src/support/vault.js'
import { agentMessage, createdEvent, nextTimestamp, statusEvent } from '../../src/task/make-event.js'
import { type VirtualWorld, virtualWorld } from '../../src/testing/virtual-world.js'
import { keptLog, type LogLine } from '../runtime/kit.js'

export const hourMs = 3_600_000

export interface OpenedConsents {
  readonly store: Store
  readonly world: VirtualWorld
  readonly vault: Vault
  readonly consents: Consents
  readonly lines: readonly LogLine[]
  readonly log: ConsentDoorOptions['log']
}

/** Over a real store in memory, whose clock stands still. */
export async function openConsents(change: (store: Store) => Partial<Store> = () => ({})): Promise<OpenedConsents> {
  const world = virtualWorld()
  const opened = await openSqlite(':memory:', { world })
  onTestFinished(() => opened.close())
  const store = { ...opened, ...change(opened) }
  const vault = createVault(() => store.sealingKey(), world)
  const { log, lines } = keptLog()
  const consents = createConsents({ store, vault, world, log, secret: await store.secret('consent') })
  return { store, world, vault, consents, lines, log }
}

export interface AskOptions {
  readonly asked?: Partial<ConsentAsked>
  readonly owner?: string
  readonly question?: string
  readonly key?: string
  /** Milliseconds from now; undefined: it does not expire. */
  readonly timeoutMs?: number | undefined
}

export interface AskedTask {
  readonly ref: TaskRef
  readonly id: string
  readonly key: string
  readonly state: string
}

let made = 0

/** A new task that waits for consent, as a run leaves it. */
export async function askConsent(opened: OpenedConsents, options: AskOptions = {}): Promise<AskedTask> {
  const { store, world } = opened
  const { owner = 'alice' } = options
  const ids = { id: `task-${++made}`, contextId: `context-${made}` }
  const message = { messageId: `m-${made}`, role: 'ROLE_USER', parts: [{ text: 'Book it.' }] } as const
  const created = await store.create({ ...ids, caller: { tenant: '', owner }, created: createdEvent(ids, message, world.now()) })
  if (created.outcome !== 'created') throw new Error('the task was not created')
  return askAgain(opened, created.header.ref, options)
}

/** Another question of a task that waits for nothing. */
export async function askAgain(opened: OpenedConsents, ref: TaskRef, options: AskOptions = {}): Promise<AskedTask> {
  const { store, world, vault, consents } = opened
  const { asked = {}, question = `q-${++made}`, key = `authorize/${question}` } = options
  const timeoutMs = 'timeoutMs' in options ? options.timeoutMs : hourMs
  const header = await headerOf(store, ref)
  const full: ConsentAsked = { prompt: 'May I enter the room into your calendar?', scopes: ['calendar.book'], ...asked }
  const body = await sealBody(vault, { taskId: header.id, turn: header.turn, key }, { asked: full })
  const due = timeoutMs === undefined ? {} : { due: world.now() + timeoutMs }
  await store.update(ref, (current) => {
    const says = agentMessage(current, question, [{ text: 'Please allow it.' }])
    return {
      result: undefined,
      write: {
        events: [statusEvent(current, 'TASK_STATE_AUTH_REQUIRED', nextTimestamp(current.statusTimestamp, world.now()), says)],
        waiting: { kind: 'authorize', key, question, ...due },
        records: [{ kind: 'authorize', key, body }],
        sealed: true,
      },
    }
  })
  return { ref, id: header.id, key, state: consents.state(ref, question) }
}

export async function headerOf(store: Store, ref: TaskRef): Promise<TaskHeader> {
  const header = await store.header(ref)
  if (!header) throw new Error('there is no such task')
  return header
}

/** What is recorded under the question of a task, opened. */
export async function recordOf({ store, vault }: OpenedConsents, { ref, id, key }: AskedTask): Promise<unknown> {
  const { turn } = await headerOf(store, ref)
  const record = (await store.records(ref, turn)).find((one) => one.key === key)
  return record && openBody(vault, { taskId: id, turn, key }, record.body)
}

/** All that the store shows of a task: what a refusal must leave as it is. */
export async function stateOfTask(opened: OpenedConsents, asked: AskedTask) {
  const { store } = opened
  return { header: await headerOf(store, asked.ref), events: await store.events(asked.ref, 0), record: await recordOf(opened, asked) }
}

export const base = 'https://agent.test/base'

export type Opening = Partial<ConsentDoorOptions>

interface VisitOptions {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

export interface Visitor {
  /** A request to the path under `/consent/`, with the cookies of this browser, which keeps those of the answer. */
  visit(method: string, path: string, options?: VisitOptions): Promise<HttpReply>
  /** A form from our own page. */
  submit(path: string, fields: Readonly<Record<string, string>>, headers?: Readonly<Record<string, string>>): Promise<HttpReply>
}

/** Opens the door; each call of what it gives is a browser of its own. */
export function openDoor({ consents, world, log }: OpenedConsents, options: Opening = {}): () => Visitor {
  const agent = { name: 'Venue agent', provider: { organization: 'Acme Rooms', url: 'https://acme.test' } }
  const door = createConsentDoor({ consents, agent, authenticates: true, providers: {}, world, log, base: () => base, ...options })
  return () => {
    const cookies = new Map<string, string>()
    const visit: Visitor['visit'] = async (method, path, { headers = {}, body = '' } = {}) => {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
      const all: Record<string, string> = { host: 'agent.test', ...(cookie !== '' && { cookie }), ...headers }
      const reply = await door({
        method,
        target: `/consent/${path}`,
        header: (name) => all[name],
        body: async (limit) => {
          const read = createBody(limit)
          read.add(typeof body === 'string' ? new TextEncoder().encode(body) : body)
          return read.whole()
        },
      })
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(reply.headers['set-cookie'] ?? '') ?? []
      if (name !== undefined) cookies.set(name, value ?? '')
      return reply
    }
    return {
      visit,
      submit: (path, fields, headers = {}) =>
        visit('POST', path, {
          headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin', ...headers },
          body: new URLSearchParams(fields).toString(),
        }),
    }
  }
}

export function textOf({ body }: HttpReply): string {
  if (typeof body !== 'string') throw new Error('the answer is a stream')
  return body
}

export interface TestProvider {
  readonly url: string
  /** Answers a code request as if the person had agreed: gives the query that the provider sends back. */
  allow(location: string, more?: Readonly<Record<string, string>>): URLSearchParams
  /** Replaces what the token endpoint answers; undefined: as it should. */
  answer(given: { readonly status: number; readonly body: string; readonly contentType?: string } | undefined): void
  /** Replaces members of the metadata; undefined: there is none. */
  metadata: Readonly<Record<string, unknown>> | undefined
  /** Paths that were asked for, oldest first. */
  readonly asked: string[]
  /** Forms and Authorization that the token endpoint got. */
  readonly forms: { readonly form: URLSearchParams; readonly authorization: string | undefined }[]
}

export const accessToken = 'tok-SECRET-4711'

/** A provider of OAuth that holds every rule of the code grant: one use, the client, the address, PKCE. */
export async function openProvider(): Promise<TestProvider> {
  const codes = new Map<string, URLSearchParams>()
  let given: Parameters<TestProvider['answer']>[0]
  const server = createServer(async (request, response) => {
    const path = request.url ?? ''
    provider.asked.push(path)
    const send = (status: number, body: string, contentType = 'application/json') =>
      void response.writeHead(status, { 'content-type': contentType, connection: 'close' }).end(body)
    if (path.startsWith('/.well-known/')) {
      if (provider.metadata === undefined || !path.endsWith(String(provider.metadata['at'] ?? 'openid-configuration')))
        return send(404, '{}')
      const { at: _, ...more } = provider.metadata
      const { url } = provider
      return send(200, JSON.stringify({ issuer: url, authorization_endpoint: `${url}/authorize`, token_endpoint: `${url}/token`, ...more }))
    }
    const form = new URLSearchParams(await bodyOf(request))
    provider.forms.push({ form, authorization: request.headers.authorization })
    if (given) return send(given.status, given.body, given.contentType)
    const asked = codes.get(form.get('code') ?? '')
    codes.delete(form.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    const isRight =
      asked?.get('code_challenge') === challenge &&
      asked.get('code_challenge_method') === 'S256' &&
      asked.get('redirect_uri') === form.get('redirect_uri')
    if (!isRight) return send(400, JSON.stringify({ error: 'invalid_grant', error_description: `no code ${form.get('code')}` }))
    send(200, JSON.stringify({ access_token: accessToken, token_type: 'Bearer', scope: 'calendar.book calendar.read' }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => new Promise((resolve) => void server.close(() => resolve())))
  // Listening on a port, the address is one of host and port.
  const { port } = server.address() as AddressInfo
  const provider: TestProvider = {
    url: `http://127.0.0.1:${port}`,
    metadata: {},
    asked: [],
    forms: [],
    answer: (answer) => {
      given = answer
    },
    allow(location, more = {}) {
      const asked = new URL(location).searchParams
      const code = `code-SECRET-${codes.size}-${asked.get('state')?.slice(0, 8)}`
      codes.set(code, asked)
      return new URLSearchParams({ code, state: asked.get('state') ?? '', ...more })
    },
  }
  return provider
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const piece of request) text += piece
  return text
}
