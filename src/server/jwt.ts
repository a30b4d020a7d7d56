/** Callers who show a JSON Web Token of a known issuer. RFC 7519, RFC 8725, RFC 6750. */

import {
  createLocalJWKSet,
  errors,
  importJWK,
  type JSONWebKeySet,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  jwtVerify,
} from 'jose'
import type { Principal } from '../protocol/call.js'
import { signatureAlgorithms } from '../protocol/card-signature.js'
import { A2AError } from '../protocol/errors.js'
import type { JsonObject } from '../protocol/wire.js'
import { type Duration, durationMs } from '../support/duration.js'
import { checkOptions, isPlainObject, isText, type OptionRule } from '../support/options.js'
import { type Auth, bearerChallenge, bearerOf, type Credentials } from './authenticate.js'
import { type KeySet, keysMissing, remoteKeySet } from './key-set.js'
import { isLoopback } from './neighbours.js'

export interface JwtOptions {
  /** Must equal the token's `iss`. */
  readonly issuer: string
  /** One of them must be in the token's `aud`. */
  readonly audience: string | readonly string[]
  /** The issuer's public keys: the https URL of its key set, or the set itself. Either this or `secret`. */
  readonly jwks?: string | JSONWebKeySet
  /** Shared with the issuer: at least 32 characters, 48 for HS384, 64 for HS512. Either this or `jwks`. */
  readonly secret?: string
  /** Signature algorithms that are taken. Default: RS256, PS256, ES256, EdDSA and Ed25519 with `jwks`, HS256 with `secret`. */
  readonly algorithms?: readonly string[]
  /** How far the issuer's clock may be off. Default 30 s. */
  readonly clockSkew?: Duration
  /** The claim that names the caller. Default `sub`. */
  readonly idClaim?: string
  /** The claim with the scopes, as a list or a text with spaces. Default `scope`. */
  readonly scopeClaim?: string
  /** The claim with the tenants that the caller may name, as a list. Default: none. */
  readonly tenantsClaim?: string
}

export const jwtDefaults = Object.freeze({
  publicAlgorithms: Object.freeze(['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519']),
  secretAlgorithms: Object.freeze(['HS256']),
  clockSkew: '30s',
  idClaim: 'sub',
  scopeClaim: 'scope',
})

/** Bytes that a shared secret must have, by algorithm (RFC 7518 §3.2). */
const secretBytes: Readonly<Record<string, number>> = { HS256: 32, HS384: 48, HS512: 64 }
const knownAlgorithms: ReadonlySet<unknown> = new Set([...signatureAlgorithms, ...Object.keys(secretBytes)])

const text = { takes: 'a text', ok: isText } satisfies OptionRule
const rules: Readonly<Record<keyof JwtOptions, OptionRule>> = {
  issuer: { ...text, required: true },
  audience: {
    takes: 'a text or a list of texts',
    ok: (value) => isText(value) || isFilledList(value, isText),
    required: true,
  },
  jwks: { takes: 'an https URL (http on loopback) or a set of public keys, as { keys: […] }', ok: isKeySource, secret: true },
  secret: { takes: 'a text of at least 32 characters', ok: (value) => isText(value) && value.length >= 32, secret: true },
  algorithms: {
    takes: `a list of ${[...knownAlgorithms].join(', ')}`,
    ok: (value) => isFilledList(value, (one) => knownAlgorithms.has(one)),
  },
  clockSkew: { takes: "milliseconds or a text such as '30s'", ok: isDuration },
  idClaim: text,
  scopeClaim: text,
  tenantsClaim: text,
}

/**
 * Callers with a token of `issuer`: signed by one of its keys, for this audience, not expired.
 *
 * @throws {TypeError} on wrong or contradictory options
 */
export function jwt(options: JwtOptions): Auth {
  checkOptions('jwt', options, rules)
  const { issuer, audience, secret, idClaim = jwtDefaults.idClaim, scopeClaim = jwtDefaults.scopeClaim, tenantsClaim } = options
  if ((options.jwks === undefined) === (secret === undefined)) {
    throw new TypeError(`jwt takes either jwks or secret; it got ${secret === undefined ? 'neither' : 'both'}`)
  }
  const algorithms = [...(options.algorithms ?? (secret === undefined ? jwtDefaults.publicAlgorithms : jwtDefaults.secretAlgorithms))]
  checkAlgorithms(algorithms, secret)
  const clockTolerance = durationMs(options.clockSkew ?? jwtDefaults.clockSkew) / 1000
  const keys = keySource(options)
  const verifying: JWTVerifyOptions = { issuer, audience: [audience].flat(), algorithms, clockTolerance, requiredClaims: ['exp', idClaim] }

  return Object.freeze({
    authenticates: true,
    async identify(credentials: Credentials) {
      const token = bearerOf(credentials)
      if (token === undefined) return undefined
      const now = credentials.now()
      try {
        const payload = await verify(token, keys(now), { ...verifying, currentDate: new Date(now) })
        return principalOf(payload, { idClaim, scopeClaim, tenantsClaim })
      } catch (error) {
        if (isRefusal(error)) return undefined
        throw error instanceof A2AError ? error : keysMissing(error)
      }
    },
    prepare: () => checkKeys(options.jwks),
    challenge: bearerChallenge,
    schemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer', bearerFormat: 'JWT' } } },
  })
}

