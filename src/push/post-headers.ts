/** The headers of a post (D22). */

import { a2aJson } from '../protocol/media-types.js'
import { digestHex, utf8 } from '../support/crypto.js'
import type { PushSecrets } from '../support/push-secrets.js'
import type { World } from '../support/world.js'

export interface PostNames {
  readonly taskId: string
  readonly configId: string
  /** Of the newest event in the post. */
  readonly number: number
}

interface PostSecrets extends PushSecrets {
  readonly scheme: string | undefined
}

export function postHeaders(names: PostNames, { scheme, token, credentials }: PostSecrets, world: World): Readonly<Record<string, string>> {
  const key = idempotencyKey(names)
  return {
    'content-type': a2aJson,
    ...(scheme !== undefined && credentials !== undefined && { authorization: `${scheme} ${credentials}` }),
    ...(token !== undefined && { 'x-a2a-notification-token': token }),
    'idempotency-key': key,
    traceparent: traceparent(key, world),
  }
}

/** The same for each attempt of a post. An id may hold characters that a header may not: those are percent-encoded. */
function idempotencyKey({ taskId, configId, number }: PostNames): string {
  return `${taskId}:${configId.replace(/[^!-$&-~]+/g, percentEncoded)}:${number}`
}

function percentEncoded(text: string): string {
  return Array.from(utf8(text), (byte) => `%${hex(byte).toUpperCase()}`).join('')
}

/** W3C Trace Context: all attempts of a post are one trace, also after a crash, and each is a span of its own. */
function traceparent(key: string, world: World): string {
  return `00-${digestHex('trace', key).slice(0, 32)}-${Array.from(world.randomBytes(8), hex).join('')}-01`
}

function hex(byte: number): string {
  return byte.toString(16).padStart(2, '0')
}
