/** A context id of the server's form is its owner's and nobody else's (D4). */

import { expect, test } from 'vitest'
import { judgeContextId, makeContextId } from '../../src/task/context-id.js'
import { virtualWorld } from '../../src/testing/virtual-world.js'

const key = new Uint8Array(32).fill(7)
const alice = { tenant: 'acme', owner: 'alice' }
const id = makeContextId(key, alice, virtualWorld())

test('its owner is known by it', () => {
  expect(id).toMatch(/^ctx-[0-9a-f-]{36}-[\w-]{22}$/)
  expect(judgeContextId(key, alice, id)).toBe('own')
})

test.each([
  { tenant: 'acme', owner: 'bob' },
  { tenant: 'other', owner: 'alice' },
  { tenant: 'acmea', owner: 'lice' },
])('to $tenant/$owner it is foreign', (caller) => {
  expect(judgeContextId(key, caller, id)).toBe('foreign')
})

test('one that was never made is foreign as well, so that nobody learns which exist', () => {
  const forged = id.slice(0, -1) + (id.endsWith('A') ? 'B' : 'A')
  expect(judgeContextId(key, alice, forged)).toBe('foreign')
  expect(judgeContextId(new Uint8Array(32), alice, id)).toBe('foreign')
})

test.each(['my project', '', 'ctx-', 'ctx-1-2', 'ctx-'.padEnd(63, 'a'), '00000000-0000-7000-8000-000000000000', 'Ctx-ünïcode'])(
  '%j is a name of the caller',
  (name) => {
    expect(judgeContextId(key, alice, name)).toBe('named')
  },
)

test('two ids differ', () => {
  const world = virtualWorld()
  expect(makeContextId(key, alice, world)).not.toBe(makeContextId(key, alice, world))
})
