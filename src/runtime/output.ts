/** What a run may yield and return. */

import { decode } from '../protocol/codec.js'
import { A2AError } from '../protocol/errors.js'
import type { Json, Part } from '../protocol/wire.js'
import { jsonText } from '../support/json-text.js'
import { checkOptions, isBoolean, isString, isText, type OptionRule } from '../support/options.js'
import { checkWhole, isWholeText } from '../support/whole-text.js'

export type PartLike = string | Part
export type PartsLike = PartLike | readonly PartLike[]

export type Output =
  | { readonly kind: 'working'; readonly parts: readonly Part[] }
  | {
      readonly kind: 'artifact'
      readonly artifactId: string
      readonly name: string
      readonly description: string | undefined
      readonly parts: readonly Part[]
    }
  | {
      readonly kind: 'chunk'
      readonly artifactId: string
      readonly name: string
      readonly parts: readonly Part[]
      readonly last: boolean
      /** Whether the artifact starts anew with this chunk. */
      readonly begins?: boolean
      /** Present on chunks of a stream with a record: whether it runs now, or an earlier run recorded it. */
      readonly stream?: 'live' | 'recorded'
    }

export type TurnEnd =
  | { readonly kind: 'completed'; readonly note: readonly Part[]; readonly result: readonly Part[] | undefined }
  | { readonly kind: 'failed' | 'rejected' | 'inputRequired'; readonly parts: readonly Part[] }

/** Something a run puts out. Made by {@link working}, {@link artifact} and {@link chunk} only. */
export class Emission {
  readonly #output: Output
  constructor(output: Output) {
    this.#output = output
  }
  static outputOf(value: unknown): Output | undefined {
    return typeof value === 'object' && value !== null && #output in value ? value.#output : undefined
  }
}

/** The end of a turn. Made by {@link completed}, {@link failed}, {@link rejected} and {@link inputRequired} only. */
export class Ending<O = unknown> {
  readonly #end: TurnEnd
  /** Carries the type of the result; there is no such member at run time. */
  declare readonly '~result': O
  constructor(end: TurnEnd) {
    this.#end = end
  }
  static endOf(value: unknown): TurnEnd | undefined {
    return typeof value === 'object' && value !== null && #end in value ? value.#end : undefined
  }
}

const id: OptionRule = { takes: 'a text', ok: isText }
const artifactRules = { id, description: { takes: 'a text', ok: (value: unknown) => isString(value) && isWholeText(value) } }
const chunkRules = { id, last: { takes: 'true or false', ok: isBoolean } }

/** A progress note: WORKING with a status message. Notes are shown to streams and push, and are not history. Spec §4.1.3. */
export function working(note?: PartsLike): Emission {
  return new Emission({ kind: 'working', parts: note === undefined ? [] : copyParts(toParts(note)) })
}

/** A whole artifact at once; its name is its id unless `id` is given. An artifact of that id is replaced. Spec §4.1.7. */
export function artifact(name: string, parts: PartsLike, options: { readonly id?: string; readonly description?: string } = {}): Emission {
  checkOptions('artifact', options, artifactRules)
  const artifactId = checkName('artifact', options.id ?? name)
  return new Emission({ kind: 'artifact', artifactId, name, description: options.description, parts: toSomeParts('artifact', parts) })
}

/**
 * One chunk of a growing artifact: the first of a turn starts it anew, later ones add to it, `last` closes it. Spec §4.2.2.
 *
 * A chunk for an artifact that was closed in this turn is an error of the agent.
 */
export function chunk(name: string, parts: PartsLike, options: { readonly id?: string; readonly last?: boolean } = {}): Emission {
  checkOptions('chunk', options, chunkRules)
  const artifactId = checkName('chunk', options.id ?? name)
  return new Emission({ kind: 'chunk', artifactId, name, parts: toSomeParts('chunk', parts), last: options.last === true })
}

/** A chunk of a stream with a record. */
export function streamChunk(
  name: string,
  text: unknown,
  how: { readonly begins: boolean; readonly stream: 'live' | 'recorded' },
): Emission {
  if (typeof text !== 'string') throw new TypeError(`task.stream('${name}', …) puts out texts; its function gave ${describe(text)}`)
  const parts = [{ text: checkText('a text', text) }]
  return new Emission({ kind: 'chunk', artifactId: checkName('task.stream', name), name, parts, last: false, ...how })
}

/** COMPLETED, with a note for people and a result, which becomes the artifact `result`. */
export function completed<O extends Json | undefined = undefined>(note?: PartsLike, result?: O): Ending<O> {
  return new Ending({
    kind: 'completed',
    note: note === undefined ? [] : toParts(note),
    result: result === undefined ? undefined : resultParts(result),
  })
}

/** FAILED, with the reason as the status message. */
export function failed(reason: PartsLike): Ending<never> {
  return new Ending({ kind: 'failed', parts: toParts(reason) })
}

/** REJECTED: only as the first act of a task, before anything was put out. */
export function rejected(reason: PartsLike): Ending<never> {
  return new Ending({ kind: 'rejected', parts: toParts(reason) })
}

