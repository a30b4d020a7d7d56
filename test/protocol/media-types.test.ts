import { describe, expect, test } from 'vitest'
import { ContentTypeNotSupportedError } from '../../src/protocol/errors.js'
import { checkMediaTypes, defaultModes, isJsonContentType, matchesMode } from '../../src/protocol/media-types.js'

describe('media types (D6)', () => {
  test.each([
    ['text/plain', 'text/plain', true],
    ['Text/Plain; charset=utf-8', 'text/plain', true],
    ['text/plain', 'TEXT/PLAIN;q=1', true],
    ['text/plain', 'text', true],
    ['text', 'text/plain', true],
    ['text/html', 'text', false],
    ['text/html', 'text/*', true],
    ['textile/x', 'text/*', false],
    ['image/png', '*/*', true],
    ['image/png', 'image/jpeg', false],
    ['application/json', 'application/a2a+json', false],
  ])('%s under the mode %s: %s', (type, mode, matches) => {
    expect(matchesMode(type, mode)).toBe(matches)
  })

  test('a part without a type is never refused', () => {
    expect(() => checkMediaTypes([{ text: 'a' }, { raw: '' }], ['image/png'])).not.toThrow()
  })

  test('a part of a type that the agent does not take is refused by its place', () => {
    const parts = [
      { text: 'a', mediaType: 'text/plain' },
      { url: 'https://a', mediaType: 'image/png' },
    ]
    expect(() => checkMediaTypes(parts, defaultModes)).toThrow(ContentTypeNotSupportedError)
    expect(() => checkMediaTypes(parts, defaultModes)).toThrow('Part 1 is "image/png"; this agent takes text/plain, application/json.')
  })

  test.each([
    ['application/json', true],
    ['application/a2a+json; charset=utf-8', true],
    ['text/json', false],
    ['', false],
  ])('a body of type %j is JSON: %s', (type, isJson) => {
    expect(isJsonContentType(type)).toBe(isJson)
  })
})
