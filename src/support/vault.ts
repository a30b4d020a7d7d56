/** What must not be read at rest, such as credentials: sealed with AES-256-GCM (NIST SP 800-38D) by WebCrypto. */

import { fromBase64url, toBase64url, utf8 } from './crypto.js'
import type { World } from './world.js'

export interface Vault {
  /** A text for no other place than `context`, in base64url. Equal texts are sealed differently each time. */
  seal(context: readonly string[], text: string): Promise<string>
  /** @throws {Error} for what was sealed with another key or for another place, or was changed since */
  open(context: readonly string[], sealed: string): Promise<string>
}

/** Where a record belongs: one that is moved to another task, turn or key cannot be opened there. */
export interface RecordPlace {
  readonly taskId: string
  readonly turn: number
  readonly key: string
}

/** Of a sealed text: this byte, the nonce, and what AES-GCM made, its tag at the end. */
const version = 1
const nonceBytes = 12
const tagBytes = 16

const utf8Decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** @param key at least 32 unpredictable bytes; asked for when first needed, and again only if that failed */
export function createVault(key: () => Promise<Uint8Array>, world: Pick<World, 'randomBytes' | 'outside'>): Vault {
  const outside = <T>(work: () => Promise<T>): Promise<T> => world.outside?.(work) ?? work()
  let derived: Promise<CryptoKey> | undefined

  function sealingKey(): Promise<CryptoKey> {
    if (derived === undefined) {
      const made = outside(async () => derive(await key()))
      derived = made
      made.catch(() => {
        derived = undefined
      })
    }
    return derived
  }

  return {
    async seal(context, text) {
      const nonce = new Uint8Array(world.randomBytes(nonceBytes))
      const key = await sealingKey()
      const made = await outside(() => crypto.subtle.encrypt(algorithm(nonce, context), key, bytesOf(text)))
      const sealed = new Uint8Array(1 + nonceBytes + made.byteLength)
      sealed[0] = version
      sealed.set(nonce, 1)
      sealed.set(new Uint8Array(made), 1 + nonceBytes)
      return toBase64url(sealed)
    },
    async open(context, sealed) {
      const bytes = fromBase64url(sealed)
      if (bytes === undefined || bytes[0] !== version || bytes.length < 1 + nonceBytes + tagBytes) throw notOurs()
      const nonce = new Uint8Array(bytes.subarray(1, 1 + nonceBytes))
      const key = await sealingKey()
      try {
        const made = new Uint8Array(bytes.subarray(1 + nonceBytes))
        return utf8Decoder.decode(await outside(() => crypto.subtle.decrypt(algorithm(nonce, context), key, made)))
      } catch (cause) {
        throw notOurs(cause)
      }
    },
  }
}

/** The key of a vault from the option `secretKey`. */
export function keyFromSecret(secretKey: string): Uint8Array {
  return utf8(secretKey)
}

/** The body of a record as JSON text that only the vault can read. */
export async function sealBody(vault: Vault, where: RecordPlace, body: object): Promise<string> {
  return JSON.stringify({ sealed: await vault.seal(contextOf(where), JSON.stringify(body)) })
}

/** What is in the body of a record, sealed or not. */
export async function openBody(vault: Vault, where: RecordPlace, body: string): Promise<unknown> {
  const parsed: unknown = JSON.parse(body)
  if (!isSealed(parsed)) return parsed
  return JSON.parse(await vault.open(contextOf(where), parsed.sealed))
}

/** Whether the body of a record can be read with the key alone. */
export function isSealedBody(body: string): boolean {
  return isSealed(JSON.parse(body))
}

/** No body has a member of this name but a sealed one. */
function isSealed(body: unknown): body is { readonly sealed: string } {
  return typeof body === 'object' && body !== null && 'sealed' in body && typeof body.sealed === 'string'
}

const contextOf = ({ taskId, turn, key }: RecordPlace) => ['record', taskId, String(turn), key]

/** HKDF (RFC 5869): the bytes given may be a text, and whoever has a key derived for one purpose has none for another. */
async function derive(bytes: Uint8Array): Promise<CryptoKey> {
  const source = await crypto.subtle.importKey('raw', new Uint8Array(bytes), 'HKDF', false, ['deriveKey'])
  const how = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info: bytesOf('errand vault 1') }
  return crypto.subtle.deriveKey(how, source, { name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
}

function algorithm(iv: Uint8Array<ArrayBuffer>, context: readonly string[]): AesGcmParams {
  // As a JSON list, the pieces cannot run into each other.
  return { name: 'AES-GCM', iv, additionalData: bytesOf(JSON.stringify(context)), tagLength: tagBytes * 8 }
}

/** WebCrypto takes no views of memory that may be shared. */
function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(utf8(text))
}

function notOurs(cause?: unknown): Error {
  return new Error(
    'what was sealed cannot be opened: it was sealed with another key, or was changed since. Start the server with the secretKey, or the key file beside the store, that it was sealed with',
    { cause },
  )
}
