/** Durations: what people write is so many milliseconds, or an error that names it. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { durationMs, longestMs } from '../../src/support/duration.js'
import { systemWorld } from '../../src/support/world.js'

const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

const refusalOf = (given: unknown): unknown => {
  try {
    // What no compiler stops in JavaScript.
    durationMs(given as string, 'task.sleep')
    return undefined
  } catch (error) {
    return error
  }
}

test('a whole number of any unit is so many milliseconds, as far as 100 years go', () => {
  fc.assert(
    fc.property(fc.constantFrom(...(Object.keys(units) as (keyof typeof units)[])), fc.nat(), (unit, count) => {
      fc.pre(count * units[unit] <= longestMs)
      expect(durationMs(`${count}${unit}`)).toBe(count * units[unit])
    }),
  )
})

test('whatever is taken is a time on every clock: now and that much later is a date', () => {
  fc.assert(
    fc.property(fc.oneof(fc.double(), fc.integer(), fc.string(), fc.stringMatching(/^[0-9]{1,400}(ms|s|m|h|d)$/)), (given) => {
      const refusal = refusalOf(given)
      if (refusal !== undefined) {
        expect(refusal).toBeInstanceOf(TypeError)
        expect(String(refusal)).toMatch(/^TypeError: task\.sleep takes .+; it got /)
        expect(String(refusal).length).toBeLessThan(250)
        return
      }
      const ms = durationMs(given)
      expect(ms).toBeGreaterThanOrEqual(0)
      expect(new Date(systemWorld.now() + ms).toISOString()).toMatch(/^\d{4}-/)
    }),
  )
})

test.each([longestMs, '36525d', '3155760000s'])('100 years are taken: %s', (given) => {
  expect(durationMs(given)).toBe(longestMs)
})

test.each([
  ['99999999999d', /at most 100 years, '36525d'; it got "99999999999d"/],
  [1e300, /at most 100 years, '36525d'; it got 1e\+300/],
  [longestMs + 1, /at most 100 years/],
  ['36526d', /at most 100 years/],
  [Number.POSITIVE_INFINITY, /at most 100 years.+; it got Infinity/],
  [`${'9'.repeat(400)}d`, /at most 100 years.+; it got "9{79}…/],
  [Number.NaN, /such as '20s'.+; it got NaN/],
  [-1, /such as '20s'.+; it got -1/],
  ['-1s', /such as '20s'/],
  ['1 week', /such as '20s'/],
  ['', /such as '20s'/],
  [undefined, /such as '20s'.+; it got undefined/],
  [[5], /such as '20s'/],
])('refused with a sentence that names the value: %j', (given, says) => {
  const refusal = refusalOf(given)
  expect(refusal).toBeInstanceOf(TypeError)
  expect(String(refusal)).toMatch(says)
})
