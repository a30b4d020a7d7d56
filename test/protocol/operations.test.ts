import { describe, expect, test } from 'vitest'
import { messages } from '../../src/protocol/model.js'
import { isOperationName, operationNames, operationTable } from '../../src/protocol/operations.js'

describe('operations', () => {
  test('there are eleven, and names inherited by objects are none', () => {
    expect(operationNames).toHaveLength(11)
    expect(isOperationName('SendMessage')).toBe(true)
    expect(isOperationName('toString')).toBe(false)
    expect(isOperationName('message/send')).toBe(false)
  })

  test.each(operationNames)('the path of %s names members that its request has', (name) => {
    const { path, request } = operationTable[name]
    const members = [...path.matchAll(/\{(\w+)\}/g)].map(([, member]) => member)
    expect(Object.keys(messages[request])).toEqual(expect.arrayContaining(members))
    expect(Object.keys(messages[request])).toContain('tenant')
  })

  test('no two operations share a verb and a path', () => {
    const routes = operationNames.flatMap((name) => operationTable[name].verbs.map((verb) => `${verb} ${operationTable[name].path}`))
    expect(new Set(routes).size).toBe(routes.length)
    expect(routes).toContain('GET /tasks/{id}:subscribe')
    expect(routes).toContain('POST /tasks/{id}:subscribe')
  })

  test('streams are the two operations that answer with StreamResponse', () => {
    const streams = operationNames.filter((name) => operationTable[name].streaming)
    expect(streams).toEqual(operationNames.filter((name) => operationTable[name].response === 'StreamResponse'))
    expect(streams).toEqual(operationNames.filter((name) => operationTable[name].capability === 'streaming'))
  })
})
