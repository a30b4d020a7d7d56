/** Text that UTF-8 can hold: JavaScript lets half of a surrogate pair stand alone, and neither the wire nor a store takes that. */

/** Half of a pair that stands alone: to an expression with the flag u, a whole pair is one character of another kind. */
const half = /\p{Surrogate}/u

export function isWholeText(text: string): boolean {
  return !half.test(text)
}

/**
 * @param what names the value in the error
 * @param value as JSON.parse gives it
 * @throws {TypeError} naming the place in `value` where half of a pair stands alone, as at the end of a text that was cut inside an emoji
 */
export function checkWhole(what: string, value: unknown): void {
  const found = halfIn(value, '')
  if (!found) return
  const at = found.place === '' ? '' : ` at ${found.place}`
  throw new TypeError(`${what} holds half of a character${at}: ${JSON.stringify(found.text)}. Put text out in whole characters`)
}

interface Half {
  readonly place: string
  /** What stands before the half, and the half. */
  readonly text: string
}

const shownBefore = 20

function halfIn(value: unknown, place: string): Half | undefined {
  if (typeof value === 'string') {
    const end = value.search(half) + 1
    if (end === 0) return undefined
    return { place, text: value.slice(Math.max(0, end - shownBefore), end) }
  }
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, member] of Object.entries(value)) {
    const at = Array.isArray(value) ? `${place}[${name}]` : /^\w+$/.test(name) ? `${place}.${name}` : `${place}[${JSON.stringify(name)}]`
    const found = halfIn(name, at) ?? halfIn(member, at)
    if (found) return found
  }
  return undefined
}
