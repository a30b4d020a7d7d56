import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { decode, maxViolations } from '../../src/protocol/codec.js'
import { InvalidParamsError } from '../../src/protocol/errors.js'
import { type MessageName, messages } from '../../src/protocol/model.js'
import { fromQuery } from '../../src/protocol/query.js'
import { maxDepth } from '../../src/protocol/scalars.js'

interface Vector {
  readonly id: number
  readonly spec: string
  readonly comment: string
  readonly message: MessageName
  readonly input: unknown
  readonly result: 'valid' | 'invalid'
  /** Absent on a valid vector: the input itself. */
  readonly output?: unknown
  readonly violations?: readonly string[]
}

function vectors(name: string): readonly Vector[] {
  return JSON.parse(readFileSync(new URL(`../../vectors/protocol/${name}.json`, import.meta.url), 'utf8'))
}

function badFields(run: () => unknown): readonly string[] {
  try {
    run()
  } catch (error) {
    if (error instanceof InvalidParamsError) return error.violations?.map(({ field }) => field) ?? []
    throw error
  }
  return []
}

const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hi' }] }

describe('decode', () => {
  test.each(vectors('codec').map((vector) => [`${vector.id}: ${vector.comment} (§${vector.spec})`, vector] as const))('%s', (_, vector) => {
    const before = JSON.stringify(vector.input)
    if (vector.result === 'invalid') expect(badFields(() => decode(vector.message, vector.input))).toEqual(vector.violations)
    else if (vector.output === undefined) expect(decode(vector.message, vector.input)).toBe(vector.input)
    else {
      const output = decode(vector.message, vector.input)
      expect(JSON.stringify(sorted(output))).toBe(JSON.stringify(sorted(vector.output)))
      expect(decode(vector.message, output)).toBe(output)
    }
    expect(JSON.stringify(vector.input)).toBe(before)
  })

  test('vectors have ids in order and comments of their own', () => {
    const all = vectors('codec')
    expect(all.map(({ id }) => id)).toEqual(all.map((_, index) => index + 1))
    expect(new Set(all.map(({ comment }) => comment)).size).toBe(all.length)
  })

  test.each(Object.keys(messages) as MessageName[])('%s is read without members, or says which are required', (name) => {
    const fields = badFields(() => decode(name, {}))
    const needed = Object.entries(messages[name]).flatMap(([member, field]) => ('required' in field ? [member] : []))
    const hasChoice = Object.values(messages[name]).some((field) => 'oneof' in field)
    expect(fields).toEqual([...needed, ...(hasChoice ? [''] : [])])
  })

  test('a member that is undefined is absent', () => {
    expect(decode('Part', { text: 'a', mediaType: undefined, data: undefined })).toEqual({ text: 'a' })
  })

  test('nothing is polluted by __proto__', () => {
    const input = JSON.parse(
      '{"messageId":"m","role":1,"parts":[{"text":"a"}],"__proto__":{"polluted":1},"metadata":{"__proto__":{"polluted":1}}}',
    )
    const output = decode('Message', input)
    expect(Object.getPrototypeOf(output)).toBe(Object.prototype)
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
    expect('polluted' in output).toBe(false)
  })

  test(`data ${maxDepth} levels deep in all is read, one deeper is not`, () => {
    const nested = (levels: number) => JSON.parse('['.repeat(levels) + ']'.repeat(levels))
    // The request, its message, the list of parts and the part are four levels.
    const request = (levels: number) => ({ message: { ...message, parts: [{ data: nested(levels) }] } })
    expect(badFields(() => decode('SendMessageRequest', request(maxDepth - 4)))).toEqual([])
    expect(badFields(() => decode('SendMessageRequest', request(maxDepth - 3)))).toEqual(['message.parts[0].data'])
  })

  test.each(['[', '{"a":'])('100,000 levels of %s are refused without exhausting the stack', (open) => {
    const text = `${open.repeat(100_000)}1${(open === '[' ? ']' : '}').repeat(100_000)}`
    expect(badFields(() => decode('Part', { data: JSON.parse(text) }))).toEqual(['data'])
    expect(badFields(() => decode('Message', { ...message, metadata: JSON.parse(`{"x":${text}}`) }))).toEqual(['metadata'])
    expect(decode('Message', { ...message, unknown: JSON.parse(text) })).toEqual(message)
  })

  test('megabytes of base64 need no stack', () => {
    const raw = 'QUJD'.repeat(2 << 20)
    expect(decode('Part', { raw })).toEqual({ raw })
    expect(decode('Part', { raw: `${raw}QQ` })).toEqual({ raw: `${raw}QQ==` })
    expect(badFields(() => decode('Part', { raw: `${raw}=` }))).toEqual(['raw'])
  })

  test('a wholly wrong request gets a bounded answer', () => {
    const parts = Array.from({ length: maxViolations + 5 }, () => ({}))
    expect(badFields(() => decode('Message', { ...message, parts }))).toHaveLength(maxViolations)
  })

  test('a part without content, and one with two, are told what to hold', () => {
    expect(() => decode('Part', {})).toThrow('not valid: must have exactly one of text, raw, url, data.')
    expect(() => decode('Part', { raw: '', url: 'u' })).toThrow('must have exactly one of text, raw, url, data, and has raw and url.')
  })

  test('the text of the error names the bad fields', () => {
    expect(() => decode('Message', { role: 1, parts: [] })).toThrow('parts: must not be empty; messageId: is required')
  })
})

describe('fromQuery', () => {
  test.each(vectors('query').map((vector) => [`${vector.id}: ${vector.comment}`, vector] as const))('%s', (_, vector) => {
    const run = () => decode(vector.message, fromQuery(vector.message, new URLSearchParams(String(vector.input))))
    if (vector.result === 'invalid') expect(badFields(run)).toEqual(vector.violations)
    else expect(run()).toEqual(vector.output)
  })
})

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => [key, sorted(member)]),
  )
}
