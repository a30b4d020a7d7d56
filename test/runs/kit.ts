/**
 * A server that can be killed. A kill takes the world of the process, its store and its open connections at once; what is
 * left of it is the database, on which the next start opens. One clock goes on through all starts.
 */

import { onTestFinished } from 'vitest'
import { type AgentInfo, agent, type Json, type Run, type Server, type ServerOptions } from '../../src/index.js'
import { createCrashableMemory } from '../../src/store/sqlite/crashable.js'
import type { Store, StoreSource, TaskHeader } from '../../src/store/store.js'
import type { World } from '../../src/support/world.js'
import { sleep } from '../../src/support/world.js'
import type { TaskEvent } from '../../src/task/event.js'
import { fold } from '../../src/task/fold.js'
import { type VirtualWorld, virtualWorld } from '../../src/testing/virtual-world.js'
import { call, openServer, result, userMessage } from '../harness/server.js'
import { fresh, logOf } from '../laws/kit.js'
import { keptLog, type LogLine } from '../runtime/kit.js'

/** One start of the server, as the code of an agent knows it. */
export interface Process {
  /** 1, 2, …: which start this is. */
  readonly number: number
  readonly world: World
  /** Waits by the clock, and for ever where the process was killed meanwhile. */
  wait(ms: number): Promise<void>
  /** Never comes back in the starts of these numbers, and at once in all others: where a test crashes the process. */
  hold(...numbers: readonly number[]): Promise<void>
}

export type Program = (process: Process) => Run

/** What happens to the COMMIT of that number, counted from the first one after the server has started. */
export interface Accident {
  readonly commit: number
  readonly how: AccidentKind
}

export const accidentKinds = ['crash before', 'crash after', 'fails', 'takes effect and fails'] as const
export type AccidentKind = (typeof accidentKinds)[number]

export interface CrashableOptions extends Partial<ServerOptions> {
  readonly info?: Partial<AgentInfo>
  readonly accident?: Accident | undefined
}

/** The connection broke: nobody knows what the server did with the request. */
export class LostConnection extends Error {}

export interface Crashable {
  /** To the server that lives; rejects with {@link LostConnection} when it is killed before its answer. */
  readonly fetch: Server['fetch']
  readonly lines: readonly LogLine[]
  /** The clock of all starts. */
  readonly world: VirtualWorld
  /** COMMITs since the first start was done. */
  commits(): number
  /** Whether the accident is still to come. */
  isUnhurt(): boolean
  /** Number of the start that lives. */
  start(): number
  store(): Promise<Store>
  /** Until nothing moves any more without the clock. */
  rest(): Promise<void>
  advance(ms: number): Promise<void>
  /** Kills the process and starts the next, with another program where one is given. Comes back at rest. */
  crash(next?: Program): Promise<void>
  /** Kills the process; the next one starts with `restart`. */
  kill(): void
  /** Stops the server as SIGTERM does. It may need the clock. */
  close(): Promise<void>
  /** Starts the next server after `close` or `kill`. Comes back at rest. */
  restart(next?: Program): Promise<void>
  /** Sends a message, again and again under its one id until it is accepted, and gives the id of its task. */
  send(text: string, more?: Readonly<Record<string, unknown>>): Promise<string>
  /** A message to a task; `question` names the question that it means. */
  say(id: string, text: string, question?: string): Promise<void>
  signal(id: string, name: string, value: Json): Promise<void>
  cancel(id: string): Promise<any>
  get(id: string): Promise<any>
  state(id: string): Promise<string>
  header(id: string): Promise<TaskHeader>
  log(id: string): Promise<readonly TaskEvent[]>
  /** The log in words; see `wordOf`. */
  outline(id: string): Promise<string[]>
  /** The task once it is in `state`, and says `prompt` where that is given; the clock moves on by seconds until then. */
  comesTo(id: string, state: string, prompt?: RegExp): Promise<any>
}

interface Incarnation extends Process {
  isAlive: boolean
  readonly lost: Promise<never>
  readonly lose: () => void
  server?: Server
  store?: Store
}

