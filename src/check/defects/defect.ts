/** A planted defect: a clean server with one thing wrong, put there from outside. */

import type { CoreOptions } from '../../server/create-server.js'
import type { World } from '../../support/world.js'
import type { Layer } from './seam.js'

export interface Plant {
  /** What stands before the handler; made anew for each server, so that it may remember. */
  readonly layer?: (world: World) => Layer
  /** What is passed to the server instead. */
  readonly options?: (options: Omit<CoreOptions, 'own' | 'neighbours'>) => Partial<CoreOptions>
}

export interface Defect {
  /** Snake case. */
  readonly id: string
  /** One sentence: what the server does wrong. */
  readonly what: string
  /** Of the specification. */
  readonly section: string
  /** Checks that must catch it. */
  readonly caughtBy: readonly string[]
  /** The kind of agent that it is planted in. Default `full`. */
  readonly profile?: 'full' | 'minimal' | 'required-extension'
  readonly plant: Plant
}

/** A defect at the seam before the handler. */
export function defect(
  id: string,
  section: string,
  caughtBy: string | readonly string[],
  what: string,
  layer: (world: World) => Layer,
  more: Pick<Defect, 'profile'> = {},
): Defect {
  return { id, what, section, caughtBy: typeof caughtBy === 'string' ? [caughtBy] : caughtBy, plant: { layer }, ...more }
}
