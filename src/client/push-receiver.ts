/** The other end of push notifications: takes what agents post, and gives it to whoever waits for it. Spec §4.3, §13.2. */

import { isJsonContentType } from '../protocol/media-types.js'
import type { TaskPushNotificationConfig } from '../protocol/wire.js'
import { checkOptions, isHttpUrl, isPlainObject, isWhole, type OptionRule } from '../support/options.js'
import { systemWorld, type World } from '../support/world.js'
import { pushCredentials } from './push-credential.js'
import { type PushEvent, parsePush } from './push-event.js'
import { type NodePost, nodePost, type Post, PostRefusal, webPost } from './push-post.js'
import { createReader, type Reader } from './push-reader.js'
import { createTarget, type Target } from './push-target.js'

export const defaultPushLimits = Object.freeze({
  /** One post. */
  bodyBytes: 10 << 20,
  /** Until the body of a post is whole. */
  bodyMs: 10_000,
  /** To one target, and as many at once after a silence. */
  postsPerSecond: 1000,
  /** Events of one target that nobody has read; further ones are refused for now, and agents try again. */
  waitingEvents: 1000,
  /** Characters of those events. */
  waitingLength: 16 << 20,
  /** Targets whose task is remembered. Beyond it, the one that was silent for longest is bound anew when it is used again. */
  targets: 10_000,
})

export type PushLimits = { readonly [Name in keyof typeof defaultPushLimits]: number }

export interface PushReceiverOptions {
  /** Where posts reach this receiver. Agents insist on https. */
  readonly publicUrl: string
  /**
   * At least 32 characters that cannot be guessed (`openssl rand -base64 32` makes them). Keep it: credentials of another
   * secret are refused.
   */
  readonly secret: string
  readonly limits?: Partial<PushLimits>
  /** When it is aborted, loops throw its reason, and agents are told to try again later. */
  readonly signal?: AbortSignal
  /** Time and chance. Default: those of the host. */
  readonly world?: World
}

/** What an agent is told about where to post: `send(…, { push })`. */
export type PushConfig = Pick<TaskPushNotificationConfig, 'id' | 'url' | 'token' | 'authentication'>

/**
 * A configuration with a credential of its own, good for one task: the first that something is posted about. Iterate it, in
 * one loop, for the events of that task up to the final one. To leave the loop before it tells the agent to post no more.
 */
export interface PushTarget extends PushConfig, AsyncIterable<PushEvent> {
  readonly id: string
}

export interface PushTargetOptions {
  /** When it is aborted, the target's loop throws its reason. */
  readonly signal?: AbortSignal
}

/**
 * Iterate it, in one loop at a time, for the events of all targets that have no loop of their own, those of an earlier
 * process included. Events of a task come in order and once; what nobody reads is kept, up to the limits.
 */
export interface PushReceiver extends AsyncIterable<PushEvent> {
  /** A fresh target, for one call. */
  target(options?: PushTargetOptions): PushTarget
  /** Answers one post, before its event has been read. */
  readonly fetch: (request: Request) => Promise<Response>
  /** The same for node:http and Express. With `next`, requests for other paths than that of `publicUrl` are passed on. */
  readonly middleware: (request: NodePost, response: NodeAnswer, next?: () => void) => Promise<void>
}

export interface NodeAnswer {
  statusCode: number
  setHeader(name: string, value: string): unknown
  end(text: string): unknown
}

