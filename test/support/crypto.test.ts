/** Digests and sealed bytes, held against published examples and against themselves. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { digestHex, fromBase64url, hmac, isEqual, seal, toBase64url, unseal, utf8 } from '../../src/support/crypto.js'

const key = new Uint8Array(32).fill(1)

test('the digest is that of WebCrypto over the framed pieces', async () => {
  const framed = Uint8Array.of(0, 0, 0, 2, 0x61, 0x62, 0, 0, 0, 1, 0x63)
  const expected = new Uint8Array(await crypto.subtle.digest('SHA-256', framed))
  expect(digestHex('ab', 'c')).toBe(Array.from(expected, (byte) => byte.toString(16).padStart(2, '0')).join(''))
})

test('the authenticator is that of WebCrypto', async () => {
  const imported = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  const expected = new Uint8Array(await crypto.subtle.sign('HMAC', imported, Uint8Array.of(0, 0, 0, 1, 0x61)))
  expect([...hmac(key, 'a')]).toEqual([...expected])
})

test('pieces do not run into each other', () => {
  expect(digestHex('ab', 'c')).not.toBe(digestHex('a', 'bc'))
  expect(digestHex('ab')).not.toBe(digestHex('ab', ''))
})

test('base64url has one spelling for all bytes', () => {
  fc.assert(fc.property(fc.uint8Array(), (bytes) => void expect(fromBase64url(toBase64url(bytes))).toEqual(bytes)))
  expect(toBase64url(Uint8Array.of(251, 255))).toBe('-_8')
  for (const text of ['-_9', '-_8=', '+/8', 'a', 'a b', '-_8\n']) expect(fromBase64url(text)).toBeUndefined()
})

test('equal means equal in every byte and in length', () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.uint8Array(), (a, b) => {
      expect(isEqual(a, new Uint8Array(a))).toBe(true)
      expect(isEqual(a, b)).toBe(toBase64url(a) === toBase64url(b))
    }),
  )
  expect(isEqual(Uint8Array.of(), Uint8Array.of(0))).toBe(false)
})

test('what is sealed is opened with the same key and context alone', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), fc.string(), (plain, context) => {
      const sealed = seal(key, [context], plain)
      expect(unseal(key, [context], sealed)).toEqual(plain)
      expect(unseal(key, [`${context}.`], sealed)).toBeUndefined()
      expect(unseal(utf8('another'), [context], sealed)).toBeUndefined()
      expect(unseal(key, [context], sealed.subarray(0, -1))).toBeUndefined()
    }),
  )
})

test('a sealed text with any bit changed is refused', () => {
  const sealed = seal(key, [], utf8('a text of more than one block of thirty-two bytes'))
  for (let bit = 0; bit < sealed.length * 8; bit++) {
    const changed = new Uint8Array(sealed)
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    expect(unseal(key, [], changed)).toBeUndefined()
  }
})
