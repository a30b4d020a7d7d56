/** Runs a scenario again and again, each time with a crash at another COMMIT: nobody outside may be able to tell. */

import type { Task } from '../protocol/wire.js'
import type { Agent } from '../runtime/agent.js'
import { silentLog } from '../support/log.js'
import { checkOptions, isBoolean, isFunction, isWhole } from '../support/options.js'
import { type AgentErrors, watchAgentErrors } from './agent-errors.js'
import { defaultPatienceMs, NoRestError, outcomeOf, tasksAtRest } from './come-to-rest.js'
import { differences, type Seen, taskSeen, tasksOf, valueSeen } from './compare-runs.js'
import type { Moment } from './machine.js'
import { type OpenedSandbox, openSandbox, type Sandbox, type TestOptions, testRules } from './test-agent.js'

export interface CrashOptions extends TestOptions {
  /** Puts the world outside the agent back as it was, before each run. */
  readonly reset?: () => void | Promise<void>
  /** What the agent has done out there, as JSON, looked at after each run. Ids and idempotency keys in it may differ from run to run. */
  readonly effects?: () => unknown
  /** Whether a task may end as FAILED without a crash, because that is what the scenario is about. Default false: it is an error. */
  readonly mayFail?: boolean
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
  readonly tasks: readonly Task[]
  readonly seen: Seen | undefined
  readonly error: unknown
  readonly agentErrors: AgentErrors
}

/**
 * Plays `scenario` without a crash, and then with one right before and right after each COMMIT, from the same seed each time.
 * Compared are what it returns, the tasks of its callers with their final artifacts and history, and the effects outside.
 *
 * Within the scenario the clock moves by itself, as far as its callers have to wait.
 *
 * @throws {Error} where the run without a crash is no measure: a task fails, or something does not come to rest; its cause is
 *   the agent's error. What the scenario throws there is thrown as it is, unless the agent had an error before it
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
    mayFail: { takes: 'true or false', ok: isBoolean },
    patienceMs: { takes: 'a whole number from 1', ok: isWhole(1) },
  })
  const { reset, effects, mayFail = false, patienceMs = defaultPatienceMs, ...rest } = options

  async function play(crash?: { readonly at: number; readonly moment: Moment }): Promise<Played> {
    await reset?.()
    const agentErrors = watchAgentErrors(rest.log ?? silentLog)
    const opened = await openSandbox(agent, { ...rest, log: agentErrors.log })
    const { machine } = opened
    const first = machine.commits()
    let hasCrashed = false
    machine.onCommit = (n, moment) => {
      if (hasCrashed || n - first !== crash?.at || moment !== crash.moment) return
      hasCrashed = true
      machine.kill()
    }
    try {
      const { returned, tasks } = await watch(opened, scenario, patienceMs)
      const seen = { outcome: valueSeen(returned), tasks: tasks.map(taskSeen), effects: valueSeen(await effects?.()) }
      return { hasCrashed, tasks, seen, error: undefined, agentErrors }
    } catch (error) {
      return { hasCrashed, tasks: [], seen: undefined, error, agentErrors }
    } finally {
      await machine.close()
    }
  }

  const whole = await play()
  if (!mayFail) checkUnfailed(whole)
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
      const found = played.seen ? differences(whole.seen, played.seen) : [tell(played.error)]
      if (found.length > 0)
        diverged.push(`commit ${at}, crash ${moment} it: ${found.join('; ')}${tellAgentError(played.agentErrors.last())}`)
    }
    if (!isReached) return { points, diverged }
  }
}

async function watch<A extends Agent>(
  { sandbox, machine, clients }: OpenedSandbox<A>,
  scenario: (sandbox: Sandbox<A>) => unknown,
  patienceMs: number,
): Promise<{ readonly returned: unknown; readonly tasks: readonly Task[] }> {
  const returned = await outcomeOf(machine, (async () => scenario(sandbox))(), patienceMs)
  await tasksAtRest(machine, patienceMs)
  return { returned, tasks: await outcomeOf(machine, tasksOf(clients), patienceMs) }
}

/** A task that fails in the same way each time would never differ. */
function checkUnfailed({ tasks, seen, error, agentErrors }: Played): void {
  const failed = tasks.find(({ status }) => status.state === 'TASK_STATE_FAILED')
  if (failed) {
    const cause = agentErrors.of(failed.id)
    const remedy = 'Where the scenario is about that, give the option mayFail'
    throw new Error(`crashEverywhere: without any crash a task failed (${reasonOf(failed)})${tellAgentError(cause)}. ${remedy}`, { cause })
  }
  const cause = agentErrors.last()
  if (seen || (cause === undefined && !(error instanceof NoRestError))) return
  throw new Error(`crashEverywhere: without any crash ${tell(error)}${tellAgentError(cause)}`, { cause: cause ?? error })
}

const reasonOf = ({ status }: Task) => status.message?.parts.map(({ text }) => text ?? '').join(' ') ?? 'without a reason'

function tell(error: unknown): string {
  return error instanceof NoRestError ? `it did not come to rest (${error.message})` : `the scenario threw ${nameOf(error)}`
}

const tellAgentError = (error: unknown) => (error === undefined ? '' : `; the agent's error was ${nameOf(error)}`)

const nameOf = (error: unknown) => (error instanceof Error ? `${error.name}: ${error.message}` : String(error))
