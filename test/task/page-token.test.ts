/** Page tokens are good for whoever got them, for the list they were made for, and for nothing else. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodePageToken, encodePageToken, type PageScope } from '../../src/task/page-token.js'

const key = new Uint8Array(32).fill(7)
const scope: PageScope = { caller: { tenant: 'acme', owner: 'alice' }, contextId: 'c', state: 'TASK_STATE_WORKING', since: 5 }
const position = { revision: 123_456_789, statusTimestamp: 1_700_000_000_000, id: 'task-ä', total: 137 }
const token = encodePageToken(key, scope, position)

const positions = fc.record({
  revision: fc.maxSafeNat(),
  statusTimestamp: fc.maxSafeInteger(),
  id: fc.string({ unit: 'grapheme' }),
  total: fc.nat(),
})

test('what goes in comes out', () => {
  fc.assert(
    fc.property(positions, (position) => void expect(decodePageToken(key, scope, encodePageToken(key, scope, position))).toEqual(position)),
  )
})

test.each<[string, PageScope]>([
  ['tenant', { ...scope, caller: { ...scope.caller, tenant: 'other' } }],
  ['owner', { ...scope, caller: { ...scope.caller, owner: 'bob' } }],
  ['pair of the same letters', { ...scope, caller: { tenant: 'acmea', owner: 'lice' } }],
  ['context', { ...scope, contextId: 'd' }],
  ['state', { ...scope, state: 'TASK_STATE_COMPLETED' }],
  ['time', { ...scope, since: 6 }],
  ['set of filters', { caller: scope.caller }],
])('a token for another %s is refused', (_, other) => {
  expect(decodePageToken(key, other, token)).toBeUndefined()
})

test('a token made with another key is refused', () => {
  expect(decodePageToken(new Uint8Array(32).fill(8), scope, token)).toBeUndefined()
})

test('a token with any character changed, added or cut off is refused', () => {
  for (let i = 0; i < token.length; i++) {
    const other = token[i] === 'A' ? 'B' : 'A'
    expect(decodePageToken(key, scope, token.slice(0, i) + other + token.slice(i + 1))).toBeUndefined()
    expect(decodePageToken(key, scope, token.slice(0, i))).toBeUndefined()
    expect(decodePageToken(key, scope, `${token.slice(0, i)}A${token.slice(i)}`)).toBeUndefined()
  }
})

test('any other text is refused', () => {
  fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (text) => void expect(decodePageToken(key, scope, text)).toBeUndefined()))
})

test('a token shows nothing of what is in it', () => {
  const shown = atob(token.replaceAll('-', '+').replaceAll('_', '/'))
  for (const secret of ['123456789', '1700000000000', 'task', '137', 'alice']) expect(shown).not.toContain(secret)
})
