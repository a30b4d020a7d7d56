/** Durations as people write them. */

import { show } from './options.js'

const unitMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** 100 years: beyond what anybody waits for, and from any clock on still a date. */
export const longestMs = 36_525 * unitMs.d

/** Milliseconds, or a number with a unit: `'250ms'`, `'20s'`, `'5m'`, `'12h'`, `'3d'`. */
export type Duration = number | string

/**
 * Milliseconds of a duration.
 *
 * @param what names the value in the error
 * @throws {TypeError} on a negative or endless number, an unknown unit, or more than 100 years
 */
export function durationMs(duration: Duration, what = 'duration'): number {
  const ms = typeof duration === 'number' ? duration : parse(duration)
  if (ms >= 0 && ms <= longestMs) return ms
  if (ms > longestMs) throw new TypeError(`${what} takes at most 100 years, '36525d'; it got ${show(duration)}`)
  throw new TypeError(`${what} takes milliseconds or a number with a unit, such as '20s', '5m', '12h' or '3d'; it got ${show(duration)}`)
}

function parse(text: unknown): number {
  const match = typeof text === 'string' ? /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text.trim()) : null
  if (!match) return Number.NaN
  // The expression admits only the units of the table.
  return Number(match[1]) * unitMs[match[2] as keyof typeof unitMs]
}
