/** Tasks, events and small measures that the laws of a store share. */

import type { Message, Part, StreamResponse, TaskState, TaskStatus } from '../../src/protocol/wire.js'
import type { Caller, NewTask, RunRecord, Store, TaskHeader, TaskRef, Waiting } from '../../src/store/store.js'
import type { NewEvent, TaskEvent } from '../../src/task/event.js'
import type { VirtualWorld } from '../../src/testing/virtual-world.js'

/** A store that was opened for one test and is closed after it. */
export interface Opened {
  readonly store: Store
  readonly world: VirtualWorld
}

export type Open = () => Promise<Opened>

/** Closes a store and opens it again on the same data. */
export type Reopen = (opened: Opened) => Promise<Opened>

export interface Named {
  readonly id: string
  readonly contextId: string
}

export const dayMs = 86_400_000

export const submitted = 'TASK_STATE_SUBMITTED'
export const working = 'TASK_STATE_WORKING'
export const inputRequired = 'TASK_STATE_INPUT_REQUIRED'
export const authRequired = 'TASK_STATE_AUTH_REQUIRED'
export const completed = 'TASK_STATE_COMPLETED'
export const canceled = 'TASK_STATE_CANCELED'
export const failed = 'TASK_STATE_FAILED'
export const rejected = 'TASK_STATE_REJECTED'
export const finalStates: readonly TaskState[] = [completed, canceled, failed, rejected]

let made = 0

/** A name that no other test of this process has. */
export function fresh(kind: string): string {
  made++
  return `${kind}-${String(made).padStart(7, '0')}`
}

export function freshCaller(): Caller {
  return { tenant: '', owner: fresh('owner') }
}

export interface TaskOptions extends Partial<Omit<NewTask, 'created'>> {
  /** Time of the first status. */
  readonly at?: number
  readonly text?: string
}

/** A task of a caller of its own, unless one is given. */
export function newTask(options: TaskOptions = {}): NewTask & Named {
  const { at = 1_000, text = 'go', ...given } = options
  const task = { caller: freshCaller(), id: fresh('task'), contextId: fresh('context'), ...given }
  return { ...task, created: created(task, at, text) }
}

export function created(task: Named, timestamp: number, text: string): NewTask['created'] {
  const { id, contextId } = task
  const body = { task: { id, contextId, status: status(submitted, timestamp), history: [userMessage(task, text)] } }
  return { kind: 'created', state: submitted, timestamp, body: frame(body) }
}

export function moved(task: Named, state: TaskState, timestamp: number, message?: Message): NewEvent & { readonly kind: 'status' } {
  const body = { statusUpdate: { taskId: task.id, contextId: task.contextId, status: status(state, timestamp, message) } }
  return { kind: 'status', state, timestamp, body: frame(body) }
}

export interface Chunk {
  readonly artifactId: string
  readonly parts: readonly Part[]
  readonly append?: boolean
  readonly lastChunk?: boolean
}

export function artifact(task: Named, chunk: Chunk): NewEvent {
  const { artifactId, parts, append, lastChunk } = chunk
  const ends = { ...(append ? { append } : {}), ...(lastChunk ? { lastChunk } : {}) }
  return {
    kind: 'artifact',
    body: frame({ artifactUpdate: { taskId: task.id, contextId: task.contextId, artifact: { artifactId, parts }, ...ends } }),
  }
}

/** One artifact of its own with a single text. */
export function note(task: Named, text: string): NewEvent {
  return artifact(task, { artifactId: fresh('artifact'), parts: [{ text }] })
}

export function said(task: Named, kind: 'turn' | 'answer' | 'message', text: string): NewEvent {
  return { kind, body: frame({ message: userMessage(task, text) }) }
}

export function userMessage(task: Named, text: string): Message {
  return { messageId: fresh('message'), contextId: task.contextId, taskId: task.id, role: 'ROLE_USER', parts: [{ text }] }
}

export function agentMessage(task: Named, text: string): Message {
  return { ...userMessage(task, text), role: 'ROLE_AGENT' }
}

export function status(state: TaskState, timestamp: number, message?: Message): TaskStatus {
  return { state, ...(message ? { message } : {}), timestamp: new Date(timestamp).toISOString() }
}

function frame(body: StreamResponse): string {
  return JSON.stringify(body)
}

/** Creates a task and expects it to be a new one. */
export async function create(store: Store, task: NewTask): Promise<TaskHeader> {
  const outcome = await store.create(task)
  if (outcome.outcome !== 'created') throw new Error(`expected a new task, not ${outcome.outcome}`)
  return outcome.header
}

/** Appends `events` whatever the task is, as a client's write does. */
export async function put(store: Store, header: TaskHeader, ...events: readonly NewEvent[]): Promise<TaskHeader> {
  const updated = await store.update(header.ref, () => ({ write: { events }, result: undefined }))
  if (updated.outcome !== 'updated') throw new Error(`expected a write, not ${updated.outcome}`)
  return updated.header
}

/** The header as it is now. */
export async function headerOf(store: Store, task: { readonly caller: Caller; readonly id: string }): Promise<TaskHeader> {
  const header = await store.find(task.caller, task.id)
  if (header === undefined) throw new Error(`the task ${task.id} is not there`)
  return header
}

/** For the message that answers the question `question`. */
export function waitsFor(question: string): Waiting {
  return { kind: 'turn', question }
}

/** The records of a turn by their keys; their order is nobody's promise. */
export async function recordsOf(store: Store, { ref }: { readonly ref: TaskRef }, turn: number): Promise<readonly RunRecord[]> {
  return sorted(await store.records(ref, turn))
}

export function sorted(records: readonly RunRecord[]): readonly RunRecord[] {
  return [...records].sort((a, b) => (a.key < b.key ? -1 : 1))
}

/** The whole log, page by page. */
export async function logOf(store: Store, header: TaskHeader, maxBytes = 1 << 20): Promise<readonly TaskEvent[]> {
  const log: TaskEvent[] = []
  for (;;) {
    const page = await store.events(header.ref, log.at(-1)?.seq ?? 0, { maxBytes })
    if (page.length === 0) return log
    log.push(...page)
    unlessEndless(log.length)
  }
}

/** All that a reader can see of a task: equal before and after where nothing was written. */
export async function seenOf(store: Store, task: { readonly caller: Caller; readonly id: string }): Promise<unknown> {
  const header = await headerOf(store, task)
  return {
    header,
    log: await logOf(store, header),
    read: await store.read(header.ref),
    configs: await store.listPushConfigs(header.ref, { limit: 100 }),
    records: await Promise.all(upTo(header.turn + 1).map((turn) => recordsOf(store, header, turn - 1))),
  }
}

/** Members of a canonical JSON text. */
export function parsed(text: string): unknown {
  return JSON.parse(text)
}

/** The id of a task in its canonical JSON text. */
export function idIn(text: string): unknown {
  const task: { readonly id?: unknown } = JSON.parse(text)
  return task.id
}

/** The next turn of the event loop. */
export function nextTurn(world: VirtualWorld): Promise<void> {
  return new Promise((resolve) => world.defer(resolve))
}

/** Fails a loop over pages that would go round for ever. */
export function unlessEndless(found: number): void {
  if (found > 100_000) throw new Error('the pages do not end')
}

/** 1, 2, … `count`. */
export function upTo(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index + 1)
}
