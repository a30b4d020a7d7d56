/** What a task is after its events, written a second time and without a look at the first, so that one checks the other. */

import type { Artifact, Message, StreamResponse, TaskStatus } from '../../src/protocol/wire.js'

/** Statuses whose message belongs to the history: the agent's questions and its last words (D5). */
const spoken: readonly string[] = [
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_AUTH_REQUIRED',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
]

/** The canonical Task as plain members, from the bodies of its events 1 to n. */
export function fold(bodies: readonly string[]): Record<string, unknown> {
  let task: Record<string, unknown> = {}
  let latest: TaskStatus | undefined
  const history: Message[] = []
  const artifacts: Artifact[] = []
  for (const body of bodies) {
    const frame: StreamResponse = JSON.parse(body)
    if (frame.task) {
      task = { ...frame.task }
      latest = frame.task.status
      history.push(...(frame.task.history ?? []))
    } else if (frame.statusUpdate) {
      latest = frame.statusUpdate.status
      if (latest.message && spoken.includes(latest.state)) history.push(latest.message)
    } else if (frame.artifactUpdate) {
      const { artifact, append } = frame.artifactUpdate
      const place = artifacts.findIndex(({ artifactId }) => artifactId === artifact.artifactId)
      const before = artifacts[place]
      if (before === undefined) artifacts.push(artifact)
      else artifacts[place] = append ? { ...before, parts: [...before.parts, ...artifact.parts] } : artifact
    } else {
      history.push(frame.message)
    }
  }
  return { ...task, status: latest, ...(artifacts.length > 0 ? { artifacts } : {}), ...(history.length > 0 ? { history } : {}) }
}
