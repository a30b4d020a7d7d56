/** Random keys that live as long as the store does. */

import type { World } from '../../support/world.js'
import type { Part } from './batch.js'
import type { Driver } from './driver.js'

export interface Secrets extends Part {
  /** For units. */
  get(name: string): Uint8Array
  put(name: string, bytes: Uint8Array): void
  /** What is committed. */
  find(name: string): Uint8Array | undefined
}

const secretBytes = 32

export function createSecrets(driver: Driver, world: World): Secrets {
  const select = driver.prepare('select bytes from secret where name = ?')
  const upsert = driver.prepare('insert into secret(name, bytes) values (?, ?) on conflict do update set bytes = excluded.bytes')
  const made = new Map<string, Uint8Array>()

  function find(name: string): Uint8Array | undefined {
    const bytes = select.get(name)?.['bytes']
    return bytes instanceof Uint8Array ? new Uint8Array(bytes) : undefined
  }

  return {
    find,
    get(name) {
      const stored = made.get(name) ?? find(name)
      // A copy: whoever gets the key may do with its bytes what it likes.
      if (stored !== undefined) return new Uint8Array(stored)
      const bytes = world.randomBytes(secretBytes)
      made.set(name, bytes)
      return new Uint8Array(bytes)
    },
    put: (name, bytes) => void made.set(name, new Uint8Array(bytes)),
    isDirty: () => made.size > 0,
    write() {
      for (const [name, bytes] of made) upsert.run(name, bytes)
    },
    done: () => made.clear(),
  }
}
