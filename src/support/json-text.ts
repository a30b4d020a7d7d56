/** JSON of values that somebody else made. */

/** The JSON text of `value`; undefined where it is no JSON value: it refers to itself, or holds what JSON does not know. */
export function jsonText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}
