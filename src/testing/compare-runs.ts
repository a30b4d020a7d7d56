/** What can be seen of a run from outside, in a form in which two runs of the same scenario are equal. */

import type { Client } from '../client/connect.js'
import { isObject } from '../client/shapes.js'
import type { Artifact, Json, JsonObject, Message, Part, Task } from '../protocol/wire.js'
import { sortedJson } from '../support/sorted-json.js'

export interface Seen {
  /** What the scenario returned. */
  readonly outcome: Json
  readonly tasks: readonly SeenTask[]
  readonly effects: Json
}

export interface SeenTask extends JsonObject {
  readonly state: string
  readonly artifacts: JsonObject
  /** Who said what. */
  readonly history: readonly string[]
}

/** All tasks of these callers, each once. */
export async function tasksOf(clients: readonly Pick<Client, 'tasks' | 'task'>[]): Promise<readonly Task[]> {
  const tasks = new Map<string, Task>()
  for (const client of clients) {
    for await (const { id } of client.tasks()) tasks.set(id, await client.task(id).get())
  }
  return [...tasks.values()]
}

/** What differs in `now` from what was expected: sentences, none where nothing does. */
export function differences(expected: Seen, now: Seen): readonly string[] {
  const [a, b] = [nameless(expected), nameless(now)]
  return (['outcome', 'tasks', 'effects'] as const).flatMap((aspect) => {
    const [was, is] = [a[aspect], b[aspect]]
    if (sortedJson(was) === sortedJson(is)) return []
    const { path, was: left, is: right } = firstDifference(was, is, aspect)
    return [`${path} was ${shown(left)} and is ${shown(right)}`]
  })
}

export function taskSeen({ status, artifacts = [], history = [] }: Task): SeenTask {
  return { state: status.state, artifacts: artifactsSeen(artifacts), history: history.map(messageSeen) }
}

/** By name: texts joined, since how they were cut into chunks is nobody's concern. */
function artifactsSeen(artifacts: readonly Artifact[]): JsonObject {
  return Object.fromEntries(artifacts.map(({ artifactId, parts }) => [artifactId, partsSeen(parts)]))
}

function partsSeen(parts: readonly Part[]): Json {
  const seen: Json[] = []
  for (const part of parts) {
    const last = seen.at(-1)
    if (part.text !== undefined && typeof last === 'string') seen[seen.length - 1] = last + part.text
    else seen.push(part.text ?? valueSeen(part))
  }
  return seen
}

function messageSeen({ role, parts }: Message): string {
  return `${role === 'ROLE_AGENT' ? 'agent' : 'user'}: ${parts.map((part) => part.text ?? JSON.stringify(part)).join('')}`
}

/** JSON of whatever a scenario or the world outside shows: a task in it is its state and its artifacts, since its history depends on when it was read. */
export function valueSeen(value: unknown): Json {
  if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number') return value
  if (Array.isArray(value)) return value.map(valueSeen)
  if (value instanceof Error) return `${value.name}: ${value.message}`
  if (!isObject(value)) return null
  if (isTask(value)) return { state: value.status.state, artifacts: artifactsSeen(value.artifacts ?? []) }
  const members = Object.entries(value).filter(([, member]) => member !== undefined && typeof member !== 'function')
  return Object.fromEntries(members.map(([name, member]) => [name, valueSeen(member)]))
}

function isTask(value: object): value is Task {
  return 'id' in value && 'status' in value && isObject(value.status) && typeof value.status['state'] === 'string'
}

// UUIDs, and the authenticators, digests and seals that hang on them or stand alone.
const ids = /(?:ctx-)?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?:-[\w-]{22}(?![\w-]))?|(?<![\w-])[\w-]{32,}(?![\w-])/g
const times = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g

/** With ids and times as names that two runs have in common: each id by the place where it is first met. */
function nameless(seen: Seen): Readonly<Record<keyof Seen, Json>> {
  const blank = (value: Json) => sortedJson(value).replace(ids, '<id>').replace(times, '<time>')
  const names = new Map<string, string>()
  const nameOf = (id: string) => {
    const name = names.get(id) ?? `<id ${names.size + 1}>`
    names.set(id, name)
    return name
  }
  const named = (text: string) => text.replace(ids, nameOf).replace(times, '<time>')
  function walk(value: Json): Json {
    if (typeof value === 'string') return named(value)
    if (isList(value)) return value.map(walk)
    if (!isObject(value)) return value
    // A member may be named by an id: then what it holds says where it belongs.
    const members = Object.entries(value).map((member) => ({ member, order: blank([...member]) }))
    return Object.fromEntries(members.sort(byOrder).map(({ member: [name, held] }) => [named(name), walk(held)]))
  }
  const tasks = seen.tasks.map((task) => ({ task, order: blank(task) })).sort(byOrder)
  return { outcome: walk(seen.outcome), tasks: tasks.map(({ task }) => walk(task)), effects: walk(seen.effects) }
}

function byOrder(a: { readonly order: string }, b: { readonly order: string }): number {
  return a.order < b.order ? -1 : Number(a.order > b.order)
}

// Array.isArray does not tell a readonly list from an object.
function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}

interface Difference {
  readonly path: string
  readonly was: Json | undefined
  readonly is: Json | undefined
}

/** The innermost place at which two values that are not equal differ first. */
function firstDifference(was: Json | undefined, is: Json | undefined, path: string): Difference {
  const [a, b] = [membersOf(was), membersOf(is)]
  if (a === undefined || b === undefined || Array.isArray(was) !== Array.isArray(is)) return { path, was, is }
  for (const name of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const [left, right] = [a[name], b[name]]
    if (left !== undefined && right !== undefined && sortedJson(left) === sortedJson(right)) continue
    return firstDifference(left, right, Array.isArray(was) ? `${path}[${name}]` : `${path}.${name}`)
  }
  return { path, was, is }
}

function membersOf(value: Json | undefined): Readonly<Record<string, Json | undefined>> | undefined {
  if (Array.isArray(value)) return Object.fromEntries(Object.entries(value))
  return isObject(value) ? value : undefined
}

const longestShown = 200

function shown(value: Json | undefined): string {
  const text = value === undefined ? 'not there' : JSON.stringify(value)
  return text.length > longestShown ? `${text.slice(0, longestShown)}…` : text
}
