import { describe, expect, test } from 'vitest'
import { keepAlive, sseFrame } from '../../src/protocol/sse.js'

describe('sseFrame', () => {
  test('a frame is its data and a blank line', () => {
    expect(sseFrame({ data: '{"a":1}' })).toBe('data: {"a":1}\n\n')
  })

  test('number and event come first', () => {
    expect(sseFrame({ id: 7, event: 'error', data: '{}' })).toBe('id: 7\nevent: error\ndata: {}\n\n')
  })

  test.each(['\n', '\r', '\r\n'])('data with the line break %j is split', (lineBreak) => {
    expect(sseFrame({ data: `a${lineBreak}id: 9` })).toBe('data: a\ndata: id: 9\n\n')
  })

  test('an id or an event cannot add a field', () => {
    expect(sseFrame({ id: '1\nevent: x', event: 'a\r\nid: 2\0', data: '' })).toBe('id: 1event: x\nevent: aid: 2\ndata: \n\n')
  })

  test('the line separators of Unicode are no line breaks', () => {
    expect(sseFrame({ data: 'a\u2028b\u2029c' })).toBe('data: a\u2028b\u2029c\n\n')
  })

  test('a comment keeps the stream alive', () => {
    expect(keepAlive).toMatch(/^:[^\n]*\n\n$/)
  })
})