export async function openCrashable(first: Program, options: CrashableOptions = {}): Promise<Crashable> {
  const { info, accident, ...serverOptions } = options
  const world = virtualWorld()
  const { log, lines } = keptLog()
  let program = first
  let current = incarnation(0)
  let ready: Promise<void> = Promise.resolve()
  /** Of the first start, which no accident is meant for. */
  let commitsBefore = Number.NaN

  const database = createCrashableMemory()
  const count = () => database.commits - commitsBefore
  let pending = accident
  database.beforeCommit = () => {
    if (pending === undefined || pending.how === 'crash after' || count() + 1 !== pending.commit) return 'commit'
    const { how } = pending
    // Once: a COMMIT that did not take effect leaves its number to the next.
    pending = undefined
    if (how === 'crash before') killAndRestart()
    return how === 'fails' ? 'fail' : how === 'takes effect and fails' ? 'commit and fail' : 'commit'
  }
  database.afterCommit = () => {
    if (pending?.how !== 'crash after' || count() !== pending.commit) return
    pending = undefined
    killAndRestart()
  }

  function incarnation(number: number): Incarnation {
    let lose = () => {}
    const lost = new Promise<never>((_, reject) => {
      lose = () => reject(new LostConnection('the connection was lost'))
    })
    lost.catch(() => undefined)
    const own = mortal(world, () => made.isAlive)
    const never = new Promise<never>(() => {})
    const made: Incarnation = {
      number,
      isAlive: true,
      lost,
      lose,
      world: own,
      wait: (ms) => sleep(own, ms),
      hold: (...numbers) => (numbers.includes(number) ? never : Promise.resolve()),
    }
    return made
  }

  async function boot(): Promise<void> {
    const next = incarnation(current.number + 1)
    current = next
    const source: StoreSource = {
      async open() {
        next.store = await database.open({ world: next.world })
        return next.store
      },
    }
    const made = agent({ name: 'Test', description: 'Does what the test says.', ...info }, program(next))
    const opening = openServer(made, { ...serverOptions, log, world: next.world, store: source })
    // A process that is killed while it starts never says that it is there.
    const opened = await Promise.race([opening, next.lost.catch(() => undefined)])
    if (opened) next.server = opened
  }

  function kill(): void {
    current.isAlive = false
    database.crash()
    current.lose()
  }

  /** From inside of a commit: the new process begins when the old one's stack is gone. */
  function killAndRestart(): void {
    kill()
    ready = new Promise<void>((resolve) => setImmediate(resolve)).then(boot)
  }

  async function up(): Promise<Incarnation> {
    for (;;) {
      const awaited = ready
      await awaited
      if (awaited === ready) return current
    }
  }

  async function fetch(request: Request): Promise<Response> {
    const { server, lost } = await up()
    if (!server) throw new LostConnection('nobody listens')
    return cut(await Promise.race([server.fetch(request), lost]), lost)
  }

  async function rest(): Promise<void> {
    for (let calm = 0; calm < 2; calm++) {
      const before = (await up()).number
      // What is sealed takes turns of the event loop that no world counts.
      for (let turns = 0; turns < 6; turns++) await crypto.subtle.digest('SHA-256', new Uint8Array(1))
      await world.advance(0)
      if ((await up()).number !== before) calm = -1
    }
  }

  async function advance(ms: number): Promise<void> {
    await rest()
    await world.advance(ms)
    await rest()
  }

  async function insist<T>(attempt: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await attempt()
      } catch (error) {
        if (tries === 10 || !(error instanceof LostConnection || /unavailable/i.test(String(error)))) throw error
        await rest()
      }
    }
  }

  async function send(text: string, more: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const message = userMessage(text, { messageId: fresh('message'), ...more })
    const params = { message, configuration: { returnImmediately: true } }
    const { task } = await insist(() => result(fetch, 'JSONRPC', 'SendMessage', params))
    return task.id
  }

  const get = (id: string): Promise<any> => insist(() => result(fetch, 'JSONRPC', 'GetTask', { id }))

  async function storeNow(): Promise<Store> {
    const { store } = await up()
    if (!store) throw new Error('the store is not open')
    return store
  }

  async function header(id: string): Promise<TaskHeader> {
    const found = await (await storeNow()).locate(id)
    if (!found) throw new Error(`there is no task ${id}`)
    return found
  }

  const logNow = async (id: string) => logOf(await storeNow(), await header(id))

  ready = boot()
  await up()
  commitsBefore = database.commits
  // Nothing of it is left that could keep the process of the test: its clock is not real.
  onTestFinished(() => kill())

  return {
    fetch,
    lines,
    world,
    commits: count,
    isUnhurt: () => pending !== undefined,
    start: () => current.number,
    store: storeNow,
    rest,
    advance,
    kill,
    send,
    get,
    header,
    log: logNow,
    async crash(next = program) {
      await up()
      program = next
      kill()
      ready = boot()
      await rest()
    },
    async close() {
      const { server } = await up()
      await server?.close()
    },
    async restart(next = program) {
      await up()
      program = next
      // A process that has ended does nothing more either.
      current.isAlive = false
      current.lose()
      ready = boot()
      await rest()
    },
    async say(id, text, question) {
      await send(text, { taskId: id, ...(question !== undefined && { metadata: { 'urn:errand:question': question } }) })
    },
    async signal(id, name, value) {
      await insist(async () => {
        const { server, lost } = await up()
        // The dead answer nobody.
        await Promise.race([server?.signal(id, name, value), lost])
      })
    },
    async cancel(id) {
      return (await insist(() => call(fetch, 'JSONRPC', 'CancelTask', { id }))).body
    },
    async state(id) {
      return stateOf(await get(id))
    },
    async outline(id) {
      return (await logNow(id)).map(wordOf)
    },
    async comesTo(id, state, prompt) {
      for (let seconds = 0; ; seconds++) {
        await rest()
        const task = await get(id)
        const said = wordsOf(task.status.message?.parts ?? [])
        if (stateOf(task) === state && (prompt?.test(said) ?? true)) return task
        if (seconds === 120) throw new Error(`the task is ${stateOf(task)} (${said}), not ${state}: ${JSON.stringify(await header(id))}`)
        await advance(1_000)
      }
    },
  }
}

