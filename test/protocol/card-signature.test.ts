/** What is signed of a card, and when a signature holds. Spec §8.4, D21. */

import canonicalize from 'canonicalize'
import fc from 'fast-check'
import { exportJWK, FlattenedSign, type GenerateKeyPairResult, generateKeyPair, type JWK } from 'jose'
import { beforeAll, describe, expect, test } from 'vitest'
import { bareForm, emptyRequired, specForm } from '../../src/protocol/card-form.js'
import { CardSignatureError, type SigningKey, signatureAlgorithms, signCard, verifyCard } from '../../src/protocol/card-signature.js'
import type { AgentCard } from '../../src/protocol/wire.js'
import vectors from '../../vectors/protocol/card-signature.json' with { type: 'json' }

interface Vector {
  readonly id: number
  readonly comment: string
  /** Put in the place of members of the base; so are the next two. */
  readonly input: object
  readonly form: object
  /** Where it is another one than `form`. */
  readonly bare?: object
  readonly text?: string
  /** The required member that is empty. */
  readonly empty?: string
}

// The members of the vectors are cards in parts.
const based = (members: object) => ({ ...vectors.base, ...members }) as unknown as AgentCard
const canonical = (members: object) =>
  canonicalize(Object.fromEntries(Object.entries(based(members)).filter(([, value]) => value !== null)))
const cases: readonly Vector[] = vectors.cases

let keys: GenerateKeyPairResult
let signing: SigningKey
beforeAll(async () => {
  keys = await generateKeyPair('ES256', { extractable: true })
  signing = { key: keys.privateKey, kid: 'one', alg: 'ES256' }
})
const trusted = ({ kid }: { readonly kid: string }) => (kid === 'one' ? keys.publicKey : undefined)
const plain = based({})

/** A signature over any text, as any other implementation may make it. */
async function signatureOver(text: string, header: Readonly<Record<string, unknown>> = {}) {
  const { protected: head = '', signature } = await new FlattenedSign(new TextEncoder().encode(text))
    .setProtectedHeader({ alg: 'ES256', kid: 'one', ...header } as { alg: string })
    .sign(keys.privateKey)
  return { protected: head, signature }
}

/** Why no signature holds. */
async function complaint(card: AgentCard, findKey: Parameters<typeof verifyCard>[1] = trusted): Promise<string> {
  const error = await verifyCard(card, findKey).then(
    (kid) => new Error(`it holds, by ${kid}`),
    (thrown) => thrown,
  )
  expect(error).toBeInstanceOf(CardSignatureError)
  return error.message
}

describe.each(cases)('vector $id: $comment', ({ input, form, bare = form, text, empty }) => {
  test('the form that is signed (§8.4.1)', () => {
    expect(specForm(based(input))).toBe(canonical(form))
    if (text !== undefined) expect(specForm(based(input))).toBe(text)
  })

  test('the form of those who drop all that is empty', () => {
    expect(bareForm(based(input))).toBe(canonical(bare))
  })

  test('signed by us in either form it holds, and by others too', async () => {
    expect(emptyRequired(based(input))).toBe(empty)
    if (empty === undefined) {
      const signed = await signCard(based(input), signing)
      const before = based(input).signatures?.length ?? 0
      expect(signed.signatures).toHaveLength(before + new Set([canonical(form), canonical(bare)]).size)
      expect(await verifyCard(JSON.parse(JSON.stringify(signed)), trusted)).toBe('one')
    } else {
      await expect(signCard(based(input), signing)).rejects.toThrow(
        new TypeError(`a card with an empty ${empty} cannot be signed: fill it in, or leave the card unsigned`),
      )
    }
    for (const signedForm of [form, bare]) {
      const signatures = [await signatureOver(canonical(signedForm) ?? '')]
      expect(await verifyCard({ ...based(input), signatures }, trusted)).toBe('one')
    }
  })
})

