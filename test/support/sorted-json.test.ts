/** Equal values have equal texts. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sortedJson } from '../../src/support/sorted-json.js'

function shuffled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shuffled)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, shuffled(member)]),
  )
}

test('the text is that of the value, whatever the order of its members', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = sortedJson(value)
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
      expect(sortedJson(shuffled(value))).toBe(text)
    }),
  )
})

test('values that differ have texts that differ', () => {
  for (const [a, b] of [
    [
      { a: 1, b: 2 },
      { a: 2, b: 1 },
    ],
    [
      [1, 2],
      [2, 1],
    ],
    [{ a: { b: 1 } }, { a: [{ b: 1 }] }],
    ['1', 1],
    [{}, []],
  ]) {
    expect(sortedJson(a)).not.toBe(sortedJson(b))
  }
})
