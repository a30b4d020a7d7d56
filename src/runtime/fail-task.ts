/** Ends a task that has no run to end it. */

import { isFinal } from '../protocol/states.js'
import type { TaskHeader } from '../store/store.js'
import { uuid, type World } from '../support/world.js'
import { agentMessage, nextTimestamp, statusEvent } from '../task/make-event.js'

/** Of what a task had recorded, to its caller. */
export const unreadable = 'What the agent had recorded cannot be read any more.'

/** The write that fails a task which nobody can go on with; none if it has ended. */
export function failTask(header: TaskHeader, reason: string, world: World) {
  if (isFinal(header.state)) return {}
  const message = agentMessage(header, uuid(world), [{ text: reason }])
  const event = statusEvent(header, 'TASK_STATE_FAILED', nextTimestamp(header.statusTimestamp, world.now()), message)
  return { write: { events: [event], holder: null, waiting: null } }
}
