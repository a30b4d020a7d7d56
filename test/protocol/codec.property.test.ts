import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decode } from '../../src/protocol/codec.js'
import { enums, type Field, type MessageName, messages, protoName } from '../../src/protocol/model.js'

const names = Object.keys(messages) as readonly MessageName[]

const scalars: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  string: fc.string({ minLength: 1, unit: 'grapheme' }),
  bytes: fc.uint8Array({ minLength: 1, maxLength: 12 }).map((bytes) => Buffer.from(bytes).toString('base64')),
  bool: fc.constant(true),
  int32: fc.oneof(fc.integer({ min: 1, max: 2 ** 31 - 1 }), fc.integer({ min: -(2 ** 31), max: -1 })),
  Timestamp: fc.date({ min: new Date('1000-01-02'), max: new Date('9999-12-30'), noInvalidDate: true }).map((date) => date.toISOString()),
  Struct: fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 3 }),
  Value: fc.jsonValue({ maxDepth: 3 }),
  TaskState: fc.constantFrom(...Object.keys(enums.TaskState).slice(1)),
  Role: fc.constantFrom(...Object.keys(enums.Role).slice(1)),
}

function fieldsOf(name: string): readonly (readonly [string, Field])[] {
  return Object.entries(messages[name as MessageName])
}

/** Canonical values of a message, made from the model. */
function canonical(name: string): fc.Arbitrary<Record<string, unknown>> {
  const plain = fieldsOf(name).filter(([, field]) => field.oneof === undefined)
  const choices = fieldsOf(name).filter(([, field]) => field.oneof !== undefined)
  const members = fc.record(Object.fromEntries(plain.map(([json, field]) => [json, memberOf(field)])), {
    requiredKeys: plain.filter(([, field]) => field.required === true).map(([json]) => json),
    noNullPrototype: true,
  })
  if (choices.length === 0) return members
  const choice = fc.oneof(...choices.map(([json, field]) => memberOf(field).map((value) => ({ [json]: value }))))
  return fc.tuple(members, choice).map(([rest, chosen]) => ({ ...rest, ...chosen }))
}

function memberOf({ type, label }: Field): fc.Arbitrary<unknown> {
  const item = scalars[type] ?? canonical(type)
  if (label === 'repeated') return fc.array(item, { minLength: 1, maxLength: 3 })
  if (label === 'map')
    return fc.dictionary(fc.string({ minLength: 1, unit: 'grapheme' }), item, { minKeys: 1, maxKeys: 3, noNullPrototype: true })
  return item
}

type Coin = () => boolean

/** The same message in another form that ProtoJSON allows, as the coin falls. */
function slow(name: string, value: Readonly<Record<string, unknown>>, coin: Coin): Record<string, unknown> {
  const output: Record<string, unknown> = coin() ? { unknown: { kind: [1] } } : {}
  for (const [json, field] of fieldsOf(name)) {
    const spelling = coin() ? protoName(json) : json
    if (Object.hasOwn(value, json)) output[spelling] = slowMember(field, value[json], coin)
    else if (coin()) output[spelling] = absent(field, coin)
  }
  return output
}

function absent({ type, label, oneof }: Field, coin: Coin): unknown {
  if (coin() || oneof !== undefined || label === 'optional') return null
  if (label === 'repeated') return []
  if (label === 'map') return {}
  const zeros: Readonly<Record<string, unknown>> = { string: '', bytes: '', bool: false, int32: 0, TaskState: 0, Role: 'ROLE_UNSPECIFIED' }
  return zeros[type] ?? null
}

function slowMember(field: Field, value: unknown, coin: Coin): unknown {
  const { label, ...item } = field
  if (label === 'repeated') return (value as unknown[]).map((element) => slowMember(item, element, coin))
  if (label === 'map')
    return Object.fromEntries(Object.entries(value as object).map(([key, entry]) => [key, slowMember(item, entry, coin)]))
  if (field.type in messages) return slow(field.type, value as Record<string, unknown>, coin)
  return coin() ? slowScalar(field.type, value) : value
}

function slowScalar(type: string, value: unknown): unknown {
  if (type === 'bytes') return Buffer.from(String(value), 'base64').toString('base64url')
  if (type === 'int32') return `${value}.0`
  if (type === 'TaskState' || type === 'Role') return (enums[type] as Record<string, number>)[String(value)]
  if (type !== 'Timestamp') return value
  const shifted = new Date(Date.parse(String(value)) + 90 * 60_000).toISOString()
  return shifted.replace('Z', '999999+01:30')
}

describe.each(names)('%s', (name) => {
  test('a canonical message is returned as it is', () => {
    fc.assert(
      fc.property(canonical(name), (message) => decode(name, message) === message),
      { numRuns: 30 },
    )
  })

  test('every form that ProtoJSON allows is read as the canonical one', () => {
    fc.assert(
      fc.property(canonical(name), fc.infiniteStream(fc.boolean()), (message, coins) => {
        const form = slow(name, message, () => coins.next().value)
        expect(decode(name, form)).toEqual(message)
      }),
      { numRuns: 30 },
    )
  })
})

test('any JSON at all is read or refused, and never breaks the reader', () => {
  fc.assert(
    fc.property(fc.constantFrom(...names), fc.jsonValue(), (name, value) => {
      let output: unknown
      try {
        output = decode(name, value)
      } catch (error) {
        return (error as Error).name === 'InvalidParamsError'
      }
      return decode(name, output) === output
    }),
  )
})
