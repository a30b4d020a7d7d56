/** Which venues are found, in which order, and how that is told. */

import { describe, expect, test } from 'vitest'
import { cities } from '../../../examples/venue-agent/places.js'
import {
  explain,
  explainCheaper,
  search,
  searchCheaper,
  shortlistData,
  shortlistText,
  stages,
} from '../../../examples/venue-agent/search.js'
import { venues } from '../../../examples/venue-agent/venues.js'
import data from '../../../examples/venue-agent/venues.json' with { type: 'json' }

const brief = { city: 'Lisbon', headcount: 120, days: 2, features: ['wifi', 'catering'] } as const

describe('the venues', () => {
  test('are eighty, in every city there is, under ids of their own', () => {
    expect(venues).toHaveLength(80)
    expect(new Set(venues.map(({ city }) => city))).toEqual(new Set(cities))
    expect(new Set(venues.map(({ id }) => id)).size).toBe(80)
  })
  test('have only features that a search can ask for', () => {
    expect(venues.map(({ features }) => features)).toEqual(data.map(({ features }) => features))
  })
})

describe('a search', () => {
  test('finds venues of the city with room for all and every feature, cheapest first', () => {
    const { offers } = search(brief)
    expect(offers.length).toBeGreaterThan(1)
    expect(offers.every(({ venue, lacking }) => venue.city === 'Lisbon' && venue.capacity >= 120 && lacking.length === 0)).toBe(true)
    expect(offers.map(({ total }) => total)).toEqual(offers.map(({ total }) => total).toSorted((a, b) => a - b))
  })
  test('takes those that lack the fewest features where none has all', () => {
    const { offers } = search({ ...brief, headcount: 2000, features: ['wifi', 'kitchen'] })
    expect(offers.map(({ lacking }) => lacking)).toEqual([['kitchen']])
    expect(explain(search({ ...brief, headcount: 2000, features: ['wifi', 'kitchen'] }))).toContain('lacks a kitchen')
  })
  test('finds none for more people than any venue seats, and names the closest', () => {
    const shortlist = search({ ...brief, headcount: 50_000 })
    expect(shortlist.offers).toEqual([])
    expect(shortlist.closest?.name).toBe('Grande Nave do Cais')
    expect(explain(shortlist)).toBe(
      'None of my venues in Lisbon has room for 50,000 people; Grande Nave do Cais comes closest with 2,300 seats.',
    )
    expect(shortlistData(shortlist)).toMatchObject({ venues: [], closest: { id: 'lis-4' } })
    expect(shortlistText(shortlist)).toContain('The largest is Grande Nave do Cais')
  })
  test('charges half a day as half the price of a day', () => {
    const [first] = search({ ...brief, days: 0.5 }).offers
    expect(first?.total).toBe(Math.round((first?.venue.pricePerDay ?? 0) / 2))
  })
})

test('the explanation is one sentence', () => {
  expect(explain(search(brief))).toMatch(/^[^.]*\.$/)
})

describe('what is cheaper', () => {
  test('lacks something, costs less than all that were shown, and what lacks least stands first', () => {
    const shown = search({ ...brief, headcount: 40, features: ['wifi', 'stage'] })
    const cheaper = searchCheaper(shown)
    expect(cheaper.offers.map(({ venue, lacking }) => [venue.id, lacking])).toEqual([['lis-1', ['stage']]])
    expect(cheaper.offers[0]?.total).toBeLessThan(shown.offers[0]?.total ?? 0)
    expect(explainCheaper(shown, cheaper)).toBe(
      'Armazém das Gaivotas is the only one that costs less, at €1,440 in all, but it lacks a stage.',
    )
  })
  test('is nothing where the cheapest was shown', () => {
    const shown = search(brief)
    const cheaper = searchCheaper(shown)
    expect(cheaper.offers).toEqual([])
    expect(explainCheaper(shown, cheaper)).toBe('Sala Azulejo is the cheapest that I have for 120 people in Lisbon for 2 days.')
  })
})

test('a thorough search has five stages, and all but the last find something to tell', () => {
  const list = stages(search(brief))
  expect(list.map(({ note }) => note.slice(0, 12))).toEqual([1, 2, 3, 4, 5].map((number) => `Stage ${number} of 5`))
  expect(list.map(({ finding }) => finding !== undefined)).toEqual([true, true, true, true, false])
})
