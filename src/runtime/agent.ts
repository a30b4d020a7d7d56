/** What an author writes: a name, a description and a function. */

import type { AgentExtension, AgentProvider, Json, JsonObject, Message } from '../protocol/wire.js'
import type { Duration } from '../support/duration.js'
import type { Log } from '../support/log.js'
import { checkOptions, isFunction, isHttpUrl, isPlainObject, isText, isTextList, type OptionRule, show } from '../support/options.js'
import type { Emission, PartsLike } from './output.js'

/** Who is calling. `claims` are what the proof of identity said beyond the id. */
export interface User {
  readonly id: string
  readonly claims: JsonObject
}

/** A user's message and what came with it. */
export interface Turn {
  /** The message that began this turn. */
  readonly message: Message
  /** Its text parts, joined by line breaks. */
  readonly text: string
  readonly user: User
  /** Media types that the caller said it takes; empty = no preference. Spec §3.2.2. */
  readonly acceptedOutputModes: readonly string[]
  /** URIs of the extensions that are active in this request. Spec §4.6. */
  readonly extensions: readonly string[]
}

/** The author's side of a task. */
export interface TaskHandle extends Turn {
  readonly id: string
  readonly contextId: string
  /** 1, 2, …: a new turn begins with the message that answers `inputRequired()`. */
  readonly turn: number
  /** 1, 2, …: how often a run of this turn was begun. */
  readonly attempt: number
  /** As it was when the turn began, this turn's message last. */
  readonly history: readonly Message[]
  /** Fires with the reason `'canceled'`, `'fenced'` or `'shutdown'`; nothing that is put out later is committed. */
  readonly signal: AbortSignal
  /** Memory of this caller's context: as it was when the turn began, written with the run's next commit. */
  readonly context: {
    get<T extends Json>(key: string): T | undefined
    set(key: string, value: Json): void
  }
  /** Messages that arrived while the task was at work, each once. */
  readonly inbox: {
    take(): Promise<Message | undefined>
    /** Waits for one; undefined when `timeout` has passed (default: no limit). */
    next(options?: { readonly timeout?: Duration }): Promise<Message | undefined>
  }
  /** Waits by the server's clock; rejects when `signal` fires. */
  sleep(duration: Duration): Promise<void>
  readonly log: Log
}

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

export type Run = (
  task: TaskHandle,
) => Result | Promise<Result> | AsyncGenerator<Emission | string, Result, void> | Generator<Emission | string, Result, void>

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
  /** Members of the card that only authenticated callers see; they replace those of the public card. */
  readonly extendedCard?: (user: User) => JsonObject | Promise<JsonObject>
  readonly answer?: Answer
}

declare const agentBrand: unique symbol

/** An agent, checked and frozen. It opens nothing; a server does. */
export interface Agent extends AgentInfo {
  readonly [agentBrand]: true
  readonly version: string
  readonly inputModes: readonly string[]
  readonly outputModes: readonly string[]
  readonly run: Run
}

export const agentDefaults = Object.freeze({
  version: '1.0.0',
  inputModes: Object.freeze(['text/plain', 'application/json']),
  outputModes: Object.freeze(['text/plain', 'application/json']),
})

const rules: Readonly<Record<string, OptionRule>> = {
  name: { takes: 'a text', ok: isText, required: true },
  description: { takes: 'a text', ok: isText, required: true },
  version: { takes: "a text such as '1.2.0'", ok: isText },
  inputModes: { takes: 'a list of media types', ok: isTextList },
  outputModes: { takes: 'a list of media types', ok: isTextList },
  tags: { takes: 'a list of texts', ok: isTextList },
  examples: { takes: 'a list of texts', ok: isTextList },
  provider: {
    takes: 'an object with organization and url',
    ok: (value) => isPlainObject(value) && isText(value['organization']) && isText(value['url']),
  },
  documentationUrl: { takes: 'an http or https URL', ok: isHttpUrl },
  iconUrl: { takes: 'an http or https URL', ok: isHttpUrl },
  extensions: {
    takes: 'a list of objects with a uri',
    ok: (value) => Array.isArray(value) && value.every((one) => isPlainObject(one) && isText(one['uri'])),
  },
  extendedCard: { takes: 'a function of the user', ok: isFunction },
  answer: { takes: 'a function of the turn', ok: isFunction },
}

const agents = new WeakSet<object>()

/**
 * An agent of one function: `agent({ name: 'Hello', description: 'Says hello.' }, (task) => `Hello, ${task.text}!`)`.
 *
 * @throws {TypeError} on an unknown, missing or wrong option
 */
export function agent(info: AgentInfo, run: Run): Agent {
  checkOptions('agent', info, rules)
  if (typeof run !== 'function')
    throw new TypeError(`agent takes the function that does the work as its second argument; it got ${show(run)}`)
  // The brand exists in the type only; `agents` is what knows it at run time.
  const made = Object.freeze({ ...agentDefaults, ...withoutUndefined(info), run }) as Agent
  agents.add(made)
  return made
}

export const isAgent = (value: unknown): value is Agent => typeof value === 'object' && value !== null && agents.has(value)

function withoutUndefined(info: AgentInfo): AgentInfo {
  // Same members, fewer of them: an explicit undefined means the default.
  return Object.fromEntries(Object.entries(info).filter(([, value]) => value !== undefined)) as unknown as AgentInfo
}
