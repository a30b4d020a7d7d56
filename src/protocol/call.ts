/** How an operation is called and how it answers, whatever binding the call came by. */

import type { OperationName } from './operations.js'
import type { JsonObject } from './wire.js'

/** Who is calling, as the proof of identity says. */
export interface Principal {
  readonly id: string
  readonly claims: JsonObject
  readonly scopes: readonly string[]
  /** Tenants that this caller may name; the empty one is always allowed. */
  readonly tenants: readonly string[]
  /** False only where nobody has to prove anything. */
  readonly authenticated: boolean
}

/** A call as a binding hands it on. */
export interface IncomingCall {
  readonly principal: Principal
  /** URIs of the `A2A-Extensions` that came with it. */
  readonly extensions: readonly string[]
  /** The `Last-Event-ID` header, where there is one. */
  readonly lastEventId: string | undefined
  /** The base URL of the server, as this caller knows it. */
  readonly publicUrl: () => string
  /** Fires when nobody waits for the answer any more, or the server stops (then with an A2AError as its reason). */
  readonly signal: AbortSignal
}

/** A call as an operation gets it: its `extensions` are those that the agent knows. */
export interface Call extends IncomingCall {
  /** `''` where none was named. */
  readonly tenant: string
}

export interface Frame {
  /** Number of the event, absent on a direct Message. */
  readonly seq?: number
  /** Canonical JSON text of a StreamResponse. */
  readonly body: string
}

/**
 * One answer as canonical JSON text, or a stream of frames in batches. A stream that throws an A2AError ends with it as
 * its last frame; one that throws its signal's reason just ends.
 */
export type Reply = (
  | { readonly kind: 'one'; readonly body: string }
  | { readonly kind: 'stream'; readonly frames: AsyncIterable<readonly Frame[]> }
) & {
  /** Extensions that were active, for the answer to name. */
  readonly extensions?: readonly string[]
}

/** An operation with its parameters still unread: they are checked after the capability and the extensions (D16). */
export type Invoke = (operation: OperationName, readParams: () => unknown, call: IncomingCall) => Promise<Reply>
