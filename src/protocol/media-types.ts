/** Which media types are the same, and which an agent takes. Decision D6. */

import { ContentTypeNotSupportedError } from './errors.js'
import type { Part } from './wire.js'

/** Of requests on HTTP+JSON, of every answer on it, and of push. */
export const a2aJson = 'application/a2a+json'

/** What an agent takes unless it says otherwise. */
export const defaultModes: readonly string[] = Object.freeze(['text/plain', 'application/json'])

/**
 * Whether `type` is one that `mode` means, both without regard to case and parameters. A mode may be a pattern (any
 * type, or any subtype of one type, written with stars), and `text` is text/plain.
 */
export function matchesMode(type: string, mode: string): boolean {
  const wanted = essence(mode)
  const given = essence(type)
  if (wanted === '*/*' || wanted === given) return true
  return wanted.endsWith('/*') && given.startsWith(wanted.slice(0, -1))
}

/** @throws {ContentTypeNotSupportedError} for the first part that names a type outside `modes`; a part without a type always passes */
export function checkMediaTypes(parts: readonly Part[], modes: readonly string[]): void {
  for (const [index, { mediaType }] of parts.entries()) {
    if (mediaType === undefined || modes.some((mode) => matchesMode(mediaType, mode))) continue
    const named = JSON.stringify(mediaType.slice(0, 100))
    throw new ContentTypeNotSupportedError(`Part ${index} is ${named}; this agent takes ${modes.join(', ')}.`)
  }
}

/** Whether a request's body is JSON by its Content-Type; one without a Content-Type is left to the caller. */
export function isJsonContentType(contentType: string): boolean {
  const type = essence(contentType)
  return type === 'application/json' || type === a2aJson
}

function essence(type: string): string {
  const bare = (type.split(';', 1)[0] ?? '').trim().toLowerCase()
  return bare === 'text' ? 'text/plain' : bare
}
