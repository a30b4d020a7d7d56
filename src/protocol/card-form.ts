/** Canonical forms of an agent card: the texts that its signatures are made over. Spec §8.4.1, RFC 8785, D21. */

import canonicalize from 'canonicalize'
import { type Field, type MessageName, messages } from './model.js'
import type { AgentCard } from './wire.js'

/** §8.4.1: without `signatures`, defaults dropped unless the member is required or was set where it may be left unset. */
export function specForm(card: AgentCard): string {
  return canonical(withoutDefaults('AgentCard', unsigned(card)))
}

/** As implementations have it that drop every empty text, list and object too, wherever it stands. */
export function bareForm(card: AgentCard): string {
  return canonical(withoutEmpty(withoutDefaults('AgentCard', unsigned(card))) ?? {})
}

/** The card as it is, members that the protocol does not know included. */
export function givenForm(card: AgentCard): string {
  return canonical(unsigned(card))
}

/** Path of the first required member that is empty or not there: the forms differ in it, and some verifiers cannot be served. */
export function emptyRequired(card: AgentCard): string | undefined {
  return firstEmpty('AgentCard', card, '')
}

type Members = Readonly<Record<string, unknown>>

function unsigned(card: AgentCard): Members {
  const { signatures: _, ...rest } = card
  return rest
}

function canonical(value: unknown): string {
  return canonicalize(value) ?? ''
}

/** A card from the wire may have anything in the place of a message: what is none stays as it is. */
function withoutDefaults(name: MessageName, message: unknown): unknown {
  if (!isObject(message)) return message
  const kept: Record<string, unknown> = {}
  for (const [member, field] of fieldsOf(name)) {
    const value = Object.hasOwn(message, member) ? message[member] : undefined
    // null is how ProtoJSON writes a member that is not there.
    if (value === undefined || value === null || isDroppedDefault(field, value)) continue
    kept[member] = inner(field, value)
  }
  return kept
}

function inner({ type, label }: Field, value: unknown): unknown {
  if (!isMessage(type)) return value
  if (label === 'repeated') return Array.isArray(value) ? value.map((item) => withoutDefaults(type, item)) : value
  if (label !== 'map' || !isObject(value)) return withoutDefaults(type, value)
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutDefaults(type, item)]))
}

function isDroppedDefault({ label, required, oneof, type }: Field, value: unknown): boolean {
  if (required || label === 'optional' || oneof !== undefined) return false
  if (label !== undefined) return isEmpty(value)
  return !isMessage(type) && (value === '' || value === false || value === 0)
}

function withoutEmpty(value: unknown): unknown {
  if (value === '' || value === null || value === undefined) return undefined
  if (Array.isArray(value)) {
    const items = value.map(withoutEmpty).filter((item) => item !== undefined)
    return items.length > 0 ? items : undefined
  }
  if (!isObject(value)) return value
  const members = Object.entries(value).flatMap(([name, item]) => {
    const kept = withoutEmpty(item)
    return kept === undefined ? [] : [[name, kept] as const]
  })
  return members.length > 0 ? Object.fromEntries(members) : undefined
}

function firstEmpty(name: MessageName, message: unknown, path: string): string | undefined {
  if (!isObject(message)) return undefined
  for (const [member, field] of fieldsOf(name)) {
    const value = message[member]
    const at = path + member
    if (field.required && isEmpty(value)) return at
    const { type } = field
    if (!isMessage(type) || !isObject(value)) continue
    const items: readonly unknown[] = Array.isArray(value) || field.label === 'map' ? Object.values(value) : [value]
    for (const item of items) {
      const found = firstEmpty(type, item, `${at}.`)
      if (found !== undefined) return found
    }
  }
  return undefined
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (isObject(value) && Object.keys(value).length === 0)
}

/** Lists too: they are read member by member here. */
function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null
}

function fieldsOf(name: MessageName): readonly (readonly [string, Field])[] {
  return Object.entries(messages[name])
}

function isMessage(type: string): type is MessageName {
  return Object.hasOwn(messages, type)
}
