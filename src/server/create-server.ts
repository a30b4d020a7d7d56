/** A server: an agent, a store and the two bindings behind one Fetch handler. */

import { createHttpJson } from '../bindings/http-json.js'
import { createJsonRpc } from '../bindings/json-rpc.js'
import { createAddressGuard } from '../net/address-guard.js'
import type { GuardedFetchOptions, OpenedFetch } from '../net/guarded-fetch.js'
import { type OperationContext, stopping } from '../operations/context.js'
import { createInvoke } from '../operations/index.js'
import { signCard } from '../protocol/card-signature.js'
import { decode } from '../protocol/codec.js'
import { TaskNotFoundError } from '../protocol/errors.js'
import type { AgentCard, Json, JsonObject } from '../protocol/wire.js'
import type { OpenedPost, PostOptions } from '../push/post.js'
import { createPushWorker } from '../push/worker.js'
import { type Agent, isAgent } from '../runtime/agent.js'
import { type Consents, consentCallback, consentLink, createConsents } from '../runtime/consent.js'
import { createFeed } from '../runtime/feed.js'
import { giveUpSealed, recover } from '../runtime/recover.js'
import { createRuns } from '../runtime/runs.js'
import { sealingKeyOf } from '../runtime/sealing-key.js'
import { signal } from '../runtime/signal.js'
import type { Delivery, StoreSource } from '../store/store.js'
import { type Log, silentLog } from '../support/log.js'
import { show } from '../support/options.js'
import { createVault } from '../support/vault.js'
import type { World } from '../support/world.js'
import { agentCard } from './agent-card.js'
import type { Auth } from './authenticate.js'
import { createCardDoor } from './card-door.js'
import { createConsentDoor, withoutState } from './consent-door.js'
import { createCors } from './cors.js'
import { createFetch } from './fetch.js'
import { createHandler, gone, type Handler } from './handler.js'
import {
  checkServerOptions,
  defaultLimits,
  defaultMounts,
  definedOf,
  type Limits,
  type Mounts,
  pushSettings,
  type ServerOptions,
  serverDefaults,
} from './options.js'
import { createPublicUrl, forwardedHeaders } from './public-url.js'

/** Characters of a path in the log. */
const longestPath = 200

export interface Server {
  /** Answers one request: what any Fetch-speaking host mounts. */
  readonly fetch: (request: Request) => Promise<Response>
  /**
   * Gives `value` to the task's `wait(name)`, or keeps it until the task waits for it.
   *
   * @throws {TypeError} for a value that is no JSON
   * @throws {ResourceExhaustedError} for a value of more than 1 MiB, and where a task keeps 1,000 signals or 4 MiB already
   * @throws {TaskNotFoundError} for a task that there is not
   * @throws {UnsupportedOperationError} for one that has ended
   */
  signal(taskId: string, name: string, value: Json): Promise<void>
  /**
   * The attempts to post to the task's push configurations, oldest first: the last hundred of each.
   *
   * @throws {TaskNotFoundError} for a task that there is not
   */
  deliveries(taskId: string): Promise<readonly Delivery[]>
  /** Ends streams and waiting calls, gives runs a while, and closes the store. A second call waits for the first. */
  close(): Promise<void>
}

/**
 * An agent's server for any host that speaks Fetch; `serve()` is this with a socket.
 *
 * @throws {TypeError} on a wrong option, and without `store`, `url` or `auth`: who may call is to be said, if only `anonymous()`
 */
export function createServer(agent: Agent, options: ServerOptions): Promise<Server> {
  return mountServer(agent, options)
}

/** `createServer()` on a host that may have sockets. */
export async function mountServer(agent: Agent, options: ServerOptions, sockets: Sockets = {}): Promise<Server> {
  checkServerOptions('createServer', options)
  const { store, auth, url } = options
  if (!store) throw new TypeError("createServer needs the option store: a store, such as sqlite('tasks.db')")
  if (!url) throw new TypeError('createServer needs the option url: the base URL under which callers reach it')
  if (!auth) throw new TypeError('createServer needs the option auth: bearerTokens(…), or anonymous() if everybody may call')
  const core = await createCore(agent, { ...options, store, auth, own: () => url, neighbours: false, ...sockets })
  core.start()
  return { fetch: createFetch(core), signal: core.signal, deliveries: core.deliveries, close: core.close }
}

