/** Bytes of ProtoJSON: standard or URL-safe base64 in, standard with padding out (RFC 4648 §4, §5). */

/** Whether `text` is what {@link canonicalBase64} gives. */
export function isCanonicalBase64(text: string): boolean {
  if (text.length % 4 !== 0) return false
  const end = text.search(notStandard)
  if (end === -1) return true
  return isPadding(text, end) && lastDigit(text, end) === text[end - 1]
}

/** The canonical form; undefined if it is no base64. */
export function canonicalBase64(text: string): string | undefined {
  const standard = text.replaceAll('-', '+').replaceAll('_', '/')
  const found = standard.search(notStandard)
  const end = found === -1 ? standard.length : found
  const padded = end < standard.length
  if (end % 4 === 1 || (padded && (standard.length % 4 !== 0 || !isPadding(standard, end)))) return undefined
  if (end % 4 === 0) return standard
  return `${standard.slice(0, end - 1)}${lastDigit(standard, end)}${'='.repeat(4 - (end % 4))}`
}

// One search without repetition: a pattern for the whole text would need stack in proportion to its length.
const notStandard = /[^A-Za-z0-9+/]/
const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

function isPadding(text: string, end: number): boolean {
  return end % 4 >= 2 && text.slice(end) === '='.repeat(4 - (end % 4))
}

// The last digit before padding has two or four bits that mean nothing; in canonical text they are 0.
function lastDigit(text: string, end: number): string | undefined {
  const unused = end % 4 === 2 ? 0b1111 : 0b11
  return digits[digits.indexOf(text[end - 1] ?? '') & ~unused]
}
