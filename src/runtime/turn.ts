/** A turn as it began, read back from the log: for runs that take it up later, or after a crash. */

import { isAtRest } from '../protocol/states.js'
import type { Message, Task } from '../protocol/wire.js'
import type { RecordWrite, Store, TaskHeader, TaskRef } from '../store/store.js'
import { sealBody, type Vault } from '../support/vault.js'
import type { TaskEvent } from '../task/event.js'
import { messageOf } from '../task/make-event.js'
import type { LeftRecord } from './ledger.js'
import type { TurnBody } from './record-bodies.js'
import type { Turn } from './task.js'

const turnKey = 'turn'

/** The text parts of a message, joined by line breaks. */
export function textOf(message: Message): string {
  return message.parts.flatMap((part) => (part.text === undefined ? [] : [part.text])).join('\n')
}

/** What came with the message of a turn, as a record; `undefined` where nothing did and the turn is the first. */
export async function turnRecord(
  vault: Vault,
  { id, turn, seq }: { readonly id: string; readonly turn: number; readonly seq: number },
  { user, acceptedOutputModes, extensions }: Turn,
): Promise<RecordWrite | undefined> {
  const hasClaims = Object.keys(user.claims).length > 0
  if (turn === 1 && !hasClaims && acceptedOutputModes.length === 0 && extensions.length === 0) return undefined
  const body: TurnBody = { seq, claims: user.claims, acceptedOutputModes, extensions }
  // What is known about a person is nobody's who only has the file.
  const text = hasClaims ? await sealBody(vault, { taskId: id, turn, key: turnKey }, body) : JSON.stringify(body)
  return { turn, kind: 'turn', key: turnKey, body: text }
}

export interface BegunTurn {
  readonly turn: Turn
  /** As it was when the turn began, the turn's message last. */
  readonly history: readonly Message[]
}

/** The turn that a task is in, as its message began it. */
export async function readTurn(store: Store, header: TaskHeader, records: readonly LeftRecord[]): Promise<BegunTurn> {
  // Only turnRecord writes it.
  const body = records.find(({ kind }) => kind === 'turn')?.body as TurnBody | undefined
  const { seq, claims, acceptedOutputModes, extensions } = body ?? {
    seq: header.turn === 1 ? 1 : await lastTurn(store, header.ref),
    claims: {},
    acceptedOutputModes: [],
    extensions: [],
  }
  const history = await historyAt(store, header.ref, seq)
  const message = await messageAt(store, header.ref, seq)
  const user = { id: header.caller.owner, claims }
  return { turn: { message, text: textOf(message), user, acceptedOutputModes, extensions }, history }
}

/** The message in the event of that number. */
export async function messageAt(store: Store, ref: TaskRef, seq: number): Promise<Message> {
  const [event] = await store.events(ref, seq - 1, { maxBytes: 1 })
  if (event?.seq !== seq) throw new Error(`the task has no event ${seq}`)
  if (event.kind !== 'created') return messageOf(event.body)
  // The body of a created event is the task with the message that opened it.
  const [first] = (JSON.parse(event.body) as { readonly task: Task }).task.history ?? []
  if (!first) throw new Error('the task was not opened by a message')
  return first
}

async function lastTurn(store: Store, ref: TaskRef): Promise<number> {
  let last = 1
  for await (const event of eventsAfter(store, ref, 0, ['turn'])) last = event.seq
  return last
}

/** The history up to the message of event `seq`: that of now, without what came later. */
async function historyAt(store: Store, ref: TaskRef, seq: number): Promise<readonly Message[]> {
  const { text, seq: now } = await store.read(ref)
  let later = 0
  for await (const event of eventsAfter(store, ref, seq, ['status', 'turn', 'answer', 'message'])) {
    if (event.seq <= now && addsToHistory(event)) later++
  }
  // The store gives the canonical text of a Task.
  const { history = [] } = JSON.parse(text) as Task
  return history.slice(0, history.length - later)
}

function addsToHistory({ kind, state, body }: TaskEvent): boolean {
  if (kind !== 'status') return true
  if (state === undefined || !isAtRest(state)) return false
  // The body of a status event is a status update.
  return (
    (JSON.parse(body) as { readonly statusUpdate: { readonly status: { readonly message?: Message } } }).statusUpdate.status.message !==
    undefined
  )
}

async function* eventsAfter(store: Store, ref: TaskRef, after: number, kinds: readonly TaskEvent['kind'][]): AsyncGenerator<TaskEvent> {
  for (let last = after; ; ) {
    const page = await store.events(ref, last, { kinds })
    yield* page
    const end = page.at(-1)
    if (!end) return
    last = end.seq
  }
}