/** INPUT_REQUIRED and the end of this turn: the next message begins the next turn of the same task. */
export function inputRequired(prompt: PartsLike): Ending<never> {
  return new Ending({ kind: 'inputRequired', parts: toSomeParts('inputRequired', prompt) })
}

/** How a returned value ends the turn: an {@link Ending} as it says, nothing or a value as COMPLETED. */
export function endOfTurn(returned: unknown): TurnEnd {
  const end = Ending.endOf(returned)
  if (end) return end
  if (Emission.outputOf(returned))
    throw new TypeError('a run returned working(), artifact() or chunk(): yield those, and return the end of the turn')
  return { kind: 'completed', note: [], result: returned === undefined ? undefined : resultParts(returned) }
}

/** The output behind a yielded value; a yielded string is a chunk of the artifact `result`. */
export function outputOf(yielded: unknown): Output {
  if (typeof yielded === 'string') return { kind: 'chunk', artifactId: 'result', name: 'result', parts: toParts(yielded), last: false }
  const output = Emission.outputOf(yielded)
  if (output) return output
  if (isPromise(yielded)) {
    // Nobody will look at it again, and an error in it would end the process.
    yielded.catch(() => undefined)
    throw new TypeError('a run yielded a promise: await it, or yield what it brings')
  }
  const what = Ending.endOf(yielded) ? 'the end of a turn: return it' : `${describe(yielded)}: yield working(), artifact() or chunk()`
  throw new TypeError(`a run yielded ${what}`)
}

/** A string or a Part, or a list of them, as parts; any other JSON value as one data part. */
function resultParts(value: unknown): readonly Part[] {
  // As JSON it would be an empty object, and a task that failed would pass for a completed one.
  if (value instanceof Error) throw value
  if (!isJsonLike(value)) {
    throw new TypeError(
      `a run returned ${describe(value)} of the class ${Object(value).constructor?.name}, which JSON does not know: return a list, an object, or bytes as { raw: base64 }`,
    )
  }
  if (typeof value === 'string' || isPart(value)) return toParts(value)
  if (Array.isArray(value) && value.length > 0 && value.every((one) => isPart(one))) return toParts(value)
  return [checkPart({ data: value })]
}

/** Whether `value` is what JSON makes of it: an object of a class would lose whatever it does not keep in members. */
function isJsonLike(value: unknown): value is Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return true
  if ('toJSON' in value && typeof value.toJSON === 'function') return true
  const prototype: unknown = Object.getPrototypeOf(value)
  // The second holds for plain objects of every realm.
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

const contents = ['text', 'raw', 'url', 'data'] as const
const partMembers = new Set<string>([...contents, 'metadata', 'filename', 'mediaType'])

function isPart(value: unknown): value is Part {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const present = contents.filter((name) => Object.hasOwn(value, name))
  return present.length === 1 && Object.keys(value).every((name) => partMembers.has(name))
}

export function toParts(parts: PartsLike): readonly Part[] {
  const list: readonly unknown[] = Array.isArray(parts) ? parts : [parts]
  return list.map((part) => (typeof part === 'string' ? { text: checkText('a text', part) } : checkPart(part)))
}

/** A copy: what is done to the parts later changes nothing. */
export function copyParts(parts: readonly Part[]): readonly Part[] {
  // From the text of parts.
  return JSON.parse(JSON.stringify(parts)) as Part[]
}

function checkText(what: string, text: string): string {
  checkWhole(what, text)
  return text
}

export function toSomeParts(door: string, parts: PartsLike): readonly Part[] {
  const list = toParts(parts)
  if (list.length === 0) throw new TypeError(`${door}() takes at least one part`)
  return list
}

function checkPart(part: unknown): Part {
  try {
    return decode('Part', part)
  } catch (error) {
    // Says where in the part half of a character stands, if that is the fault.
    jsonText(part, 'a part')
    const why = error instanceof A2AError ? error.message : 'it is not JSON'
    throw new TypeError(`not a part: ${why.replace(/\.$/, '')}. A part is a string or an object with one of text, raw, url or data`, {
      cause: error,
    })
  }
}

function checkName(door: string, name: unknown): string {
  if (typeof name !== 'string' || name === '') throw new TypeError(`${door}() takes the artifact's name first; it got ${describe(name)}`)
  return checkText("an artifact's name", name)
}

function isPromise(value: unknown): value is Promise<unknown> {
  return typeof value === 'object' && value !== null && 'catch' in value && typeof value.catch === 'function'
}

function describe(value: unknown): string {
  return value === null
    ? 'null'
    : Array.isArray(value)
      ? 'a list'
      : typeof value === 'object'
        ? 'an object'
        : `${typeof value} ${String(value)}`
}

/** Whether what a run's function gave back puts out one thing after the other. */
export function isGenerator(value: unknown): value is AsyncGenerator | Generator {
  if (typeof value !== 'object' || value === null || !('next' in value) || typeof value.next !== 'function') return false
  return Symbol.asyncIterator in value || Symbol.iterator in value
}
