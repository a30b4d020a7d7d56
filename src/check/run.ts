/** Runs checks against an agent, one at a time, and gathers how they ended. */

import { sleep, type World } from '../support/world.js'
import type { Binding, Check, Need } from './check.js'
import { type Discovered, discover } from './discover.js'
import { at, type Members } from './json.js'
import { createProbe, type Dial } from './probe.js'
import { type Scenario, signalScenario } from './scenario.js'
import { createTrial, emptyRecord, requiredExtensions, type Subject, type TrialRecord, Unreached } from './trial.js'
import { Failure, NotApplicable, NotProvoked, type Outcome } from './verdict.js'
import type { Webhooks } from './webhooks.js'
import type { Door, Headers } from './wire.js'

export interface RunOptions {
  /** Of the agent's host, or of its card. */
  readonly url: string
  readonly checks: readonly Check[]
  readonly world: World
  readonly dial?: Dial
  /** For one answer, and for each piece of a stream. Default 10 s. */
  readonly timeoutMs?: number
  /** Headers that prove who is calling. Without `a` nobody proves anything. */
  readonly identities?: { readonly a?: Headers; readonly b?: Headers }
  /** Default: the signals of the public test kits. */
  readonly scenario?: Scenario
  /** Default: both. */
  readonly transports?: readonly Binding[]
  /** Messages that may be sent in all. Default: no limit. */
  readonly maxMessages?: number
  readonly webhooks?: Webhooks
  /** Told before the first check. */
  readonly onPlan?: (plan: Plan) => void
  readonly onOutcome?: (outcome: Outcome) => void
}

export interface Plan {
  readonly checks: number
  readonly trials: number
  /** Messages that will be sent at most. */
  readonly messages: number
}

export interface Run {
  readonly found: Discovered
  readonly plan: Plan
  readonly outcomes: readonly Outcome[]
  readonly sentMessages: number
  readonly startedAt: number
  readonly durationMs: number
}

export const runDefaults = Object.freeze({
  timeoutMs: 10_000, // a slow agent's answer; what a task takes is not in it
})

/** A check may take so many time-outs before it is given up. */
const timeoutsPerTrial = 12

export async function runChecks(options: RunOptions): Promise<Run> {
  const { world, timeoutMs = runDefaults.timeoutMs, identities = {}, checks, transports } = options
  const startedAt = world.now()
  const probe = createProbe({ world, timeoutMs, ...(options.dial && { dial: options.dial }) })
  const found = await discover(probe, options.url, transports)
  const end = (plan: Plan, outcomes: readonly Outcome[], sentMessages: number): Run => ({
    found,
    plan,
    outcomes,
    sentMessages,
    startedAt,
    durationMs: world.now() - startedAt,
  })
  if (found.kind !== 'agent') return end({ checks: checks.length, trials: 0, messages: 0 }, [], 0)
  let left = options.maxMessages ?? Number.POSITIVE_INFINITY
  let sentMessages = 0
  const subject: Subject = {
    world,
    probe,
    base: found.base,
    card: found.card,
    cardExchange: found.exchange,
    doors: found.doors,
    identities: { a: identities.a, b: identities.b, nobody: undefined },
    scenario: options.scenario ?? signalScenario(world),
    webhooks: options.webhooks,
    timeoutMs,
    spend() {
      if (left < 1) return false
      left--
      sentMessages++
      return true
    },
    finished: new Map(),
    subscribeVerb: undefined,
  }
  const trials = checks.flatMap((check) => placesOf(check, found.doors).map(({ door, label }) => ({ check, door, label })))
  const missing = (check: Check) => check.needs.find((need) => !isMet(need, subject))
  // One more on each binding, for the task that many checks only look at.
  const messages = trials.reduce((sum, { check }) => sum + (missing(check) === undefined ? check.messages : 0), found.doors.length)
  const plan = { checks: checks.length, trials: trials.length, messages: Math.min(messages, options.maxMessages ?? messages) }
  options.onPlan?.(plan)
  const outcomes: Outcome[] = []
  for (const { check, door, label } of trials) {
    const need = missing(check)
    const outcome =
      need === undefined
        ? await tryOnce(subject, check, door, label)
        : ({
            check,
            binding: label,
            verdict: 'not applicable',
            reason: needTexts[need],
            readings: [],
            exchanges: [],
            durationMs: 0,
          } as const)
    outcomes.push(outcome)
    options.onOutcome?.(outcome)
  }
  return end(plan, outcomes, sentMessages)
}