describe('signing', () => {
  const { input, key, header, signatures } = vectors.signed

  test('a signature of Ed25519 is the same everywhere', async () => {
    const signed = await signCard(based(input), { key, kid: header.kid, alg: 'EdDSA', jku: header.jku })
    expect(signed).toEqual({ ...based(input), signatures })
    const { d: _, ...publicKey } = key
    expect(await verifyCard(signed, () => publicKey)).toBe('rfc8037')
  })

  test('the header says the algorithm, the type, the key and where it is found (§8.4.2), and nothing else', async () => {
    const signed = await signCard(plain, { ...signing, jku: 'https://keys.test/jwks', secret: 'x' } as SigningKey)
    const head = Buffer.from(signed.signatures?.[0]?.protected ?? '', 'base64url').toString()
    expect(JSON.parse(head)).toEqual({ alg: 'ES256', typ: 'JOSE', kid: 'one', jku: 'https://keys.test/jwks' })
  })

  test('a signature is added to those there are, and none of them covers the others', async () => {
    const second = await generateKeyPair('ES256')
    const twice = await signCard(await signCard(plain, signing), { key: second.privateKey, kid: 'two', alg: 'ES256' })
    expect(twice.signatures).toHaveLength(2)
    expect(await verifyCard(twice, ({ kid }) => (kid === 'two' ? second.publicKey : undefined))).toBe('two')
    expect(await verifyCard(twice, trusted)).toBe('one')
  })

  test('the card that is given stays as it was', async () => {
    const frozen = Object.freeze({ ...plain })
    await signCard(frozen, signing)
    expect(frozen).toEqual(plain)
  })

  test.each(signatureAlgorithms)('%s signs cards, with a JWK and with a CryptoKey', async (alg) => {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
    for (const key of [privateKey, await exportJWK(privateKey)]) {
      const signed = await signCard(plain, { key, kid: 'k', alg })
      expect(await verifyCard(signed, () => publicKey)).toBe('k')
      expect(await verifyCard(signed, () => exportJWK(publicKey))).toBe('k')
    }
  })

  test.each(['none', 'HS256', 'HS512', '', 'RS1', 'dir'])('%j signs none', async (alg) => {
    const key = { kty: 'oct', k: 'A'.repeat(86) }
    await expect(signCard(plain, { key, kid: 'one', alg: alg as 'ES256' })).rejects.toThrow(/^a card is signed by RS256, /)
  })
})

