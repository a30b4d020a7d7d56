/** The public keys of a token issuer at its address, read again when they may have changed. RFC 7517 §5. */

import { createRemoteJWKSet, errors, type JWTVerifyGetKey } from 'jose'
import { UnavailableError } from '../protocol/errors.js'

/** The key for a token, at the time `now` in milliseconds. */
export type KeySet = (now: number) => JWTVerifyGetKey

const times = Object.freeze({
  /** Keys of this age are read again: one that its issuer took back is not trusted for longer. */
  maxAgeMs: 600_000,
  /** A token of an unknown key lets the set be read again, but not more often than this. */
  cooldownMs: 30_000,
  /** After a failure the issuer is left alone for so long. */
  retryMs: 1_000,
})

/** @throws {UnavailableError} from its look-ups, while the set cannot be read: the token may be a good one */
export function remoteKeySet(url: string): KeySet {
  // Ages are told by the server's clock: the library never reads again by its own.
  const remote = createRemoteJWKSet(new URL(url), { cacheMaxAge: Number.POSITIVE_INFINITY, cooldownDuration: Number.POSITIVE_INFINITY })
  let readAt = Number.NEGATIVE_INFINITY
  let failure: { readonly at: number; readonly error: UnavailableError } | undefined

  async function read(now: number): Promise<void> {
    if (failure && now - failure.at < times.retryMs) throw failure.error
    try {
      await remote.reload()
      readAt = now
      failure = undefined
    } catch (cause) {
      failure = { at: now, error: keysMissing(cause) }
      throw failure.error
    }
  }

  return (now) => async (header, token) => {
    if (now - readAt >= times.maxAgeMs) await read(now)
    try {
      return await remote(header, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || now - readAt < times.cooldownMs) throw error
      await read(now)
      return remote(header, token)
    }
  }
}

/** What callers read while it is unknown whether their tokens are good. */
export function keysMissing(cause: unknown): UnavailableError {
  return new UnavailableError('The keys of the token issuer cannot be read at the moment. Try again.', {
    retryAfterSeconds: times.retryMs / 1000,
    cause,
  })
}
