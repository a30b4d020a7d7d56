/** What is taken for the wish to book something from the list, and what of it. */

import { describe, expect, test } from 'vitest'
import { search } from '../../../examples/venue-agent/search.js'
import { venues } from '../../../examples/venue-agent/venues.js'
import { readWish } from '../../../examples/venue-agent/wish.js'
import phrasings from './phrasings.json' with { type: 'json' }
import wishes from './wishes.json' with { type: 'json' }

const shown = search({ city: 'Lisbon', headcount: 40, days: 2, features: [] }).offers.map(({ venue }) => venue)

test.each(wishes)('“$text”', ({ text, wish }) => {
  expect(readWish(text, shown, venues)).toEqual(wish)
})

describe('no search is taken for a booking', () => {
  test.each(phrasings.filter(({ reading }) => reading.topic === 'search'))('“$text”', ({ text }) => {
    expect(readWish(text, shown, venues)).toBeUndefined()
  })
})

test('a long message is read from its beginning', () => {
  const long = `book the second one for 12 May. ${'yes, please, ok, not the first one for 12 '.repeat(100_000)}`
  expect(readWish(long, shown, venues)).toEqual({ choice: { place: 2 }, firstDay: { day: 12, month: 5 } })
})
