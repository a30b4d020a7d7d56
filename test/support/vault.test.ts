/** Sealed texts and bodies of records: opened where they belong and with their key, and nowhere else. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fromBase64url, toBase64url, utf8 } from '../../src/support/crypto.js'
import { createVault, keyFromSecret, openBody, sealBody, type Vault } from '../../src/support/vault.js'
import { systemWorld } from '../../src/support/world.js'

const secret = 'a secret of more than 32 characters, for tests'
const vaultOf = (key: string | Uint8Array): Vault =>
  createVault(async () => (typeof key === 'string' ? keyFromSecret(key) : key), systemWorld)
const vault = vaultOf(secret)
const where = { taskId: 't1', turn: 2, key: 'authorize/Book it?/1' }

test('whatever is sealed is opened again, in its own context', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.string({ unit: 'binary' })), fc.string({ unit: 'binary' }), async (context, text) => {
      expect(await vault.open(context, await vault.seal(context, text))).toBe(text)
    }),
  )
})

test('a text may begin with a byte order mark', async () => {
  expect(await vault.open([], await vault.seal([], '\ufefftext'))).toBe('\ufefftext')
})

test('a vault opened later with the same secret has the same key, and one with another secret does not', async () => {
  const sealed = await vault.seal(['a'], 'the text')
  expect(await vaultOf(secret).open(['a'], sealed)).toBe('the text')
  await expect(vaultOf(`${secret}.`).open(['a'], sealed)).rejects.toThrow(/secretKey/)
})

test('the key is derived by HKDF-SHA-256, and the seal is AES-256-GCM over the context', async () => {
  const sealed = fromBase64url(await vault.seal(['a', 'b'], 'the text')) ?? new Uint8Array()
  const source = await crypto.subtle.importKey('raw', new TextEncoder().encode(secret), 'HKDF', false, ['deriveBits'])
  const info = new TextEncoder().encode('errand vault 1')
  const bits = await crypto.subtle.deriveBits({ name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(32), info }, source, 256)
  const key = await crypto.subtle.importKey('raw', bits, 'AES-GCM', false, ['decrypt'])
  const additionalData = new TextEncoder().encode('["a","b"]')
  const iv = new Uint8Array(sealed.subarray(1, 13))
  const text = await crypto.subtle.decrypt({ name: 'AES-GCM', iv, additionalData }, key, new Uint8Array(sealed.subarray(13)))
  expect(new TextDecoder().decode(text)).toBe('the text')
})

test('equal texts look different, and nothing of them shows', async () => {
  const [one, two] = await Promise.all([vault.seal([], 'the text'), vault.seal([], 'the text')])
  expect(one).not.toBe(two)
  expect(atob(one.replaceAll('-', '+').replaceAll('_', '/'))).not.toContain('text')
})

test('pieces of a context do not run into each other', async () => {
  const sealed = await vault.seal(['ab', 'c'], 'the text')
  for (const context of [['a', 'bc'], ['abc'], ['ab', 'c', ''], ['c', 'ab'], ['ab","c'], []]) {
    await expect(vault.open(context, sealed)).rejects.toThrow(/cannot be opened/)
  }
})

test('a sealed text with any bit changed, cut short or spelled otherwise is refused', async () => {
  const sealed = await vault.seal(['a'], 'x')
  const bytes = fromBase64url(sealed) ?? new Uint8Array()
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const changed = new Uint8Array(bytes)
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    await expect(vault.open(['a'], toBase64url(changed))).rejects.toThrow(/cannot be opened/)
  }
  for (const other of ['', 'AQ', '{}', `${sealed}=`, ` ${sealed}`, sealed.slice(0, -4), 'ü']) {
    await expect(vault.open(['a'], other)).rejects.toThrow(/cannot be opened/)
  }
})

test('the key is asked for once, and again only if that failed', async () => {
  let asked = 0
  const lazy = createVault(async () => {
    if (++asked === 1) throw new Error('not readable yet')
    return utf8(secret)
  }, systemWorld)
  expect(asked).toBe(0)
  await expect(lazy.seal([], 'x')).rejects.toThrow('not readable yet')
  await lazy.open([], await lazy.seal([], 'x'))
  await lazy.seal([], 'y')
  expect(asked).toBe(2)
})

test('the body of a record is opened in its own place alone', async () => {
  const body = await sealBody(vault, where, { granted: { token: 'tok-1', scopes: [] } })
  expect(Object.keys(JSON.parse(body))).toEqual(['sealed'])
  expect(body).not.toContain('tok')
  expect(await openBody(vault, where, body)).toEqual({ granted: { token: 'tok-1', scopes: [] } })
  for (const other of [{ taskId: 't2' }, { turn: 1 }, { key: 'another' }]) {
    await expect(openBody(vault, { ...where, ...other }, body)).rejects.toThrow(/cannot be opened/)
  }
})

test('a body that was never sealed is taken as it is', async () => {
  for (const body of [{}, { value: 1 }, { value: { sealed: 'no' } }]) {
    expect(await openBody(vault, where, JSON.stringify(body))).toEqual(body)
  }
})
