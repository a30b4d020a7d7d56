/** One start of the server's process in a world where nothing happens by itself: turns, timers and work are given one by one. */

import type { Agent } from '../../src/index.js'
import { bearerTokens, type TaskHandle } from '../../src/index.js'
import type { OpenedPost } from '../../src/push/post.js'
import type { PushOptions } from '../../src/push/push-options.js'
import { type Core, createCore } from '../../src/server/create-server.js'
import { gone } from '../../src/server/handler.js'
import type { Store } from '../../src/store/store.js'
import type { Log } from '../../src/support/log.js'
import type { World } from '../../src/support/world.js'
import type { Chance } from './chance.js'

/** What all starts of a history share. */
export interface Surface {
  readonly clock: { now: number }
  /** Work outside of the event loop, such as WebCrypto: nothing else happens until it has ended. */
  outside<T>(work: () => Promise<T>): Promise<T>
  /** Until all promises have settled that can. */
  settle(): Promise<void>
}

export function createSurface(now: number): Surface {
  let outsiders = 0
  let last: Promise<unknown> = Promise.resolve()
  return {
    clock: { now },
    outside(work) {
      outsiders++
      const done = last.then(work).finally(() => outsiders--)
      last = done.catch(() => undefined)
      return done
    },
    async settle() {
      for (;;) {
        await new Promise<void>((resolve) => setImmediate(resolve))
        if (outsiders === 0) return
        await last
      }
    },
  }
}

interface Timer {
  readonly due: number
  readonly fire: () => void
}

/** Work of an agent that ends when the history says so. */
interface Pause {
  readonly label: string
  readonly end: () => void
}

/** A request on its way. */
export interface Exchange {
  /** `lost`: the process died before its answer. */
  state: 'open' | 'answered' | 'streaming' | 'lost'
  /** Of an answer: the JSON-RPC envelope. */
  body?: any
  texts?: AsyncIterator<string>
  readonly call: AbortController
}

export class Life {
  readonly number: number
  readonly world: World
  readonly turns: (() => void)[] = []
  readonly pauses: Pause[] = []
  /** Runs of the agent's function that have not ended. */
  readonly runs = new Set<TaskHandle>()
  isOver = false
  /** When it began to close. */
  closingSince: number | undefined
  core: Core | undefined
  store: Store | undefined
  readonly #timers = new Set<Timer>()
  readonly #surface: Surface
  readonly #exchanges = new Set<Exchange>()
  readonly #onOver: (() => void)[] = []

  constructor(number: number, surface: Surface, chance: Chance) {
    this.number = number
    this.#surface = surface
    const never = new Promise<never>(() => {})
    this.world = {
      now: () => surface.clock.now,
      timer: (ms, fire) => {
        const timer = { due: surface.clock.now + Math.max(0, ms), fire }
        if (!this.isOver) this.#timers.add(timer)
        return () => void this.#timers.delete(timer)
      },
      defer: (run) => {
        if (!this.isOver) this.turns.push(run)
      },
      randomBytes: (length) => chance.bytes(length),
      outside: async (work) => {
        const made = await surface.outside(work)
        return this.isOver ? never : made
      },
    }
  }

  /** Starts the server on `store`. Settles when it is there, never when the process dies before. */
  async boot(
    agent: Agent,
    options: {
      readonly concurrency: number
      readonly waitingRuns: number
      readonly log: Log
      readonly world: World
      readonly open: (world: World) => Promise<Store>
      readonly push?: { readonly options: PushOptions; readonly post: OpenedPost }
    },
  ): Promise<void> {
    const { concurrency, waitingRuns, log, world, open, push } = options
    const core = await createCore(agent, {
      store: {
        open: async ({ world }) => {
          this.store = await open(world)
          return this.store
        },
      },
      auth: people,
      own: () => 'http://agent.test',
      url: 'http://agent.test',
      neighbours: false,
      world,
      log,
      concurrency,
      limits: { waitingRuns },
      ...(push && { push: push.options, openPost: () => push.post }),
    })
    core.start()
    this.core = core
  }

  /** The timer that is due first; of two the older one. */
  nextTimer(): Timer | undefined {
    let first: Timer | undefined
    for (const timer of this.#timers) if (!first || timer.due < first.due) first = timer
    return first
  }

  fire(timer: Timer): void {
    this.#timers.delete(timer)
    this.#surface.clock.now = Math.max(this.#surface.clock.now, timer.due)
    timer.fire()
  }

  linger(label: string): Promise<void> {
    return new Promise((resolve) => {
      if (this.isOver) return
      const pause: Pause = {
        label,
        end: () => {
          this.pauses.splice(this.pauses.indexOf(pause), 1)
          resolve()
        },
      }
      this.pauses.push(pause)
    })
  }

  request(method: string, params: object, lastEventId?: number): Exchange {
    const { core } = this
    const call = new AbortController()
    const exchange: Exchange = { state: 'open', call }
    if (this.isOver || !core) {
      exchange.state = 'lost'
      return exchange
    }
    this.#exchanges.add(exchange)
    const headers: Record<string, string> = { 'a2a-version': '1.0', authorization: 'Bearer alice', 'content-type': 'application/json' }
    if (lastEventId !== undefined) headers['last-event-id'] = String(lastEventId)
    const body = new TextEncoder().encode(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
    const raw = { method: 'POST', target: '/a2a/v1', header: (name: string) => headers[name], body: async () => body }
    void core.handler.handle(raw, call).then((reply) => {
      if (this.isOver || exchange.state === 'lost') return
      if (typeof reply.body === 'string') {
        this.#exchanges.delete(exchange)
        core.handler.done(call)
        exchange.body = JSON.parse(reply.body)
        exchange.state = 'answered'
      } else {
        exchange.texts = reply.body[Symbol.asyncIterator]()
        exchange.state = 'streaming'
      }
    })
    return exchange
  }

  /** The caller goes away. */
  leave(exchange: Exchange): void {
    this.#exchanges.delete(exchange)
    exchange.state = 'lost'
    exchange.call.abort(gone)
    void exchange.texts?.return?.()
    this.core?.handler.done(exchange.call)
  }

  /** A stream has come to its end. */
  streamed(exchange: Exchange): void {
    this.#exchanges.delete(exchange)
    this.core?.handler.done(exchange.call)
  }

  /** `told` hears of the end of the process. */
  onOver(told: () => void): void {
    this.#onOver.push(told)
  }

  /** Nothing that this process has begun goes on. */
  end(): void {
    if (this.isOver) return
    this.isOver = true
    this.turns.length = 0
    this.pauses.length = 0
    this.#timers.clear()
    for (const exchange of this.#exchanges) exchange.state = 'lost'
    this.#exchanges.clear()
    for (const told of this.#onOver) told()
  }
}

const people = bearerTokens({ alice: 'alice' })
