/** The author's side of a task: what a run knows, and its doors to the runtime. */

import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Json, JsonObject, Message } from '../protocol/wire.js'
import type { Duration } from '../support/duration.js'
import type { Log } from '../support/log.js'
import type { Emission, PartLike } from './output.js'

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

/** Why `task.signal` fired. Nothing that the run puts out later is committed; where the task goes on, another run does. */
export type StopReason = 'canceled' | 'fenced' | 'shutdown' | 'inactive' | 'evicted' | 'lost' | 'failed'

export interface StepContext {
  /** Fires when the run is told to stop, and at the step's own timeout. */
  readonly signal: AbortSignal
  /** The same in every try and every rerun of this step, and in no other: for services that take one. */
  readonly idempotencyKey: string
}

export interface StepOptions {
  /** How often a try that failed is followed by another, after 1 s, 2 s, 4 s … up to a minute. Default 0. */
  readonly retry?: number
  /** Each try may take so long. Default: no limit. */
  readonly timeout?: Duration
}

export interface WaitOptions {
  /** Without an answer for so long, a {@link WaitTimeoutError} is thrown. Default: no limit. */
  readonly timeout?: Duration
  /** Name of the record. Default: made of the kind, the prompt and a count. */
  readonly key?: string
}

/** What somebody else is asked to allow. */
export type ConsentRequest = ConsentByOAuth | ConsentByCallback

interface ConsentWords {
  /** What is asked, in the words that the person reads. */
  readonly prompt?: string
  /** The request expires after so long. Default 24 h. */
  readonly timeout?: Duration
  readonly key?: string
}

/** Through a provider that the server's option `oauth` names: authorization code with PKCE. RFC 6749 §4.1, RFC 7636. */
export interface ConsentByOAuth extends ConsentWords {
  readonly oauth: string
  readonly scopes: readonly string[]
}

/** Through any other place: it gets the person by the link, and posts the credential and the state to the callback. */
export interface ConsentByCallback extends ConsentWords {
  readonly callback: (place: { readonly callbackUrl: string; readonly state: string }) => string
}

/** What came of a request for consent: a credential, or a message of the caller, who may correct or decline. */
export type Consent = { readonly granted: Grant } | { readonly message: Message }

export interface Grant {
  readonly token: string
  readonly scopes: readonly string[]
}

/**
 * The author's side of a task. What is awaited here leaves a record, once it is settled: a run that takes the turn up after
 * a crash gets the records back, in the order in which they came, and goes on from there. What happens outside of a step
 * happens at least once.
 *
 * A run that is told to stop finds its `signal` aborted, and what it awaits here rejects once with a {@link RunStoppedError};
 * what it calls after that does not settle. That is the moment to let go of what the function holds, and no reason to
 * make anything good: where the task goes on, another run does.
 */
export interface TaskHandle extends Turn {
  readonly id: string
  readonly contextId: string
  /** 1, 2, …: a new turn begins with the message that answers `inputRequired()`. */
  readonly turn: number
  /** 1, 2, …: raised when the task is taken over from a process that died; 1 again with each record and each turn. */
  readonly attempt: number
  /** As it was when the turn began, this turn's message last. */
  readonly history: readonly Message[]
  /** Its reason is a {@link RunStoppedError}, which says `why`. */
  readonly signal: AbortSignal
  /** Memory of this caller's context: as it was when the turn first looked at it, written with the run's next commit. */
  readonly context: {
    get<T extends Json>(key: string): T | undefined
    set(key: string, value: Json): void
  }
  /** Messages that arrived while the task was at work, each once. */
  readonly inbox: {
    take(): Promise<Message | undefined>
    /**
     * Waits for one; undefined when `timeout` has passed (default: no limit). A run that only waits here gives its place to
     * others, but stays in memory. A rerun begins to wait anew.
     */
    next(options?: { readonly timeout?: Duration }): Promise<Message | undefined>
  }
  /**
   * Calls `fn` and records what comes of it under `key`, which is this step's alone within the turn. A rerun gets the record.
   * What it gives is what JSON keeps of it, in the first run too: a date comes back as text.
   *
   * @throws {StepFailedError} when its last try has failed; a rerun throws it again
   * @throws {TypeError} for a second step of this key, which fails the task
   */
  step<T>(key: string, fn: (step: StepContext) => T | Promise<T>, options?: StepOptions): Promise<T>
  /**
   * A step whose chunks go out as one growing artifact: `const text = yield* task.stream('story.md', …)`. Recorded when
   * it ends; a rerun before that begins the artifact anew.
   */
  stream(
    artifactName: string,
    fn: (step: StepContext) => AsyncIterable<string> | Iterable<string>,
    options?: { readonly key?: string },
  ): AsyncGenerator<Emission, string, void>
  /** Waits by the server's clock, also over restarts. */
  sleep(duration: Duration, options?: { readonly key?: string }): Promise<void>
  /**
   * INPUT_REQUIRED with `prompt`. The first message after it that names no other question answers it; with a `schema`
   * its data part, or else its text, must fit, or the question is asked again with the reason. One question, consent, signal
   * or time is waited for at a time: a further one opens when the function has this one's outcome, also where it lost a race.
   *
   * @throws {WaitTimeoutError} after `timeout`
   * @throws {AnswerSchemaError} where the schema throws
   */
  ask(prompt: PartLike, options?: WaitOptions): Promise<{ readonly message: Message; readonly text: string }>
  ask<S extends StandardSchemaV1>(prompt: PartLike, options: WaitOptions & { readonly schema: S }): Promise<StandardSchemaV1.InferOutput<S>>
  /**
   * AUTH_REQUIRED with a link for whoever may agree. The credential comes out of band, never in a message, and is good for
   * this request only: a second operation asks again.
   *
   * @throws {ConsentDeniedError} when the person declines
   * @throws {WaitTimeoutError} after `timeout`
   * @throws {TypeError} for a provider that the server does not have
   */
  authorize(request: ConsentRequest): Promise<Consent>
  /**
   * Waits for `server.signal(taskId, name, value)`: work that goes on elsewhere. The task stays WORKING. A signal that came
   * before is kept, and taken.
   *
   * @throws {WaitTimeoutError} after `timeout`
   */
  wait<T extends Json>(name: string, options?: WaitOptions): Promise<T>
  /**
   * As the global `fetch`, but fit for a URL that somebody else wrote: https to the public internet and to what the option
   * `outbound` opens, at most 5 redirects, and not beyond the limits `fetchBytes` and `fetchMs`. Rejects when `signal` fires.
   *
   * @throws {AddressRefusedError} where the URL, a redirect or an address of the host may not be called
   * @throws {FetchLimitError} also from the body of the answer
   * @throws {TypeError} where the host of the server has no sockets: `createServer` of `errand/edge`
   */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>
  readonly log: Log
}
