/** Durations as people write them. */

const unitMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Milliseconds, or a number with a unit: `'250ms'`, `'20s'`, `'5m'`, `'12h'`, `'3d'`. */
export type Duration = number | string

/**
 * Milliseconds of a duration.
 *
 * @param what names the value in the error
 * @throws {TypeError} on a negative or endless number or an unknown unit
 */
export function durationMs(duration: Duration, what = 'duration'): number {
  const ms = typeof duration === 'number' ? duration : parse(duration)
  if (Number.isFinite(ms) && ms >= 0) return ms
  throw new TypeError(
    `${what} takes milliseconds or a number with a unit, such as '20s', '5m', '12h' or '3d'; it got ${JSON.stringify(duration) ?? String(duration)}`,
  )
}

function parse(text: unknown): number {
  const match = typeof text === 'string' ? /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text.trim()) : null
  if (!match) return Number.NaN
  // The expression admits only the units of the table.
  return Number(match[1]) * unitMs[match[2] as keyof typeof unitMs]
}
