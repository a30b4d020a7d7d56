/** The errors that a peer may be shown, one class each: throw them by name. Spec §3.3.2. */

import { type ErrorName, errorTable } from './error-table.js'
import { shorten } from './text.js'

/** What is wrong with one field of a request. */
export interface Violation {
  /** Path in JSON names: `message.parts[0].text`. */
  readonly field: string
  readonly description: string
}

/** What an error has besides its name and text. */
export interface ErrorDetails {
  readonly metadata?: Readonly<Record<string, string>>
  readonly violations?: readonly Violation[]
  readonly httpStatus?: number
  readonly retryAfterSeconds?: number
  readonly allow?: readonly string[]
  readonly scopes?: readonly string[]
  readonly cause?: unknown
}

/** What all of them have. Its text is shown to the peer: it names nothing that the caller may not know. */
export class A2AError extends Error {
  override readonly name: ErrorName
  readonly reason: string
  /** Goes out in the google.rpc.ErrorInfo; holds no time and no random value. */
  readonly metadata: Readonly<Record<string, string>>
  /** Goes out as google.rpc.BadRequest. */
  readonly violations?: readonly Violation[]
  /** The table's, or the narrower one that fits. */
  readonly httpStatus: number
  /** For `Retry-After`. */
  readonly retryAfterSeconds?: number
  /** HTTP verbs that the address does take, for `Allow` beside 405. */
  readonly allow?: readonly string[]
  /** Scopes that the operation needs, for `WWW-Authenticate` beside 403. */
  readonly scopes?: readonly string[]

  // The classes below add no fields of their own: what is read from a wire is built by this constructor alone.
  constructor(name: ErrorName, message: string, details: ErrorDetails = {}) {
    super(message, 'cause' in details ? { cause: details.cause } : undefined)
    this.name = name
    this.reason = errorTable[name].reason
    this.metadata = details.metadata ?? {}
    this.httpStatus = details.httpStatus ?? errorTable[name].http
    if (details.violations !== undefined) this.violations = details.violations
    if (details.retryAfterSeconds !== undefined) this.retryAfterSeconds = details.retryAfterSeconds
    if (details.allow !== undefined) this.allow = details.allow
    if (details.scopes !== undefined) this.scopes = details.scopes
  }
}

/** No such task for this caller: another caller's task is no other case. The answer depends on the id alone (§13.1). */
export class TaskNotFoundError extends A2AError {
  constructor(taskId: string) {
    super('TaskNotFoundError', `There is no task ${quote(taskId)}. Check the id, or send a message without taskId to begin a new task.`, {
      metadata: { taskId: echo(taskId) },
    })
  }
}

/** The task has already ended in another state than CANCELED. */
export class TaskNotCancelableError extends A2AError {
  constructor(taskId: string) {
    super('TaskNotCancelableError', `Task ${quote(taskId)} has already ended and cannot be canceled. Read its result with GetTask.`, {
      metadata: { taskId: echo(taskId) },
    })
  }
}

/** The agent has not declared push notifications. */
export class PushNotificationNotSupportedError extends A2AError {
  constructor() {
    super('PushNotificationNotSupportedError', 'This agent sends no push notifications. Use streaming or GetTask to follow the task.')
  }
}

/** The agent, or the state the task is in, does not allow the operation. `text` says which and what to do instead. */
export class UnsupportedOperationError extends A2AError {
  constructor(text: string) {
    super('UnsupportedOperationError', text)
  }
}

/** A body or a part of a media type that is not taken here. `text` names the type and those that are. */
export class ContentTypeNotSupportedError extends A2AError {
  constructor(text: string) {
    super('ContentTypeNotSupportedError', text)
  }
}

/** A peer that answered with something the protocol does not allow. */
export class InvalidAgentResponseError extends A2AError {
  constructor(text = 'The agent gave an answer that the protocol does not allow.', options: { readonly cause?: unknown } = {}) {
    super('InvalidAgentResponseError', text, options)
  }
}

/** Declared in the card, but there is none. */
export class ExtendedAgentCardNotConfiguredError extends A2AError {
  constructor() {
    super(
      'ExtendedAgentCardNotConfiguredError',
      'This agent has no extended agent card. Use the public one at /.well-known/agent-card.json.',
    )
  }
}

