/** Signing and verifying agent cards: a detached JWS over the card in canonical form. Spec §8.4, D21. */

import { base64url, type CryptoKey, decodeProtectedHeader, FlattenedSign, flattenedVerify, type JWK } from 'jose'
import { bareForm, emptyRequired, givenForm, specForm } from './card-form.js'
import type { AgentCard, AgentCardSignature } from './wire.js'

/** By which cards and tokens may be signed: what everybody can verify and only the owner of a private key can make. */
export const signatureAlgorithms = Object.freeze([
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const)

export type SignatureAlgorithm = (typeof signatureAlgorithms)[number]

export interface SigningKey {
  /** A private key, as a JWK or a CryptoKey. */
  readonly key: JWK | CryptoKey
  /** Names the key to verifiers. */
  readonly kid: string
  readonly alg: SignatureAlgorithm
  /** Where verifiers find the public key set. */
  readonly jku?: string
}

/**
 * The public key of a signature, by what its header says; undefined for one that is not trusted. Nothing is fetched
 * from a `jku` unless this function does it: whoever made the card chose that address.
 */
export type FindKey = (header: {
  readonly kid: string
  readonly alg: string
  readonly jku?: string
}) => Promise<JWK | CryptoKey | undefined> | JWK | CryptoKey | undefined

/** No signature of the card holds: it was not signed, not by a trusted key, or changed since. */
export class CardSignatureError extends Error {
  override readonly name = 'CardSignatureError'
}

/**
 * The card with a signature for each reading of the canonical form that verifiers have (they differ in empty members
 * only).
 *
 * @throws {TypeError} for a card with an empty required member, which other implementations drop before they verify
 */
export async function signCard(card: AgentCard, { key, kid, alg, jku }: SigningKey): Promise<AgentCard> {
  if (!isSignatureAlgorithm(alg)) throw new TypeError(`a card is signed by ${signatureAlgorithms.join(', ')}, not by ${String(alg)}`)
  const empty = emptyRequired(card)
  if (empty !== undefined) throw new TypeError(`a card with an empty ${empty} cannot be signed: fill it in, or leave the card unsigned`)
  const signatures: AgentCardSignature[] = []
  for (const form of new Set([specForm(card), bareForm(card)])) {
    const { protected: head, signature } = await new FlattenedSign(new TextEncoder().encode(form))
      .setProtectedHeader({ alg, typ: 'JOSE', kid, ...(jku !== undefined && { jku }) })
      .sign(key)
    if (head !== undefined) signatures.push({ protected: head, signature })
  }
  return { ...card, signatures: [...(card.signatures ?? []), ...signatures] }
}

/** Each signature may cost a look-up of its key; nobody needs this many. */
const mostSignatures = 16

/**
 * Settles with the `kid` of the first signature that holds.
 *
 * @throws {CardSignatureError} saying why none does
 */
export async function verifyCard(card: AgentCard, findKey: FindKey): Promise<string> {
  // A card from the wire may hold anything in the place of signatures.
  const given: unknown = card.signatures
  const signatures: readonly AgentCardSignature[] = Array.isArray(given) ? given.slice(0, mostSignatures) : []
  if (signatures.length === 0) throw new CardSignatureError('The agent card is not signed.')
  const forms = formsOf(card)
  const failures: unknown[] = []
  for (const signature of signatures) {
    try {
      return await verifyOne(signature, forms, findKey)
    } catch (error) {
      failures.push(error)
    }
  }
  const reasons = new Set(failures.map((error) => (error instanceof Error ? error.message : String(error))))
  throw new CardSignatureError(`No signature of the agent card holds: ${[...reasons].join('; ')}.`, { cause: failures[0] })
}

/** @throws {CardSignatureError} for what has no canonical form, such as a text with half a character */
function formsOf(card: AgentCard): readonly string[] {
  try {
    // The last is for signers that sign the very text they publish.
    return [...new Set([specForm(card), bareForm(card), givenForm(card)])].map((form) => base64url.encode(form))
  } catch (cause) {
    throw new CardSignatureError('The agent card cannot be brought into the form that is signed.', { cause })
  }
}

async function verifyOne(signature: AgentCardSignature, forms: readonly string[], findKey: FindKey): Promise<string> {
  const { kid, alg, jku } = decodeProtectedHeader(signature)
  if (typeof kid !== 'string' || kid === '') throw new Error('the header of a signature names no key')
  const named = JSON.stringify(kid)
  if (!isSignatureAlgorithm(alg))
    throw new Error(`the signature by ${named} has the algorithm ${JSON.stringify(alg)}, which signs no cards`)
  const key = await findKey({ kid, alg, ...(typeof jku === 'string' && { jku }) })
  if (!key) throw new Error(`the key ${named} is not trusted`)
  for (const payload of forms) {
    const jws = { payload, protected: signature.protected, signature: signature.signature }
    const holds = await flattenedVerify(jws, key, { algorithms: [alg] }).then(
      () => true,
      () => false,
    )
    if (holds) return kid
  }
  throw new Error(`the signature by ${named} does not fit the card, which was changed after it was signed, perhaps by a proxy on its way`)
}

function isSignatureAlgorithm(name: unknown): name is SignatureAlgorithm {
  return signatureAlgorithms.some((one) => one === name)
}
