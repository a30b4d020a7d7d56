/** What an agent posts about a task, as its receiver sees it. Spec §4.3. */

import { InvalidAgentResponseError } from '../protocol/errors.js'
import { isFinal } from '../protocol/states.js'
import type { Artifact, JsonObject, Message, Part, StreamResponse, Task, TaskState } from '../protocol/wire.js'
import { PostRefusal } from './push-post.js'
import { read } from './shapes.js'

interface OfTask {
  /** The `id` of the target that it was posted to. */
  readonly targetId: string
  readonly taskId: string
}

/**
 * One post. Nothing is put together from several: a receiver may start in the middle of a task, and an agent drops what
 * could not be delivered. The whole task is there for `client.task(taskId).get()`.
 */
export type PushEvent =
  /** The task as it was when the agent was told to post. */
  | (OfTask & { readonly kind: 'task'; readonly task: Task })
  | (OfTask & {
      readonly kind: 'status'
      readonly state: TaskState
      readonly message?: Message
      /** In RFC 3339. */
      readonly timestamp?: string
      readonly metadata?: JsonObject
    })
  | (OfTask & {
      readonly kind: 'artifact'
      /** Without its parts: they are the delta. */
      readonly artifact: Omit<Artifact, 'parts'>
      readonly delta: readonly Part[]
      /** The delta goes on with the artifact; else it begins it, or begins it anew. */
      readonly append: boolean
      /** The artifact is whole. */
      readonly last: boolean
      readonly metadata?: JsonObject
    })
  | (Omit<OfTask, 'taskId'> & {
      readonly kind: 'message'
      /** Agents may leave it out of a message; `targetId` tells then what it is about. */
      readonly taskId: string | undefined
      readonly message: Message
    })

/** Objects and lists within each other in one post: whoever walks through data must not fall off the stack. */
const deepest = 64

/** The event in the text of a post. @throws {PostRefusal} for anything else */
export function parsePush(text: string, targetId: string): PushEvent {
  const body = parseJson(text)
  if (!isWithin(body, deepest)) throw new PostRefusal(400, `The body is nested deeper than ${deepest} levels.`)
  try {
    return toPushEvent(read('StreamResponse', body, 'A post came'), targetId)
  } catch (error) {
    throw error instanceof InvalidAgentResponseError ? new PostRefusal(400, error.message) : error
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new PostRefusal(400, 'The body is no JSON.')
  }
}

function isWithin(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return levels > 0 && Object.values(value).every((one) => isWithin(one, levels - 1))
}

function toPushEvent({ task, message, statusUpdate, artifactUpdate }: StreamResponse, targetId: string): PushEvent {
  if (task) return { kind: 'task', targetId, taskId: task.id, task }
  if (message) return { kind: 'message', targetId, taskId: message.taskId, message }
  if (statusUpdate) {
    const { taskId, status, metadata } = statusUpdate
    return { kind: 'status', targetId, taskId, ...status, ...(metadata && { metadata }) }
  }
  // Exactly one of the four is there.
  const { taskId, artifact, append = false, lastChunk = false, metadata } = artifactUpdate as NonNullable<typeof artifactUpdate>
  const { parts: delta, ...head } = artifact
  return { kind: 'artifact', targetId, taskId, artifact: head, delta, append, last: lastChunk, ...(metadata && { metadata }) }
}

/** Whether nothing can come after it. */
export function isLast(event: PushEvent): boolean {
  if (event.kind === 'task') return isFinal(event.task.status.state)
  return event.kind === 'status' && isFinal(event.state)
}
