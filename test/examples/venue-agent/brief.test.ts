/** One message, understood: what people write and what is read from it. */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readBrief } from '../../../examples/venue-agent/brief.js'
import phrasings from './phrasings.json' with { type: 'json' }

describe('a message is read as its writer meant it', () => {
  test.each(phrasings)('$text', ({ text, reading }) => {
    const { topic, city, headcount, days, features, unwanted, choices, unknownPlace, sameAgain, thorough, problems } = readBrief(text)
    expect({
      topic,
      city,
      headcount,
      days,
      features,
      unwanted,
      choices,
      unknownPlace,
      sameAgain,
      thorough,
      problems: problems.map(({ need }) => need),
    }).toEqual({
      ...{ city: undefined, headcount: undefined, days: undefined, unknownPlace: undefined },
      ...{ features: [], unwanted: [], choices: [], problems: [], sameAgain: false, thorough: false },
      ...reading,
    })
  })
})

describe('a number that stands alone', () => {
  test('answers the question for the days where only they are missing', () => {
    expect(readBrief('2', ['days'])).toMatchObject({ days: 2 })
    expect(readBrief('make it three', ['days'])).toMatchObject({ days: 3 })
  })
  test('is the headcount where that is missing', () => {
    expect(readBrief('45', ['headcount', 'days'])).toMatchObject({ headcount: 45 })
  })
  test('comes in the order of the question', () => {
    expect(readBrief('45, 2', ['headcount', 'days'])).toMatchObject({ headcount: 45, days: 2 })
  })
})

test('a strange name in answer to the question for the city is a place without venues', () => {
  expect(readBrief('Xanadu', ['city']).unknownPlace).toBe('Xanadu')
})

test('a long message is read from its beginning', () => {
  expect(readBrief(`Lisbon for 20 people. ${'wifi and no parking '.repeat(100_000)}`)).toMatchObject({ city: 'Lisbon', headcount: 20 })
})

test('any text is read without an error, and what is read is possible', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: 'grapheme', maxLength: 200 }),
        fc.array(fc.constantFrom(...pieces), { maxLength: 30 }).map((list) => list.join(' ')),
      ),
      (text) => {
        const { headcount, days, problems } = readBrief(text)
        expect(headcount === undefined || (Number.isInteger(headcount) && headcount >= 1 && headcount <= 100_000)).toBe(true)
        expect(days === undefined || (days > 0 && days <= 90)).toBe(true)
        expect(problems.every(({ reason }) => reason !== '')).toBe(true)
      },
    ),
  )
})

const pieces = [
  'for to and or not in half a dozen two hundred thousand days day week weekend people max between million same again',
  '12th 14 may - – 0 -5 1.5k € 2026-05-12 monday friday no wifi Lisbon Oslo , .',
].flatMap((line) => line.split(' '))
