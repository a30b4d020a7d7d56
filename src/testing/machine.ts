/**
 * What a sandbox runs on: a clock that is moved by hand, a disk that outlives processes, a network, and one server process
 * after the other.
 *
 *   starting ──► running ──► dead (killed) ──► starting …
 */

import { type GuardedFetchOptions, type OpenedFetch, openGuardedFetch } from '../net/guarded-fetch.js'
import type { Agent } from '../runtime/agent.js'
import { type Core, type CoreOptions, createCore } from '../server/create-server.js'
import { createFetch } from '../server/fetch.js'
import { createCrashableMemory } from '../store/sqlite/crashable.js'
import type { Store, StoreSource } from '../store/store.js'
import { silentLog } from '../support/log.js'
import { type CallersWorld, callersWorld, type MortalWorld, mortalLog, mortalWorld } from './mortal-world.js'
import { createNetwork, type Network } from './network.js'
import { createPushReceivers, type PushReceivers } from './push-receivers.js'
import { virtualWorld } from './virtual-world.js'

/** A time that no test comes to. */
export const neverMs = 100 * 365 * 86_400_000

/** A server process that runs. */
export interface Process {
  readonly core: Core
  readonly store: Store
  readonly world: MortalWorld
}

export type Moment = 'before' | 'after'

export interface Machine {
  readonly network: Network
  readonly receivers: PushReceivers
  /** Called when COMMIT number `n` of the machine, 1, 2, …, is about to take effect, and when it has; may call `kill`. */
  onCommit: ((n: number, moment: Moment) => void) | undefined
  /** COMMITs that took effect so far. */
  commits(): number
  /** Time and chance of those who call. */
  readonly callers: CallersWorld
  /** Grows with whatever goes on in here. */
  activity(): number
  now(): number
  /** When the next timer is due; undefined where none is set. */
  nextDue(): number | undefined
  /** Moves the clock; a move waits for the one before. */
  advance(ms: number): Promise<void>
  /** The process dies at this very point; another one starts in the next turn of the event loop. */
  kill(): void
  /** What `work` gives, asked again of the next process where one dies over it. @throws what kept a process from starting */
  ask<Result>(work: (process: Process) => Result | Promise<Result>): Promise<Result>
  /** The process ends by itself, or is killed. */
  close(): Promise<void>
}

export interface MachineOptions {
  readonly agent: Agent
  readonly server: Omit<CoreOptions, 'store' | 'world'>
  /** Milliseconds. */
  readonly now: number
  readonly seed: number
}

export function openMachine({ agent, server, now, seed }: MachineOptions): Machine {
  let uses = 0
  const onUse = () => void uses++
  const clock = virtualWorld({ now, seed })
  const network = createNetwork(onUse)
  const receivers = createPushReceivers(onUse)
  const disk = createCrashableMemory()
  disk.beforeCommit = (n) => {
    machine.onCommit?.(n, 'before')
    return undefined
  }
  disk.afterCommit = (n) => {
    onUse()
    machine.onCommit?.(n, 'after')
  }
  let parts = 0
  const part = () => ({ base: clock, seed: seed * 1000 + parts++, onUse })
  const callers = callersWorld(part())
  let state: 'starting' | 'running' | 'failed' | 'closed' = 'starting'
  let next = startedProcess()
  let living: MortalWorld | undefined
  let moving: Promise<unknown> = Promise.resolve()

  async function boot(): Promise<void> {
    if (state === 'closed') return
    const world = mortalWorld(part())
    living = world
    try {
      const process = await startProcess(world)
      if (world.isDead) return
      network.listen(withoutBase(createFetch(process.core), server.own()))
      state = 'running'
      next.resolve(process)
    } catch (error) {
      if (world.isDead) return
      state = 'failed'
      next.reject(error)
    }
  }

  async function startProcess(world: MortalWorld): Promise<Process> {
    let store: Store | undefined
    const source: StoreSource = {
      async open(options) {
        store = await disk.open(options)
        return store
      },
    }
    const log = mortalLog(server.log ?? silentLog, world)
    const core = await createCore(agent, {
      ...server,
      store: source,
      world,
      log,
      openFetch: (options) => mortalFetch(options, world),
      openPost: () => receivers.open(world),
    })
    if (!store) throw new Error('the server did not open its store')
    core.start()
    return { core, store, world }
  }

  function kill(): void {
    // One that is dead already has its successor on the way.
    if (!living || state === 'closed') return
    end()
    if (state !== 'starting') next = startedProcess()
    state = 'starting'
    // Not within the COMMIT at which the process died.
    clock.defer(() => void boot())
  }

  function end(): void {
    living?.die()
    living = undefined
    network.cut()
    disk.crash()
  }

  function advance(ms: number): Promise<void> {
    const move = moving.then(() => clock.advance(ms))
    moving = move.catch(() => {})
    return move
  }

  const machine: Machine = {
    network,
    receivers,
    callers,
    onCommit: undefined,
    commits: () => disk.commits,
    activity: () => uses,
    now: clock.now,
    nextDue: clock.nextDue,
    advance,
    kill,
    async ask(work) {
      for (;;) {
        const process = await next.promise
        const answer = await Promise.race([(async () => ({ value: await work(process) }))(), process.world.death])
        if (answer) return answer.value
      }
    },
    async close() {
      if (state === 'closed') return
      const process = state === 'running' ? await next.promise : undefined
      state = 'closed'
      machine.onCommit = undefined
      if (process) {
        // Its runs are given their time, and it passes at once. Whatever keeps it from ending well, it is killed after that.
        const closed = process.core.close().catch(() => {})
        await Promise.race([closed, advance(process.core.limits.shutdownMs)])
      }
      end()
      callers.end()
    },
  }
  void boot()
  return machine
}

/** As a proxy does that has the server below a path of its own. */
function withoutBase(serve: (request: Request) => Promise<Response>, base: string): (request: Request) => Promise<Response> {
  const { origin, pathname } = new URL(base)
  const prefix = pathname.replace(/\/$/, '')
  if (prefix === '') return serve
  return (request) => serve(new Request(request.url.replace(origin + prefix, origin), request))
}

interface StartedProcess {
  readonly promise: Promise<Process>
  readonly resolve: (process: Process) => void
  readonly reject: (error: unknown) => void
}

function startedProcess(): StartedProcess {
  let resolve: StartedProcess['resolve'] = () => {}
  let reject: StartedProcess['reject'] = () => {}
  const promise = new Promise<Process>((resolved, rejected) => {
    resolve = resolved
    reject = rejected
  })
  // Whoever asks something of the process is told.
  promise.catch(() => {})
  return { promise, resolve, reject }
}

/** What a dead process fetched comes to nobody. */
function mortalFetch(options: GuardedFetchOptions, world: MortalWorld): OpenedFetch {
  const opened = openGuardedFetch(options)
  void world.death.then(() => opened.close())
  const never = new Promise<never>(() => {})
  return {
    close: opened.close,
    fetch: async (...request) => {
      const response = await opened.fetch(...request).catch((error: unknown) => {
        if (world.isDead) return never
        throw error
      })
      return world.isDead ? never : response
    },
  }
}
