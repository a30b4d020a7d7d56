/** What tests of runs and streams share: agents that wait for the test, readers of frames, stores that are slow or fail. */

import { onTestFinished } from 'vitest'
import { type Agent, type Server, type ServerOptions, sqlite } from '../../src/index.js'
import type { Store, StoreSource } from '../../src/store/store.js'
import type { Log, LogLevel } from '../../src/support/log.js'
import { type VirtualWorld, virtualWorld } from '../../src/testing/virtual-world.js'
import { type BindingName, openServer, readFrames, requestFor, result, type SseFrame, userMessage } from '../harness/server.js'

export interface Gate {
  readonly opened: Promise<void>
  readonly open: () => void
}

/** A promise that the test settles: by it an agent waits for the test, or the test for an agent. */
export function gate(): Gate {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

export interface LogLine {
  readonly level: LogLevel
  readonly message: string
  readonly fields: Readonly<Record<string, any>>
}

/** A log that keeps its lines. */
export function keptLog(): { readonly log: Log; readonly lines: LogLine[] } {
  const lines: LogLine[] = []
  const at =
    (level: LogLevel) =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}) =>
      void lines.push({ level, message, fields })
  return { lines, log: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') } }
}

export interface OpenedServer {
  readonly server: Server
  readonly fetch: Server['fetch']
  readonly world: VirtualWorld
  readonly lines: readonly LogLine[]
}

/** A server whose clock stands still, closed after the test whatever its agents do. */
export async function openStill(agent: Agent, options: Partial<ServerOptions> = {}): Promise<OpenedServer> {
  const world = virtualWorld()
  const { log, lines } = keptLog()
  const server = await openServer(agent, { world, log, ...options })
  onTestFinished(() => closeStill(server, world))
  return { server, fetch: server.fetch, world, lines }
}

/** Runs that go on are given their time, and it passes at once. */
export async function closeStill(server: Pick<Server, 'close'>, world: VirtualWorld): Promise<void> {
  const closed = server.close()
  await world.advance(60_000)
  await closed
}

/** Lets the event loop turn until `holds`. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setImmediate(resolve))
}

/** Sends a message and does not wait for the end of its task; gives the id of the task. */
export async function begin(fetching: Server['fetch'], text: string, more: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const message = userMessage(text, more)
  const { task } = await result(fetching, 'JSONRPC', 'SendMessage', { message, configuration: { returnImmediately: true } })
  return task.id
}

export const getTask = (fetching: Server['fetch'], id: string): Promise<any> => result(fetching, 'JSONRPC', 'GetTask', { id })

/** The ways to subscribe: JSON-RPC, and both verbs of HTTP+JSON. */
export const subscribeDoors = ['JSONRPC', 'POST', 'GET'] as const
export type SubscribeDoor = (typeof subscribeDoors)[number]

export const bindingOf = (door: SubscribeDoor): BindingName => (door === 'JSONRPC' ? 'JSONRPC' : 'HTTP+JSON')

export interface SubscribeOptions {
  readonly lastEventId?: string | undefined
  readonly url?: string
  readonly signal?: AbortSignal
}

export function subscribeRequest(door: SubscribeDoor, id: string, { lastEventId, ...rest }: SubscribeOptions = {}): Request {
  const headers = lastEventId === undefined ? {} : { 'last-event-id': lastEventId }
  const request = requestFor(bindingOf(door), 'SubscribeToTask', { id }, { ...rest, headers })
  return door === 'GET' ? new Request(request.url, { headers: request.headers, signal: request.signal }) : request
}

/** Frames of a subscription that is expected to open. */
export async function* subscribe(
  fetching: Server['fetch'],
  door: SubscribeDoor,
  id: string,
  options: SubscribeOptions = {},
): AsyncGenerator<SseFrame> {
  const response = await fetching(subscribeRequest(door, id, options))
  if (!/event-stream/.test(response.headers.get('content-type') ?? '')) throw new Error(`no stream was opened: ${await response.text()}`)
  yield* readFrames(response, bindingOf(door))
}

/** The text of an answer, as it comes. */
export function textReader({ body }: Response): ReadableStreamDefaultReader<string> {
  if (!body) throw new Error('the answer has no body')
  return body.pipeThrough(new TextDecoderStream()).getReader()
}

/** The next `count` frames, fewer if the stream ends before. */
export async function take(stream: AsyncGenerator<SseFrame>, count: number): Promise<SseFrame[]> {
  const taken: SseFrame[] = []
  while (taken.length < count) {
    const { done, value } = await stream.next()
    if (done) break
    taken.push(value)
  }
  return taken
}

export const takeAll = (stream: AsyncGenerator<SseFrame>): Promise<SseFrame[]> => take(stream, Number.POSITIVE_INFINITY)

export const numbersOf = (frames: readonly SseFrame[]): number[] => frames.map(({ id }) => Number(id))

/** The task whose stream this is, from its first frame. */
export const taskIdOf = ([first]: readonly SseFrame[]): string => first?.data.task.id

/** The states that frames tell, in order. */
export const statesOf = (frames: readonly SseFrame[]): string[] =>
  frames.flatMap(({ data }) => (data.task ?? data.statusUpdate)?.status.state.replace('TASK_STATE_', '') ?? [])

/** The task that a reader of these frames believes in. What users say later is no frame, so history may lack it. */
export function foldFrames(frames: readonly SseFrame[], start?: any): any {
  let task = structuredClone(start)
  for (const { data } of frames) {
    if (data.task) task = structuredClone(data.task)
    if (data.statusUpdate) {
      task.status = data.statusUpdate.status
      const { state, message } = task.status
      const atRest = !['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING'].includes(state)
      if (message && atRest) task.history = [...(task.history ?? []), message]
    }
    if (data.artifactUpdate) foldArtifact(task, data.artifactUpdate)
  }
  return task
}

function foldArtifact(task: any, { artifact, append }: any): void {
  task.artifacts ??= []
  const place = task.artifacts.findIndex((one: any) => one.artifactId === artifact.artifactId)
  if (place < 0) task.artifacts.push(structuredClone(artifact))
  else if (append) task.artifacts[place].parts.push(...artifact.parts)
  else task.artifacts[place] = structuredClone(artifact)
}

/** A store with some of its methods replaced. */
export function withStore(change: (store: Store) => Partial<Store>, source: StoreSource = sqlite(':memory:')): StoreSource {
  return {
    async open(options) {
      const store = await source.open(options)
      return { ...store, ...change(store) }
    },
  }
}

/** Each read and write takes `ms` longer, as on a slow disk. */
export function slowStore(ms: number): StoreSource {
  async function later<Result>(call: () => Promise<Result>): Promise<Result> {
    await new Promise<void>((resolve) => setTimeout(resolve, ms))
    return call()
  }
  return withStore((store) => ({
    create: (...given) => later(() => store.create(...given)),
    find: (...given) => later(() => store.find(...given)),
    update: (ref, decide, inbound) => later(() => store.update(ref, decide, inbound)),
    append: (...given) => later(() => store.append(...given)),
    claim: (...given) => later(() => store.claim(...given)),
    read: (...given) => later(() => store.read(...given)),
    events: (...given) => later(() => store.events(...given)),
  }))
}

/** Commits are told without what is in them, as those of another process are. */
export const quietStore = (): StoreSource =>
  withStore((store) => ({ onCommit: (listener) => store.onCommit((ref, lastSeq) => listener(ref, lastSeq)) }))
