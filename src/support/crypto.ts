/** Digests, authenticators and sealed bytes: what is handed out and comes back is trusted only with one of these. */

import { gcmsiv } from '@noble/ciphers/aes.js'
import { hmac as nobleHmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, concatBytes } from '@noble/hashes/utils.js'

/** A piece of what is hashed; a string counts as its UTF-8. */
export type Piece = string | Uint8Array

/** SHA-256 over the pieces, each with its length: moving bytes from one piece to the next changes the digest. */
function digest(...pieces: readonly Piece[]): Uint8Array {
  return sha256(framed(pieces))
}

/** {@link digest} as lower-case hex. */
export function digestHex(...pieces: readonly Piece[]): string {
  return bytesToHex(digest(...pieces))
}

/** HMAC-SHA-256 over the pieces, each with its length (RFC 2104). */
export function hmac(key: Uint8Array, ...pieces: readonly Piece[]): Uint8Array {
  return nobleHmac(sha256, key, framed(pieces))
}

/** Compares in a time that depends on the lengths alone. */
export function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length
  for (let i = 0; i < a.length; i++) difference |= (a[i] ?? 0) ^ (b[i] ?? 0)
  return difference === 0
}

/**
 * Makes bytes that nobody without `key` (32 bytes) can read or change, bound to `context`: AES-256-GCM-SIV (RFC 8452).
 * Deterministic: equal input gives equal output, and that is all it shows. No nonce has to be made or kept.
 */
export function seal(key: Uint8Array, context: readonly Piece[], plain: Uint8Array): Uint8Array {
  return gcmsiv(key, fixedNonce, digest(...context)).encrypt(plain)
}

/** What {@link seal} was given, or undefined if a bit, the key or the context is not the same. */
export function unseal(key: Uint8Array, context: readonly Piece[], sealed: Uint8Array): Uint8Array | undefined {
  try {
    return gcmsiv(key, fixedNonce, digest(...context)).decrypt(sealed)
  } catch {
    return undefined
  }
}

// GCM-SIV takes its real nonce from the message: a repeated one shows equal messages and nothing more.
const fixedNonce = new Uint8Array(12)

/** Base64url without padding (RFC 4648 §5). */
export function toBase64url(bytes: Uint8Array): string {
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** The bytes of a text that {@link toBase64url} makes; any other text, however close, is undefined. */
export function fromBase64url(text: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9_-]*$/.test(text) || text.length % 4 === 1) return undefined
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0))
  // Unused bits of the last character could carry anything; one token has one spelling.
  return toBase64url(bytes) === text ? bytes : undefined
}

export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

function framed(pieces: readonly Piece[]): Uint8Array {
  const framedPieces: Uint8Array[] = []
  for (const piece of pieces) {
    const bytes = typeof piece === 'string' ? utf8(piece) : piece
    const length = new Uint8Array(4)
    new DataView(length.buffer).setUint32(0, bytes.length)
    framedPieces.push(length, bytes)
  }
  return concatBytes(...framedPieces)
}
