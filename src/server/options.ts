/** Options of a server, with their defaults and checks. */

import { isAllowEntry } from '../net/allow-list.js'
import { type SigningKey, signatureAlgorithms } from '../protocol/card-signature.js'
import { isOperationName, type OperationName } from '../protocol/operations.js'
import { defaultPush, type PushOptions, type PushSettings, pushRules } from '../push/push-options.js'
import { consentPath } from '../runtime/consent.js'
import type { StoreSource } from '../store/store.js'
import type { Log } from '../support/log.js'
import { checkOptions, isBoolean, isFunction, isHttpUrl, isPlainObject, isText, isWhole, type OptionRule } from '../support/options.js'
import { systemWorld, type World } from '../support/world.js'
import { type Auth, isAuth } from './authenticate.js'
import { cardPath } from './card-door.js'
import { checkProviders, type OAuthProviders } from './consent-providers.js'
import type { Cors } from './cors.js'
import { isAddressOrNetwork } from './public-url.js'

export interface Limits {
  /** Largest request body. Default 10 MiB. */
  readonly bodyBytes?: number
  /** Objects and arrays within each other in a request, from 8 to 1000. Default 64. */
  readonly depth?: number
  /**
   * An idle stream gets a comment line after so long, so that proxies keep it open. Default 15 s: set it below what a
   * proxy in front allows.
   */
  readonly keepAliveMs?: number
  /** A reader that has so much unsent is not fed until it has taken it. Default 1 MiB. */
  readonly unsentBytes?: number
  /** A reader that takes nothing for so long is cut. Default 60 s. */
  readonly drainMs?: number
  /** Runs may go on for so long when the server stops. Default 10 s. */
  readonly shutdownMs?: number
  /**
   * Runs that wait for an answer, a consent, a signal or a time and are kept in memory. Those beyond it are run again from
   * their records when they go on. Default 1000.
   */
  readonly waitingRuns?: number
  /** Largest body of an answer to `task.fetch`, after decompression. Default 10 MiB. */
  readonly fetchBytes?: number
  /** A `task.fetch` may take so long, redirects and the body of the answer included. Default 30 s. */
  readonly fetchMs?: number
}

export const defaultLimits = Object.freeze({
  bodyBytes: 10 << 20,
  depth: 64,
  keepAliveMs: 15_000,
  unsentBytes: 1 << 20,
  drainMs: 60_000,
  shutdownMs: 10_000,
  waitingRuns: 1000,
  fetchBytes: 10 << 20,
  fetchMs: 30_000,
}) satisfies Required<Limits>

/** Where the bindings are mounted, as paths. */
export interface Mounts {
  /** Default `/a2a/v1`. */
  readonly jsonRpc?: string
  /** Default `/rest`. */
  readonly httpJson?: string
}

export const defaultMounts = Object.freeze({ jsonRpc: '/a2a/v1', httpJson: '/rest' }) satisfies Required<Mounts>

/** Where URLs that callers wrote may lead: `task.fetch`, and the addresses of push configurations. */
export interface Outbound {
  /**
   * Opens more than https to the public internet, each by its name: networks and addresses (`'10.1.0.0/16'`), hosts
   * (`'files.internal'`, `'files.internal:8443'`), origins (`'http://127.0.0.1:3000'`, the only way to plain http).
   * The addresses where clouds keep the credentials of their machines stay closed. Default: none.
   */
  readonly allow?: readonly string[]
}