function placesOf(check: Check, doors: readonly Door[]): readonly { readonly door: Door; readonly label: Binding | 'agent' }[] {
  const [first] = doors
  if (check.on === 'agent') return first ? [{ door: first, label: 'agent' }] : []
  return doors.filter(({ binding }) => check.on === 'each' || check.on === binding).map((door) => ({ door, label: door.binding }))
}

async function tryOnce(subject: Subject, check: Check, door: Door, label: Binding | 'agent'): Promise<Outcome> {
  const { world, timeoutMs } = subject
  const record = emptyRecord()
  const startedAt = world.now()
  const limit = new AbortController()
  const late = sleep(world, timeoutMs * timeoutsPerTrial, limit.signal, { holds: true }).then(
    () => Promise.reject(new NotProvoked(`the check was given up after ${timeoutMs * timeoutsPerTrial} ms`)),
    () => {},
  )
  let ending: Partial<Outcome> & Pick<Outcome, 'verdict'>
  try {
    const run = check.run(createTrial(subject, door, record))
    // Once it was given up, how it ends is of no interest.
    run.catch(() => {})
    await Promise.race([run, late])
    ending = { verdict: 'pass' }
  } catch (thrown) {
    ending = endingOf(thrown)
  } finally {
    limit.abort()
    for (const opened of record.opened) opened.close()
  }
  const exchanges = ending.verdict === 'pass' || ending.verdict === 'not applicable' ? [] : record.exchanges.slice(-mostShown)
  return { check, binding: label, readings: readingsOf(record), exchanges, durationMs: world.now() - startedAt, ...ending }
}

/** Exchanges that an outcome keeps. */
const mostShown = 6

function readingsOf({ readings }: TrialRecord): Outcome['readings'] {
  return [...readings]
}

function endingOf(thrown: unknown): Partial<Outcome> & Pick<Outcome, 'verdict'> {
  if (thrown instanceof Failure) return { verdict: 'fail', wanted: thrown.wanted, got: thrown.got }
  if (thrown instanceof NotProvoked) return { verdict: 'not provoked', reason: thrown.message }
  if (thrown instanceof NotApplicable) return { verdict: 'not applicable', reason: thrown.message }
  if (thrown instanceof Unreached) return { verdict: 'error', reason: thrown.message }
  return { verdict: 'error', reason: `the checker failed: ${thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)}` }
}

/** Why a check is not applicable, by what it needs. */
const needTexts: Readonly<Record<Need, string>> = {
  streaming: 'the card does not declare streaming',
  'no streaming': 'the card declares streaming',
  push: 'the card does not declare push notifications',
  'no push': 'the card declares push notifications',
  'extended card': 'the card does not declare an extended card',
  'no extended card': 'the card declares an extended card',
  authentication: 'the card declares no authentication, or no credential was given',
  'second identity': 'there is no second identity',
  webhook: 'there is no webhook that the agent could reach',
  'required extension': 'the card requires no extension',
  'optional extension': 'the card declares no extension that a caller may leave out',
  'two bindings': 'the card declares one binding only',
  signatures: 'the card is not signed',
}

function isMet(need: Need, { card, doors, identities, webhooks }: Subject): boolean {
  const declares = (capability: string) => at(card, `capabilities.${capability}`) === true
  switch (need) {
    case 'streaming':
      return declares('streaming')
    case 'no streaming':
      return !declares('streaming')
    case 'push':
      return declares('pushNotifications')
    case 'no push':
      return !declares('pushNotifications')
    case 'extended card':
      return declares('extendedAgentCard')
    case 'no extended card':
      return !declares('extendedAgentCard')
    case 'authentication':
      return identities.a !== undefined && isLong(card, 'securityRequirements')
    case 'second identity':
      return identities.a !== undefined && identities.b !== undefined
    case 'webhook':
      return webhooks !== undefined
    case 'required extension':
      return requiredExtensions(card).length > 0
    case 'optional extension':
      return optionalExtensions(card).length > 0
    case 'two bindings':
      return doors.length > 1
    case 'signatures':
      return isLong(card, 'signatures')
  }
}

function isLong(card: Members, member: string): boolean {
  const list = at(card, member)
  return Array.isArray(list) && list.length > 0
}

/** URIs of the extensions that a caller may use or leave. */
export function optionalExtensions(card: Members): readonly string[] {
  const declared = at(card, 'capabilities.extensions')
  if (!Array.isArray(declared)) return []
  return declared.flatMap((one) => {
    const uri = at(one, 'uri')
    return typeof uri === 'string' && at(one, 'required') !== true ? [uri] : []
  })
}
