import { expect, test } from 'vitest'
import { faultOf, titlesIn } from './cited-tests.js'

test.each([
  'test/docs/cited-tests.test.ts > a citation without fault',
  'test/architecture.test.ts > every source file keeps to the table of rooms',
  'test/laws/log.ts > nothing comes after %s',
  'vectors/protocol/codec.json > D3: parts must not be empty',
])('a citation without fault has none: %s', (citation) => {
  expect(faultOf(citation)).toBeUndefined()
})

test.each([
  ['a file that is not there', 'test/docs/gone.test.ts > a citation'],
  ['a file outside of the tests', 'src/index.ts > agent'],
  ['a title that nobody has', 'test/architecture.test.ts > every file keeps the peace'],
  ['no title', 'test/architecture.test.ts'],
  ['an empty title', 'test/architecture.test.ts > '],
  ['a vector that nobody has', 'vectors/protocol/codec.json > D3: parts may be empty'],
])('a citation of %s has a fault', (_, citation) => {
  expect(faultOf(citation)).toMatch(/./)
})

test('what stands in a comment or inside a test is no title', () => {
  const source = [
    "// test('in a comment',",
    "test('a \\'quoted\\' title', () => {",
    "  expect(text).toBe('inside')",
    '})',
    "test.each([['a row']])(",
    '  `a title of its own line`,',
    '  () => {},',
    ')',
  ]
  expect(titlesIn('a.ts', source.slice(1).join('\n'))).toEqual(["a 'quoted' title", 'a title of its own line'])
})
