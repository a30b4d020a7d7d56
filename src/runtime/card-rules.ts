/** What the card's members must be to go out as they are: agents and skills share these. */

/** A list of media types or patterns of them, not empty (D6). */
export function isModes(value: unknown): boolean {
  const isMode = (mode: unknown) => typeof mode === 'string' && /^(text|[\w!#$&^.+-]+\/[\w!#$&^.+*-]+|\*\/\*)( *;.*)?$/.test(mode)
  return Array.isArray(value) && value.length > 0 && value.every(isMode)
}
