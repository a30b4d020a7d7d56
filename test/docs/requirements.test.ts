/**
 * Every requirement of the specification has a row in vectors/requirements.json, and every row a test or a reason; every MUST
 * a conformance check, or the reason why a caller cannot see it.
 *
 * The number of rows is found by counting: one MUST row for each time the word MUST stands in capitals in the text of a
 * section (MUST NOT, and the one “MUST not” of section 3.6, are counted with it), from its heading to the next of the same
 * rank, code blocks left out; a MUST over a list is one. So it is 66, 8, 12, 0, 9, 15, 4, 4, 8 and 23 in sections 3 to 11 and
 * 13, 149 in all. Section 7 has its nine with In-Task Authorization Scope (§7.6.4); without that part it has six. SHOULD,
 * SHOULD NOT and the one “SHOULD BE” of section 3.7 are counted in the same way, those of §7.6.4 apart.
 */

import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { checks } from '../../src/check/checks/index.js'
import { faultOf } from './cited-tests.js'

interface Requirement {
  readonly id: string
  readonly section: string
  readonly level: string
  readonly who: string
  /** In our own words. */
  readonly requirement: string
  /** Each as `file > title, or a part of it`. */
  readonly tests?: readonly string[]
  /** Why no test of ours could see it. */
  readonly unobservable?: string
  /** The part of the product that will meet it. */
  readonly later?: string
  /** Ids of the conformance checks that see whether an agent meets it. Each MUST has some, or `unseen`. */
  readonly checks?: readonly string[]
  /** Why a caller cannot see it from outside. */
  readonly unseen?: string
}

/** Rows per section, MUST and SHOULD. */
const counts: Readonly<Record<string, readonly [number, number]>> = {
  '3': [66, 23],
  '4': [8, 5],
  '5': [12, 7],
  '6': [0, 0],
  '7': [9, 11],
  '8': [15, 9],
  '9': [4, 2],
  '10': [4, 2],
  '11': [8, 4],
  '13': [23, 35],
}

const parts = ['TLS', 'client', 'gRPC', 'push delivery', 'rate limits and audit']
const levels = ['MUST', 'MUST NOT', 'SHOULD', 'SHOULD NOT']
const parties = ['server', 'client', 'both', 'agent author', 'operator']
const members = ['id', 'section', 'level', 'who', 'requirement', 'tests', 'unobservable', 'later', 'checks', 'unseen']

const rows: readonly Requirement[] = JSON.parse(readFileSync(new URL('../../vectors/requirements.json', import.meta.url), 'utf8'))

const chapterOf = ({ section }: Requirement) => section.split('.')[0] ?? ''

function countsOf(list: readonly Requirement[]): Record<string, readonly [number, number]> {
  const count = (section: string, word: string) =>
    list.filter((row) => chapterOf(row) === section && row.level.split(' ')[0] === word).length
  return Object.fromEntries(Object.keys(counts).map((section) => [section, [count(section, 'MUST'), count(section, 'SHOULD')]]))
}

function faultsOf(list: readonly Requirement[]): string[] {
  const seen = new Map<string, number>()
  return list.flatMap((row) => {
    const place = (seen.get(row.section) ?? 0) + 1
    seen.set(row.section, place)
    const faults = [
      row.id === `${row.section}-${place}` ? undefined : `should be ${row.section}-${place}`,
      Object.keys(row).find((name) => !members.includes(name)),
      Object.hasOwn(counts, chapterOf(row)) ? undefined : `no section ${row.section}`,
      levels.includes(row.level) ? undefined : `no level ${row.level}`,
      parties.includes(row.who) ? undefined : `nobody is called ${row.who}`,
      row.requirement?.endsWith('.') ? undefined : 'says nothing',
      row.tests?.length || row.unobservable || row.later ? undefined : 'has neither a test nor a reason',
      row.later === undefined || parts.includes(row.later) ? undefined : `no part is called ${row.later}`,
      ...(row.tests ?? []).map(faultOf),
      ...faultsOfChecks(row),
    ]
    return faults.filter((fault) => fault !== undefined).map((fault) => `${row.id}: ${fault}`)
  })
}

const checkIds = new Set(checks.map(({ id }) => id))

function faultsOfChecks({ level, checks: named, unseen }: Requirement): (string | undefined)[] {
  const isMust = level.startsWith('MUST')
  return [
    !isMust || named?.length || unseen ? undefined : 'is looked at by no check, and nothing says why',
    named?.length && unseen ? 'is looked at by checks, and said to be unseen' : undefined,
    ...(named ?? []).filter((id) => !checkIds.has(id)).map((id) => `there is no check ${id}`),
  ]
}

test('there are as many rows in each section as the specification has requirements, 149 of them MUST', () => {
  expect(countsOf(rows)).toEqual(counts)
  expect(rows.filter(({ level }) => level.startsWith('MUST'))).toHaveLength(149)
})

test('every row has a test that is there, or a reason', () => {
  expect(faultsOf(rows)).toEqual([])
})

test('every check is of a section that the specification has', () => {
  const chapters = Object.keys(counts)
  expect(checks.filter(({ section }) => !chapters.includes(section.split('.')[0] ?? '')).map(({ id }) => id)).toEqual([])
})

test('no two rows say the same', () => {
  expect(new Set(rows.map(({ requirement }) => requirement)).size).toBe(rows.length)
})

describe('a planted fault is found', () => {
  const [first, ...others] = rows as [Requirement, ...Requirement[]]
  const { tests: _, ...bare } = first

  test.each<[string, Requirement]>([
    ['neither test nor reason', bare],
    ['an empty list of tests', { ...bare, tests: [] }],
    ['a test that is not there', { ...first, tests: ['test/operations/send-message.test.ts > a promise nobody made'] }],
    ['one test of two that is not there', { ...first, tests: [...(first.tests ?? []), 'test/gone.test.ts > gone'] }],
    ['a part that nobody builds', { ...bare, later: 'some day' }],
    ['neither a check nor a reason', (({ checks: _, ...rest }) => rest)(first)],
    ['a check that is not there', { ...first, checks: ['Z1'] }],
    ['a check and a reason why there is none', { ...first, unseen: 'Nobody can see it.' }],
    ['another number', { ...first, id: '3.1.1-2' }],
    ['an unknown level', { ...first, level: 'MAY' }],
    ['nobody to meet it', { ...first, who: 'everybody' }],
  ])('%s', (_fault, row) => {
    expect(faultsOf([row, ...others])).toHaveLength(1)
  })

  test('a row that is missing', () => {
    expect(countsOf(others)).not.toEqual(counts)
  })
})
