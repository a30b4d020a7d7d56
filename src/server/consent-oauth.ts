/** Providers of OAuth 2.0: the authorization code grant with PKCE. RFC 6749 §4.1, RFC 7636, RFC 8414, RFC 9207. */

import {
  AuthorizationResponseError,
  type AuthorizationServer,
  allowInsecureRequests,
  authorizationCodeGrantRequest,
  type Client,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  type CustomFetchOptions,
  calculatePKCECodeChallenge,
  customFetch,
  discoveryRequest,
  None,
  OperationProcessingError,
  processAuthorizationCodeResponse,
  processDiscoveryResponse,
  ResponseBodyError,
  UnsupportedOperationError,
  validateAuthResponse,
  WWWAuthenticateChallengeError,
} from 'oauth4webapi'
import type { Grant } from '../runtime/task.js'
import type { World } from '../support/world.js'
import { isProviderUrl, type OAuthProvider } from './consent-providers.js'

export type Fetch = (input: string, init?: RequestInit) => Promise<Response>

/** What is sent along to the provider, and has to be the same in both steps. */
export interface CodeRequest {
  readonly state: string
  /** Of PKCE: what only the server can have known that asked for the code. */
  readonly verifier: string
  readonly redirectUri: string
  readonly scopes: readonly string[]
}

/** `failed`: nothing is decided, and it may be tried again. `reason` is for the log, and without secrets. */
export type CodeOutcome =
  | { readonly outcome: 'granted'; readonly grant: Grant }
  | { readonly outcome: 'denied' }
  | { readonly outcome: 'failed'; readonly reason: string }

export interface OAuthClient {
  /** Where the person is sent. @throws while the provider cannot be asked where that is */
  authorizationUrl(request: CodeRequest): Promise<URL>
  /** Takes the provider's answer, and gets the credential for it. */
  redeem(answer: URLSearchParams, request: CodeRequest): Promise<CodeOutcome>
  /** What the person is told beforehand of where that is; while it cannot be asked for, the issuer. */
  place(): Promise<URL>
}

interface OAuthClientOptions {
  readonly world: World
  readonly fetch: Fetch
}

const times = Object.freeze({
  /** What a provider says about itself is asked for again after so long. */
  metadataMs: 3_600_000,
  /** Longest time for one answer of a provider. */
  answerMs: 10_000,
})

