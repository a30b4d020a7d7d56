/** A report for a terminal: by area, and each failure with its clause, what was wanted, what came, and how to repeat it. */

import { type Area, areas } from '../check.js'
import type { Verdict } from '../verdict.js'
import { percent, type Report, type ReportedOutcome } from './report.js'

export interface HumanOptions {
  /** Escape sequences for colours. Default false. */
  readonly colours?: boolean
}

const codes = { red: 31, green: 32, yellow: 33, grey: 90 } as const
type Colour = keyof typeof codes

export function humanReport(report: Report, { colours = false }: HumanOptions = {}): string {
  const paint = (colour: Colour, text: string) => (colours ? `\u001b[${codes[colour]}m${text}\u001b[0m` : text)
  const { outcomes, coverage, messages } = report
  const lines = [`${report.agent || 'No agent'} at ${report.url}`, '']
  for (const [letter, title] of Object.entries(areas) as [Area, string][]) {
    const own = outcomes.filter(({ area }) => area === letter)
    if (own.length === 0) continue
    lines.push(`${letter}  ${title.padEnd(28)} ${tally(own)}`)
  }
  const bad = outcomes.filter(({ verdict }) => verdict === 'fail' || verdict === 'error')
  for (const one of bad) lines.push('', ...failure(one, paint))
  const unseen = outcomes.filter(({ verdict }) => verdict === 'not provoked')
  if (unseen.length > 0)
    lines.push('', paint('yellow', 'Not provoked:'), ...unseen.map((one) => `  ${one.id} ${one.binding}: ${one.reason ?? ''}`))
  const readings = new Map(outcomes.flatMap((one) => one.readings.map(({ about, has }) => [`${about}: ${has}`, one.id] as const)))
  if (readings.size > 0)
    lines.push('', 'Where the protocol may be read in two ways:', ...[...readings].map(([text, id]) => `  ${id}  ${text}`))
  for (const fault of report.waiverFaults) lines.push('', paint('red', fault))
  const colour: Colour = report.conclusion === 'conformant' ? 'green' : report.conclusion === 'not conformant' ? 'red' : 'yellow'
  lines.push(
    '',
    `Coverage ${percent(coverage)}, ${messages.sent} messages sent. MUST: ${levelTally(report, 'MUST')}. SHOULD: ${levelTally(report, 'SHOULD')}.`,
    paint(colour, `${report.conclusion}${report.problem === undefined ? '' : `: ${report.problem}`}`),
  )
  return `${lines.join('\n')}\n`
}

function failure(one: ReportedOutcome, paint: (colour: Colour, text: string) => string): readonly string[] {
  return [
    `${paint(one.level === 'MUST' ? 'red' : 'yellow', `${one.verdict === 'error' ? 'ERROR' : 'FAIL'} ${one.id}`)} ${one.binding}, ${one.level}, §${one.section}`,
    `  ${one.intent}`,
    ...(one.wanted === undefined ? [] : [`  wanted  ${one.wanted}`]),
    ...(one.got === undefined ? [] : [`  got     ${one.got}`]),
    ...(one.reason === undefined ? [] : [`  ${one.reason}`]),
    ...(one.curl === undefined ? [] : [paint('grey', `  ${one.curl}`)]),
  ]
}

const order: readonly Verdict[] = ['pass', 'fail', 'error', 'waived', 'not provoked', 'not applicable']

function tally(outcomes: readonly ReportedOutcome[]): string {
  return order
    .map((verdict) => [verdict, outcomes.filter((one) => one.verdict === verdict).length] as const)
    .filter(([, count]) => count > 0)
    .map(([verdict, count]) => `${count} ${verdict}`)
    .join(', ')
}

function levelTally({ counts }: Report, level: 'MUST' | 'SHOULD'): string {
  const { pass, fail, waived } = counts[level]
  return `${pass} of ${pass + fail + waived} passed`
}
