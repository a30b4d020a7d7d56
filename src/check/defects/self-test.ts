/** The proof that each check can fail: every defect in turn before every check, and a clean server before all of them. */

import type { Check } from '../check.js'
import type { RunOptions } from '../run.js'
import { runChecks } from '../run.js'
import type { Outcome } from '../verdict.js'
import type { Defect, Plant } from './defect.js'

export type Profile = NonNullable<Defect['profile']>
export const profiles: readonly Profile[] = ['full', 'minimal', 'required-extension']

/** A server to check, and how to come to the end of something that goes on before it. */
export interface Opened extends Pick<RunOptions, 'url' | 'world' | 'dial' | 'identities' | 'webhooks'> {
  outcome<T>(work: Promise<T>): Promise<T>
  close(): Promise<void>
}

export type Open = (profile: Profile, plant?: Plant) => Promise<Opened>

export interface FalseAlarm {
  readonly profile: Profile
  readonly check: string
  readonly binding: string
  readonly wanted: string
  readonly got: string
}

/** By the id of the defect: the ids of the checks that failed. */
export type Matrix = Readonly<Record<string, readonly string[]>>

export interface SelfTest {
  readonly checks: readonly string[]
  readonly defects: readonly string[]
  /** Defects that every check they name has caught. */
  readonly caught: readonly string[]
  /** Checks that a defect names and that did not fail. */
  readonly missed: readonly { readonly defect: string; readonly check: string }[]
  readonly falseAlarms: readonly FalseAlarm[]
  /** Checks that no defect of few failures has made fail. */
  readonly unproved: readonly string[]
  readonly matrix: Matrix
}

/** A defect that fails more checks proves none of them: a dead server fails all. */
export const mostFailures = 5

/** What fails on clean servers of each profile: nothing should. */
export async function runCleanServers(checks: readonly Check[], open: Open): Promise<readonly FalseAlarm[]> {
  const alarms: FalseAlarm[] = []
  for (const profile of profiles) {
    for (const { check, binding, verdict, wanted = '', got, reason = '' } of await runAgainst(await open(profile), checks)) {
      if (check.timing || (verdict !== 'fail' && verdict !== 'error')) continue
      alarms.push({ profile, check: check.id, binding, wanted, got: got ?? reason })
    }
  }
  return alarms
}

/** Which checks fail on a server with each defect. */
export async function runDefects(checks: readonly Check[], defects: readonly Defect[], open: Open): Promise<Matrix> {
  const matrix: Record<string, readonly string[]> = {}
  for (const { id, profile = 'full', plant } of defects) matrix[id] = failedIn(await runAgainst(await open(profile, plant), checks))
  return matrix
}

/** What a matrix proves. */
export function judgeMatrix(
  checks: readonly Check[],
  defects: readonly Defect[],
  matrix: Matrix,
): Pick<SelfTest, 'checks' | 'defects' | 'caught' | 'missed' | 'unproved'> {
  const known = new Set(checks.map(({ id }) => id))
  const failed = (id: string) => matrix[id] ?? []
  const missed = defects.flatMap(({ id, caughtBy }) =>
    caughtBy.filter((check) => !known.has(check) || !failed(id).includes(check)).map((check) => ({ defect: id, check })),
  )
  const proved = new Set(defects.flatMap(({ id }) => (failed(id).length <= mostFailures ? failed(id) : [])))
  return {
    checks: [...known],
    defects: defects.map(({ id }) => id),
    caught: defects.map(({ id }) => id).filter((id) => !missed.some(({ defect }) => defect === id)),
    missed,
    unproved: [...known].filter((id) => !proved.has(id)),
  }
}

export async function runAgainst(opened: Opened, checks: readonly Check[]): Promise<readonly Outcome[]> {
  const { outcome, close, ...options } = opened
  try {
    return (await outcome(runChecks({ ...options, checks }))).outcomes
  } finally {
    await close()
  }
}

/** Ids of the checks that failed on any binding, in their order. */
export function failedIn(outcomes: readonly Outcome[]): readonly string[] {
  return [...new Set(outcomes.filter(({ verdict }) => verdict === 'fail').map(({ check }) => check.id))]
}
