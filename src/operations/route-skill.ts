/** Where a message goes in an agent with skills, found out before anything is written. Decision D9. */

import { A2AError } from '../protocol/errors.js'
import { isFinal } from '../protocol/states.js'
import type { Message, Task } from '../protocol/wire.js'
import type { Route, Router } from '../runtime/route-skill.js'
import type { Store, TaskHeader } from '../store/store.js'
import { invalid } from './check-params.js'

/**
 * A message to a task: it stays with the skill that the task has, and chooses one where the task has asked for it.
 *
 * @throws {InvalidParamsError} for an unknown skill, for one that is not the task's, and for input that does not fit
 */
export async function checkFollowUp(router: Router, store: Store, { header, message, isAnswer }: FollowUp): Promise<void> {
  // What becomes of a message to a finished task does not depend on its skill.
  if (isFinal(header.state)) return
  const named = router.nameIn(message)
  const { text } = await store.read(header.ref)
  // The store gives the canonical text of a Task.
  const { history = [] } = JSON.parse(text) as Task
  const route = await routeBefore(router, history)
  if (!route) return
  if (route.kind !== 'ask') {
    const own = route.kind === 'skill' ? route.id : undefined
    if (named !== undefined && named !== own) throw invalid('message.metadata', otherSkill(header, own))
  } else if (isAnswer) {
    await router.route(message)
    return
  }
  router.checkTypes(message, route)
}

interface FollowUp {
  readonly header: TaskHeader
  readonly message: Message
  /** Whether it answers the open question. */
  readonly isAnswer: boolean
}

/** Undefined where the agent would not take any more what chose the skill: the run will fail and say why, and no caller is to blame. */
async function routeBefore(router: Router, history: readonly Message[]): Promise<Route | undefined> {
  try {
    return await router.routeOf(history)
  } catch (error) {
    if (error instanceof A2AError) return undefined
    throw error
  }
}

function otherSkill({ id, contextId }: TaskHeader, own: string | undefined): string {
  const has = own === undefined ? 'belongs to no skill' : `belongs to the skill ${own}`
  return `task ${id} ${has}; send the message without taskId, with contextId ${contextId}, to call another one`
}
