/** A task put together from what is heard of it, each part once. */

import { InvalidAgentResponseError } from '../protocol/errors.js'
import { isAtRest, isFinal } from '../protocol/states.js'
import type { Artifact, Part, StreamResponse, Task, TaskArtifactUpdateEvent, TaskStatus } from '../protocol/wire.js'
import { sortedJson } from '../support/sorted-json.js'
import { textOf } from './parts.js'
import type { TaskEvent } from './task-event.js'

export interface Assembly {
  /** The task without its artifacts; undefined before anything was heard of one. */
  head(): Task | undefined
  /** The task with all that is known of it. */
  task(): Task | undefined
  /** What is new in a frame. A whole task is compared with what is known. */
  take(response: StreamResponse): readonly TaskEvent[]
  /** Everything so far, in the fewest events. */
  sum(): readonly TaskEvent[]
}

export interface AssemblyOptions {
  /** The agent, in errors. */
  readonly from?: string
  /** Characters of the artifacts as JSON. Default: any number. */
  readonly maxLength?: number
}

interface Grown {
  /** All but its parts. */
  readonly head: Artifact
  /** Shared by all states of one artifact, of which each sees its first `length`: nothing is copied per chunk. */
  readonly parts: Part[]
  readonly length: number
  readonly text: string
  /** Characters of what was heard of it. */
  readonly size: number
}

type Update = Pick<TaskArtifactUpdateEvent, 'artifact' | 'append' | 'lastChunk'>

export function assemble({ from = 'The agent', maxLength = Number.POSITIVE_INFINITY }: AssemblyOptions = {}): Assembly {
  let base: Task | undefined
  let size = 0
  const grown = new Map<string, Grown>()

  function artifactEvent({ artifact, append, lastChunk = false }: Update, known: Task): TaskEvent {
    const { parts: delta, ...head } = artifact
    const old = grown.get(artifact.artifactId)
    const kept = append ? old : undefined
    const parts = kept?.parts ?? []
    for (const part of delta) parts.push(part)
    const now: Grown = {
      head: merged(kept?.head, head),
      parts,
      length: parts.length,
      text: (kept?.text ?? '') + textOf(delta),
      size: (kept?.size ?? 0) + JSON.stringify(artifact).length,
    }
    size += now.size - (old?.size ?? 0)
    if (size > maxLength)
      throw new InvalidAgentResponseError(`${from} sent more than ${maxLength} characters of artifacts for task ${known.id}.`)
    grown.set(artifact.artifactId, now)
    const task = frozenTask(known)
    return {
      kind: 'artifact',
      delta,
      text: now.text,
      replaced: old !== undefined && kept === undefined,
      last: lastChunk,
      // Long artifacts are put together only for those who look.
      get artifact() {
        return whole(now)
      },
      get task() {
        return task()
      },
    }
  }

  function statusEvent(known: Task): TaskEvent {
    const { state, message } = known.status
    const task = frozenTask(known)
    return {
      kind: 'status',
      state,
      ...(message && { message }),
      get task() {
        return task()
      },
    }
  }

  /** The task as it is now, for later. */
  function frozenTask(known: Task): () => Task {
    const then = [...grown.values()]
    return () => (then.length === 0 ? known : { ...known, artifacts: then.map(whole) })
  }

  function takeTask(given: Task): readonly TaskEvent[] {
    const { artifacts = [], ...task } = given
    const before = base
    base = task
    const lastChunk = isFinal(task.status.state)
    const events: TaskEvent[] = before === undefined ? [{ kind: 'task', task: given }] : []
    for (const artifact of artifacts) {
      const delta = news(grown.get(artifact.artifactId), artifact.parts)
      if (delta === undefined) events.push(artifactEvent({ artifact, lastChunk }, task))
      else if (delta.length > 0) events.push(artifactEvent({ artifact: { ...artifact, parts: delta }, append: true, lastChunk }, task))
    }
    if (before === undefined ? isAtRest(task.status.state) : !isSameStatus(before.status, task.status)) events.push(statusEvent(task))
    return events
  }

  function knownTask({ taskId, contextId, status }: { taskId: string; contextId?: string; status?: TaskStatus }): Task {
    if (base !== undefined && base.id !== taskId)
      throw new InvalidAgentResponseError(`${from} sent an event of task ${taskId} in the stream of task ${base.id}.`)
    // An agent that tells of updates before it has shown the task.
    return base ?? { id: taskId, ...(contextId && { contextId }), status: status ?? { state: 'TASK_STATE_WORKING' } }
  }

  return {
    head: () => base,
    task: () => (base === undefined ? undefined : frozenTask(base)()),
    take({ task, message, statusUpdate, artifactUpdate }) {
      if (message) return [{ kind: 'message', message }]
      if (statusUpdate) {
        base = { ...knownTask(statusUpdate), status: statusUpdate.status }
        return [statusEvent(base)]
      }
      if (artifactUpdate) {
        base = knownTask(artifactUpdate)
        return [artifactEvent(artifactUpdate, base)]
      }
      if (task) knownTask({ taskId: task.id })
      return task ? takeTask(task) : []
    },
    sum: () => (base === undefined ? [] : assemble().take({ task: frozenTask(base)() })),
  }
}

/** As the agent merges them: a chunk adds metadata; name, description and extensions stay if they were there. */
function merged(old: Artifact | undefined, head: Omit<Artifact, 'parts'>): Artifact {
  const metadata = (old?.metadata ?? head.metadata) && { ...old?.metadata, ...head.metadata }
  return { ...head, ...old, ...(metadata && { metadata }), parts: [] }
}

function whole({ head, parts, length }: Grown): Artifact {
  return { ...head, parts: parts.slice(0, length) }
}

/** The parts of `now` that `old` has not; undefined where `now` is another artifact, or the first of its name. */
function news(old: Grown | undefined, now: readonly Part[]): readonly Part[] | undefined {
  if (old === undefined) return undefined
  const had = old.parts.slice(0, old.length)
  if (had.every((part, i) => sortedJson(part) === sortedJson(now[i] ?? null))) return now.slice(had.length)
  // Some agents join the texts of chunks when they keep them.
  const text = textOf(now)
  const isText = [...had, ...now].every((part) => part.text !== undefined)
  if (!isText || !text.startsWith(old.text)) return undefined
  return text === old.text ? [] : [{ text: text.slice(old.text.length) }]
}

export function isSameStatus(a: TaskStatus, b: TaskStatus): boolean {
  return (
    a.state === b.state && a.message?.messageId === b.message?.messageId && (a.timestamp ?? b.timestamp) === (b.timestamp ?? a.timestamp)
  )
}
