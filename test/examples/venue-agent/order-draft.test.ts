/** What a booking still needs, message by message. */

import { describe, expect, test } from 'vitest'
import { amended, nextQuestion, orderOf, orderText, startDraft } from '../../../examples/venue-agent/order-draft.js'
import { search } from '../../../examples/venue-agent/search.js'

const today = '2027-05-11'
const brief = { city: 'Lisbon', headcount: 40, days: 2, features: [] } as const
const list = search(brief)
const short = { ...list, offers: list.offers.slice(0, 1) }

test('nothing is asked where all is said', () => {
  const draft = startDraft({ choice: { place: 2 }, firstDay: { day: 12, month: 5 } }, list, today)
  expect(nextQuestion(draft)).toBeUndefined()
  expect(orderOf(draft)).toEqual({ venue: 'Sala Azulejo, Lisbon', from: '2027-05-12', days: 2, people: 40 })
})

test('the day of the search is the day of the booking, unless another one is said', () => {
  const dated = { ...list, firstDay: { day: 1, month: 6 } }
  expect(orderOf(startDraft({ choice: { place: 1 } }, dated, today)).from).toBe('2027-06-01')
  expect(orderOf(startDraft({ choice: { place: 1 }, firstDay: { inDays: 1 } }, dated, today)).from).toBe('2027-05-12')
})

test('a length that is said goes before that of the search', () => {
  expect(orderOf(startDraft({ choice: { place: 1 }, firstDay: { inDays: 1 }, days: 3 }, list, today)).days).toBe(3)
})

describe('asked is', () => {
  test('from which day', () => {
    expect(nextQuestion(startDraft({ choice: { place: 2 } }, list, today))).toBe('From which day shall I book Sala Azulejo?')
  })
  test('which one, unless there is only one', () => {
    expect(nextQuestion(startDraft({}, list, today))).toMatch(/^Which one shall I book\? 1\. Armazém das Gaivotas, 2\. Sala Azulejo, /)
    expect(nextQuestion(startDraft({}, short, today))).toBe('From which day shall I book Armazém das Gaivotas?')
  })
  test.each([0, 5, -5])('again for the place %i of four', (place) => {
    const asks = nextQuestion(startDraft({ choice: { place }, firstDay: { inDays: 1 } }, list, today))
    expect(asks).toMatch(/^There are 4 venues on your list\. Which one/)
  })
  test('again for a venue that is not on the list, even where the list has only one', () => {
    expect(nextQuestion(startDraft({ choice: { venueId: 'ber-2' } }, short, today))).toMatch(
      /^Lichthof Neun is not on your list\. Which one/,
    )
  })
  test.each([
    ['past', { day: 10, month: 5, year: 2027 }],
    ['none', { day: 29, month: 2, year: 2027 }],
  ])('again for a day that is %s', (_, firstDay) => {
    const asks = nextQuestion(startDraft({ choice: { place: 1 }, firstDay }, list, today))
    expect(asks).toMatch(/^That day is past, or there is no such day\. From which day/)
  })
})

test('a later message changes what it names, and a problem is said once', () => {
  const first = startDraft({ choice: { place: 9 }, firstDay: { inDays: 1 } }, list, today)
  const second = amended(first, { choice: { place: -1 } })
  expect(second.problem).toBeUndefined()
  expect(orderOf(second)).toMatchObject({ venue: 'Grande Nave do Cais, Lisbon', from: '2027-05-12' })
  expect(orderOf(amended(second, { firstDay: { inDays: 2 }, days: 1 }))).toMatchObject({
    venue: 'Grande Nave do Cais, Lisbon',
    from: '2027-05-13',
    days: 1,
  })
})

test.each([
  [0.5, 'on 12 May 2027 for half a day'],
  [1, 'on 12 May 2027'],
  [2, 'from 12 May 2027 for 2 days'],
])('an order of %d days is told as “%s”', (days, when) => {
  expect(orderText({ venue: 'Sala Azulejo, Lisbon', from: '2027-05-12', days, people: 1200 })).toBe(
    `Sala Azulejo, Lisbon, ${when}, 1,200 people`,
  )
})
