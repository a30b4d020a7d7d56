/** A sandbox for an agent: a server, callers, a clock and crashes, all in memory and at the test's command. */

import { assemble } from '../client/assemble.js'
import { type Client, connect } from '../client/connect.js'
import type { TaskEvent } from '../client/task-event.js'
import type { Json, StreamResponse } from '../protocol/wire.js'
import type { Agent } from '../runtime/agent.js'
import { checkServerOptions, type ServerOptions, serverRules } from '../server/options.js'
import { type Duration, durationMs } from '../support/duration.js'
import { checkOptions, isString, isWhole, type OptionRule } from '../support/options.js'
import { findAskedConsent, grantConsent } from './grant-consent.js'
import { type Machine, neverMs, openMachine } from './machine.js'
import { namedCallers } from './named-callers.js'
import type { RecordedPush } from './push-receivers.js'

/**
 * Options of a server, without those that a sandbox sees to itself. Without `oauth` the agent may ask for the consent of any
 * provider; with it, only of those that it names.
 */
export interface TestOptions extends Omit<ServerOptions, 'store' | 'world'> {
  /** Where the clock starts, in RFC 3339. Default `'2026-01-01T00:00:00Z'`. */
  readonly now?: string
  /** Equal seeds give equal ids. Default 1. */
  readonly seed?: number
  /** The bearer token that `client` shows. Default `'user'`; without the option `auth`, a token is the id of its user. */
  readonly as?: string
}

/**
 * Time stands still until `advance` moves it, for the server and its callers alike. What takes real time, such as a step that
 * calls a service over a socket, is not waited for: let such services be fakes that answer at once.
 */
export interface Sandbox<A extends Agent = Agent> extends AsyncDisposable {
  /** A caller. Its requests are taken up again after a crash, as over any network. */
  readonly client: Client<A>
  /** Another caller, by its bearer token. */
  as(token: string): Promise<Client<A>>
  /** Moves the clock: timers, retries and deadlines of the time between fire in their order. `advance(0)` lets everything settle. */
  advance(duration: Duration): Promise<void>
  now(): Date
  /**
   * The server's process dies at once, with whatever it has not committed; another one starts on what is stored and is up
   * a second later, so that callers have found it.
   */
  crash(): Promise<void>
  /**
   * Plays the place where the person agrees to what `task.authorize` asked.
   *
   * @throws {TypeError} where the task does not ask for consent
   */
  grant(taskId: string, token: string): Promise<void>
  /**
   * `server.signal`: what `task.wait` waits for.
   *
   * @throws {TaskNotFoundError} for a task that there is not
   * @throws {UnsupportedOperationError} for one that has ended
   */
  signal(taskId: string, name: string, value: Json): Promise<void>
  /** What happened to the task so far, from its log. @throws {TypeError} where there is no such task */
  events(taskId: string): Promise<readonly TaskEvent[]>
  /** What was posted to push configurations so far, oldest first, whatever their addresses. Needs the option `push`. */
  readonly pushes: readonly RecordedPush[]
  /** The next `times` posts are refused, with 503. */
  failPush(times: number): void
}

/** What whoever runs sandboxes by the dozen sees of one. */
export interface OpenedSandbox<A extends Agent> {
  readonly sandbox: Sandbox<A>
  readonly machine: Machine
  /** All callers so far. */
  readonly clients: readonly Client<A>[]
}

export const testDefaults = Object.freeze({ now: '2026-01-01T00:00:00Z', seed: 1, as: 'user', url: 'http://agent.test' })

const { store: _store, world: _world, ...rulesOfServer } = serverRules
export const testRules: Readonly<Record<string, OptionRule>> = {
  ...rulesOfServer,
  now: { takes: "a time such as '2026-12-01T00:00:00Z'", ok: (value) => isString(value) && !Number.isNaN(Date.parse(value)) },
  seed: { takes: 'a whole number', ok: isWhole(0, 2 ** 31) },
  as: { takes: 'a bearer token', ok: (value) => isString(value) && /^[^\s,]+$/.test(value) },
}

/** Downtime of a process that died. */
const restartMs = 1_000

/**
 * `await using t = await testAgent(travel)`: the agent on a server in memory, and a caller of it.
 *
 * @throws {TypeError} on a wrong option
 */
export async function testAgent<A extends Agent>(agent: A, options: TestOptions = {}): Promise<Sandbox<A>> {
  checkOptions('testAgent', options, testRules)
  const { sandbox } = await openSandbox(agent, options)
  return sandbox
}

export async function openSandbox<A extends Agent>(agent: A, options: TestOptions): Promise<OpenedSandbox<A>> {
  const { now, seed, as: token, url, ...server } = { ...testDefaults, ...options }
  checkServerOptions('testAgent', { ...server, url })
  const machine = openMachine({
    agent,
    now: Date.parse(now),
    seed,
    server: {
      ...server,
      url,
      auth: server.auth ?? namedCallers(),
      own: () => url,
      neighbours: false,
      hasProvider: server.oauth ? undefined : () => true,
      // Nothing in here loses a connection that is silent; without signs of life, time can pass in great steps.
      limits: { keepAliveMs: neverMs, ...server.limits },
    },
  })
  const clients: Client<A>[] = []

  async function open(auth: string): Promise<Client<A>> {
    const client = await connect<A>(url, {
      auth,
      fetch: machine.network.fetch,
      world: machine.callers,
      resend: server.idempotency !== false,
      limits: { connectMs: neverMs, firstByteMs: neverMs, idleMs: neverMs },
    })
    clients.push(client)
    return client
  }

  try {
    await machine.ask(() => {})
    const client = await open(token)
    const sandbox: Sandbox<A> = {
      client,
      as: open,
      advance: async (duration) => machine.advance(durationMs(duration, 'advance')),
      now: () => new Date(machine.now()),
      async crash() {
        machine.kill()
        await machine.ask(() => {})
        await machine.advance(restartMs)
      },
      async grant(taskId, secret) {
        const asked = await machine.ask((process) => findAskedConsent(process, taskId))
        await machine.ask((process) => grantConsent(process, asked, secret))
      },
      signal: (taskId, name, value) => machine.ask(({ core }) => core.signal(taskId, name, value)),
      events: (taskId) =>
        machine.ask(async ({ store }) => {
          const header = await store.locate(taskId)
          if (!header) throw new TypeError(`there is no task ${taskId}`)
          const assembly = assemble()
          const events = await store.events(header.ref, 0, { maxBytes: Number.MAX_SAFE_INTEGER })
          // The log holds nothing else.
          return events.flatMap(({ body }) => assembly.take(JSON.parse(body) as StreamResponse))
        }),
      pushes: machine.receivers.pushes,
      failPush: machine.receivers.fail,
      [Symbol.asyncDispose]: machine.close,
    }
    return { sandbox, machine, clients }
  } catch (error) {
    await machine.close()
    throw error
  }
}
