/** Whether a caller has the newest version already, as its conditions say. RFC 9110 §13. */

export interface Version {
  /** With its quotes. */
  readonly etag: string
  /** In whole seconds, given in milliseconds. */
  readonly lastModified: number
}

/** Where If-None-Match is there, If-Modified-Since is not looked at (§13.1.3); nor is one that is no date of HTTP. */
export function isFresh(header: (name: string) => string | undefined, { etag, lastModified }: Version): boolean {
  const known = header('if-none-match')
  if (known !== undefined) return known.trim() === '*' || known.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)
  const date = parseHttpDate(header('if-modified-since') ?? '')
  return date !== undefined && date >= lastModified
}

const months = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)'
const time = '\\d\\d:\\d\\d:\\d\\d'
const zoned = new RegExp(`^[A-Z][a-z]+, (?:\\d\\d ${months} \\d{4}|\\d\\d-${months}-\\d\\d) ${time} GMT$`)
const zoneless = new RegExp(`^[A-Z][a-z]+ ${months} [ \\d]\\d ${time} \\d{4}$`)

/** Milliseconds of a date in one of the three forms that HTTP has (§5.6.7). */
function parseHttpDate(text: string): number | undefined {
  const date = zoned.test(text) ? Date.parse(text) : zoneless.test(text) ? Date.parse(`${text} GMT`) : Number.NaN
  return Number.isNaN(date) ? undefined : date
}
