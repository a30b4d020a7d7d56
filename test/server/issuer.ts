/** An issuer of tokens for tests: keys of its own, and a key set on loopback that can change, break and be counted. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose'

export const issuer = 'https://issuer.test'
export const audience = 'https://agent.test'
/** Where `virtualWorld` starts, in seconds. */
export const start = Date.UTC(2026, 0, 1) / 1000

export interface TestKey {
  readonly privateKey: CryptoKey
  /** With kid and alg. */
  readonly publicJwk: JWK
}

export async function makeKey(kid: string, alg = 'ES256'): Promise<TestKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  return { privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } }
}

export interface TokenOptions {
  /** Replace the usual ones; undefined takes one away. */
  readonly claims?: Readonly<Record<string, unknown>>
  readonly header?: Readonly<Record<string, unknown>>
}

/** A token that alice may use for the first hour of the virtual world, unless `options` say otherwise. */
export function tokenOf({ privateKey, publicJwk }: TestKey, { claims = {}, header = {} }: TokenOptions = {}): Promise<string> {
  const payload: JWTPayload = { iss: issuer, aud: audience, sub: 'alice', exp: start + 3600, ...claims }
  const { kid, alg = 'ES256' } = publicJwk
  const crit = Array.isArray(header['crit']) ? Object.fromEntries(header['crit'].map((name) => [name, true])) : {}
  return new SignJWT(payload).setProtectedHeader({ alg, ...(kid !== undefined && { kid }), ...header }).sign(privateKey, { crit })
}

export interface TestKeySet {
  readonly url: string
  /** How often it was read. */
  readonly reads: () => number
  /** What it answers from now on: keys, or a status and a text. */
  answer(keys: readonly JWK[] | { readonly status: number; readonly text: string }): void
  close(): Promise<void>
}

export async function openKeySet(keys: readonly JWK[]): Promise<TestKeySet> {
  let count = 0
  let reply: { status: number; text: string } = { status: 200, text: JSON.stringify({ keys }) }
  const server = createServer((_, response) => {
    count++
    response.writeHead(reply.status, { 'content-type': 'application/json', connection: 'close' }).end(reply.text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // Listening on a port, the address is one of host and port.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/jwks`,
    reads: () => count,
    answer: (given) => {
      reply = 'status' in given ? given : { status: 200, text: JSON.stringify({ keys: given }) }
    },
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  }
}
