/**
 * Reads wire objects: whatever ProtoJSON allows becomes the one canonical form, anything else is refused field by field.
 * Writing needs no code: canonical objects go out by JSON.stringify. Spec §5.5 to §5.7, decisions D2 and D3.
 */

import { InvalidParamsError, type Violation } from './errors.js'
import { type Field, type MessageName, messages, protoName, type ScalarType } from './model.js'
import { maxDepth, scalars, unspecified } from './scalars.js'
import { shorten } from './text.js'
import type { Wire } from './wire.js'

/** How many bad fields an answer lists; the rest of a wholly wrong request would only make the answer large. */
export const maxViolations = 1000

/**
 * `input`, parsed from JSON, as a canonical message: itself if it is canonical already, else a new object.
 *
 * @param options.maxDepth objects and arrays within each other, at most. Default 64
 * @throws {InvalidParamsError} with every bad field
 */
export function decode<Name extends MessageName>(name: Name, input: unknown, options: { readonly maxDepth?: number } = {}): Wire[Name] {
  const type = messageType(name)
  // Depth is counted up to one number everywhere: another limit begins at another place.
  const depth = maxDepth - (options.maxDepth ?? maxDepth)
  // The types of Wire are generated from the very table that this check follows.
  if (type.isCanonical(input, depth)) return input as Wire[Name]
  const problems: Violation[] = []
  const output = type.canonical(input, { path: '', depth, problems })
  if (problems.length > 0) throw new InvalidParamsError(problems)
  // As above: without a problem the output has the form that the table describes.
  return output as Wire[Name]
}

/** Where the slow way is. */
interface Place {
  readonly path: string
  /** Objects and arrays around the value. */
  readonly depth: number
  readonly problems: Violation[]
}

interface Type {
  readonly isCanonical: (value: unknown, depth: number) => boolean
  /** The canonical value; undefined where it is the same as absent, or wrong and reported. */
  readonly canonical: (value: unknown, place: Place) => unknown
}

interface Member extends Type {
  readonly name: string
  readonly field: Field
  /** Index into the bits that record what is there. */
  readonly bit: number
}

const types = new Map<MessageName, Type>()

// Built when first asked for; the model's messages do not contain themselves.
function messageType(name: MessageName): Type {
  const known = types.get(name)
  if (known !== undefined) return known
  const type = buildMessage(name)
  types.set(name, type)
  return type
}

function buildMessage(messageName: MessageName): Type {
  const fields: readonly (readonly [string, Field])[] = Object.entries(messages[messageName])
  const members = fields.map(([name, field], index): Member => ({ name, field, bit: 1 << index, ...buildMember(messageName, name, field) }))
  const byName = new Map(members.map((member) => [member.name, member]))
  const byEitherName = new Map(members.flatMap((member) => [[member.name, member] as const, [protoName(member.name), member] as const]))
  const choices = members.filter(({ field }) => field.oneof !== undefined)
  const choiceBits = choices.reduce((bits, { bit }) => bits | bit, 0)
  const required = members.filter(({ field }) => field.required === true)
  const requiredBits = required.reduce((bits, { bit }) => bits | bit, 0)

  return {
    isCanonical(value, depth) {
      if (!isObject(value) || depth >= maxDepth) return false
      let seen = 0
      for (const name in value) {
        const member = byName.get(name)
        if (member === undefined || !member.isCanonical(value[name], depth + 1)) return false
        seen |= member.bit
      }
      const chosen = seen & choiceBits
      // A single bit has none in common with its predecessor.
      return (seen & requiredBits) === requiredBits && (choiceBits === 0 || (chosen !== 0 && (chosen & (chosen - 1)) === 0))
    },

    canonical(value, place) {
      const { path, depth, problems } = place
      if (!isObject(value)) return report(place, 'must be an object')
      if (depth >= maxDepth) return report(place, 'is nested deeper than is taken')
      const given = new Map<Member, unknown>()
      const bad = new Set<Member>()
      for (const name of Object.keys(value)) {
        const member = byEitherName.get(name)
        const content = value[name]
        // Undefined is no JSON, but what a member left open holds in an object that an author made.
        if (member === undefined || content === undefined || (content === null && member.field.type !== 'Value')) continue
        if (!given.has(member)) given.set(member, content)
        else if (!bad.has(member)) {
          bad.add(member)
          report({ ...place, path: join(path, member.name) }, `is given twice, also as ${protoName(member.name)}`)
        }
      }
      dropNullChoices(given, choices)

      const output: Record<string, unknown> = {}
      for (const member of members) {
        if (bad.has(member) || !given.has(member)) continue
        const before = problems.length
        const canonical = member.canonical(given.get(member), { path: join(path, member.name), depth: depth + 1, problems })
        if (canonical !== undefined) output[member.name] = canonical
        else if (problems.length > before) bad.add(member)
      }
      for (const member of required) {
        if (output[member.name] === undefined && !bad.has(member)) report({ ...place, path: join(path, member.name) }, 'is required')
      }
      const chosen = choices.filter((member) => given.has(member))
      if (choices.length > 0 && chosen.length !== 1) report(place, wrongChoice(choices, chosen))
      return output
    },
  }
}