/** The caller did not list an extension that the card requires. */
export class ExtensionSupportRequiredError extends A2AError {
  constructor(uri: string) {
    super(
      'ExtensionSupportRequiredError',
      `This agent requires the extension ${quote(uri)}. List it in A2A-Extensions if you support it.`,
      {
        metadata: { extension: echo(uri) },
      },
    )
  }
}

/** The caller speaks a version that this side does not. */
export class VersionNotSupportedError extends A2AError {
  /** @param asked as the caller wrote it; what an absent version means (0.3) where it wrote none */
  constructor(asked: string, supported: readonly string[]) {
    const list = supported.join(', ')
    super('VersionNotSupportedError', `A2A version ${quote(asked)} is not supported. Send A2A-Version with one of: ${list}.`, {
      metadata: { requestedVersion: echo(asked), supportedVersions: list },
    })
  }
}

/** A body that is no JSON, or no UTF-8. */
export class ParseError extends A2AError {
  constructor(text = 'The body is not valid JSON in UTF-8.', options: { readonly cause?: unknown } = {}) {
    super('ParseError', text, options)
  }
}

/** The envelope is wrong: what a request must be before its parameters are looked at. */
export class InvalidRequestError extends A2AError {
  constructor(text: string) {
    super('InvalidRequestError', text)
  }
}

/** No such method or path, or a path that does not take the verb. */
export class MethodNotFoundError extends A2AError {
  /** @param allow HTTP verbs that this address takes: makes the answer a 405 */
  constructor(method: string, allow?: readonly string[]) {
    const remedy =
      allow === undefined ? 'Check the name and the address against the agent card.' : `This address takes ${allow.join(', ')}.`
    super(
      'MethodNotFoundError',
      `There is no operation ${quote(method)} here. ${remedy}`,
      allow === undefined ? {} : { httpStatus: 405, allow },
    )
  }
}

/** Parameters that the operation cannot take. */
export class InvalidParamsError extends A2AError {
  /** @param problem every bad field, or a text where no single field is to blame */
  constructor(problem: readonly Violation[] | string) {
    if (typeof problem === 'string') super('InvalidParamsError', problem)
    else super('InvalidParamsError', summary(problem), { violations: problem })
  }
}

/** Something broke on this side. The text is fixed, so that nothing thrown can show through; `cause` stays here. */
export class InternalError extends A2AError {
  constructor(options: { readonly cause?: unknown } = {}) {
    super('InternalError', 'The agent failed to answer this request. Try again later, or tell its operator.', options)
  }
}

/** No credentials, or none that hold. */
export class UnauthenticatedError extends A2AError {
  constructor(text = 'This agent needs valid credentials. Its card says which kinds it takes.') {
    super('UnauthenticatedError', text)
  }
}

/** A missing scope or a foreign origin; never a hidden task. */
export class PermissionDeniedError extends A2AError {
  /** @param scopes those that the operation needs, where one of them was missing */
  constructor(text: string, scopes?: readonly string[]) {
    super('PermissionDeniedError', text, scopes === undefined ? {} : { scopes })
  }
}

/** A limit was met. `text` names it. */
export class ResourceExhaustedError extends A2AError {
  /** @param what `size`: one request is too large (413); `rate`: there are too many (429) */
  constructor(what: 'size' | 'rate', text: string, options: { readonly retryAfterSeconds?: number } = {}) {
    super('ResourceExhaustedError', text, { ...options, httpStatus: what === 'size' ? 413 : 429 })
  }
}

/** Not able at the moment; the same request may succeed later. */
export class UnavailableError extends A2AError {
  constructor(
    text = 'The agent cannot answer at the moment. Try again.',
    options: { readonly retryAfterSeconds?: number; readonly cause?: unknown } = {},
  ) {
    super('UnavailableError', text, options)
  }
}

/** `thrown` itself if a peer may be shown it; anything else is an {@link InternalError} that keeps it as cause. */
export function toA2AError(thrown: unknown): A2AError {
  return thrown instanceof A2AError ? thrown : new InternalError({ cause: thrown })
}

const longestEcho = 256 // characters of what the caller sent; an answer must not grow with the request

function echo(text: string): string {
  return shorten(text, longestEcho)
}

function quote(text: string): string {
  return JSON.stringify(echo(text))
}

function summary(violations: readonly Violation[]): string {
  const shown = violations.slice(0, 5).map(({ field, description }) => (field === '' ? description : `${field}: ${description}`))
  const rest = violations.length - shown.length
  return `The request is not valid: ${shown.join('; ')}${rest > 0 ? `; and ${rest} more` : ''}.`
}
