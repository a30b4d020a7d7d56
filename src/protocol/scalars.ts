/** How each scalar of the model is read: a test for its canonical form, and the slower way that takes every form of ProtoJSON. */

import { canonicalBase64, isCanonicalBase64 } from './base64.js'
import { enums, type ScalarType } from './model.js'
import { isWellFormed } from './text.js'
import { canonicalTimestamp, isCanonicalTimestamp } from './timestamp.js'

/** Objects and arrays within each other, in one whole message; deeper input is refused. */
export const maxDepth = 64

/** Of an enum's value 0, which means absent whether it is written by name or by number. */
export const unspecified: unique symbol = Symbol('unspecified')

/** How one scalar is read. */
export interface Scalar {
  /** Whether `value` is canonical and may be kept as it is. `depth` counts the objects and arrays around it. */
  readonly isCanonical: (value: unknown, depth: number) => boolean
  /** The canonical value; undefined where it is none. */
  readonly canonical: (value: unknown, depth: number) => unknown
  /** What a right value is, after "must be". */
  readonly expected: string
  /** Same as absent in a field without presence. */
  readonly zero?: '' | 0 | false
}

/** Every scalar by its name in the model. */
export const scalars: Readonly<Record<ScalarType, Scalar>> = {
  string: {
    isCanonical: (value) => typeof value === 'string' && isWellFormed(value),
    canonical: (value) => (typeof value === 'string' && isWellFormed(value) ? value : undefined),
    expected: 'a string of whole Unicode characters',
    zero: '',
  },
  bytes: {
    isCanonical: (value) => typeof value === 'string' && isCanonicalBase64(value),
    canonical: (value) => (typeof value === 'string' ? canonicalBase64(value) : undefined),
    expected: 'bytes in base64',
    zero: '',
  },
  bool: {
    isCanonical: (value) => typeof value === 'boolean',
    canonical: (value) => (typeof value === 'boolean' ? value : undefined),
    expected: 'true or false',
    zero: false,
  },
  int32: {
    isCanonical: (value) => typeof value === 'number' && (value | 0) === value,
    canonical: int32,
    expected: `an integer from ${-(2 ** 31)} to ${2 ** 31 - 1}`,
    zero: 0,
  },
  Timestamp: {
    isCanonical: (value) => typeof value === 'string' && isCanonicalTimestamp(value),
    canonical: (value) => (typeof value === 'string' ? canonicalTimestamp(value) : undefined),
    expected: 'a time in RFC 3339, like 2026-01-02T03:04:05.678Z',
  },
  Struct: {
    isCanonical: isJsonObject,
    canonical: (value, depth) => (isJsonObject(value, depth) ? value : undefined),
    expected: 'a JSON object, not nested deeper than is taken, with finite numbers and whole Unicode characters',
  },
  Value: {
    isCanonical: isJson,
    canonical: (value, depth) => (isJson(value, depth) ? value : undefined),
    expected: 'a JSON value, not nested deeper than is taken, with finite numbers and whole Unicode characters',
  },
  TaskState: enumScalar(enums.TaskState),
  Role: enumScalar(enums.Role),
}

const decimal = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

function int32(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.length <= 64 && decimal.test(value) ? Number(value) : value
  return typeof number === 'number' && (number | 0) === number ? number | 0 : undefined
}

function enumScalar(values: Readonly<Record<string, number>>): Scalar {
  const byName = new Map(Object.entries(values))
  const nameOf = new Map<unknown, string | typeof unspecified>()
  for (const [name, number] of byName) {
    nameOf.set(name, number === 0 ? unspecified : name)
    nameOf.set(number, number === 0 ? unspecified : name)
  }
  const names = [...byName.keys()].filter((name) => byName.get(name) !== 0)
  const real = new Set<unknown>(names)
  return {
    isCanonical: (value) => real.has(value),
    canonical: (value) => nameOf.get(value),
    expected: `one of ${names.join(', ')}`,
  }
}

function isJsonObject(value: unknown, depth: number): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && isJson(value, depth)
}

// Recursion ends at maxDepth, so no input can exhaust the stack.
function isJson(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return isWellFormed(value)
  // A number beyond the range of a double is parsed as Infinity, which JSON cannot write.
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value === 'boolean' || value === null) return true
  if (typeof value !== 'object' || depth >= maxDepth) return false
  if (Array.isArray(value)) return value.every((item) => isJson(item, depth + 1))
  return Object.entries(value).every(([name, member]) => isWellFormed(name) && isJson(member, depth + 1))
}
