/** What may be thrown into an agent's function by what it awaits. */

import { show } from '../support/options.js'
import type { Reason } from './record-bodies.js'
import type { StopReason } from './task.js'

/** Completes “the run was told to stop: ”. */
const whyStopped: Readonly<Record<StopReason, string>> = {
  canceled: 'its task is canceled',
  fenced: 'another process has its task',
  shutdown: 'the server stops; another run goes on with the turn later',
  inactive: 'it put nothing out for too long',
  evicted: 'too many runs wait; another run goes on with the turn when its time comes',
  lost: 'what it did could not be stored; another run goes on with the turn later',
  failed: 'its task has failed',
}

/**
 * The run was told to stop. What was awaited then rejects with this, once, so that the function can let go of what it
 * holds; it is no outcome of what was awaited, and nothing is to be made good: nothing that the function does now is committed,
 * and what it calls from here on never settles.
 */
export class RunStoppedError extends Error {
  override readonly name = 'RunStoppedError'
  readonly why: StopReason

  constructor(why: StopReason) {
    super(`the run was told to stop: ${whyStopped[why]}`)
    this.why = why
  }
}

/** The schema of a question threw while it judged an answer. A rerun throws the same again. */
export class AnswerSchemaError extends Error {
  override readonly name = 'AnswerSchemaError'
  constructor(reason: string) {
    super(`the schema of task.ask could not judge an answer: ${reason}`)
  }
}

/** The last try of a step failed. A rerun throws the same again. */
export class StepFailedError extends Error {
  override readonly name = 'StepFailedError'
  /** The step's own key. */
  readonly key: string
  /** What the step threw, as far as a record keeps it. */
  readonly reason: Reason

  constructor(key: string, reason: Reason, options?: ErrorOptions) {
    super(`the step ${JSON.stringify(key)} failed: ${reason.message}`, options)
    this.key = key
    this.reason = reason
  }
}

/** Nothing came within the time that the agent gives. */
export class WaitTimeoutError extends Error {
  override readonly name = 'WaitTimeoutError'
  constructor(what: string) {
    super(`nothing came in time: ${what}`)
  }
}

/** The person who was asked did not agree. */
export class ConsentDeniedError extends Error {
  override readonly name = 'ConsentDeniedError'
  constructor(reason: string) {
    super(`consent was not given: ${reason}`)
  }
}

/** What a record keeps of whatever was thrown. */
export function reasonOf(error: unknown): Reason {
  try {
    if (error instanceof Error) return { name: String(error.name), message: String(error.message) }
    return { name: 'Error', message: typeof error === 'string' ? error : show(error) }
  } catch {
    return { name: 'Error', message: 'an error that cannot even say its name' }
  }
}

/** What a caller may read of an error that ended a task: never its own words. */
export function causeForCaller(error: unknown): string {
  if (isA(error, WaitTimeoutError)) return 'The agent waited for something that did not come in time.'
  if (isA(error, ConsentDeniedError)) return 'Consent was not given.'
  return 'The agent failed because of an internal error.'
}

function isA(error: unknown, kind: typeof WaitTimeoutError | typeof ConsentDeniedError): boolean {
  try {
    return error instanceof kind
  } catch {
    // A proxy may throw whatever it is asked.
    return false
  }
}
