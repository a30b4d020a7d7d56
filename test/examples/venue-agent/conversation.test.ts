/** Several messages of one task: what they add up to, and what is asked. */

import { describe, expect, test } from 'vitest'
import { missing } from '../../../examples/venue-agent/brief.js'
import { asksForCheaper, question, toFullBrief, understand } from '../../../examples/venue-agent/conversation.js'

const last = { city: 'Lisbon', headcount: 120, days: 3, features: ['wifi'] } as const

describe('bare answers complete the brief', () => {
  test.each([
    [['We need a venue', 'Lisbon', '120', '2']],
    [['A place for 120 people', 'two days in Lisboa']],
    [['Hall in Lisbon', '120, 2']],
    [['venue in Tokyo for 120 for 2 days', 'ok, Lisbon then']],
    [['Lisbon for 0 people for 2 days', '120']],
    [['Lisbon or Porto for 120 people, 2 days', 'Lisbon']],
    [['A venue in Lisbon for 50 people', 'for 2 days, and actually 120 people']],
    [['A venue in Lisbon for 120', 'what is the weather?', '2 days']],
  ])('%j', (texts) => {
    expect(understand(texts).brief).toMatchObject({ city: 'Lisbon', headcount: 120, days: 2 })
  })
})

describe('the same again', () => {
  test('takes the last search with what is changed', () => {
    expect(understand(['same again but for 2 days'], last).brief).toEqual({ ...last, days: 2 })
    expect(understand(['What about Porto, without wifi?'], last).brief).toEqual({ ...last, city: 'Porto', features: [] })
    expect(understand(['make it 200 people'], last).brief).toEqual({ ...last, headcount: 200 })
    expect(understand(['The same with parking in Oslo'], last).brief).toEqual({ ...last, city: 'Oslo', features: ['wifi', 'parking'] })
  })
  test('asks where there is nothing to repeat', () => {
    const understood = understand(['same again but for 2 days'])
    expect(missing(understood.brief)).toEqual(['city', 'headcount'])
    expect(question(understood, 1)).toBe(
      'I remember no earlier search in this conversation. Please tell me which city and how many people.',
    )
  })
  test('is not meant by a message that names everything itself', () => {
    expect(understand(['A hall in Oslo for 40 people for a day'], last).brief).toEqual({
      city: 'Oslo',
      headcount: 40,
      days: 1,
      features: [],
    })
  })
})

describe('the question', () => {
  test('names all that is missing', () => {
    expect(question(understand(['I need a venue']), 1)).toBe('Please tell me which city, how many people and for how many days.')
  })
  test('lists the cities when there are no venues in the one asked for', () => {
    expect(question(understand(['Venue in Tokyo for 20 people, 1 day']), 1)).toMatch(
      /^I have no venues in Tokyo, only in Lisbon, .* and Rome\. Please tell me which city\.$/,
    )
  })
  test('says why a number cannot be meant', () => {
    expect(question(understand(['Venue in Oslo for 0 people, 1 day']), 1)).toBe(
      'Sorry, a headcount of 0 leaves nobody to seat. Please tell me how many people.',
    )
    expect(question(understand(['Venue in Oslo for -3 people, 1 day']), 1)).toContain('headcount of -3')
    expect(question(understand(['Venue in Oslo for 20 people, 1 day', 'make it 5 million people']), 2)).toContain(
      '5,000,000 people is more than',
    )
  })
  test('is asked again after an answer that makes no sense', () => {
    expect(question(understand(['Venue in Oslo for 20 people', 'write me a poem']), 2)).toBe(
      'I could not make a venue search of that. Please tell me for how many days.',
    )
  })
})

test('memory that is no brief is ignored', () => {
  expect(toFullBrief(last)).toEqual(last)
  expect(toFullBrief(undefined)).toBeUndefined()
  expect(toFullBrief('Lisbon')).toBeUndefined()
  expect(toFullBrief({ ...last, days: '2' })).toBeUndefined()
})

test('“and cheaper ones?” asks for what costs less, a search for something cheap does not', () => {
  expect(['and cheaper ones?', 'Anything less expensive?', 'cheaper please'].map(asksForCheaper)).toEqual([true, true, true])
  expect(['A cheaper place in Oslo', 'cheaper, for 3 days', 'the cheapest one', 'what about Porto?'].map(asksForCheaper)).toEqual([
    false,
    false,
    false,
    false,
  ])
})