/** @throws {TypeError} on a wrong option */
export function pushReceiver(options: PushReceiverOptions): PushReceiver {
  checkReceiver(options)
  const { publicUrl, secret, signal, world = systemWorld } = options
  const limits = { ...defaultPushLimits, ...options.limits, world }
  const path = pathOf(new URL(publicUrl).pathname)
  const credentials = pushCredentials(secret, world)
  /** The one that was silent for longest comes first. */
  const targets = new Map<string, Target>()
  /** Loops of targets. */
  const readers = new Map<string, Reader>()
  /** What waits for the receiver's own loop; targets take turns. */
  const waiting = new Set<Target>()
  let isRead = false

  const reader = createReader({
    next() {
      const [target] = waiting
      if (target === undefined) return undefined
      const event = target.next()
      waiting.delete(target)
      if (!target.isEmpty()) waiting.add(target)
      return event
    },
    isOver: () => false,
    left() {
      isRead = false
    },
    signals: [signal],
  })

  function find(id: string): Target | undefined {
    const known = targets.get(id)
    const target = known ?? (makeRoom() ? createTarget(id, limits) : undefined)
    targets.delete(id)
    if (target) targets.set(id, target)
    return target
  }

  function makeRoom(): boolean {
    if (targets.size < limits.targets) return true
    for (const [id, target] of targets) {
      if (target.isIdle() && !readers.has(id)) return targets.delete(id)
    }
    return false
  }

  function read(id: string, own: AbortSignal | undefined): AsyncIterator<PushEvent> {
    const target = find(id)
    if (!target) throw new Error(`${limits.targets} push targets wait for their readers: read them, or raise limits.targets`)
    if (target.isClosed() || readers.has(id)) throw new TypeError('the events of a push target are read by one loop, once')
    const loop = createReader({
      next: target.next,
      isOver: target.isOver,
      left() {
        readers.delete(id)
        target.close()
      },
      signals: [signal, own],
    })
    readers.set(id, loop)
    waiting.delete(target)
    return loop.events()
  }

  /** @throws {PostRefusal} for one that is not taken */
  async function receive(post: Post): Promise<void> {
    if (post.method !== 'POST') throw new PostRefusal(405, '', { allow: 'POST' })
    const id = targetOf(post)
    if (id === undefined) throw new PostRefusal(401, '', { 'www-authenticate': 'Bearer' })
    const target = find(id)
    if (!target) throw later(503)
    checkOpen(target)
    if (!isJsonContentType(post.header('content-type') ?? '')) throw new PostRefusal(415, 'A post is application/a2a+json.')
    if (!target.admit()) throw later(429)
    await target.inTurn(async () => {
      const text = await post.text(limits)
      // That took a while.
      checkOpen(target)
      const verdict = target.take({ event: parsePush(text, id), idempotencyKey: post.header('idempotency-key'), size: text.length })
      if (verdict === 'full') throw later(503)
      if (verdict === 'foreign') throw new PostRefusal(403)
      if (verdict === 'taken') deliver(target)
    })
  }

  function checkOpen(target: Target): void {
    if (signal?.aborted) throw later(503)
    if (target.isClosed() && !target.isOver()) throw new PostRefusal(410)
  }

  function deliver(target: Target): void {
    const own = readers.get(target.id)
    if (own) own.wake()
    else {
      waiting.add(target)
      reader.wake()
    }
  }

  /** Whose credential a post shows: agents send one of the two headers, or both. */
  function targetOf(post: Post): string | undefined {
    const authorization = post.header('authorization')
    const token = post.header('x-a2a-notification-token')
    const shown = [authorization?.replace(/^bearer +/i, ''), token].filter((one) => one !== undefined)
    const ids = new Set(shown.map(credentials.idOf))
    return ids.size === 1 ? [...ids][0] : undefined
  }

  /** What is left to say of a post: undefined, it is taken. */
  function refusalOf(post: Post): Promise<PostRefusal | undefined> {
    return receive(post).then(
      () => undefined,
      (error: unknown) => {
        if (error instanceof PostRefusal) return error
        throw error
      },
    )
  }

  return {
    target(given = {}) {
      checkOptions('target()', given, { signal: signalRule })
      const { id, credential } = credentials.make()
      return {
        id,
        url: publicUrl,
        token: credential,
        authentication: { scheme: 'Bearer', credentials: credential },
        [Symbol.asyncIterator]: () => read(id, given.signal),
      }
    },
    async fetch(request) {
      const refusal = await refusalOf(webPost(request))
      return new Response(refusal?.message || null, { status: refusal?.status ?? 200, headers: { ...refusal?.headers } })
    },
    async middleware(request, response, next) {
      if (next && pathOf(request.originalUrl ?? request.url ?? '/') !== path) return next()
      const refusal = await refusalOf(nodePost(request))
      response.statusCode = refusal?.status ?? 200
      for (const [name, value] of Object.entries(refusal?.headers ?? {})) response.setHeader(name, value)
      response.end(refusal?.message ?? '')
    },
    [Symbol.asyncIterator]() {
      if (isRead) throw new TypeError('the events of a push receiver are read by one loop at a time')
      isRead = true
      return reader.events()
    },
  }
}

const signalRule: OptionRule = { takes: 'an AbortSignal', ok: isPlainObject }

function checkReceiver(options: PushReceiverOptions): void {
  checkOptions('pushReceiver()', options, {
    publicUrl: { takes: 'the http(s) URL, without a query, where posts reach this receiver', ok: isHttpUrl, required: true },
    secret: {
      takes: 'a text of at least 32 characters, such as `openssl rand -base64 32` makes',
      ok: (value) => typeof value === 'string' && value.trim().length >= 32,
      required: true,
      secret: true,
    },
    limits: { takes: 'an object of numbers', ok: isPlainObject },
    signal: signalRule,
    world: { takes: 'a World', ok: isPlainObject },
  })
  const rule: OptionRule = { takes: 'a whole number above 0', ok: isWhole(1) }
  checkOptions(
    'pushReceiver() limits',
    options.limits ?? {},
    Object.fromEntries(Object.keys(defaultPushLimits).map((name) => [name, rule])),
  )
}

/** For what would be taken at another time. */
function later(status: 429 | 503): PostRefusal {
  return new PostRefusal(status, '', { 'retry-after': '1' })
}

/** Without a slash at its end. */
function pathOf(target: string): string {
  return target.replace(/[?#].*/s, '').replace(/\/$/, '')
}
