/** A report in the XML of JUnit, as continuous integration reads it: a suite for each area. */

import { type Area, areas } from '../check.js'
import type { Report, ReportedOutcome } from './report.js'

export function junitReport({ outcomes, startedAt, waiverFaults }: Report): string {
  const suites = (Object.entries(areas) as [Area, string][]).flatMap(([letter, title]) => {
    const own = outcomes.filter(({ area }) => area === letter)
    return own.length === 0 ? [] : [suite(`${letter} ${title}`, startedAt, own.map(testCase), own)]
  })
  const faults = waiverFaults.map(
    (fault) => `    <testcase classname="waivers" name="${escaped(fault)}"><failure message="${escaped(fault)}"/></testcase>`,
  )
  if (faults.length > 0) suites.push(['  <testsuite name="waivers">', ...faults, '  </testsuite>'].join('\n'))
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="errand check">\n${suites.join('\n')}\n</testsuites>\n`
}

function suite(name: string, timestamp: string, cases: readonly string[], outcomes: readonly ReportedOutcome[]): string {
  const count = (...verdicts: readonly string[]) => outcomes.filter(({ verdict }) => verdicts.includes(verdict)).length
  const seconds = outcomes.reduce((sum, { durationMs }) => sum + durationMs, 0) / 1000
  const head = `tests="${outcomes.length}" failures="${outcomes.filter(isFailure).length}" errors="${count('error')}" skipped="${count('not applicable', 'not provoked', 'waived') + outcomes.filter(isOnlyAdvice).length}"`
  return [`  <testsuite name="${escaped(name)}" timestamp="${timestamp}" time="${seconds}" ${head}>`, ...cases, '  </testsuite>'].join('\n')
}

/** What breaks the build: a MUST. The rest is told, and fails nothing. */
const isFailure = ({ verdict, level }: ReportedOutcome) => verdict === 'fail' && level === 'MUST'
const isOnlyAdvice = ({ verdict, level }: ReportedOutcome) => verdict === 'fail' && level !== 'MUST'

function testCase(one: ReportedOutcome): string {
  const head = `    <testcase classname="${escaped(`${one.area}.${one.binding}`)}" name="${escaped(`${one.id} ${one.level} §${one.section} ${one.intent}`)}" time="${one.durationMs / 1000}"`
  if (one.verdict === 'pass') return `${head}/>`
  const text = [one.wanted && `wanted ${one.wanted}`, one.got && `got ${one.got}`, one.reason, one.curl].filter(Boolean).join('\n')
  const message = escaped(one.verdict === 'fail' ? `${one.wanted}; got ${one.got}` : `${one.verdict}: ${one.reason ?? ''}`)
  if (isFailure(one)) return `${head}><failure message="${message}">${escaped(text)}</failure></testcase>`
  if (one.verdict === 'error') return `${head}><error message="${message}">${escaped(text)}</error></testcase>`
  return `${head}><skipped message="${message}"/></testcase>`
}

function escaped(text: string): string {
  return (
    text
      // XML knows no other control characters, however they are written.
      .replace(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;')
  )
}
