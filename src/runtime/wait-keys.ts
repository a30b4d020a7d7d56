/** Keys of what is awaited without a key of its own: another prompt is another question, also in a program that was changed. */

import { digestHex } from '../support/crypto.js'

/** Characters of a prompt that stand in its key, for who reads the tables. */
const shown = 40

export interface WaitKeys {
  /**
   * `given`, or the kind, the prompt and how often that was asked in this turn.
   *
   * @throws {TypeError} for a key that was given before in this turn
   */
  key(kind: string, prompt: string, given?: string): string
}

export function createWaitKeys(fail: (error: Error) => void): WaitKeys {
  const counts = new Map<string, number>()
  return {
    key(kind, prompt, given) {
      if (given !== undefined) {
        const key = `${kind}:${given}`
        if (counts.has(key)) {
          const error = new TypeError(
            `the key ${JSON.stringify(given)} is used by two calls of task.${kind} in this turn: each needs a key of its own`,
          )
          fail(error)
          throw error
        }
        counts.set(key, 1)
        return key
      }
      const name = `${kind}:${prompt.slice(0, shown)}${prompt.length > shown ? `…${digestHex(prompt).slice(0, 16)}` : ''}`
      const count = (counts.get(name) ?? 0) + 1
      counts.set(name, count)
      return `${name}#${count}`
    },
  }
}
