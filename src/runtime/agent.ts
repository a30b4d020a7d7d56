/** What an author writes: a name, a description, and a function or skills. */

import type { AgentExtension, AgentProvider, JsonObject } from '../protocol/wire.js'
import { type Duration, durationMs } from '../support/duration.js'
import {
  checkOptions,
  isBoolean,
  isFunction,
  isHttpUrl,
  isPlainObject,
  isString,
  isText,
  isTextList,
  type OptionRule,
  show,
} from '../support/options.js'
import { isModes } from './card-rules.js'
import type { Emission, PartsLike } from './output.js'
import { createRouter, type Router } from './route-skill.js'
import { runSkills } from './run-skills.js'
import { definitionsOf, isSkills, type Skills, schemasExtension, skillSchemas } from './skill.js'
import type { TaskHandle, Turn, User } from './task.js'

/** A value with members, but no generator: one that yields something else than emissions must not pass for a result. */
interface Value {
  readonly next?: never
  toString(): string
}

/**
 * What a run returns ends the turn: nothing or any JSON value is COMPLETED, a value as the artifact `result`; the
 * other endings are `completed()`, `failed()`, `rejected()` and `inputRequired()`.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing is a run too
export type Result = string | number | boolean | null | undefined | void | Value

/** The ways in which a function of an agent comes to what it returns. */
export type Returning<R> = R | Promise<R> | AsyncGenerator<Emission | string, R, void> | Generator<Emission | string, R, void>

export type Run = (task: TaskHandle) => Returning<Result>

/** Asked before a task exists: a reply is a direct Message and no task is made; undefined leaves the message to `run`. */
export type Answer = (turn: Turn) => PartsLike | undefined | Promise<PartsLike | undefined>

export interface AgentInfo {
  readonly name: string
  readonly description: string
  /** Of the agent, not of the protocol. Default `'1.0.0'`. */
  readonly version?: string
  /** Media types that the agent takes. Default text/plain and application/json. */
  readonly inputModes?: readonly string[]
  /** Media types that it answers with. Default text/plain and application/json. */
  readonly outputModes?: readonly string[]
  /** Words by which the agent is found. Default: none. */
  readonly tags?: readonly string[]
  /** Things one may say to it. Default: none. */
  readonly examples?: readonly string[]
  readonly provider?: AgentProvider
  readonly documentationUrl?: string
  readonly iconUrl?: string
  readonly extensions?: readonly AgentExtension[]
  /** Members of the card that only authenticated callers see; they replace those of the public card. Undefined: none for this user. */
  readonly extendedCard?: (user: User) => JsonObject | undefined | Promise<JsonObject | undefined>
  readonly answer?: Answer
  /**
   * What becomes of a task at work whose process died: `'restart'` runs its turn again from its records, `'fail'` fails it.
   * Default `'restart'`.
   */
  readonly recovery?: 'restart' | 'fail'
  /** A run that puts nothing out for so long, and waits for nothing, is failed. Default: no limit. */
  readonly inactivity?: Duration
}

/** An agent of several skills: what the card says of a single one belongs to each of them. */
export interface AgentOptions<S extends Skills> extends Omit<AgentInfo, 'tags' | 'examples'> {
  /** By their ids. */
  readonly skills: S
  /** For messages that no skill is meant by. Default: the caller is asked which skill it means. */
  readonly run?: Run
}

declare const agentBrand: unique symbol

/** An agent, checked and frozen. It opens nothing; a server does. */
export interface Agent<S extends Skills = Skills> extends AgentInfo {
  readonly [agentBrand]: true
  readonly version: string
  readonly inputModes: readonly string[]
  readonly outputModes: readonly string[]
  /** By their ids; absent where the agent is one function. */
  readonly skills?: S
  /** Finds the skill that a message is for; absent where the agent is one function. */
  readonly router?: Router
  readonly run: Run
}

export const agentDefaults = Object.freeze({
  version: '1.0.0',
  inputModes: Object.freeze(['text/plain', 'application/json']),
  outputModes: Object.freeze(['text/plain', 'application/json']),
})

function isTime(value: unknown): boolean {
  try {
    // durationMs judges whatever it is given.
    return durationMs(value as Duration) > 0
  } catch {
    return false
  }
}

function isProvider(value: unknown): boolean {
  if (!isPlainObject(value)) return false
  const { organization, url, ...rest } = value
  return isText(organization) && isHttpUrl(url) && Object.keys(rest).length === 0
}

function isExtensions(value: unknown): boolean {
  return Array.isArray(value) && value.every(isExtension) && new Set(value.map(({ uri }) => uri)).size === value.length
}

