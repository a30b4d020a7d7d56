/** On which day something begins: what people write, and the day that it is. */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readFirstDay, readNamedDay, spokenDay, toIsoDay } from '../../../examples/venue-agent/first-day.js'

// A Tuesday.
const today = '2027-05-11'

describe('said on Tuesday, 11 May 2027', () => {
  test.each([
    ['2027-05-12', '2027-05-12'],
    ['12.5.2027', '2027-05-12'],
    ['on 12/05/2027', '2027-05-12'],
    ['12 May', '2027-05-12'],
    ['the 12th of May', '2027-05-12'],
    ['May 12', '2027-05-12'],
    ['May the 12th, 2028', '2028-05-12'],
    ['12 May 2028', '2028-05-12'],
    ['12.5.', '2027-05-12'],
    ['10 May', '2028-05-10'],
    ['11 May', '2027-05-11'],
    ['10 May 2027', '2027-05-10'],
    ['12–14 May', '2027-05-12'],
    ['12th to 14th May 2028', '2028-05-12'],
    ['12, 13 and 14 June', '2027-06-12'],
    ['from 30 May to 2 June', '2027-05-30'],
    ['29 Feb', '2028-02-29'],
    ['29 Feb 2027', undefined],
    ['29 February 2028', '2028-02-29'],
    ['31 June', undefined],
    ['today', '2027-05-11'],
    ['Tomorrow!', '2027-05-12'],
    ['the day after tomorrow', '2027-05-13'],
    ['in 3 days', '2027-05-14'],
    ['in a week', '2027-05-18'],
    ['in two weeks', '2027-05-25'],
    ['Monday', '2027-05-17'],
    ['next Wednesday', '2027-05-12'],
    ['on Tuesday', '2027-05-18'],
    ['the 12th', '2027-05-12'],
    ['on the 5th', '2027-06-05'],
    ['for 120 people', undefined],
    ['2 days', undefined],
  ])('“%s” is %s', (text, day) => {
    const spoken = readFirstDay(text)
    expect(spoken && toIsoDay(spoken, today)).toBe(day)
  })
  test('the next 5th of December is in the next year when that has passed', () => {
    expect(toIsoDay({ dayOfMonth: 5 }, '2027-12-06')).toBe('2028-01-05')
  })
})

test('only a day that stays the same is remembered', () => {
  expect(readNamedDay('Berlin, 12th to 14th May')).toEqual({ day: 12, month: 5 })
  expect(readNamedDay('Berlin, tomorrow')).toBeUndefined()
  expect(readNamedDay('We need a place in May for 12 people')).toBeUndefined()
  expect(readNamedDay('in May 12 people')).toBeUndefined()
})

test('a day is told in words', () => {
  expect(spokenDay('2027-05-12')).toBe('12 May 2027')
})

test('whatever is written, the day is none or one of the calendar', () => {
  const pieces = ['12', '31', '2027-02-30', '0.0.2027', '29', 'feb', 'may', 'the', 'to', '14th', 'monday', 'in', '999', 'weeks', 'on', ',']
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 8 }), (words) => {
      const spoken = readFirstDay(words.join(' '))
      const day = spoken && toIsoDay(spoken, today)
      expect(day === undefined || new Date(day).toISOString().slice(0, 10) === day).toBe(true)
    }),
  )
})