export interface ServerOptions {
  /** Where tasks are kept: `sqlite('tasks.db')`. */
  readonly store?: StoreSource
  /** Who may call. Without it only `serve()` on a loopback address starts. */
  readonly auth?: Auth
  /** Base URL under which callers reach this server; the card names it. */
  readonly url?: string
  /**
   * Addresses and networks of proxies whose X-Forwarded-Proto, -Host and -Prefix say what the card names where `url` is
   * not given. Default: none, and forwarded headers are not read.
   */
  readonly trustedProxies?: readonly string[]
  /** Signs the card. Default: it is not signed. */
  readonly signing?: SigningKey
  /** Scopes that a caller needs for an operation, or for all others under `*`. Default: none. */
  readonly scopes?: Scopes
  /** Which web pages may call. Default: none. */
  readonly cors?: Cors
  readonly mounts?: Mounts
  readonly limits?: Limits
  /** Runs at a time in this process; further tasks wait as SUBMITTED. Default 100. */
  readonly concurrency?: number
  /**
   * Whether the same message sent twice within 24 h is one send. `'strict'` refuses another message under the same id;
   * false switches it off. Default true.
   */
  readonly idempotency?: boolean | 'strict'
  /** Whether callers may name their contexts themselves. Default true. */
  readonly clientContextIds?: boolean
  /** Take push configurations and post to them. Needs a host with sockets. Default false. */
  readonly push?: boolean | PushOptions
  readonly outbound?: Outbound
  /** Providers that `task.authorize` may send people to, by name. Default: none. */
  readonly oauth?: OAuthProviders
  /**
   * Seals credentials, and what tasks record that have one: a text of at least 32 characters that cannot be guessed
   * (`openssl rand -base64 32` makes one). With another one the server does not start until such tasks have ended. Default:
   * a key that the store keeps apart from its tasks, as `sqlite()` does in a file beside its own.
   */
  readonly secretKey?: string
  /**
   * Whether to start without the key that tasks in the store were sealed with: `'refuse'`, or `'fail'`, which gives up what needs it and
   * fails those tasks. Default `'refuse'`.
   */
  readonly lostKey?: 'refuse' | 'fail'
  /** Default: silent here, JSON lines on standard error in `serve()`. */
  readonly log?: Log
  /** Clock, timers and chance. For tests. */
  readonly world?: World
}

/** By the name of the operation; `*` stands for those that are not named. */
export type Scopes = { readonly [Name in OperationName | '*']?: readonly string[] }

export const serverDefaults = Object.freeze({
  concurrency: 100,
  idempotency: true,
  clientContextIds: true,
  push: false,
  lostKey: 'refuse',
  world: systemWorld,
})

const isListOf = (ok: (value: unknown) => boolean) => (value: unknown) => Array.isArray(value) && value.every(ok)

function isSigning(value: unknown): boolean {
  if (!isPlainObject(value)) return false
  const { key, kid, alg, jku = 'https://key.example', ...rest } = value
  const isAlgorithm = signatureAlgorithms.some((name) => name === alg)
  return isPlainObject(key) && isText(kid) && isAlgorithm && isHttpUrl(jku) && Object.keys(rest).length === 0
}

function isScopes(value: unknown): boolean {
  return isPlainObject(value) && Object.entries(value).every(([name, list]) => (name === '*' || isOperationName(name)) && isScopeList(list))
}