/** A world that ends: no timer or deferred turn of it fires once `isAlive` says no. */
function mortal(world: World, isAlive: () => boolean): World {
  const whileAlive = (run: () => void) => () => {
    if (isAlive()) run()
  }
  return {
    now: world.now,
    timer: (ms, fire) => world.timer(ms, whileAlive(fire)),
    defer: (run) => world.defer(whileAlive(run)),
    randomBytes: world.randomBytes,
    async outside(work) {
      const made = await (world.outside?.(work) ?? work())
      return isAlive() ? made : new Promise<never>(() => {})
    },
  }
}

/** The same answer, whose body breaks off when the connection is lost. */
function cut(response: Response, lost: Promise<never>): Response {
  if (response.body === null) return response
  const reader = response.body.getReader()
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await Promise.race([reader.read(), lost])
          if (done) controller.close()
          else controller.enqueue(value)
        } catch (error) {
          controller.error(error)
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
  return new Response(body, { status: response.status, headers: response.headers })
}

export const stateOf = (task: any): string => task.status.state.replace('TASK_STATE_', '')

/** Texts as they are, data as JSON, one after the other. */
export const wordsOf = (parts: readonly any[]): string => parts.map((part) => part.text ?? JSON.stringify(part.data)).join('')

/**
 * An event in a word: `WORKING: note` for a status, `a=text` for an artifact that begins, `a+text` for more of it,
 * `turn: text`, `answer: text` or `message: text` for what a user said.
 */
export function wordOf({ kind, body }: TaskEvent): string {
  const frame = JSON.parse(body)
  if (kind === 'created') return stateOf(frame.task)
  if (kind === 'status') {
    const { message } = frame.statusUpdate.status
    return `${stateOf(frame.statusUpdate)}${message ? `: ${wordsOf(message.parts)}` : ''}`
  }
  if (kind === 'artifact') {
    const { artifact, append } = frame.artifactUpdate
    return `${artifact.artifactId}${append ? '+' : '='}${wordsOf(artifact.parts)}`
  }
  return `${kind}: ${wordsOf(frame.message.parts)}`
}

/** The texts of artifacts by their ids. */
export const artifactsOf = (task: any): Record<string, string> =>
  Object.fromEntries((task.artifacts ?? []).map(({ artifactId, parts }: any) => [artifactId, wordsOf(parts)]))

/** What the run returned, where that was a value. */
export const resultOf = (task: any): any =>
  task.artifacts?.find(({ artifactId }: any) => artifactId === 'result')?.parts.map((part: any) => part.text ?? part.data)[0]

export const historyOf = (task: any): string[] =>
  (task.history ?? []).map((message: any) => `${message.role === 'ROLE_USER' ? '>' : '<'} ${wordsOf(message.parts)}`)

const finals = ['COMPLETED', 'FAILED', 'CANCELED', 'REJECTED']

/** The laws of every log: numbers without gaps, one final event and nothing after it, and the task is its fold. */
export async function brokenLaws(server: Crashable, id: string): Promise<string[]> {
  const log = await server.log(id)
  const broken: string[] = []
  if (log.some(({ seq }, place) => seq !== place + 1)) broken.push(`numbers with gaps: ${log.map(({ seq }) => seq)}`)
  const ends = log.filter(({ state }) => state !== undefined && finals.includes(state.replace('TASK_STATE_', '')))
  if (ends.length > 1) broken.push(`${ends.length} final events`)
  if (ends.length === 1 && ends[0] !== log.at(-1)) broken.push('events after the final one')
  const told = JSON.stringify(await server.get(id))
  if (JSON.stringify(fold(undefined, log)) !== told) broken.push(`the task is not the fold of its log: ${told}`)
  return broken
}

/** What an error tells its catcher, as plain data. */
export const toldBy = (error: any) => ({ name: error?.name, message: error?.message, key: error?.key, reason: error?.reason })
