/** What `connect()` and each call may be told, and what holds where nothing is said. */

import {
  checkOptions,
  isBoolean,
  isFunction,
  isHttpUrl,
  isPlainObject,
  isText,
  isTextList,
  isWhole,
  type OptionRule,
} from '../support/options.js'
import type { World } from '../support/world.js'

/** A bearer token, a whole value of Authorization (`Basic …`), or headers by name. */
export type Credential = string | Readonly<Record<string, string>>

/** What a credential is needed for. */
export interface CredentialRequest {
  readonly url: string
  /** 401 or 403, where the agent has refused the one before. */
  readonly refused: number | undefined
  /** Of the call. */
  readonly signal: AbortSignal | undefined
}

/** Gives the credential of a request. Asked again, once per request, when the agent refuses it with 401 or 403. */
export type CredentialHook = (about: CredentialRequest) => Credential | Promise<Credential>

/** A credential that stays, or where a fresh one comes from. */
export type ClientAuth = Credential | CredentialHook

/** Sends a request; the Fetch of the host by default. A server's own `fetch` will do. */
export type Fetching = (request: Request) => Promise<Response>

/** Bindings that this client speaks. */
export type ClientBinding = 'JSONRPC' | 'HTTP+JSON'

export const defaultClientLimits = Object.freeze({
  /** Until the headers of what is answered at once. Fetch does not tell when a connection stands. */
  connectMs: 30_000,
  /** Until the first byte of a stream: its headers may come with its first event. */
  firstByteMs: 120_000,
  /** Between two bytes of an answer; a stream that says nothing for longer is taken up anew. */
  idleMs: 120_000,
  /** One answer that is no stream. */
  answerBytes: 32 << 20,
  /** Characters of one event of a stream, and of a line of it. */
  eventLength: 16 << 20,
  /** Characters of the artifacts of one task, put together from its events. */
  artifactsLength: 128 << 20,
  /** How often in a row a request or a cut stream is tried again with nothing new from it. */
  retries: 6,
  /** Between two readings of a task that cannot be streamed. */
  pollMs: 2_000,
})

export type ClientLimits = { readonly [Name in keyof typeof defaultClientLimits]: number }

export interface ConnectOptions {
  /** Sent to the origin of the card only, and to `trustHosts`. */
  readonly auth?: ClientAuth
  /** Bindings in order of preference. Default: the order of the card. */
  readonly prefer?: readonly ClientBinding[]
  /** Further hosts, as `host` or `host:port`, that may see credentials; over https alone unless the card came by http. */
  readonly trustHosts?: readonly string[]
  readonly fetch?: Fetching
  /** URIs of the extensions that the caller speaks. Spec §4.6. */
  readonly extensions?: readonly string[]
  /** Looks at the card as it came, before anything of it is used; what it throws is what `connect()` throws. Spec §8.4. */
  readonly verifyCard?: (card: unknown) => unknown
  /**
   * The agent keeps one task per messageId: a send whose fate is unknown is sent again under the same one. So is a cancel.
   * Default false.
   */
  readonly resend?: boolean
  readonly limits?: Partial<ClientLimits>
  readonly signal?: AbortSignal
  /** Time and chance. Default: those of the host. */
  readonly world?: World
}

/** What every call takes. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined
  /** Of the user whose call this is, instead of the connection's. */
  readonly auth?: ClientAuth | undefined
}

const numbers: Readonly<Record<string, OptionRule>> = Object.fromEntries(
  Object.keys(defaultClientLimits).map((name) => [name, { takes: 'a whole number above 0', ok: isWhole(name === 'retries' ? 0 : 1) }]),
)

const auth: OptionRule = {
  takes: 'a token, an object of headers, or a function that gives one of them',
  ok: (value) => isText(value) || isFunction(value) || isPlainObject(value),
  secret: true,
}
/** @throws {TypeError} for what cannot be meant */
export function checkConnect(url: string, options: ConnectOptions): void {
  // The card's address may have a query: what follows it is the agent's affair.
  if (!isHttpUrl(url.replace(/\?.*/, '')))
    throw new TypeError(`connect() takes the http(s) URL of an agent or its card, not ${JSON.stringify(url)}`)
  checkOptions('connect()', options, {
    auth,
    prefer: {
      takes: 'a list of JSONRPC and HTTP+JSON',
      ok: (value) => Array.isArray(value) && value.every((name) => name === 'JSONRPC' || name === 'HTTP+JSON'),
    },
    trustHosts: { takes: 'a list of hosts', ok: isTextList },
    fetch: { takes: 'a function', ok: isFunction },
    extensions: { takes: 'a list of URIs', ok: isTextList },
    verifyCard: { takes: 'a function', ok: isFunction },
    resend: { takes: 'true or false', ok: isBoolean },
    limits: { takes: 'an object of numbers', ok: isPlainObject },
    signal: { takes: 'an AbortSignal', ok: isPlainObject },
    world: { takes: 'a World', ok: isPlainObject },
  })
  checkOptions('connect() limits', options.limits ?? {}, numbers)
}