describe('verifying', () => {
  test('a card without signatures is not signed', async () => {
    for (const signatures of [undefined, [], null, {}, 'x']) {
      expect(await complaint({ ...plain, signatures } as unknown as AgentCard)).toBe('The agent card is not signed.')
    }
  })

  test('a card that a proxy rewrote does not fit its signature, and the reason says so', async () => {
    const signed = await signCard(plain, signing)
    const supportedInterfaces = plain.supportedInterfaces.map((one) => ({ ...one, url: 'https://gateway.test' }))
    expect(await complaint({ ...signed, supportedInterfaces })).toBe(
      'No signature of the agent card holds: the signature by "one" does not fit the card, which was changed after it was signed, perhaps by a proxy on its way.',
    )
  })

  test('any change of what a card says breaks its signature', async () => {
    const rich = based({ iconUrl: 'https://a.test/i', securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } } })
    const signed = await signCard(rich, signing)
    const places = [...placesOf(rich)]
    expect(places.length).toBe(15)
    for (const place of places) {
      const changed = structuredClone(signed)
      const holder = place.slice(0, -1).reduce((value: any, step) => value[step], changed)
      const last = place.at(-1) ?? ''
      holder[last] = typeof holder[last] === 'boolean' ? !holder[last] : `${holder[last]} `
      expect([place, await complaint(changed)]).toEqual([place, expect.stringContaining('does not fit')])
    }
  })

  test('the order of members, white space and unknown members change nothing', async () => {
    const signed = await signCard(plain, signing)
    const turned = Object.fromEntries(Object.entries({ ...signed, 'x-more': 1 }).reverse()) as unknown as AgentCard
    expect(await verifyCard(JSON.parse(JSON.stringify(turned, null, 3)), trusted)).toBe('one')
  })

  test('a card whose very text was signed, unknown members and all, holds', async () => {
    const card = { ...plain, 'x-more': { a: [] }, iconUrl: '' }
    const signatures = [await signatureOver(canonicalize(card) ?? '')]
    expect(await verifyCard({ ...card, signatures }, trusted)).toBe('one')
  })

  test('a key that is not trusted is named, and its jku is looked at by nobody but findKey', async () => {
    const asked: unknown[] = []
    const signed = await signCard(plain, { ...signing, jku: 'https://evil.test/jwks' })
    const said = await complaint(signed, (header) => void asked.push(header))
    expect(said).toBe('No signature of the agent card holds: the key "one" is not trusted.')
    expect(asked).toEqual([{ kid: 'one', alg: 'ES256', jku: 'https://evil.test/jwks' }])
  })

  test.each(['none', 'NONE', 'HS256', 7, undefined, null])('the algorithm %j is refused before a key is looked for', async (alg) => {
    const head = Buffer.from(JSON.stringify({ alg, kid: 'one' })).toString('base64url')
    let asked = 0
    const said = await complaint({ ...plain, signatures: [{ protected: head, signature: '' }] }, () => void asked++)
    expect([asked, said]).toEqual([0, expect.stringContaining('which signs no cards')])
  })

  test('a public key is no shared secret', async () => {
    const jwk = await exportJWK(keys.publicKey)
    const head = Buffer.from(JSON.stringify({ alg: 'HS256', kid: 'one' })).toString('base64url')
    const secret = await crypto.subtle.importKey(
      'raw',
      new TextEncoder().encode(JSON.stringify(jwk)),
      { name: 'HMAC', hash: 'SHA-256' },
      false,
      ['sign'],
    )
    const payload = Buffer.from(specForm(plain)).toString('base64url')
    const signature = Buffer.from(await crypto.subtle.sign('HMAC', secret, new TextEncoder().encode(`${head}.${payload}`))).toString(
      'base64url',
    )
    expect(await complaint({ ...plain, signatures: [{ protected: head, signature }] })).toContain('which signs no cards')
  })

  test('the algorithm of the header must be the one of the key', async () => {
    const { publicKey } = await generateKeyPair('ES384')
    expect(await complaint(await signCard(plain, signing), () => publicKey)).toContain('does not fit')
  })

  test.each<[string, unknown]>([
    ['a header that is no base64url', { protected: '***', signature: 'AA' }],
    ['a header that is no JSON', { protected: 'AAAA', signature: 'AA' }],
    ['a header without a key', { protected: Buffer.from('{"alg":"ES256"}').toString('base64url'), signature: 'AA' }],
    ['no header', { signature: 'AA' }],
    ['no object', 'x'],
    ['null', null],
  ])('a signature with %s does not hold, and the next one may', async (_, broken) => {
    const signed = await signCard(plain, signing)
    expect(await complaint({ ...plain, signatures: [broken] } as AgentCard)).toMatch(/^No signature of the agent card holds: .+\.$/)
    expect(await verifyCard({ ...plain, signatures: [broken, ...(signed.signatures ?? [])] } as AgentCard, trusted)).toBe('one')
  })

  test('why no key could be found is told, and kept as the cause', async () => {
    const cause = new Error('the key server is down')
    const failed = verifyCard(await signCard(plain, signing), () => Promise.reject(cause))
    await expect(failed).rejects.toThrow(/the key server is down/)
    await expect(failed).rejects.toMatchObject({ cause })
  })

  test('a card with a thousand signatures costs no thousand look-ups', async () => {
    const [one] = (await signCard(plain, signing)).signatures ?? []
    let asked = 0
    await complaint({ ...plain, signatures: Array.from({ length: 1000 }, () => one) } as AgentCard, () => void asked++)
    expect(asked).toBe(16)
  })

  test('whatever stands in the place of a card is refused and never crashes', async () => {
    const signatures = (await signCard(plain, signing)).signatures ?? []
    for (const wrong of [null, 7, 'x', [], {}, [null], [[]], { a: null }, { a: 7 }]) {
      for (const member of ['supportedInterfaces', 'capabilities', 'skills', 'name']) {
        expect(await complaint(based({ signatures, [member]: wrong }))).toContain('does not fit')
      }
      // Where nothing needs to stand, some of this is nothing.
      for (const member of ['securitySchemes', 'securityRequirements', 'provider']) {
        await verifyCard(based({ signatures, [member]: wrong }), trusted).catch((error) => expect(error).toBeInstanceOf(CardSignatureError))
      }
    }
    expect(await complaint(based({ signatures, name: '\ud800' }))).toBe('The agent card cannot be brought into the form that is signed.')
  })
})

test('what is signed is the same again once it was read and written', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 3 }), fc.string({ unit: 'binary' }), (params, text) => {
      const card = based({ description: text, capabilities: { extensions: [{ uri: text, params: { params } }] } })
      const again = JSON.parse(JSON.stringify(card))
      expect(specForm(again)).toBe(specForm(card))
      expect(JSON.parse(specForm(JSON.parse(specForm(card))))).toEqual(JSON.parse(specForm(card)))
    }),
    { numRuns: 300 },
  )
})

/** Paths of all texts and booleans. */
function* placesOf(value: unknown, path: readonly string[] = []): Generator<readonly string[]> {
  if (typeof value !== 'object' || value === null) yield path
  else for (const [name, member] of Object.entries(value)) yield* placesOf(member, [...path, name])
}

test('the key of a JWK that is for something else does not verify', async () => {
  const jwk: JWK = { ...(await exportJWK(keys.publicKey)), use: 'enc' }
  expect(await complaint(await signCard(plain, signing), () => jwk)).toContain('does not fit')
})