/** What a host with sockets gives. */
export interface Sockets {
  /** Gives agents their `task.fetch`. */
  readonly openFetch?: ((options: GuardedFetchOptions) => OpenedFetch) | undefined
  /** Gives pushes their way out; without it the option `push` is refused. */
  readonly openPost?: ((options: PostOptions) => OpenedPost) | undefined
}

/** What a host of the server needs beside the public options, all of them settled. */
export interface CoreOptions extends ServerOptions, Sockets {
  readonly store: StoreSource
  readonly auth: Auth
  /** Where the server itself listens. Asked when the card is; a socket may not know it before. */
  readonly own: () => string
  /** Refuse requests that a web page or a neighbour's name could have brought. */
  readonly neighbours: boolean
  /** Whether agents may send people to the provider `name`. Default: to those of `oauth`. */
  readonly hasProvider?: ((name: string) => boolean) | undefined
}

export interface Core {
  readonly handler: Handler
  readonly limits: Required<Limits>
  readonly mounts: Required<Mounts>
  readonly world: World
  readonly log: Log
  readonly consents: Consents
  /** Takes up what the store holds. Until then `own` need not know where the server listens. */
  readonly start: () => void
  readonly signal: Server['signal']
  readonly deliveries: Server['deliveries']
  /** The server takes no more work from here on; what runs is given its time, and the store is closed. */
  close(): Promise<void>
}

