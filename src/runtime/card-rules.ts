/** What the card's members must be to go out as they are: agents and skills share these. */

import { isWellFormed } from '../protocol/text.js'
import { isText } from '../support/options.js'

/** A list of media types or patterns of them, not empty (D6). */
export function isModes(value: unknown): boolean {
  const isMode = (mode: unknown) => typeof mode === 'string' && /^(text|[\w!#$&^.+-]+\/[\w!#$&^.+*-]+|\*\/\*)( *;.*)?$/.test(mode)
  return Array.isArray(value) && value.length > 0 && value.every(isMode)
}

/** A text that says something and that UTF-8 can hold. */
export const isWholeText = (value: unknown) => isText(value) && isWellFormed(value)
