/** Timestamps of ProtoJSON: RFC 3339 in, UTC with milliseconds out. Spec §5.6. */

/** Whether `text` is what {@link canonicalTimestamp} gives. */
export function isCanonicalTimestamp(text: string): boolean {
  if (text.length !== 24) return false
  const time = Date.parse(text)
  return isInRange(time) && new Date(time).toISOString() === text
}

/** `2026-01-02T03:04:05.678Z` for any offset and up to nine digits of fraction (cut to milliseconds); undefined if it is no time. */
export function canonicalTimestamp(text: string): string | undefined {
  const [, date, clock, fraction = '', sign, hours = '0', minutes = '0'] = rfc3339.exec(text) ?? []
  if (date === undefined || clock === undefined) return undefined
  const local = `${date}T${clock}.${fraction.slice(0, 3).padEnd(3, '0')}Z`
  const localTime = Date.parse(local)
  // Date.parse lets February 30 and hour 24 pass as the next day: what comes back must be what was read.
  if (Number.isNaN(localTime) || new Date(localTime).toISOString() !== local) return undefined
  if (Number(hours) > 23 || Number(minutes) > 59) return undefined
  const offsetMs = (Number(hours) * 60 + Number(minutes)) * 60_000 * (sign === '-' ? -1 : 1)
  const time = localTime - offsetMs
  return isInRange(time) ? new Date(time).toISOString() : undefined
}

// ProtoJSON takes capital T and Z only.
const rfc3339 = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(?:Z|([+-])(\d\d):(\d\d))$/

// google.protobuf.Timestamp: years 1 to 9999.
const first = Date.parse('0001-01-01T00:00:00.000Z')
const last = Date.parse('9999-12-31T23:59:59.999Z')

function isInRange(time: number): boolean {
  return time >= first && time <= last
}
