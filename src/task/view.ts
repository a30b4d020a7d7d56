/** A task as one request wants to see it. Spec §3.2.4, §3.1.4. */

import type { Task } from '../protocol/wire.js'

export interface TaskView {
  /** Most recent messages to keep; 0 leaves the member out. Unset: all. */
  readonly historyLength?: number | undefined
  /** Lists only: true has the member even when there is none, false leaves it out. Unset: as the task has it. */
  readonly includeArtifacts?: boolean | undefined
  /** Canonical JSON text of the status to show instead. */
  readonly status?: string | undefined
}

/** Canonical JSON text of the task `text` as `view` wants it: the very text, unparsed, where nothing is to change. */
export function viewTask(text: string, view: TaskView): string {
  if (view.historyLength === undefined && view.includeArtifacts === undefined && view.status === undefined) return text
  // Canonical text of a Task is what this function takes.
  const { id, contextId, status, artifacts, history, ...rest } = JSON.parse(text) as Task
  const shown = view.status === undefined ? status : JSON.parse(view.status)
  const seenArtifacts = view.includeArtifacts === undefined ? artifacts : view.includeArtifacts ? (artifacts ?? []) : undefined
  const seenHistory = lastOf(history, view.historyLength)
  return JSON.stringify({ id, contextId, status: shown, artifacts: seenArtifacts, history: seenHistory, ...rest })
}

function lastOf<Item>(items: readonly Item[] | undefined, count: number | undefined): readonly Item[] | undefined {
  if (items === undefined || count === undefined) return items
  return count === 0 ? undefined : items.slice(-count)
}
