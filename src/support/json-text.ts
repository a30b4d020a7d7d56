/** JSON of values that somebody else made. */

import { checkWhole } from './whole-text.js'

/**
 * The JSON text of `value`; undefined where it is no JSON value: it refers to itself, or holds what JSON does not know.
 *
 * @param what names the value in the error
 * @throws {TypeError} where half of a character stands in it
 */
export function jsonText(value: unknown, what = 'the value'): string | undefined {
  const text = textOf(value)
  // Half of a pair is escaped; so may be a text about escapes.
  if (text?.includes('\\ud')) checkWhole(what, JSON.parse(text))
  return text
}

function textOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}
