/**
 * The eight states of a task and the moves between them. Spec §4.1.3, decision D10.
 *
 * - final: nothing comes after it
 * - interrupted: the task waits for the caller
 * - at rest: final or interrupted; a blocking call returns here
 */

import type { TaskState } from './wire.js'

/** Nothing comes after it. */
export type FinalState = 'TASK_STATE_COMPLETED' | 'TASK_STATE_FAILED' | 'TASK_STATE_CANCELED' | 'TASK_STATE_REJECTED'
/** The task waits for the caller. */
export type InterruptedState = 'TASK_STATE_INPUT_REQUIRED' | 'TASK_STATE_AUTH_REQUIRED'

const afterStart = [
  'TASK_STATE_WORKING',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_AUTH_REQUIRED',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
] as const

/** Where a task may go from each state. WORKING to WORKING is a progress note. */
export const moves = {
  // An agent declines before it starts; one that gives up later fails the task.
  TASK_STATE_SUBMITTED: [...afterStart, 'TASK_STATE_REJECTED'],
  TASK_STATE_WORKING: afterStart,
  TASK_STATE_INPUT_REQUIRED: afterStart,
  TASK_STATE_AUTH_REQUIRED: afterStart,
  TASK_STATE_COMPLETED: [],
  TASK_STATE_FAILED: [],
  TASK_STATE_CANCELED: [],
  TASK_STATE_REJECTED: [],
} as const satisfies Readonly<Record<TaskState, readonly TaskState[]>>

/** All eight. */
// Object.keys gives the keys of this very table.
export const taskStates = Object.keys(moves) as readonly TaskState[]

/** Whether nothing may follow `state`. */
export function isFinal(state: TaskState): state is FinalState {
  return moves[state].length === 0
}

/** Whether a task in `state` waits for the caller. */
export function isInterrupted(state: TaskState): state is InterruptedState {
  return state === 'TASK_STATE_INPUT_REQUIRED' || state === 'TASK_STATE_AUTH_REQUIRED'
}

/** Whether a blocking call returns at `state`. */
export function isAtRest(state: TaskState): state is FinalState | InterruptedState {
  return isFinal(state) || isInterrupted(state)
}

/** Whether the table has the move. */
export function canMove(from: TaskState, to: TaskState): boolean {
  const allowed: readonly TaskState[] = moves[from]
  return allowed.includes(to)
}

/** A move that the table does not have: an error of the agent's author, never shown to a peer. */
export class IllegalTransitionError extends Error {
  override readonly name = 'IllegalTransitionError'
  readonly from: TaskState
  readonly to: TaskState

  constructor(from: TaskState, to: TaskState) {
    const allowed = moves[from].map(short).join(', ')
    const remedy = allowed === '' ? 'A finished task takes no further state.' : `From ${short(from)} it may go to ${allowed}.`
    super(`A task in ${short(from)} cannot go to ${short(to)}. ${remedy}`)
    this.from = from
    this.to = to
  }
}

function short(state: TaskState): string {
  return state.slice('TASK_STATE_'.length)
}