/** RFC 8725 §3.1, §3.5: a public key that is taken for a secret lets anybody sign, and a short secret can be guessed. */
function checkAlgorithms(algorithms: readonly string[], secret: string | undefined): void {
  for (const name of algorithms) {
    const least = secretBytes[name]
    if ((least === undefined) !== (secret === undefined))
      throw new TypeError(`jwt: option algorithms takes HS… with secret and the others with jwks; it got ${name}`)
    if (least !== undefined && new TextEncoder().encode(secret).length < least)
      throw new TypeError(`jwt: option secret takes at least ${least} characters for ${name}; it got fewer`)
  }
}

/** A key that cannot be read would refuse every token of its own, or all of them, and nobody would know why. */
async function checkKeys(jwks: JwtOptions['jwks']): Promise<void> {
  if (jwks === undefined || typeof jwks === 'string') return
  for (const key of jwks.keys) {
    const name = `the key ${JSON.stringify(key.kid ?? key.kty)} of jwt's option jwks`
    // RFC 7518 §3.3: 2048 bits, in base64url.
    if (key.kty === 'RSA' && (key.n ?? '').length < 342) throw new TypeError(`${name} is an RSA key of less than 2048 bits`)
    try {
      await importJWK(key, key.alg ?? usualAlgorithms[key.kty ?? ''] ?? '')
    } catch (cause) {
      throw new TypeError(`${name} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    }
  }
}

/** To read a key by that does not name its algorithm; any of its kind does. */
const usualAlgorithms: Readonly<Record<string, string>> = { RSA: 'RS256', EC: 'ES256', OKP: 'EdDSA' }

function keySource({ jwks, secret }: JwtOptions): KeySet {
  if (typeof jwks === 'string') return remoteKeySet(jwks)
  const key = new TextEncoder().encode(secret)
  const find: JWTVerifyGetKey = jwks === undefined ? async () => key : createLocalJWKSet(jwks)
  return () => find
}

async function verify(token: string, findKey: JWTVerifyGetKey, options: JWTVerifyOptions): Promise<JWTPayload> {
  try {
    return (await jwtVerify(token, findKey, options)).payload
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
    // The token does not say which key of the set it was signed with: each one that fits is tried.
    for await (const key of error) {
      try {
        return (await jwtVerify(token, key, options)).payload
      } catch (other) {
        if (!(other instanceof errors.JWSSignatureVerificationFailed)) throw other
      }
    }
    throw new errors.JWSSignatureVerificationFailed()
  }
}

/** Whether the token is to blame, and not the keys. */
function isRefusal(error: unknown): boolean {
  return error instanceof errors.JOSEError && !(error instanceof errors.JWKSInvalid)
}

interface ClaimNames {
  readonly idClaim: string
  readonly scopeClaim: string
  readonly tenantsClaim: string | undefined
}

function principalOf(payload: JWTPayload, { idClaim, scopeClaim, tenantsClaim }: ClaimNames): Principal | undefined {
  const id = payload[idClaim]
  if (!isText(id)) return undefined
  // The payload of a JWT was parsed from JSON.
  const claims = payload as JsonObject
  return {
    id,
    claims,
    scopes: listOf(payload[scopeClaim]),
    tenants: tenantsClaim === undefined ? [] : listOf(payload[tenantsClaim]),
    authenticated: true,
  }
}

function listOf(claim: unknown): readonly string[] {
  if (typeof claim === 'string') return claim.split(' ').filter((one) => one !== '')
  return Array.isArray(claim) ? claim.filter(isText) : []
}

function isKeySource(value: unknown): boolean {
  if (isPlainObject(value)) return isFilledList(value['keys'], isPublicKey)
  if (typeof value !== 'string' || !URL.canParse(value)) return false
  const { protocol, username, password } = new URL(value)
  return (protocol === 'https:' || (protocol === 'http:' && isLoopback(value))) && username === '' && password === ''
}

/** A JWK without the members that only its owner may have. */
function isPublicKey(value: unknown): boolean {
  return isPlainObject(value) && isText(value['kty']) && value['d'] === undefined && value['k'] === undefined
}

function isDuration(value: unknown): boolean {
  if (typeof value !== 'string' && typeof value !== 'number') return false
  try {
    return durationMs(value) >= 0
  } catch {
    return false
  }
}

function isFilledList(value: unknown, ok: (one: unknown) => boolean): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(ok)
}
