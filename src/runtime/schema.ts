/** Schemas of other libraries, as far as Errand looks into them: a verdict, where it points, and a form. https://standardschema.dev */

import type { StandardSchemaV1 } from '@standard-schema/spec'
import { shorten } from '../protocol/text.js'
import type { Json, JsonObject } from '../protocol/wire.js'

/** What is wrong with one place in a value. */
export interface Problem {
  /** From the value on: `.city`, `[0].name`; empty for the value itself. */
  readonly path: string
  readonly description: string
}

export type Verdict = { readonly fits: true; readonly value: unknown } | { readonly fits: false; readonly problems: readonly Problem[] }

/** Problems of one value that are told: an answer must not grow with the request. */
const mostProblems = 20
const longestDescription = 200 // characters
const longestKey = 64 // characters

/** Whether `value` is a schema by Standard Schema, version 1. Some libraries make theirs functions. */
export function isSchema(value: unknown): value is StandardSchemaV1 {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null || !('~standard' in value)) return false
  const standard: unknown = value['~standard']
  if (typeof standard !== 'object' || standard === null) return false
  return 'version' in standard && standard.version === 1 && 'validate' in standard && typeof standard.validate === 'function'
}

/** What the schema says of `value`, and what it makes of it: defaults are filled in, and what it converts is converted. */
export async function validate(schema: StandardSchemaV1, value: unknown): Promise<Verdict> {
  // Promised by its type; one that is made by hand may forget a case.
  const result: StandardSchemaV1.Result<unknown> | undefined = await schema['~standard'].validate(value)
  if (!result) throw new TypeError(`a schema of ${schema['~standard'].vendor} gave no verdict: validate() must return a value or issues`)
  if (!result.issues) return { fits: true, value: result.value }
  const problems = result.issues.slice(0, mostProblems).map(({ message, path = [] }) => ({
    path: path.map(step).join(''),
    description: shorten(message, longestDescription),
  }))
  return { fits: false, problems }
}

/** The JSON Schema of what the schema takes, where its library gives one. */
export function jsonSchemaOf(schema: StandardSchemaV1): JsonObject | undefined {
  const standard: object = schema['~standard']
  if (!('jsonSchema' in standard)) return undefined
  // The interface beside Standard Schema that says so: Standard JSON Schema. Whoever claims to have it and has not, throws below.
  const { input } = standard.jsonSchema as { readonly input: (options: { readonly target: string }) => unknown }
  try {
    return toJsonObject(input({ target: 'draft-2020-12' }))
  } catch {
    // What cannot be written as JSON Schema still judges; there is no form for it, that is all.
    return undefined
  }
}

/** A copy of `value` as JSON has it; undefined if that is no object. Throws where `value` refers to itself. */
export function toJsonObject(value: unknown): JsonObject | undefined {
  const text: string | undefined = JSON.stringify(value)
  // Parsed from JSON.
  const copy = text === undefined ? null : (JSON.parse(text) as Json)
  return typeof copy === 'object' && copy !== null && !Array.isArray(copy) ? (copy as JsonObject) : undefined
}

function step(segment: PropertyKey | StandardSchemaV1.PathSegment): string {
  const key = typeof segment === 'object' ? segment.key : segment
  if (typeof key === 'number') return `[${key}]`
  const name = String(key)
  return /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(name) && name.length <= longestKey
    ? `.${name}`
    : `[${JSON.stringify(shorten(name, longestKey))}]`
}
