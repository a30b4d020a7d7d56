/** Runs a scenario again and again, each time with a crash at another COMMIT: nobody outside may be able to tell. */

import type { Agent } from '../runtime/agent.js'
import { checkOptions, isFunction, isWhole } from '../support/options.js'
import { defaultPatienceMs, NoRestError, outcomeOf, tasksAtRest } from './come-to-rest.js'
import { differences, type Seen, seenOf, valueSeen } from './compare-runs.js'
import type { Moment } from './machine.js'
import { type OpenedSandbox, openSandbox, type Sandbox, type TestOptions, testRules } from './test-agent.js'

export interface CrashOptions extends TestOptions {
  /** Puts the world outside the agent back as it was, before each run. */
  readonly reset?: () => void | Promise<void>
  /** What the agent has done out there, as JSON, looked at after each run. Ids and idempotency keys in it may differ from run to run. */
  readonly effects?: () => unknown
  /** Real milliseconds that a run may be busy with nothing that the sandbox knows of. Default 1000. */
  readonly patienceMs?: number
}

export interface CrashReport {
  /** Crashes that were played: one before and one after each COMMIT of the scenario. */
  readonly points: number
  /** A line for each crash after which something was different from the run without one. */
  readonly diverged: readonly string[]
}

/** What came of one run; `error` where it came to nothing. */
interface Played {
  readonly hasCrashed: boolean
  readonly seen: Seen | undefined
  readonly error: unknown
}

/**
 * Plays `scenario` without a crash, and then with one right before and right after each COMMIT, from the same seed each time.
 * Compared are what it returns, the tasks of its callers with their final artifacts and history, and the effects outside.
 *
 * Within the scenario the clock moves by itself, as far as its callers have to wait.
 *
 * @throws what the scenario throws when nothing crashes, or when it does not come to rest then
 */
export async function crashEverywhere<A extends Agent>(
  agent: A,
  scenario: (sandbox: Sandbox<A>) => unknown,
  options: CrashOptions = {},
): Promise<CrashReport> {
  checkOptions('crashEverywhere', options, {
    ...testRules,
    reset: { takes: 'a function', ok: isFunction },
    effects: { takes: 'a function', ok: isFunction },
    patienceMs: { takes: 'a whole number from 1', ok: isWhole(1) },
  })
  const { reset, effects, patienceMs = defaultPatienceMs, ...rest } = options

  async function play(crash?: { readonly at: number; readonly moment: Moment }): Promise<Played> {
    await reset?.()
    const opened = await openSandbox(agent, rest)
    const { machine } = opened
    const first = machine.commits()
    let hasCrashed = false
    machine.onCommit = (n, moment) => {
      if (hasCrashed || n - first !== crash?.at || moment !== crash.moment) return
      hasCrashed = true
      machine.kill()
    }
    try {
      const seen = await watch(opened, scenario, patienceMs)
      return { hasCrashed, seen: { ...seen, effects: valueSeen(await effects?.()) }, error: undefined }
    } catch (error) {
      return { hasCrashed, seen: undefined, error }
    } finally {
      await machine.close()
    }
  }

  const whole = await play()
  if (!whole.seen) throw whole.error
  const diverged: string[] = []
  let points = 0
  for (let at = 1; ; at++) {
    let isReached = false
    for (const moment of ['before', 'after'] as const) {
      const played = await play({ at, moment })
      if (!played.hasCrashed) continue
      isReached = true
      points++
      const found = played.seen ? differences(whole.seen, played.seen) : [wordsFor(played.error)]
      if (found.length > 0) diverged.push(`commit ${at}, crash ${moment} it: ${found.join('; ')}`)
    }
    if (!isReached) return { points, diverged }
  }
}

async function watch<A extends Agent>(
  { sandbox, machine, clients }: OpenedSandbox<A>,
  scenario: (sandbox: Sandbox<A>) => unknown,
  patienceMs: number,
): Promise<Omit<Seen, 'effects'>> {
  const returned = await outcomeOf(machine, (async () => scenario(sandbox))(), patienceMs)
  await tasksAtRest(machine, patienceMs)
  return outcomeOf(machine, seenOf(returned, clients), patienceMs)
}

function wordsFor(error: unknown): string {
  if (error instanceof NoRestError) return `did not come to rest (${error.message})`
  return `the scenario threw ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`
}
