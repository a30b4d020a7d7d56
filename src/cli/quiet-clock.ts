/** Time for a checker and its server that share a clock: it stands still as long as anything goes on between them. */

import type { Pipes } from '../check/probe-pipe.js'
import { systemWorld } from '../support/world.js'
import type { VirtualWorld } from '../testing/virtual-world.js'

/** Turns of the event loop without a byte in the pipes until all is quiet: a request takes a few from end to end. */
const quietTurns = 12

/** What `work` gives. Whenever nothing moves in the pipes, the clock goes on to the next timer. */
export async function outcomeOf<T>(work: Promise<T>, world: VirtualWorld, pipes: Pick<Pipes, 'activity'>): Promise<T> {
  let isDone = false
  const done = () => {
    isDone = true
  }
  work.then(done, done)
  while (!isDone) {
    await world.advance(0)
    const before = pipes.activity()
    for (let turn = 0; turn < quietTurns && !isDone && pipes.activity() === before; turn++) {
      await new Promise<void>((resolve) => systemWorld.defer(resolve))
    }
    if (isDone || pipes.activity() !== before) continue
    const due = world.nextDue()
    if (due !== undefined) await world.advance(Math.max(0, due - world.now()))
  }
  return work
}