export function createOAuthClient(provider: OAuthProvider, { world, fetch }: OAuthClientOptions): OAuthClient {
  const client: Client = { client_id: provider.clientId }
  const authentication = authenticationOf(provider)
  let known: { readonly at: number; readonly server: Promise<AuthorizationServer> } | undefined

  /** What the provider is: as configured, or as it said at most an hour ago. */
  function server(): Promise<AuthorizationServer> {
    const configured = configuredServer(provider)
    if (configured) return Promise.resolve(configured)
    const now = world.now()
    if (known === undefined || now - known.at >= times.metadataMs) {
      const asked = { at: now, server: discover(provider.issuer ?? '') }
      known = asked
      asked.server.catch(() => {
        if (known === asked) known = undefined
      })
    }
    return known.server
  }

  async function discover(issuer: string): Promise<AuthorizationServer> {
    const url = new URL(issuer)
    const found = await inTime(async (signal) => {
      const options = { ...requestOptions(issuer), signal }
      // A provider that knows only OAuth has its metadata at another place than one of OpenID Connect.
      const response = await discoveryRequest(url, { ...options, algorithm: 'oidc' })
      if (response.status === 200) return processDiscoveryResponse(url, response)
      await response.body?.cancel()
      return processDiscoveryResponse(url, await discoveryRequest(url, { ...options, algorithm: 'oauth2' }))
    })
    const { authorization_endpoint: authorization, token_endpoint: token } = found
    if (isProviderUrl(authorization) && isProviderUrl(token)) return found
    throw new OperationProcessingError('the metadata of the provider names no https addresses for authorization and tokens')
  }

  function ask(url: string, { body, ...rest }: CustomFetchOptions<string, URLSearchParams | undefined>): Promise<Response> {
    return fetch(url, { ...rest, ...(body && { body }) })
  }

  function requestOptions(url: string) {
    // isProviderUrl has let through what is on this machine, and nothing else of http.
    return { [customFetch]: ask, [allowInsecureRequests]: url.startsWith('http:') }
  }

  async function inTime<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController()
    const takeBack = world.timer(times.answerMs, () => controller.abort(new NoAnswer()))
    try {
      return await work(controller.signal)
    } finally {
      takeBack()
    }
  }

  async function redeem(answer: URLSearchParams, { state, verifier, redirectUri, scopes }: CodeRequest): Promise<CodeOutcome> {
    try {
      const as = await server()
      const params = validateAuthResponse(as, client, withoutUnknownIssuer(answer, provider), state)
      const token = await inTime(async (signal) => {
        const options = { ...requestOptions(as.token_endpoint ?? ''), signal }
        const response = await authorizationCodeGrantRequest(as, client, authentication, params, redirectUri, verifier, options)
        return processAuthorizationCodeResponse(as, client, response)
      })
      // RFC 6749 §5.1: no scope in the answer means the one that was asked for.
      const granted = token.scope === undefined ? scopes : token.scope.split(' ').filter((one) => one !== '')
      return { outcome: 'granted', grant: { token: token.access_token, scopes: granted } }
    } catch (error) {
      if (error instanceof AuthorizationResponseError && error.error === 'access_denied') return { outcome: 'denied' }
      return { outcome: 'failed', reason: reasonOf(error) }
    }
  }

  return {
    async place() {
      const found = await server().catch(() => undefined)
      return new URL(found?.authorization_endpoint ?? provider.issuer ?? '')
    },
    async authorizationUrl({ state, verifier, redirectUri, scopes }) {
      const { authorization_endpoint: endpoint = '' } = await server()
      const url = new URL(endpoint)
      const parameters = {
        response_type: 'code',
        client_id: provider.clientId,
        redirect_uri: redirectUri,
        ...(scopes.length > 0 && { scope: scopes.join(' ') }),
        state,
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      }
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
      return url
    },
    redeem,
  }
}

class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
}

function configuredServer({ issuer, authorizationEndpoint, tokenEndpoint }: OAuthProvider): AuthorizationServer | undefined {
  if (authorizationEndpoint === undefined || tokenEndpoint === undefined) return undefined
  return {
    issuer: issuer ?? new URL(tokenEndpoint).origin,
    authorization_endpoint: authorizationEndpoint,
    token_endpoint: tokenEndpoint,
  }
}

/** Where nobody said what the issuer is called, its name in an answer can be held against nothing. */
function withoutUnknownIssuer(answer: URLSearchParams, { issuer }: OAuthProvider): URLSearchParams {
  const params = new URLSearchParams(answer)
  if (issuer === undefined) params.delete('iss')
  return params
}

function authenticationOf({ clientSecret, clientAuthentication }: OAuthProvider): ClientAuth {
  if (clientSecret === undefined) return None()
  return clientAuthentication === 'post' ? ClientSecretPost(clientSecret) : ClientSecretBasic(clientSecret)
}

/**
 * Why it did not work, in words that hold no credential. Errors of the library keep whole answers in their causes, and
 * what a provider writes may repeat what it was sent; messages of the library itself are its own words.
 */
export function reasonOf(error: unknown): string {
  if (error instanceof NoAnswer) return `no answer in ${times.answerMs / 1000} s`
  if (error instanceof ResponseBodyError) return `HTTP ${error.status}, ${errorCode(error.error)}`
  if (error instanceof AuthorizationResponseError) return errorCode(error.error)
  if (error instanceof WWWAuthenticateChallengeError) return `HTTP ${error.status}: the client was not accepted`
  if (error instanceof OperationProcessingError) {
    return error.cause instanceof Response ? `${error.message}: ${error.cause.status}` : error.message
  }
  if (error instanceof UnsupportedOperationError) return error.message
  return error instanceof Error ? `the provider could not be reached (${systemCode(error) ?? error.name})` : 'unknown'
}

/** RFC 6749 §4.1.2.1 gives errors names of this form. */
const errorCode = (text: string) => (/^[a-z_]{1,60}$/.test(text) ? text : 'an error without a known name')

function systemCode({ cause }: Error): string | undefined {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  return typeof code === 'string' && /^[A-Z_]{1,60}$/.test(code) ? code : undefined
}
