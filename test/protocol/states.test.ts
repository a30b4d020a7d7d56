import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { enums } from '../../src/protocol/model.js'
import { canMove, IllegalTransitionError, isAtRest, isFinal, isInterrupted, moves, taskStates } from '../../src/protocol/states.js'
import type { TaskState } from '../../src/protocol/wire.js'

const state = fc.constantFrom(...taskStates)

/** The states that a task passes when it tries each of `tries` and stays where a move is refused. */
function walk(tries: readonly TaskState[]): readonly TaskState[] {
  const path: TaskState[] = ['TASK_STATE_SUBMITTED']
  for (const to of tries) if (canMove(path.at(-1) ?? to, to)) path.push(to)
  return path
}

describe('states', () => {
  test('are the enum without its unspecified value', () => {
    expect([...taskStates].sort()).toEqual(Object.keys(enums.TaskState).slice(1).sort())
  })

  test('four are final, two interrupted, six at rest', () => {
    expect(taskStates.filter(isFinal)).toEqual(['TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED'])
    expect(taskStates.filter(isInterrupted)).toEqual(['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED'])
    expect(taskStates.filter(isAtRest)).toHaveLength(6)
  })
})

describe('moves (D10)', () => {
  test('a progress note is a move from WORKING to WORKING', () => {
    expect(canMove('TASK_STATE_WORKING', 'TASK_STATE_WORKING')).toBe(true)
  })

  test('a task may ask again while it waits', () => {
    expect(canMove('TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_INPUT_REQUIRED')).toBe(true)
    expect(canMove('TASK_STATE_AUTH_REQUIRED', 'TASK_STATE_INPUT_REQUIRED')).toBe(true)
  })

  test('there are 25', () => {
    expect(Object.values(moves).flat()).toHaveLength(25)
  })

  test('any sequence of tries ends at most once, is never SUBMITTED again, and is REJECTED only at once', () => {
    fc.assert(
      fc.property(fc.array(state, { maxLength: 30 }), (tries) => {
        const path = walk(tries)
        expect(path.slice(0, -1).filter(isFinal)).toEqual([])
        expect(path.lastIndexOf('TASK_STATE_SUBMITTED')).toBe(0)
        if (path.includes('TASK_STATE_REJECTED')) expect(path).toHaveLength(2)
      }),
    )
  })

  test('a task that has not ended can always fail or be canceled', () => {
    fc.assert(
      fc.property(fc.array(state), (tries) => {
        const last = walk(tries).at(-1) ?? 'TASK_STATE_SUBMITTED'
        return isFinal(last) || (canMove(last, 'TASK_STATE_FAILED') && canMove(last, 'TASK_STATE_CANCELED'))
      }),
    )
  })

  test('the error names both states and what would be allowed', () => {
    const error = new IllegalTransitionError('TASK_STATE_WORKING', 'TASK_STATE_REJECTED')
    expect(error.message).toMatch(/^A task in WORKING cannot go to REJECTED\. From WORKING it may go to WORKING, INPUT_REQUIRED/)
    expect(new IllegalTransitionError('TASK_STATE_FAILED', 'TASK_STATE_WORKING').message).toContain('takes no further state')
    expect(error).toMatchObject({ name: 'IllegalTransitionError', from: 'TASK_STATE_WORKING', to: 'TASK_STATE_REJECTED' })
  })
})