export async function createCore(agent: Agent, options: CoreOptions): Promise<Core> {
  if (!isAgent(agent)) throw new TypeError(`a server takes what agent() made as its first argument; it got ${show(agent)}`)
  const { concurrency, idempotency, clientContextIds, push, lostKey, world } = { ...serverDefaults, ...definedOf(options) }
  const {
    auth,
    url,
    own,
    neighbours,
    openFetch,
    openPost,
    cors,
    signing,
    scopes = {},
    trustedProxies = [],
    outbound = {},
    log = silentLog,
  } = options
  const { oauth = {}, secretKey } = options
  const settings = pushSettings(push)
  if (settings && !openPost) {
    throw new TypeError("the option push needs a host with sockets: leave it out here, or take createServer from 'errand'")
  }
  checkExtendedCard(agent, auth)
  checkAnonymous(options)
  const limits = { ...defaultLimits, ...options.limits }
  const mounts = { ...defaultMounts, ...options.mounts }
  const card = async (base: string, more: JsonObject = {}): Promise<AgentCard> => {
    // What the author's function gives is of his making; members that the protocol does not know go out as they are.
    const made = { ...agentCard({ agent, auth, url: base, mounts, scopes, push: settings !== undefined }), ...more } as AgentCard
    checkCard(made)
    return signing ? signCard(made, signing) : made
  }
  checkCard(agentCard({ agent, auth, url: url ?? 'http://localhost', mounts, scopes, push: settings !== undefined }))
  if (signing) await checkSigning(card, url)
  await auth.prepare?.()
  const store = await options.store.open({ world })
  const sealingKey = await sealingKeyOf(store, { secretKey, lostKey }).catch(async (cause) => {
    await store.close()
    throw cause
  })
  const vault = createVault(async () => sealingKey, world)
  if (lostKey === 'fail') await giveUpSealed({ store, vault, world, log })
  await recover({ agent, store, world, log })
  const feed = createFeed(store)
  const guard = createAddressGuard(outbound.allow)
  const posting = settings && openPost?.({ guard, world })
  const opened = openFetch?.({ guard, world, limits: { bytes: limits.fetchBytes, ms: limits.fetchMs } })
  const consents = createConsents({ store, vault, world, log, secret: await store.secret('consent') })
  const base = () => url ?? own()
  const desk = {
    state: consents.state,
    pageUrl: (state: string) => consentLink(base(), state),
    callbackUrl: () => consentCallback(base()),
    hasProvider: options.hasProvider ?? ((name: string) => Object.hasOwn(oauth, name)),
  }
  const runs = createRuns({
    agent,
    store,
    feed,
    world,
    log,
    vault,
    desk,
    fetch: opened?.fetch,
    concurrency,
    waitingRuns: limits.waitingRuns,
    graceMs: limits.shutdownMs,
  })
  const publicUrl = createPublicUrl({ url, trustedProxies, own })
  const vary = url === undefined && trustedProxies.length > 0 ? forwardedHeaders : undefined
  const cardDoor = createCardDoor({ card, publicUrl, vary, since: world.now() })
  const keys = { contextId: await store.secret('context-id'), pageToken: await store.secret('page-token') }
  const context: OperationContext = {
    agent,
    store,
    feed,
    runs,
    world,
    log,
    vault,
    keys,
    idempotency,
    clientContextIds,
    maxDepth: limits.depth,
    push: settings !== undefined,
    guard,
    checkAddresses: posting?.checkAddresses ?? (async () => {}),
    scopes,
    card,
  }
  const report = (error: unknown) => {
    if (error !== gone) log.error('a request failed', { error })
  }
  const bindingOptions = { requireContentType: !auth.authenticates, report }
  const invoke = createInvoke(context)
  const handler = createHandler({
    auth,
    neighbours: neighbours ? { origins: cors?.origins ?? [] } : undefined,
    mounts,
    bodyBytes: limits.bodyBytes,
    card: cardDoor,
    consent: createConsentDoor({ consents, agent, authenticates: auth.authenticates, providers: oauth, world, log, base }),
    cors: cors && createCors(cors),
    now: world.now,
    publicUrl,
    // A query may hold what nobody else should read; a path is as long as its caller wants.
    refused: (status, { method, target, peer }) =>
      log.info('a caller was refused', { status, method, path: withoutState(target.split('?', 1)[0] ?? '').slice(0, longestPath), peer }),
    jsonRpc: createJsonRpc(invoke, bindingOptions),
    httpJson: createHttpJson(invoke, bindingOptions),
    report,
  })
  const worker =
    settings && posting && createPushWorker({ store, world, log, vault, post: posting.post, settings, graceMs: limits.shutdownMs })
  let closed: Promise<void> | undefined
  async function close(): Promise<void> {
    handler.stop(stopping())
    await Promise.all([runs.close(), worker?.close()])
    await Promise.all([opened?.close(), posting?.close()])
    feed.close()
    await store.close()
  }
  const deliver: Server['signal'] = async (taskId, name, value) => runs.wake(await signal({ store, vault }, taskId, name, value))
  const deliveries: Server['deliveries'] = async (taskId) => {
    const task = await store.locate(taskId)
    if (!task) throw new TaskNotFoundError(taskId)
    return store.deliveries(task.ref)
  }
  const start = () => {
    runs.start()
    worker?.start()
  }
  return { handler, limits, mounts, world, log, consents, start, signal: deliver, deliveries, close: () => (closed ??= close()) }
}

function checkExtendedCard(agent: Agent, auth: Auth): void {
  if (!agent.extendedCard || auth.authenticates) return
  throw new TypeError('an agent with the option extendedCard needs a server with auth: only authenticated callers may see it (§13.3)')
}

/** Where everybody is the same caller without proof, some options could only mislead. */
function checkAnonymous({ auth, neighbours, cors, scopes = {} }: CoreOptions): void {
  if (auth.authenticates) return
  const [scoped] = Object.entries(scopes).find(([, needed]) => needed.length > 0) ?? []
  if (scoped !== undefined) {
    throw new TypeError(
      `the option scopes needs a server with auth: without credentials nobody has the scopes of ${JSON.stringify(scoped)}`,
    )
  }
  if (neighbours && cors?.origins.includes('*')) {
    throw new TypeError(
      "the option cors takes '*' with auth only: without it, every web page could use this agent; name the origins that may",
    )
  }
}

/** @throws {TypeError} naming the members that no agent card may have */
function checkCard(card: AgentCard): void {
  try {
    decode('AgentCard', card)
  } catch (cause) {
    throw new TypeError(`the agent card is not valid: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}

/** A key that does not sign, or a card that cannot be signed, is found out before anybody asks for the card. */
async function checkSigning(card: (url: string) => Promise<AgentCard>, url = 'http://localhost'): Promise<void> {
  try {
    await card(url)
  } catch (cause) {
    throw new TypeError(`the option signing cannot sign the card: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}