/** Of the characters that a scope may have: RFC 6749 §3.3. */
const isScopeList = isListOf((one) => typeof one === 'string' && /^[!#-[\]-~]+$/.test(one))

function isCors(value: unknown): boolean {
  if (!isPlainObject(value)) return false
  const { origins, credentials = false, ...rest } = value
  if (!isBoolean(credentials) || Object.keys(rest).length > 0) return false
  if (!Array.isArray(origins) || origins.length === 0) return false
  return origins.every(isOrigin) || (origins.length === 1 && origins[0] === '*' && !credentials)
}

// A star inside of a name would look like a pattern, and match nothing.
const isOrigin = (value: unknown) => isHttpUrl(value) && new URL(value).origin === value && !value.includes('*')

function isOutbound(value: unknown): boolean {
  if (!isPlainObject(value)) return false
  const { allow = [], ...rest } = value
  return isListOf(isAllowEntry)(allow) && Object.keys(rest).length === 0
}

/** Paths that a URL parser would change, the card's own and those of consents can never be called. */
const isMount = (value: unknown) =>
  typeof value === 'string' &&
  /^(\/(?!\.\.?(\/|$))[A-Za-z0-9._~-]+)+$/.test(value) &&
  ![cardPath, consentPath].some((taken) => `${taken}/`.startsWith(`${value}/`) || value.startsWith(`${taken}/`))
const isLog = (value: unknown) => isPlainObject(value) && ['debug', 'info', 'warn', 'error'].every((level) => isFunction(value[level]))
const isWorld = (value: unknown) =>
  isPlainObject(value) && ['now', 'timer', 'defer', 'randomBytes'].every((name) => isFunction(value[name]))
// Guessing one of so many takes too long even where each guess takes no time; whether they were chosen by chance, nobody can see.
const isSecretKey = (value: unknown) => typeof value === 'string' && value.trim().length >= 32
const isStoreSource = (value: unknown) => typeof value === 'object' && value !== null && 'open' in value && isFunction(value.open)

export const serverRules: Readonly<Record<keyof ServerOptions, OptionRule>> = {
  store: { takes: "a store, such as sqlite('tasks.db')", ok: isStoreSource },
  auth: { takes: 'bearerTokens(…), jwt(…) or anonymous()', ok: isAuth, secret: true },
  url: { takes: 'an http or https URL without query', ok: isHttpUrl },
  trustedProxies: { takes: "a list of addresses or networks such as '10.0.0.0/8'", ok: isListOf(isAddressOrNetwork) },
  signing: {
    takes: `an object with key (a private JWK or CryptoKey), kid, alg (${signatureAlgorithms.join(', ')}) and perhaps jku`,
    ok: isSigning,
    secret: true,
  },
  scopes: { takes: "an object of lists of texts by operation, or by '*'", ok: isScopes },
  cors: {
    takes: "an object with origins (such as ['https://app.example'], or ['*'] without credentials) and perhaps credentials",
    ok: isCors,
  },
  mounts: { takes: 'an object with jsonRpc and httpJson', ok: isPlainObject },
  limits: { takes: `an object with ${Object.keys(defaultLimits).join(', ')}`, ok: isPlainObject },
  concurrency: { takes: 'a whole number from 1', ok: isWhole(1) },
  idempotency: { takes: "true, false or 'strict'", ok: (value) => isBoolean(value) || value === 'strict' },
  clientContextIds: { takes: 'true or false', ok: isBoolean },
  push: {
    takes: `true, false or an object with ${Object.keys(pushRules).join(', ')}`,
    ok: (value) => isBoolean(value) || isPlainObject(value),
  },
  outbound: {
    takes:
      "an object with allow, a list of networks such as '10.1.0.0/16', hosts such as 'files.internal' and origins such as 'http://127.0.0.1:3000', none of them an address of cloud metadata",
    ok: isOutbound,
  },
  oauth: { takes: 'an object of providers by name', ok: isPlainObject, secret: true },
  lostKey: { takes: "'refuse' or 'fail'", ok: (value) => value === 'refuse' || value === 'fail' },
  secretKey: { takes: 'a text of at least 32 characters, such as `openssl rand -base64 32` makes', ok: isSecretKey, secret: true },
  log: { takes: 'an object with debug, info, warn and error', ok: isLog },
  world: { takes: 'an object with now, timer, defer and randomBytes', ok: isWorld },
}

const mountRule: OptionRule = { takes: "a path such as '/a2a/v1'", ok: isMount }
const limitRule: OptionRule = { takes: 'a whole number', ok: isWhole(0) }
// A message needs five levels for the smallest data; a thousand are far from exhausting the stack.
const depthRule: OptionRule = { takes: 'a whole number from 8 to 1000', ok: isWhole(8, 1000) }
const limitRules = { ...Object.fromEntries(Object.keys(defaultLimits).map((name) => [name, limitRule])), depth: depthRule }

/** @throws {TypeError} on an unknown or wrong option, in one sentence that names it */
export function checkServerOptions(door: string, options: ServerOptions): void {
  checkOptions(door, options, serverRules)
  checkOptions(`${door}: mounts`, options.mounts ?? {}, { jsonRpc: mountRule, httpJson: mountRule })
  checkOptions(`${door}: limits`, options.limits ?? {}, limitRules)
  if (typeof options.push === 'object') checkOptions(`${door}: push`, options.push, pushRules)
  checkProviders(door, options.oauth ?? {})
  const { jsonRpc, httpJson } = { ...defaultMounts, ...options.mounts }
  if (`${jsonRpc}/`.startsWith(`${httpJson}/`) || `${httpJson}/`.startsWith(`${jsonRpc}/`)) {
    throw new TypeError(`${door}: mounts jsonRpc and httpJson must not lie within each other; they are ${jsonRpc} and ${httpJson}`)
  }
}

/** Undefined where nothing is pushed. */
export function pushSettings(push: boolean | PushOptions): PushSettings | undefined {
  return push === false ? undefined : { ...defaultPush, ...(push === true ? {} : definedOf(push)) }
}

/** An explicit undefined means the default. */
export function definedOf<Options extends object>(options: Options): Partial<Options> {
  // Same members, fewer of them.
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Partial<Options>
}