function isExtension(value: unknown): value is AgentExtension {
  if (!isPlainObject(value)) return false
  const { uri, description = '', required = false, params = {}, ...rest } = value
  // It travels in a header, in a list with commas.
  const isUri = typeof uri === 'string' && /^[\x21-\x2b\x2d-\x7e]+$/.test(uri)
  return isUri && isString(description) && isBoolean(required) && isPlainObject(params) && Object.keys(rest).length === 0
}

const rules: Readonly<Record<string, OptionRule>> = {
  name: { takes: 'a text', ok: isText, required: true },
  description: { takes: 'a text', ok: isText, required: true },
  version: { takes: "a text such as '1.2.0'", ok: isText },
  inputModes: { takes: "a list of media types such as 'text/plain'", ok: isModes },
  outputModes: { takes: "a list of media types such as 'text/plain'", ok: isModes },
  tags: { takes: 'a list of texts', ok: isTextList },
  examples: { takes: 'a list of texts', ok: isTextList },
  provider: {
    takes: 'an object with organization and an http or https url',
    ok: isProvider,
  },
  documentationUrl: { takes: 'an http or https URL', ok: isHttpUrl },
  iconUrl: { takes: 'an http or https URL', ok: isHttpUrl },
  extensions: {
    takes: 'a list of objects with a uri and perhaps description, required and params, each uri once',
    ok: isExtensions,
  },
  extendedCard: { takes: 'a function of the user', ok: isFunction },
  recovery: { takes: "'restart' or 'fail'", ok: (value) => value === 'restart' || value === 'fail' },
  inactivity: { takes: "a time above zero such as '10m'", ok: isTime },
  answer: { takes: 'a function of the turn', ok: isFunction },
}

const { tags: _tags, examples: _examples, ...rulesBesideSkills } = rules
const skillsRules: Readonly<Record<string, OptionRule>> = {
  ...rulesBesideSkills,
  skills: { takes: 'an object with what skill() made under its id', ok: isSkills, required: true },
  run: { takes: 'the function for messages that no skill is meant by', ok: isFunction },
}

const agents = new WeakSet<object>()

/**
 * An agent of one function, `agent({ name: 'Hello', description: 'Says hello.' }, (task) => `Hello, ${task.text}!`)`,
 * or of skills, `agent({ name: 'Travel', description: 'Books hotels.', skills: { book: skill({ … }) } })`.
 *
 * @throws {TypeError} on an unknown, missing, wrong or contradictory option
 */
export function agent<S extends Skills>(options: AgentOptions<S>): Agent<S>
export function agent(info: AgentInfo, run: Run): Agent
export function agent(given: AgentInfo | AgentOptions<Skills>, run?: Run): Agent {
  const made = isPlainObject(given) && 'skills' in given && given['skills'] !== undefined ? ofSkills(given, run) : ofFunction(given, run)
  agents.add(made)
  return made
}

function ofFunction(info: AgentInfo, run: Run | undefined): Agent {
  checkOptions('agent', info, rules)
  if (typeof run !== 'function')
    throw new TypeError(`agent takes the function that does the work as its second argument; it got ${show(run)}`)
  return brand({ ...agentDefaults, ...withoutUndefined(info), run })
}

function ofSkills(options: Readonly<Record<string, unknown>>, second: Run | undefined): Agent {
  if (second !== undefined)
    throw new TypeError('agent takes skills or a function as its second argument, not both; beside skills the function is the option run')
  for (const name of ['tags', 'examples'] as const) {
    if (options[name] !== undefined) throw new TypeError(`agent: option ${name} belongs to each skill where the agent has skills`)
  }
  checkOptions('agent', options, skillsRules)
  // Just checked, member by member.
  const { run, ...info } = { ...agentDefaults, ...withoutUndefined(options as unknown as AgentOptions<Skills>) }
  if (info.extensions?.some(({ uri }) => uri === skillSchemas))
    throw new TypeError(`agent: option extensions must not hold ${skillSchemas}; it is made of the schemas of the skills`)
  const skills = definitionsOf(info.skills)
  const router = createRouter({ skills, plain: run !== undefined, inputModes: info.inputModes })
  const extensions = [...(info.extensions ?? []), ...schemasExtension(skills)]
  return brand({
    ...info,
    ...(extensions.length > 0 && { extensions }),
    skills: Object.freeze({ ...info.skills }),
    router,
    run: runSkills({ skills, router, run }),
  })
}

function brand(made: Omit<Agent, typeof agentBrand>): Agent {
  // The brand exists in the type only; `agents` is what knows it at run time.
  return Object.freeze(made) as Agent
}

export const isAgent = (value: unknown): value is Agent => typeof value === 'object' && value !== null && agents.has(value)

function withoutUndefined<Given extends object>(given: Given): Given {
  // Same members, fewer of them: an explicit undefined means the default.
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Given
}
