/** A task is the fold of its events. Spec §4.1, decision D5. */

import { isAtRest, isFinal } from '../protocol/states.js'
import type { Artifact, JsonObject, Message, Task, TaskArtifactUpdateEvent, TaskStatus, TaskStatusUpdateEvent } from '../protocol/wire.js'
import type { EventKind } from './event.js'

/** What of an event counts for the task. */
export interface Foldable {
  readonly kind: EventKind
  readonly body: string
}

/**
 * The task after `event`; `task` is undefined only before the first one. A finished task is returned unchanged.
 *
 * @throws {TypeError} when the first event does not create the task
 */
export function apply(task: Task | undefined, event: Foldable): Task {
  if (event.kind === 'created') return bodyOf(event).task
  if (task === undefined) throw new TypeError(`a task begins with a created event, not with ${event.kind}`)
  if (isFinal(task.status.state)) return task
  if (event.kind === 'status') {
    const { status } = bodyOf(event).statusUpdate
    const after = { ...task, status }
    return isHistory(status) ? { ...after, history: [...(task.history ?? []), status.message] } : after
  }
  if (event.kind === 'artifact') {
    const update = bodyOf(event).artifactUpdate
    const artifacts = task.artifacts ?? []
    const place = artifacts.findIndex((artifact) => artifact.artifactId === update.artifact.artifactId)
    if (place === -1) return { ...task, artifacts: [...artifacts, update.artifact] }
    return { ...task, artifacts: artifacts.map((artifact, i) => (i === place ? merged(artifact, update) : artifact)) }
  }
  return { ...task, history: [...(task.history ?? []), bodyOf(event).message] }
}

/**
 * The task after all `events`, starting from the JSON text of the task before them. The same as {@link apply} event by
 * event, in a time that is linear in what is read: everything parsed here belongs to nobody else and is grown in place.
 *
 * @throws {TypeError} when there is neither a base nor a created event at the start
 */
export function fold(base: string | undefined, events: Iterable<Foldable>): Task {
  let task = base === undefined ? undefined : grow(JSON.parse(base))
  for (const event of events) {
    if (event.kind === 'created') task = grow(bodyOf(event).task)
    else if (task === undefined) throw new TypeError(`a task begins with a created event, not with ${event.kind}`)
    else if (isFinal(task.status.state)) break
    else task.take(event)
  }
  if (task === undefined) throw new TypeError('a task has at least one event')
  return task.whole()
}

interface Growing {
  readonly status: TaskStatus
  take(event: Foldable): void
  whole(): Task
}

function grow(start: Task): Growing {
  let status = start.status
  const history = [...(start.history ?? [])]
  const artifacts = new Map<string, GrowingArtifact>()
  for (const artifact of start.artifacts ?? []) artifacts.set(artifact.artifactId, growArtifact(artifact))

  function takeArtifact(update: TaskArtifactUpdateEvent): void {
    const { artifactId } = update.artifact
    const known = artifacts.get(artifactId)
    if (known !== undefined && update.append) known.add(update)
    // Setting a key again keeps its place among the others.
    else artifacts.set(artifactId, growArtifact(update.artifact))
  }

  return {
    get status() {
      return status
    },
    take(event) {
      if (event.kind === 'status') {
        status = bodyOf(event).statusUpdate.status
        if (isHistory(status)) history.push(status.message)
      } else if (event.kind === 'artifact') takeArtifact(bodyOf(event).artifactUpdate)
      else history.push(bodyOf(event).message)
    },
    whole() {
      const { id, contextId, status: _, artifacts: had, history: hadHistory, ...rest } = start
      return {
        id,
        ...(contextId !== undefined && { contextId }),
        status,
        ...((had !== undefined || artifacts.size > 0) && { artifacts: Array.from(artifacts.values(), (artifact) => artifact.whole()) }),
        ...((hadHistory !== undefined || history.length > 0) && { history }),
        ...rest,
      }
    },
  }
}

interface GrowingArtifact {
  add(update: TaskArtifactUpdateEvent): void
  whole(): Artifact
}

function growArtifact(start: Artifact): GrowingArtifact {
  const parts = [...start.parts]
  let head = start
  return {
    add(update) {
      for (const part of update.artifact.parts) parts.push(part)
      // The parts are kept aside: merging them as well would copy all of them for each chunk.
      head = merged({ ...head, parts: [] }, { ...update, artifact: { ...update.artifact, parts: [] } })
    },
    whole: () => ({ ...head, parts }),
  }
}

/** An artifact after an update to it: a chunk adds parts and metadata; name, description and extensions stay if they were there. */
function merged(artifact: Artifact, update: TaskArtifactUpdateEvent): Artifact {
  if (!update.append) return update.artifact
  const chunk = update.artifact
  const metadata: JsonObject | undefined =
    artifact.metadata === undefined || chunk.metadata === undefined
      ? (artifact.metadata ?? chunk.metadata)
      : { ...artifact.metadata, ...chunk.metadata }
  return { ...chunk, ...artifact, parts: [...artifact.parts, ...chunk.parts], ...(metadata !== undefined && { metadata }) }
}

/** D5: questions and last words are history; progress notes are not. */
function isHistory(status: TaskStatus): status is TaskStatus & { readonly message: Message } {
  return status.message !== undefined && isAtRest(status.state)
}

interface Body {
  readonly task: Task
  readonly statusUpdate: TaskStatusUpdateEvent
  readonly artifactUpdate: TaskArtifactUpdateEvent
  readonly message: Message
}

function bodyOf(event: Foldable): Body {
  // A body is a StreamResponse whose one member is the one that the kind names; only that one is read.
  return JSON.parse(event.body) as Body
}
