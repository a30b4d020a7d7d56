/** What all calls of an author's function into the runtime have in common. */

import type { World } from '../support/world.js'

/** A function that was refused so often in one turn will not learn it any more. */
const mostRefusals = 1_000

export interface Door {
  /**
   * What `call` gives. Where the run has been told to stop, it is not called, and nothing settles: a function that tries again
   * and again comes to rest. An error that `call` throws at once is given out as {@link refuse} does. Nobody has to await it.
   */
  open<T>(call: () => Promise<T>): Promise<T>
  readonly isStopped: () => boolean
  /** Rejects with an error of the author's, {@link later}. Too many of them fail the task. */
  refuse(error: unknown): Promise<never>
  /** Rejects in a later turn of the event loop: who tries again at once must not keep the others waiting. */
  later(error: unknown): Promise<never>
  /** Until a later turn of the event loop. */
  turn(): Promise<void>
}

interface DoorOptions {
  readonly world: World
  readonly isStopped: () => boolean
  /** Something is called after the run was told to stop. */
  readonly onLate: () => void
  /** An error of the author that fails the task, whatever the function does about it. */
  readonly fail: (error: Error) => void
}

export function createDoor({ world, isStopped, onLate, fail }: DoorOptions): Door {
  let refusals = 0

  function refuse(error: unknown): Promise<never> {
    if (++refusals > mostRefusals) fail(new Error(`the agent was refused ${mostRefusals} times in one turn, at last`, { cause: error }))
    return later(error)
  }

  async function later(error: unknown): Promise<never> {
    await turn()
    throw error
  }

  const turn = () => new Promise<void>((resolve) => world.defer(resolve))

  function begin<T>(call: () => Promise<T>): Promise<T> {
    if (isStopped()) {
      onLate()
      return never()
    }
    try {
      return call()
    } catch (error) {
      return refuse(error)
    }
  }

  return {
    isStopped,
    refuse,
    later,
    turn,
    open(call) {
      const given = begin(call)
      // What a forgotten promise rejects with is no reason for the process to end.
      given.catch(() => undefined)
      return given
    },
  }
}

/** A promise that does not settle. */
export function never(): Promise<never> {
  return new Promise(() => {})
}
