/** Paths of the HTTP+JSON binding, from the table of operations. Spec §11.3. */

import { MethodNotFoundError } from '../protocol/errors.js'
import { type OperationName, operationNames, operationTable } from '../protocol/operations.js'

export interface Route {
  readonly operation: OperationName
  /** Members of the request that stand in the path, decoded. */
  readonly members: Readonly<Record<string, string>>
}

type Segment = { readonly literal: string } | { readonly member: string; readonly suffix: string }

const templates = operationNames.map((operation) => ({
  operation,
  verbs: operationTable[operation].verbs as readonly string[],
  segments: operationTable[operation].path.slice(1).split('/').map(toSegment),
}))

function toSegment(text: string): Segment {
  const match = /^\{(\w+)\}(.*)$/.exec(text)
  return match ? { member: match[1] ?? '', suffix: match[2] ?? '' } : { literal: text }
}

const suffixes = templates.flatMap(({ segments }) =>
  segments.flatMap((segment) => ('suffix' in segment && segment.suffix !== '' ? [segment.suffix] : [])),
)

/**
 * The operation at `path` (percent-encoded, with or without a leading tenant and a trailing slash).
 *
 * @throws {MethodNotFoundError} as 404 for an unknown path, as 405 for a verb that the path does not take
 */
export function findRoute(method: string, path: string): Route {
  const segments = path.replace(/\/$/, '').slice(1).split('/')
  const [tenant, ...rest] = segments
  const found = matches(segments)
  // `/tasks/tasks` is the task named tasks: a path that needs no tenant has none. The other reading is for other verbs.
  if (tenant !== undefined && tenant !== '' && rest.length > 0) {
    for (const match of matches(rest)) found.push({ ...match, members: { ...match.members, tenant: decodeSegment(tenant) } })
  }
  if (found.length === 0) throw new MethodNotFoundError(path || '/')
  const route = found.find(({ verbs }) => verbs.includes(method))
  if (!route) throw new MethodNotFoundError(`${method} ${path}`, [...new Set(found.flatMap(({ verbs }) => verbs))])
  return { operation: route.operation, members: route.members }
}

type Match = Route & { readonly verbs: readonly string[] }

function matches(segments: readonly string[]): Match[] {
  return templates.flatMap(({ operation, verbs, segments: wanted }) => {
    const members = wanted.length === segments.length ? matchAll(wanted, segments) : undefined
    return members ? [{ operation, verbs, members }] : []
  })
}

function matchAll(wanted: readonly Segment[], given: readonly string[]): Record<string, string> | undefined {
  const members: Record<string, string> = {}
  for (const [index, segment] of wanted.entries()) {
    const text = given[index] ?? ''
    if ('literal' in segment) {
      if (decodeSegment(text) !== segment.literal) return undefined
      continue
    }
    // An id may hold a colon; only an unencoded suffix that is an operation's ends it.
    if (segment.suffix === '' ? suffixes.some((suffix) => text.endsWith(suffix)) : !text.endsWith(segment.suffix)) return undefined
    const value = segment.suffix === '' ? text : text.slice(0, -segment.suffix.length)
    if (value === '') return undefined
    members[segment.member] = decodeSegment(value)
  }
  return members
}

function decodeSegment(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // Not percent-encoding: then it is what it looks like, and no such id exists.
    return text
  }
}
