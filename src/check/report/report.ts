/** A run as a report: the one form that all others are made from, and that is written as JSON. */

import { areaOf, type Level } from '../check.js'
import { curlOf, type Exchange, redacted } from '../exchange.js'
import { textAt } from '../json.js'
import type { Run } from '../run.js'
import { type Outcome, type Verdict, verdicts } from '../verdict.js'
import { type Waiver, waive } from '../waivers.js'

/** Grows when members change their meaning. */
export const reportSchema = 'errand-check/1'

export type Conclusion = 'conformant' | 'not conformant' | 'inconclusive' | 'unreachable'

export interface ReportedOutcome {
  readonly id: string
  readonly area: string
  readonly level: Level
  readonly section: string
  readonly intent: string
  readonly binding: string
  readonly verdict: Verdict
  readonly wanted?: string
  readonly got?: string
  readonly reason?: string
  readonly readings: Outcome['readings']
  readonly durationMs: number
  /** The command that repeats the last exchange. */
  readonly curl?: string
  /** Without credentials. */
  readonly exchanges: readonly Exchange[]
}

export interface Report {
  readonly schema: typeof reportSchema
  readonly url: string
  readonly agent: string
  readonly startedAt: string
  readonly durationMs: number
  readonly conclusion: Conclusion
  /** Why there is no other conclusion. */
  readonly problem?: string
  readonly waiverFaults: readonly string[]
  /** Of the trials that apply to this agent, the part that has a verdict: 0 to 1. */
  readonly coverage: number
  readonly counts: Readonly<Record<Level, Readonly<Record<Verdict, number>>>>
  readonly messages: { readonly planned: number; readonly sent: number }
  readonly outcomes: readonly ReportedOutcome[]
}

export interface ReportOptions {
  readonly url: string
  readonly waivers?: readonly Waiver[]
  /** Below it a run without failures is inconclusive. */
  readonly minCoverage?: number
  /** What must not be shown, and what stands in its place. */
  readonly secrets?: ReadonlyMap<string, string>
}

export const reportDefaults = Object.freeze({
  minCoverage: 0.6, // an agent of text alone, without push and a second identity, comes to about 0.7 of what applies to it
})

export function reportOf(run: Run, options: ReportOptions): Report {
  const { secrets = new Map(), minCoverage = reportDefaults.minCoverage } = options
  const { outcomes, faults } = waive(run.outcomes, options.waivers ?? [], run.startedAt)
  const applicable = outcomes.filter(({ verdict }) => verdict !== 'not applicable')
  const judged = applicable.filter(({ verdict }) => verdict === 'pass' || verdict === 'fail' || verdict === 'waived')
  const coverage = applicable.length === 0 ? 0 : judged.length / applicable.length
  const problem = problemOf(run, coverage, minCoverage)
  return {
    schema: reportSchema,
    url: options.url,
    agent: run.found.kind === 'agent' ? `${textAt(run.found.card, 'name')} ${textAt(run.found.card, 'version')}` : '',
    startedAt: new Date(run.startedAt).toISOString(),
    durationMs: run.durationMs,
    conclusion: concludes(run, outcomes, faults, problem),
    ...(problem !== undefined && { problem }),
    waiverFaults: faults,
    coverage,
    counts: countsOf(outcomes),
    messages: { planned: run.plan.messages, sent: run.sentMessages },
    outcomes: outcomes.map((outcome) => shown(outcome, secrets)),
  }
}

function problemOf({ found }: Run, coverage: number, minCoverage: number): string | undefined {
  if (found.kind !== 'agent') return found.problem
  if (coverage >= minCoverage) return undefined
  return `${percent(coverage)} of what applies to this agent has a verdict; ${percent(minCoverage)} are needed for a conclusion`
}

function concludes(run: Run, outcomes: readonly Outcome[], faults: readonly string[], problem: string | undefined): Conclusion {
  if (run.found.kind === 'unreachable') return 'unreachable'
  if (faults.length > 0 || outcomes.some(({ check, verdict }) => check.level === 'MUST' && verdict === 'fail')) return 'not conformant'
  const isTorn = outcomes.some(({ check, verdict }) => check.level === 'MUST' && verdict === 'error')
  return problem !== undefined || isTorn ? 'inconclusive' : 'conformant'
}

function countsOf(outcomes: readonly Outcome[]): Report['counts'] {
  const of = (level: Level) => {
    const each = verdicts.map((verdict) => [verdict, outcomes.filter((one) => one.check.level === level && one.verdict === verdict).length])
    // An entry for each verdict.
    return Object.fromEntries(each) as Record<Verdict, number>
  }
  return { MUST: of('MUST'), SHOULD: of('SHOULD'), MAY: of('MAY') }
}

function shown(outcome: Outcome, secrets: ReadonlyMap<string, string>): ReportedOutcome {
  const { check, wanted, got, reason } = outcome
  const hide = (text: string) => [...secrets].reduce((hidden, [secret, name]) => hidden.replaceAll(secret, name), text)
  const exchanges = outcome.exchanges.map((exchange) => redacted(exchange, secrets))
  const last = exchanges[exchanges.length - 1]
  return {
    id: check.id,
    area: areaOf(check.id),
    level: check.level,
    section: check.section,
    intent: check.intent,
    binding: outcome.binding,
    verdict: outcome.verdict,
    ...(wanted !== undefined && { wanted: hide(wanted) }),
    ...(got !== undefined && { got: hide(got) }),
    ...(reason !== undefined && { reason: hide(reason) }),
    readings: outcome.readings,
    durationMs: outcome.durationMs,
    ...(last && last.sent.method !== 'RAW' && { curl: curlOf(last) }),
    exchanges,
  }
}

/** Exit codes of the command. */
export const exitCodes = Object.freeze({ conformant: 0, 'not conformant': 10, inconclusive: 11, unreachable: 3 }) satisfies Readonly<
  Record<Conclusion, number>
>

export function percent(part: number): string {
  return `${Math.floor(part * 100)} %`
}