// D2: `data: null` is a content where nothing else is one; some clients write every member.
function dropNullChoices(given: Map<Member, unknown>, choices: readonly Member[]): void {
  const chosen = choices.filter((member) => given.has(member))
  if (chosen.length < 2) return
  for (const member of chosen) if (given.get(member) === null) given.delete(member)
}

function wrongChoice(choices: readonly Member[], chosen: readonly Member[]): string {
  const rule = `must have exactly one of ${choices.map(({ name }) => name).join(', ')}`
  return chosen.length === 0 ? rule : `${rule}, and has ${chosen.map(({ name }) => name).join(' and ')}`
}

function buildMember(messageName: MessageName, name: string, field: Field): Type {
  const type = isMessageName(field.type) ? messageType(field.type) : buildScalar(messageName, name, field)
  if (field.label === 'repeated') return buildList(type, field, field.type === 'Part')
  return field.label === 'map' ? buildMap(type, field) : type
}

/** Required strings that may be empty: the last page has no next one, and a card's texts are its author's affair (D21). */
const mayBeEmpty: ReadonlySet<string> = new Set([
  'ListTasksResponse.nextPageToken',
  'AgentCard.description',
  'AgentCard.version',
  'AgentProvider.url',
  'AgentProvider.organization',
  'AgentSkill.description',
])

function buildScalar(messageName: MessageName, name: string, { type, label, required, oneof }: Field): Type {
  // The model names no other types than messages and scalars.
  const scalar = scalars[type as ScalarType]
  const isItem = label === 'repeated' || label === 'map'
  const hasPresence = label === 'optional' || oneof !== undefined || isItem
  const isRequiredText = required === true && !isItem && scalar.zero === '' && !mayBeEmpty.has(`${messageName}.${name}`)
  const dropsZero = !hasPresence && required !== true && scalar.zero !== undefined
  return {
    isCanonical:
      dropsZero || isRequiredText ? (value, depth) => value !== scalar.zero && scalar.isCanonical(value, depth) : scalar.isCanonical,
    canonical(value, place) {
      const canonical = scalar.canonical(value, place.depth)
      if (canonical === undefined) return report(place, `must be ${scalar.expected}`)
      if (canonical === unspecified) return isItem ? report(place, `must be ${scalar.expected}`) : undefined
      if (isRequiredText && canonical === '') return report(place, 'must not be empty')
      return dropsZero && canonical === scalar.zero ? undefined : canonical
    },
  }
}

// D3: parts are never empty; other required lists may be. An empty list that is not required is the same as none.
function buildList(item: Type, field: Field, isParts: boolean): Type {
  const keepsEmpty = field.required === true && !isParts
  return {
    isCanonical(value, depth) {
      if (!Array.isArray(value) || depth >= maxDepth || (value.length === 0 && !keepsEmpty)) return false
      for (const element of value) if (!item.isCanonical(element, depth + 1)) return false
      return true
    },
    canonical(value, place) {
      if (!Array.isArray(value)) return report(place, 'must be an array')
      if (place.depth >= maxDepth) return report(place, 'is nested deeper than is taken')
      if (value.length === 0 && isParts) return report(place, 'must not be empty')
      if (value.length === 0 && !keepsEmpty) return undefined
      const items: unknown[] = []
      for (const [index, element] of value.entries()) {
        // What more is wrong would not be listed.
        if (place.problems.length >= maxViolations) break
        items.push(item.canonical(element, { ...place, path: `${place.path}[${index}]`, depth: place.depth + 1 }))
      }
      return items
    },
  }
}

function buildMap(item: Type, field: Field): Type {
  const keepsEmpty = field.required === true
  const isKey = scalars.string.isCanonical
  return {
    isCanonical(value, depth) {
      if (!isObject(value) || depth >= maxDepth) return false
      const entries = Object.entries(value)
      return (entries.length > 0 || keepsEmpty) && entries.every(([key, entry]) => isKey(key, depth) && item.isCanonical(entry, depth + 1))
    },
    canonical(value, place) {
      if (!isObject(value)) return report(place, 'must be an object')
      if (place.depth >= maxDepth) return report(place, 'is nested deeper than is taken')
      const entries = Object.entries(value)
      if (entries.length === 0 && !keepsEmpty) return undefined
      if (!entries.every(([key]) => isKey(key, 0))) return report(place, 'must have keys of whole Unicode characters')
      // fromEntries makes a key called __proto__ a member like any other.
      return Object.fromEntries(
        entries.map(([key, entry]) => [
          key,
          item.canonical(entry, { ...place, path: `${place.path}[${JSON.stringify(shorten(key, 64))}]`, depth: place.depth + 1 }),
        ]),
      )
    },
  }
}

function report({ path, problems }: Place, description: string): undefined {
  if (problems.length < maxViolations) problems.push({ field: path, description })
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isMessageName(type: string): type is MessageName {
  return Object.hasOwn(messages, type)
}
