/** The checker is proved: silent on a clean server, and each check fails on some defect. The matrix of all is made by `errand check --self-test`. */

import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { checks } from '../../src/check/checks/index.js'
import { defects } from '../../src/check/defects/index.js'
import { judgeMatrix, type Matrix, mostFailures, profiles, runDefects } from '../../src/check/defects/self-test.js'
import { type Plan, runChecks } from '../../src/check/run.js'
import { openSubject } from '../../src/cli/self-test-subject.js'
import { reported } from './kit.js'

const kept: { readonly matrix: Matrix; readonly falseAlarms: readonly unknown[] } = JSON.parse(
  readFileSync(new URL('../../vectors/kill-matrix.json', import.meta.url), 'utf8'),
)

test.each(profiles)('a clean server of the profile %s fails nothing, and is sent no more than was planned', async (profile) => {
  const plans: Plan[] = []
  const { outcome, close, ...opened } = await openSubject(profile)
  try {
    const run = await outcome(runChecks({ ...opened, checks, onPlan: (plan) => plans.push(plan) }))
    expect(run.outcomes.filter(({ check, verdict }) => !check.timing && (verdict === 'fail' || verdict === 'error'))).toEqual([])
    expect(run.outcomes.filter(({ verdict }) => verdict === 'not provoked')).toEqual([])
    expect(run.sentMessages).toBeLessThanOrEqual(plans[0]?.messages ?? 0)
    expect(reported(run)).toMatchObject({ conclusion: 'conformant', coverage: 1 })
  } finally {
    await close()
  }
})

test('the kept matrix is of these checks and defects', () => {
  expect(Object.keys(kept.matrix)).toEqual(defects.map(({ id }) => id))
  expect(defects.length).toBeGreaterThanOrEqual(80)
  expect(new Set(defects.map(({ id }) => id)).size).toBe(defects.length)
})

test('every defect is caught by the checks it names, every check catches one without a flood, and nothing was a false alarm', () => {
  const { missed, unproved, caught } = judgeMatrix(checks, defects, kept.matrix)
  expect({ missed, unproved, falseAlarms: kept.falseAlarms }).toEqual({ missed: [], unproved: [], falseAlarms: [] })
  expect(caught).toHaveLength(defects.length)
})

describe('a hole in the proof turns the matrix red', () => {
  test('a check is taken away', () => {
    const without = checks.filter(({ id }) => id !== 'P35')
    expect(judgeMatrix(without, defects, kept.matrix).missed).toEqual([{ defect: 'no_push_retry', check: 'P35' }])
  })

  test('a check no longer fails', () => {
    const matrix = Object.fromEntries(Object.entries(kept.matrix).map(([defect, caught]) => [defect, caught.filter((id) => id !== 'L12')]))
    expect(judgeMatrix(checks, defects, matrix)).toMatchObject({
      missed: [{ defect: 'after_is_exclusive', check: 'L12' }],
      unproved: ['L12'],
    })
  })

  test('a check fails only where many others do', () => {
    const crowd = checks.slice(0, mostFailures + 1).map(({ id }) => id)
    expect(judgeMatrix(checks, defects, { ...kept.matrix, after_is_exclusive: ['L12', ...crowd] }).unproved).toEqual(['L12'])
  })
})

// The whole matrix takes minutes; these few are played again each time, among them what weaker suites miss.
test.each(['context_hijack', 'forbidden_vs_missing', 'no_push_retry', 'late_save_after_cancel', 'pages_by_offset', 'one_leaves_all_end'])(
  '%s is caught by the checks that the matrix says',
  async (id) => {
    const own = defects.filter((defect) => defect.id === id)
    const named = checks.filter((check) => kept.matrix[id]?.includes(check.id))
    expect(await runDefects(named, own, openSubject)).toEqual({ [id]: kept.matrix[id] })
  },
)
