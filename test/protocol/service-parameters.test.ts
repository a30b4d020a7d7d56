import { describe, expect, test } from 'vitest'
import { VersionNotSupportedError } from '../../src/protocol/errors.js'
import { formatExtensions, parseExtensions, parseVersion } from '../../src/protocol/service-parameters.js'

describe('the version', () => {
  test.each(['1.0', '1.0.1', ' 1.0 ', '1.0.99'])('%j is 1.0 (§3.6)', (value) => {
    expect(parseVersion(value)).toBe('1.0')
  })

  test.each(['0.3', '1.1', '2.0', '1', '1.0.0.0', '1.0-beta', 'v1.0', 'x', '01.0', '1.0,0.3'])('%j is not supported', (value) => {
    expect(() => parseVersion(value)).toThrow(VersionNotSupportedError)
  })

  test.each([null, undefined, '', ' '])('%j means 0.3, and the error says what to send (§3.6.2)', (value) => {
    expect(() => parseVersion(value)).toThrow('A2A version "0.3" is not supported. Send A2A-Version with one of: 1.0.')
  })
})

describe('extensions', () => {
  test.each([
    [null, []],
    ['', []],
    [' , ', []],
    ['urn:a', ['urn:a']],
    ['urn:a,urn:b , urn:a', ['urn:a', 'urn:b']],
  ])('%j lists %j', (value, uris) => {
    expect(parseExtensions(value)).toEqual(uris)
  })

  test('what is written is read again', () => {
    expect(parseExtensions(formatExtensions(['urn:a', 'urn:b']))).toEqual(['urn:a', 'urn:b'])
  })
})
