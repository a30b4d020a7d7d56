/** Random keys that live as long as the store does. */

import type { World } from '../../support/world.js'
import type { Part } from './batch.js'
import type { Driver } from './driver.js'

export interface Secrets extends Part {
  /** For units. */
  get(name: string): Uint8Array
}

const secretBytes = 32

export function createSecrets(driver: Driver, world: World): Secrets {
  const select = driver.prepare('select bytes from secret where name = ?')
  const insert = driver.prepare('insert into secret(name, bytes) values (?, ?)')
  const made = new Map<string, Uint8Array>()

  return {
    get(name) {
      const stored = made.get(name) ?? select.get(name)?.['bytes']
      // A copy: whoever gets the key may do with its bytes what it likes.
      if (stored instanceof Uint8Array) return new Uint8Array(stored)
      const bytes = world.randomBytes(secretBytes)
      made.set(name, bytes)
      return new Uint8Array(bytes)
    },
    isDirty: () => made.size > 0,
    write() {
      for (const [name, bytes] of made) insert.run(name, bytes)
    },
    done: () => made.clear(),
  }
}
