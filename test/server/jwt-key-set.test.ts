/** The key set of an issuer at its address: when it is read, read again, and what becomes of tokens while it cannot be. RFC 7517. */

import type { JWK } from 'jose'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { jwt } from '../../src/index.js'
import { scriptAgent } from '../harness/script-agent.js'
import { call } from '../harness/server.js'
import { openStill } from '../runtime/kit.js'
import { audience, issuer, makeKey, openKeySet, type TestKey, tokenOf } from './issuer.js'

const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

let key: TestKey
beforeAll(async () => {
  key = await makeKey('one')
})

describe('a key set at its address', () => {
  let rotated: TestKey
  beforeAll(async () => {
    rotated = await makeKey('two')
  })

  async function openWith(keys: readonly JWK[]) {
    const set = await openKeySet(keys)
    onTestFinished(() => set.close())
    const { fetch, world } = await openStill(scriptAgent, { auth: jwt({ issuer, audience, jwks: set.url }) })
    const status = async (token: string) => (await call(fetch, 'HTTP+JSON', 'ListTasks', {}, { as: token })).status
    return { set, world, status }
  }

  test('is read with the first token and not before, and once for many', async () => {
    const { set, status } = await openWith([key.publicJwk])
    expect(set.reads()).toBe(0)
    const token = await tokenOf(key)
    expect(await Promise.all(Array.from({ length: 20 }, () => status(token)))).toEqual(Array(20).fill(200))
    expect(set.reads()).toBe(1)
  })

  test('is read again for a token of a key that came later', async () => {
    const { set, status, world } = await openWith([key.publicJwk])
    expect(await status(await tokenOf(key))).toBe(200)
    set.answer([key.publicJwk, rotated.publicJwk])
    const token = await tokenOf(rotated)
    await world.advance(30_000)
    expect(await status(token)).toBe(200)
    expect(await status(await tokenOf(key))).toBe(200)
    expect(set.reads()).toBe(2)
  })

  test('is not read again for every token of a made-up key', async () => {
    const { set, status, world } = await openWith([key.publicJwk])
    for (let kid = 0; kid < 20; kid++) expect(await status(await tokenOf(key, { header: { kid: `made-up-${kid}` } }))).toBe(401)
    expect(set.reads()).toBe(1)
    await world.advance(30_000)
    for (let kid = 0; kid < 20; kid++) expect(await status(await tokenOf(key, { header: { kid: `made-up-${kid}` } }))).toBe(401)
    expect(set.reads()).toBe(2)
  })

  test('is read again after ten minutes: a key that was taken back signs nothing more', async () => {
    const { set, status, world } = await openWith([key.publicJwk])
    const token = await tokenOf(key)
    expect(await status(token)).toBe(200)
    set.answer([rotated.publicJwk])
    await world.advance(599_999)
    expect(await status(token)).toBe(200)
    await world.advance(1)
    expect(await status(token)).toBe(401)
    expect(await status(await tokenOf(rotated))).toBe(200)
  })

  test.each<[string, { status: number; text: string }]>([
    ['an error', { status: 500, text: '{}' }],
    ['a redirect', { status: 302, text: '{"keys":[]}' }],
    ['no JSON', { status: 200, text: '<html>' }],
    ['no key set', { status: 200, text: '{"keys":7}' }],
    ['keys that are none', { status: 200, text: '{"keys":["x"]}' }],
  ])('that answers with %s is a 503, and is asked again a second later', async (_, broken) => {
    const { set, status, world } = await openWith([])
    set.answer(broken)
    const token = await tokenOf(key)
    expect([await status(token), await status(token)]).toEqual([503, 503])
    expect(set.reads()).toBe(1)
    set.answer([key.publicJwk])
    expect(await status(token)).toBe(503)
    await world.advance(1000)
    expect(await status(token)).toBe(200)
  })

  test('with a private key in it is a 503: whoever keeps it so has lost it', async () => {
    const { set, status } = await openWith([])
    set.answer([{ ...key.publicJwk, d: 'AAAA' }])
    expect(await status(await tokenOf(key))).toBe(503)
  })

  test('that breaks later leaves the keys it gave, until they are ten minutes old', async () => {
    const { set, status, world } = await openWith([key.publicJwk])
    const token = await tokenOf(key)
    expect(await status(token)).toBe(200)
    set.answer({ status: 500, text: '' })
    await world.advance(599_999)
    expect(await status(token)).toBe(200)
    // Whether this one is good, nobody can tell.
    expect(await status(await tokenOf(rotated))).toBe(503)
    await world.advance(1)
    expect(await status(token)).toBe(503)
  })

  test('is not asked about what is no token', async () => {
    const { set, status } = await openWith([key.publicJwk])
    for (const token of ['x', 'a.b.c', `${base64url({ alg: 'none' })}.e30.`, `${base64url({ alg: 'HS256' })}.e30.AA`])
      expect(await status(token)).toBe(401)
    expect(set.reads()).toBe(0)
  })
})
