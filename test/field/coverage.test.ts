/** Every field case of vectors/field-cases.json has a test with its number, or the reason why it has none yet. */

import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { titlesIn } from '../docs/cited-tests.js'

interface FieldCase {
  readonly id: string
  readonly area: string
  readonly case: string
}

/** Cases without a test, by the part that will meet them. */
const notYet: Readonly<Record<string, string>> = {
  F023: 'retention: tasks that have ended are kept for ever',
  F026: 'several processes on one store, with leases and takeovers',
  F091: 'version 0.3: an agent that speaks nothing newer',
  F092: 'version 0.3',
  F094: 'gRPC',
  F095: 'gRPC',
  F118: 'several processes on one store, with runs that are tried again',
  F122: 'the checker',
  F124: 'the command line',
}

/** What of a case that has a test is still to be met, and by which part. */
const restOf: Readonly<Record<string, string>> = {
  F002: 'gRPC',
  F005: 'several processes on one store at the same time',
  F011: 'several processes on one store at the same time',
  F025: 'retention: its clock starts at the end of a task',
  F037: 'gRPC',
  F082: 'gRPC',
  F098: 'gRPC',
  F100: 'gRPC',
  F110: 'version 0.3: its header for extensions',
  F113: 'gRPC and version 0.3',
}

/** Parts that are not built yet: a reason names one of them. */
const parts = /^(retention|several processes|version 0\.3|gRPC|the checker|the command line)\b/

const cases: readonly FieldCase[] = JSON.parse(readFileSync(new URL('../../vectors/field-cases.json', import.meta.url), 'utf8'))

const folder = new URL('./', import.meta.url)
const titles = readdirSync(folder)
  .filter((file) => file.endsWith('.test.ts') && !file.startsWith('coverage'))
  .flatMap((file) => titlesIn(file, readFileSync(new URL(file, folder), 'utf8')))

/** `F031 what went wrong: what is true here`. A group of tests has no number: its tests have. */
const form = /^(F\d{3}) [^:]+: ./

/** Numbers of the cases that have a test. */
const numbersIn = (list: readonly string[]) => new Set(list.flatMap((title) => form.exec(title)?.[1] ?? []))

function faultsOf(list: readonly FieldCase[], tested: ReadonlySet<string>, waiting = notYet, rest = restOf): string[] {
  const known = new Set(list.map(({ id }) => id))
  return [
    ...list.filter(({ id }) => !tested.has(id) && !(id in waiting)).map(({ id }) => `${id} has neither a test nor a reason`),
    ...Object.keys(waiting)
      .filter((id) => tested.has(id))
      .map((id) => `${id} has a test and a reason to have none`),
    ...Object.keys(rest)
      .filter((id) => !tested.has(id))
      .map((id) => `${id} has a rest, but no test`),
    ...[...tested, ...Object.keys(waiting)].filter((id) => !known.has(id)).map((id) => `${id} is no case`),
    ...Object.entries({ ...waiting, ...rest })
      .filter(([, reason]) => !parts.test(reason))
      .map(([id]) => `${id} waits for nothing that is to be built`),
  ]
}

test('every field case has a test with its number, or a reason', () => {
  expect(faultsOf(cases, numbersIn(titles))).toEqual([])
})

test('every title with a number says what went wrong and what is true here', () => {
  expect(titles.filter((title) => /F\d/.test(title) && !form.test(title))).toEqual([])
})

test('every case has a number of its own and says in a sentence what holds', () => {
  expect(new Set(cases.map(({ id }) => id)).size).toBe(cases.length)
  for (const one of cases)
    expect(one).toEqual({
      id: expect.stringMatching(/^F\d{3}$/),
      area: expect.stringMatching(/./),
      case: expect.stringMatching(/^[A-Z].+\.$/),
    })
})

describe('a planted fault is found', () => {
  const tested = numbersIn(titles)
  const without = (id: string) => new Set([...tested].filter((one) => one !== id))

  test.each<[string, () => string[]]>([
    ['a case that lost its test', () => faultsOf(cases, without('F031'))],
    ['a case that is new', () => faultsOf([...cases, { id: 'F999', area: 'cancel', case: 'New.' }], tested)],
    ['a reason for what has a test', () => faultsOf(cases, tested, { ...notYet, F031: 'gRPC' })],
    ['a rest without a test', () => faultsOf(cases, without('F031'), { ...notYet, F031: 'gRPC' }, { ...restOf, F031: 'gRPC' })],
    ['a reason that names no part', () => faultsOf(cases, tested, { ...notYet, F124: 'some day' })],
    ['a test of a case that is not there', () => faultsOf(cases, new Set([...tested, 'F998']))],
  ])('%s', (_, faults) => {
    expect(faults()).toHaveLength(1)
  })

  test('a number without a sentence is no test', () => {
    expect(numbersIn(['F031', 'F032 something', 'F033 a name: and what is true', 'over %s'])).toEqual(new Set(['F033']))
  })
})
