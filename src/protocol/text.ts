/** What a string on the wire may hold. */

/** False where half of a surrogate pair stands alone: such a string has no UTF-8. */
export function isWellFormed(text: string): boolean {
  // Every supported runtime has the method (ES2024); the library types are older.
  return (text as string & { isWellFormed(): boolean }).isWellFormed()
}

/** `text`, or its first `length` characters with an ellipsis. */
export function shorten(text: string, length: number): string {
  if (text.length <= length) return text
  const cut = text.slice(0, length)
  return `${isWellFormed(cut) ? cut : cut.slice(0, -1)}…`
}
