/** What is in the bodies of records, by kind. The store keeps them as text and does not look inside. */

import type { Json, JsonObject } from '../protocol/wire.js'
import type { Grant } from './task.js'

/** A step: what came of it. `value` is absent where the function gave none. */
export type StepBody = { readonly value?: Json } | { readonly error: Reason }

/** What a record keeps of an error. */
export interface Reason {
  readonly name: string
  readonly message: string
}

/** A stream: all of its text, or why it broke off. */
export type StreamBody = { readonly text: string } | { readonly error: Reason }

/** A question: open, then answered by the event of that number, then judged, unless the judge failed. */
export type AskBody =
  | { readonly asked: number }
  | { readonly answer: number }
  | { readonly answer: number; readonly value: Json }
  | { readonly answer: number; readonly error: Reason }
  | { readonly timeout: true }

/** What the consent page says. */
export interface ConsentAsked {
  readonly prompt: string
  readonly scopes: readonly string[]
  /** Name of a provider, or else the link to another place. */
  readonly oauth?: string
  readonly link?: string
}

/** A request for consent: open, then closed by a credential, a refusal, a message of the caller, or time. */
export type AuthorizeBody =
  | { readonly asked: ConsentAsked }
  | { readonly granted: Grant }
  | { readonly denied: string }
  | { readonly answer: number }
  | { readonly timeout: true }

/** A wait for a signal: open, then closed by the body of a signal or by time. */
export type WaitBody = Record<string, never> | { readonly signal: string } | { readonly timeout: true }

/** An inbox message that was taken, by the number of its event; none where the inbox was empty. */
export interface TakeBody {
  readonly seq?: number
}

/** The memory of the context as the turn first saw it. */
export interface ContextBody {
  readonly memory: JsonObject
}

/** How a turn began: the event of its message, and what came with that. */
export interface TurnBody {
  readonly seq: number
  readonly claims: JsonObject
  readonly acceptedOutputModes: readonly string[]
  readonly extensions: readonly string[]
}

/** Signals that came before anybody waited for them, oldest first. */
export interface SignalBody {
  readonly signals: readonly KeptSignal[]
}

export interface KeptSignal {
  readonly name: string
  /** Of `{"value": …}`, sealed where the task's records are. */
  readonly text: string
}
