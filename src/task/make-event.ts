/** Makes the events of a task's log, each as the text that every reader gets. */

import type { Artifact, Json, Message, Part, Task, TaskState } from '../protocol/wire.js'
import type { NewEvent } from './event.js'

/** What names a task on the wire. */
export interface TaskIds {
  readonly id: string
  readonly contextId: string
}

/** The task as it begins: SUBMITTED, with the message that opened it. */
export function createdEvent(ids: TaskIds, message: Message, timestamp: number): NewEvent & { readonly kind: 'created' } {
  const task: Task = {
    id: ids.id,
    contextId: ids.contextId,
    status: { state: 'TASK_STATE_SUBMITTED', timestamp: isoTime(timestamp) },
    history: [inTask(ids, message)],
  }
  return { kind: 'created', state: 'TASK_STATE_SUBMITTED', timestamp, body: JSON.stringify({ task }) }
}

/** A move to `state` (or a note in the same one), with what the agent says about it. */
export function statusEvent(ids: TaskIds, state: TaskState, timestamp: number, message?: Message): NewEvent {
  const status = { state, ...(message && { message }), timestamp: isoTime(timestamp) }
  return { kind: 'status', state, timestamp, body: JSON.stringify({ statusUpdate: { taskId: ids.id, contextId: ids.contextId, status } }) }
}

export function artifactEvent(ids: TaskIds, artifact: Artifact, how: { readonly append: boolean; readonly last: boolean }): NewEvent {
  const update = { taskId: ids.id, contextId: ids.contextId, artifact, append: how.append, lastChunk: how.last }
  return { kind: 'artifact', body: JSON.stringify({ artifactUpdate: update }) }
}

/** A user's message: to begin a turn, as an answer within one, or for the inbox of a task at work. */
export function messageEvent(kind: 'turn' | 'answer' | 'message', ids: TaskIds, message: Message): NewEvent {
  return { kind, body: JSON.stringify({ message: inTask(ids, message) }) }
}

/** A message of the agent in a task. */
export function agentMessage(ids: TaskIds, messageId: string, parts: readonly Part[]): Message {
  return { messageId, contextId: ids.contextId, taskId: ids.id, role: 'ROLE_AGENT', parts }
}

/** Milliseconds as the protocol writes them: RFC 3339 in UTC with milliseconds. Spec §5.6.1. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString()
}

/** The earliest time after `last` that is not before `now`: status times grow strictly, so that lists have one order. */
export function nextTimestamp(last: number, now: number): number {
  return Math.max(now, last + 1)
}

/** A user's message kept in history names its task and context, whichever of them the user left out. */
function inTask(ids: TaskIds, message: Message): Message {
  return { ...message, taskId: ids.id, contextId: ids.contextId }
}

/** The message in the body of an event that carries one. */
export function messageOf(body: string): Message {
  // The body was written by messageEvent above and came back from the store unchanged.
  return (JSON.parse(body) as { message: Message & Json }).message
}
