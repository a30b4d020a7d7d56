/** Signatures of cards between us and the official SDK, each verifying what the other signed. Spec §8.4, D21. */

import { canonicalizeAgentCard, generateAgentCardSignature, AgentCard as SdkCard, verifyAgentCardSignature } from '@a2a-js/sdk'
import { DefaultAgentCardResolver } from '@a2a-js/sdk/client'
import { exportJWK, type GenerateKeyPairResult, generateKeyPair } from 'jose'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { venueAgent } from '../../examples/venue-agent/agent.js'
import { type AgentCard, anonymous, CardSignatureError, type SigningKey, signCard, verifyCard } from '../../src/index.js'
import { bareForm, specForm } from '../../src/protocol/card-form.js'
import vectors from '../../vectors/protocol/card-signature.json' with { type: 'json' }
import { openSocket } from '../harness/server.js'

interface Vector {
  readonly id: number
  readonly comment: string
  readonly input: object
  readonly empty?: string
}
const cases: readonly Vector[] = vectors.cases
// The members of the vectors are cards in parts.
const based = (members: object) => ({ ...vectors.base, ...members }) as unknown as AgentCard

let keys: GenerateKeyPairResult
let signing: SigningKey
beforeAll(async () => {
  keys = await generateKeyPair('ES256', { extractable: true })
  signing = { key: await exportJWK(keys.privateKey), kid: 'one', alg: 'ES256', jku: 'https://keys.test/jwks' }
  // The SDK says so when a signature does not hold, which is what some tests are about.
  vi.spyOn(console, 'debug').mockImplementation(() => {})
})
const ours = () => keys.publicKey
// The SDK brings what it is given into its own form once more, and loses the security schemes of a card that has it
// already: it is given cards as they travel, which its types do not know.
const travelling = (card: unknown) => JSON.parse(JSON.stringify(card)) as SdkCard
const sdkVerify = (card: unknown) => verifyAgentCardSignature(async () => keys.publicKey)(travelling(card))
const sdkSign = (card: unknown) => generateAgentCardSignature(keys.privateKey, { alg: 'ES256', kid: 'one', typ: 'JOSE' })(travelling(card))

describe.each(cases)('vector $id: $comment', ({ input }) => {
  test('the form that the SDK signs is one of ours', () => {
    expect([specForm(based(input)), bareForm(based(input))]).toContain(canonicalizeAgentCard(travelling(based(input))))
  })

  test('what the SDK signs, we verify, as it was and as the SDK publishes it', async () => {
    const signed = await sdkSign(based({ ...input, signatures: [] }))
    const signatures = signed.signatures.map(({ protected: head, signature }) => ({ protected: head, signature }))
    expect(await verifyCard(based({ ...input, signatures }), ours)).toBe('one')
    expect(await verifyCard(JSON.parse(JSON.stringify(SdkCard.toJSON(SdkCard.fromJSON(signed)))), ours)).toBe('one')
  })
})

test.each(cases.filter(({ empty }) => empty === undefined))('what we sign, the SDK verifies: vector $id: $comment', async ({ input }) => {
  await expect(sdkVerify(await signCard(based({ ...input, signatures: [] }), signing))).resolves.toBeUndefined()
})

test('the SDK verifies the card that a server publishes, and finds the key by its kid and jku', async () => {
  const server = await openSocket(venueAgent, { signing, auth: anonymous() })
  onTestFinished(() => server.close())
  const card = await new DefaultAgentCardResolver().resolve(server.url)
  const asked: unknown[] = []
  const verify = verifyAgentCardSignature(async (kid, jku) => {
    asked.push([kid, jku])
    return keys.publicKey
  })
  await expect(verify(card)).resolves.toBeUndefined()
  expect(asked[0]).toEqual(['one', 'https://keys.test/jwks'])
})

test('the SDK verifies the card of a server with auth as it travels', async () => {
  const server = await openSocket(venueAgent, { signing })
  onTestFinished(() => server.close())
  const card = (await (await fetch(`${server.url}/.well-known/agent-card.json`)).json()) as AgentCard
  expect(card.securitySchemes).toBeDefined()
  await expect(sdkVerify(card)).resolves.toBeUndefined()
})

test('a signature that leaves out the security schemes does not hold for us: whoever changes them would go unseen', async () => {
  const securitySchemes = { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } }
  const decoded = SdkCard.fromJSON(based({ securitySchemes }))
  const { signatures } = await generateAgentCardSignature(keys.privateKey, { alg: 'ES256', kid: 'one', typ: 'JOSE' })(decoded)
  await expect(verifyCard(based({ securitySchemes, signatures }), ours)).rejects.toThrow(/does not fit/)
  await expect(verifyCard(based({ signatures }), ours)).resolves.toBe('one')
})

test('a card that a proxy rewrote is refused by both', async () => {
  const server = await openSocket(venueAgent, { signing })
  onTestFinished(() => server.close())
  const text = await (await fetch(`${server.url}/.well-known/agent-card.json`)).text()
  const rewritten = JSON.parse(text.replaceAll(server.url, 'https://gateway.test'))
  await expect(sdkVerify(rewritten)).rejects.toThrow()
  await expect(verifyCard(rewritten, ours)).rejects.toThrow(CardSignatureError)
  await expect(verifyCard(JSON.parse(text), ours)).resolves.toBe('one')
})

test('a signature by another key is refused by both', async () => {
  const stranger = await generateKeyPair('ES256')
  const card = await signCard(based({}), { ...signing, key: stranger.privateKey })
  await expect(sdkVerify(card)).rejects.toThrow()
  await expect(verifyCard(card, ours)).rejects.toThrow(/does not fit/)
})
