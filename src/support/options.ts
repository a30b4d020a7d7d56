/** Options are checked once, at the door, and a wrong one ends in a sentence that says what to do. */

import { isWholeText } from './whole-text.js'

export interface OptionRule {
  /** Completes the sentence “name takes …”. */
  readonly takes: string
  readonly ok: (value: unknown) => boolean
  readonly required?: boolean
  /** A wrong value may hold what nobody else should read: only its kind is told. */
  readonly secret?: boolean
}

/**
 * Refuses unknown, missing and wrong options of `door`. An option that is `undefined` counts as left out.
 *
 * @throws {TypeError}
 */
export function checkOptions(door: string, given: unknown, rules: Readonly<Record<string, OptionRule>>): void {
  if (!isPlainObject(given)) throw new TypeError(`${door} takes an object of options; it got ${show(given)}`)
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(rules, name))
      throw new TypeError(`${door} has no option ${JSON.stringify(name)}; it takes ${Object.keys(rules).join(', ')}`)
  }
  for (const [name, rule] of Object.entries(rules)) {
    const value = given[name]
    if (value === undefined) {
      if (rule.required) throw new TypeError(`${door} needs the option ${name}: ${rule.takes}`)
    } else if (!rule.ok(value)) {
      throw new TypeError(`${door}: option ${name} takes ${rule.takes}; it got ${rule.secret ? kindOf(value) : show(value)}`)
    }
  }
}

export const isString = (value: unknown): value is string => typeof value === 'string'
/** A text that says something and that UTF-8 can hold. */
export const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '' && isWholeText(value)
export const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean'
export const isFunction = (value: unknown): boolean => typeof value === 'function'
export const isTextList = (value: unknown): boolean => Array.isArray(value) && value.every(isText)
export const isWhole =
  (least: number, most = Number.MAX_SAFE_INTEGER) =>
  (value: unknown) =>
    Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isHttpUrl(value: unknown): value is string {
  if (!isString(value) || !URL.canParse(value)) return false
  const { protocol, username, password, search, hash } = new URL(value)
  return (protocol === 'https:' || protocol === 'http:') && username === '' && password === '' && search === '' && hash === ''
}

/** A wrong value as a sentence can hold it: short, and whatever it is. */
export function show(value: unknown): string {
  if (typeof value === 'string') return shorten(JSON.stringify(value))
  if (typeof value !== 'object' || value === null) return typeof value === 'function' ? 'a function' : String(value)
  try {
    return shorten(JSON.stringify(value))
  } catch {
    // It refers to itself, or holds what JSON does not know.
    return kindOf(value)
  }
}

/** What a wrong value is, without a word of what is in it. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

function shorten(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
