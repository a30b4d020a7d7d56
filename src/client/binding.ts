/** What the two bindings of the client have in common, and what each of them brings. */

import { fromHttpError } from '../protocol/error-wire.js'
import { type A2AError, InvalidAgentResponseError } from '../protocol/errors.js'
import type { OperationName } from '../protocol/operations.js'
import type { Ask, Reply } from './exchange.js'

/** What this client asks of agents. */
export type ClientOperation = Extract<
  OperationName,
  'SendMessage' | 'SendStreamingMessage' | 'GetTask' | 'ListTasks' | 'CancelTask' | 'SubscribeToTask'
>

export interface Binding {
  /** The request; the headers that every request has are added to its own. Members of `params` that are undefined are not there. */
  ask(operation: ClientOperation, params: object): Ask
  /** The result in an answer. @throws {A2AError} the error that it is instead */
  result(text: string, reply: Reply): unknown
  /** The StreamResponse in the data of an event. @throws {A2AError} the error that it is instead */
  frame(data: string, reply: Reply): unknown
}

/**
 * The JSON of a body.
 *
 * @throws {A2AError} by the HTTP status, or {@link InvalidAgentResponseError}, for what is none
 */
export function parseBody(text: string, reply: Reply): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw reply.status < 400 ? new InvalidAgentResponseError(`${reply.said} where JSON was expected.`, { cause }) : byStatus(reply)
  }
}

/** The error of an answer that says nothing beyond its status. */
export function byStatus(reply: Reply): A2AError {
  return fromHttpError(reply.status, { error: { message: `${reply.said}.` } }, retryAfter(reply))
}

/** For errors that came with `reply`. */
export function retryAfter({ headers, status }: Reply): { readonly httpStatus: number; readonly retryAfterSeconds?: number } {
  // The other form, a date, says the time of a clock that is not ours: the own back-off is as good.
  const seconds = Number(headers.get('retry-after') ?? undefined)
  return { httpStatus: status, ...(seconds >= 0 && { retryAfterSeconds: seconds }) }
}
