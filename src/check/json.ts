/** Looking into JSON that nobody has checked yet. */

export type Members = Readonly<Record<string, unknown>>

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What stands at `path` (`status.state`, `parts.0.text`); undefined where nothing does. */
export function at(value: unknown, path: string): unknown {
  let found = value
  for (const name of path.split('.')) {
    if (Array.isArray(found)) found = found[Number(name)]
    else if (isMembers(found) && Object.hasOwn(found, name)) found = found[name]
    else return undefined
  }
  return found
}

/** The text at `path`; `''` where there is none. */
export function textAt(value: unknown, path: string): string {
  const found = at(value, path)
  return typeof found === 'string' ? found : ''
}

/** The list at `path`; empty where there is none. */
export function listAt(value: unknown, path: string): readonly unknown[] {
  const found = at(value, path)
  return Array.isArray(found) ? found : []
}

/** Whether two values are the same JSON, whatever the order of members. */
export function same(a: unknown, b: unknown): boolean {
  return sorted(a) === sorted(b)
}

export function sorted(value: unknown): string {
  return (
    JSON.stringify(value, (_, one: unknown) =>
      isMembers(one) ? Object.fromEntries(Object.entries(one).sort(([x], [y]) => (x < y ? -1 : 1))) : one,
    ) ?? 'undefined'
  )
}

/** A value as a sentence can hold it. */
export function brief(value: unknown, most = 160): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : (JSON.stringify(value) ?? String(value))
  return text.length > most ? `${text.slice(0, most)}…` : text
}

/** The JSON of a text, or undefined where it is none. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A copy with `value` at `path`; objects that are not there are made, and undefined takes a member away. */
export function put(whole: unknown, path: string, value: unknown): unknown {
  const [name = '', ...rest] = path.split('.')
  const next = (one: unknown) => (rest.length === 0 ? value : put(one, rest.join('.'), value))
  if (Array.isArray(whole)) return whole.map((one, i) => (i === Number(name) ? next(one) : one))
  const { [name]: before, ...others } = isMembers(whole) ? whole : {}
  const made = next(before)
  return made === undefined ? others : { ...(isMembers(whole) ? whole : {}), [name]: made }
}
