/** The same message twice is one send (D7): what makes two messages the same. */

import type { Message } from '../protocol/wire.js'
import { digestHex } from '../support/crypto.js'
import { sortedJson } from '../support/sorted-json.js'

/** Digest of the message in canonical form: the order of its members does not matter. */
export function contentHash(message: Message): string {
  return digestHex(sortedJson(message))
}
