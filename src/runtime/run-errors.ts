/** What may be thrown into an agent's function by what it awaits. */

/** The last try of a step failed. A rerun throws the same again. */
export class StepFailedError extends Error {
  override readonly name = 'StepFailedError'
  /** The step's own key. */
  readonly key: string
  /** What the step threw, as far as a record keeps it. */
  readonly reason: { readonly name: string; readonly message: string }

  constructor(key: string, reason: StepFailedError['reason'], options?: ErrorOptions) {
    super(`the step ${JSON.stringify(key)} failed: ${reason.message}`, options)
    this.key = key
    this.reason = reason
  }
}

/** Nothing came within the time that the agent gives. */
export class WaitTimeoutError extends Error {
  override readonly name = 'WaitTimeoutError'
  constructor(what: string) {
    super(`nothing came in time: ${what}`)
  }
}

/** The person who was asked did not agree. */
export class ConsentDeniedError extends Error {
  override readonly name = 'ConsentDeniedError'
  constructor(reason: string) {
    super(`consent was not given: ${reason}`)
  }
}

/** What a caller may read of an error that ended a task: never its own words. */
export function causeForCaller(error: unknown): string {
  if (error instanceof WaitTimeoutError) return 'The agent waited for something that did not come in time.'
  if (error instanceof ConsentDeniedError) return 'Consent was not given.'
  return 'The agent failed because of an internal error.'
}
