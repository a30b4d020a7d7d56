/** Plays the place where a person agrees: through the very door by which providers bring their credentials. */

import type { Waiting } from '../store/store.js'
import type { Process } from './machine.js'

/** An open request for consent. */
export interface AskedConsent {
  readonly taskId: string
  readonly question: string
}

/** @throws {TypeError} where the task does not ask for consent */
export async function findAskedConsent({ store }: Process, taskId: string): Promise<AskedConsent> {
  const header = await store.locate(taskId)
  if (!header) throw new TypeError(`there is no task ${taskId}`)
  const question = questionOf(header.waiting)
  if (question === undefined)
    throw new TypeError(`task ${taskId} does not ask for consent: it is ${header.state}. Await the outcome that says auth-required first`)
  return { taskId, question }
}

/**
 * Gives `token` for the request. Where it is closed already nothing happens: the process may have died after it had taken it.
 *
 * @throws {Error} where the request is refused: it has expired
 */
export async function grantConsent({ core, store }: Process, { taskId, question }: AskedConsent, token: string): Promise<void> {
  const header = await store.locate(taskId)
  if (!header || questionOf(header.waiting) !== question) return
  const state = core.consents.state(header.ref, question)
  const scopes = (await core.consents.find(state))?.asked.scopes ?? []
  if ((await core.consents.grant(state, { token, scopes })) === 'gone')
    throw new Error(`the request for consent of task ${taskId} has expired`)
}

function questionOf(waiting: Waiting | undefined): string | undefined {
  return waiting?.kind === 'authorize' ? waiting.question : undefined
}
