/** A task is the fold of its events. */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isFinal } from '../../src/protocol/states.js'
import type { Task } from '../../src/protocol/wire.js'
import type { EventKind } from '../../src/task/event.js'
import { apply, fold } from '../../src/task/fold.js'
import vectors from '../../vectors/task/fold.json' with { type: 'json' }
import { type LogLine, logs } from './histories.js'

function reduce(log: readonly LogLine[]): Task | undefined {
  return log.reduce<Task | undefined>(apply, undefined)
}

describe('vectors', () => {
  test.each(vectors.tests)('$id: $comment ($spec)', ({ events, task }) => {
    const first: LogLine = { kind: 'created', body: JSON.stringify({ task: vectors.created }) }
    // The first of each pair is a kind; JSON cannot say so.
    const log = [first, ...events.map(([kind, body]) => ({ kind: kind as EventKind, body: JSON.stringify(body) }))]
    expect(fold(undefined, log)).toEqual(task)
    expect(reduce(log)).toEqual(task)
  })
})

test('folding at once is the same as applying one by one', () => {
  fc.assert(fc.property(logs, (log) => void expect(fold(undefined, log)).toEqual(reduce(log))))
})

test('folding may stop anywhere, be written down and go on', () => {
  fc.assert(
    fc.property(logs, fc.nat(), (log, n) => {
      const cut = 1 + (n % log.length)
      const base = JSON.stringify(fold(undefined, log.slice(0, cut)))
      expect(fold(base, log.slice(cut))).toEqual(fold(undefined, log))
    }),
  )
})

test('apply changes none of what it is given', () => {
  fc.assert(
    fc.property(logs, (log) => {
      let task: Task | undefined
      for (const event of log) {
        const before = JSON.stringify(task)
        const given = task
        task = apply(task, event)
        expect(JSON.stringify(given)).toBe(before)
      }
    }),
  )
})

test('a finished task is returned unchanged', () => {
  fc.assert(
    fc.property(logs, logs, (log, [, ...more]) => {
      const task = fold(undefined, log)
      fc.pre(isFinal(task.status.state))
      for (const event of more) expect(apply(task, event)).toBe(task)
      expect(fold(JSON.stringify(task), more)).toEqual(task)
    }),
  )
})

test('a log that does not begin with the creation is refused', () => {
  const event = { kind: 'turn', body: '{"message":{}}' } as const
  expect(() => apply(undefined, event)).toThrow(TypeError)
  expect(() => fold(undefined, [event])).toThrow(TypeError)
  expect(() => fold(undefined, [])).toThrow(TypeError)
})
