/** A request's body as it arrives in pieces, up to a limit. */

import { tooLarge } from './handler.js'

export interface Body {
  /** @throws {ResourceExhaustedError} when there is more than the limit */
  add(piece: Uint8Array): void
  whole(): Uint8Array
}

/** @param limit bytes */
export function createBody(limit: number): Body {
  // Pieces are copied together as they come: kept one by one, a body sent byte by byte would take 200 times its size.
  let bytes: Uint8Array = new Uint8Array()
  let length = 0
  return {
    add(piece) {
      const end = length + piece.length
      if (end > limit) throw tooLarge(limit)
      if (length === 0) {
        // Most bodies are of one piece, which needs no copy; a further one never fits behind it.
        bytes = piece
      } else {
        if (end > bytes.length) {
          const larger = new Uint8Array(Math.min(limit, Math.max(end, 2 * bytes.length)))
          larger.set(bytes.subarray(0, length))
          bytes = larger
        }
        bytes.set(piece, length)
      }
      length = end
    },
    whole: () => bytes.subarray(0, length),
  }
}
