/**
 * The door that people come to who are asked for their consent, and providers with what came of it. Who comes has no
 * identity here: the address, with the state in it, is what lets one in.
 */

import type { HttpReply } from '../bindings/http.js'
import { ResourceExhaustedError } from '../protocol/errors.js'
import type { AgentProvider } from '../protocol/wire.js'
import { type ConsentOutcome, type Consents, consentCallback, consentLink, consentPath, type OpenConsent } from '../runtime/consent.js'
import { toBase64url } from '../support/crypto.js'
import type { Log } from '../support/log.js'
import type { World } from '../support/world.js'
import { browserCookie, isOwnForm, isSameBrowser } from './consent-browser.js'
import { CallbackBodyError, parseCallback, parseForm } from './consent-callback.js'
import { type CodeRequest, createOAuthClient, type Fetch, type OAuthClient, reasonOf } from './consent-oauth.js'
import { consentHeaders, outcomePage, questionPage } from './consent-page.js'
import type { OAuthProviders } from './consent-providers.js'
import { gone, type RawRequest } from './handler.js'

export interface ConsentDoorOptions {
  readonly consents: Consents
  readonly agent: { readonly name: string; readonly provider?: AgentProvider }
  /** Whether callers prove who they are: elsewhere the owner of a task is nobody's name. */
  readonly authenticates: boolean
  readonly providers: OAuthProviders
  readonly world: World
  readonly log: Log
  /** The base URL under which people reach the server: the one that the links were made with. */
  readonly base: () => string
  /** Asks providers. Default: the global one. */
  readonly fetch?: Fetch
}

export type ConsentDoor = (request: RawRequest) => Promise<HttpReply>

const bodyBytes = 64 << 10

/** Whether the consent door answers for this path. */
export function isConsentPath(path: string): boolean {
  return path === consentPath || path.startsWith(`${consentPath}/`)
}

/** A path for the log: without a state, which lets in whoever has it. By its looks, since proxies and encodings move the door. */
export function withoutState(path: string): string {
  return path.replace(/[\w-]{64,}/g, '…')
}

export function createConsentDoor(options: ConsentDoorOptions): ConsentDoor {
  const { consents, agent, authenticates, providers, world, log, base } = options
  const fetching: Fetch = options.fetch ?? ((input, init) => fetch(input, init))
  const clients = new Map(
    Object.entries(providers).map(([name, provider]) => [name, createOAuthClient(provider, { world, fetch: fetching })]),
  )
  /** Answers of providers that are being dealt with, by state. */
  const underWay = new Map<string, Promise<HttpReply>>()

  async function question(state: string): Promise<HttpReply> {
    const found = await consents.find(state)
    if (found === undefined) return closedPage()
    const { header, asked, due } = found
    const target = await placeOf(found)
    if (target === undefined) return lostPage(found)
    return questionPage({
      agent: agent.name,
      organization: agent.provider?.organization,
      requester: authenticates ? header.caller.owner : undefined,
      prompt: asked.prompt,
      scopes: asked.scopes,
      due,
      target,
    })
  }

  async function decide(raw: RawRequest, state: string): Promise<HttpReply> {
    if (!isOwnForm(raw, base())) {
      log.info('a consent was refused', { reason: 'the form came from another page' })
      return outcomePage(403, 'Not from here', 'This answer came from another page. Open the link again, and answer there.')
    }
    const { decision } = parseForm(raw.header('content-type'), await raw.body(bodyBytes))
    if (decision !== 'agree' && decision !== 'decline') throw new CallbackBodyError(400, 'The decision must be agree or decline.')
    if (decision === 'decline') return declined(await consents.deny(state, 'the person who was asked declined'))
    const found = await consents.find(state)
    if (found === undefined) return closedPage()
    const client = clientOf(found)
    if (client === undefined) {
      const link = linkOf(found)
      return link === undefined ? lostPage(found) : redirect(link)
    }
    try {
      const target = await client.authorizationUrl(codeRequest(state, found))
      return redirect(target, { 'set-cookie': browserCookie(consents, state, base()) })
    } catch (error) {
      return failedPage(state, reasonOf(error))
    }
  }

  /** A provider sends the person back, with a code or an error. */
  async function takeCode(raw: RawRequest, answer: URLSearchParams): Promise<HttpReply> {
    // Whatever stands in an address is in logs and histories: no credential is taken from there, not even by mistake.
    if (answer.has('token') || answer.has('access_token')) return notAllowed(['POST'])
    const state = answer.get('state') ?? ''
    const found = await consents.find(state)
    const client = found && clientOf(found)
    if (found === undefined) return closedPage()
    if (client === undefined) {
      log.info('a consent was refused', { reason: 'no provider was asked', taskId: found.header.id })
      return closedPage()
    }
    if (!isSameBrowser(consents, state, { header: raw.header, base: base() })) {
      log.info('a consent was refused', { reason: 'another browser than the one that agreed', taskId: found.header.id })
      return outcomePage(
        403,
        'Not from this browser',
        'Nobody agreed to this request in this browser. Read what is asked, and by whom, before you agree.',
        consentLink(base(), state),
      )
    }
    // A page that is loaded twice would show a code twice, and a provider may take that for theft (RFC 6749 §4.1.2).
    const running = underWay.get(state) ?? redeem(client, answer, codeRequest(state, found)).finally(() => underWay.delete(state))
    underWay.set(state, running)
    return running
  }

  async function redeem(client: OAuthClient, answer: URLSearchParams, request: CodeRequest): Promise<HttpReply> {
    const result = await client.redeem(answer, request)
    if (result.outcome === 'granted') return given(await consents.grant(request.state, result.grant))
    if (result.outcome === 'denied') return declined(await consents.deny(request.state, 'the provider was told not to allow it'))
    return failedPage(request.state, result.reason)
  }

  /** Another place posts a credential. */
  async function takeToken(raw: RawRequest): Promise<HttpReply> {
    const { state, ...body } = parseCallback(raw.header('content-type'), await raw.body(bodyBytes))
    const found = await consents.find(state)
    // Credentials of a provider come from there and nowhere else.
    if (found === undefined) return closedText()
    if (found.asked.oauth !== undefined) {
      log.info('a consent was refused', { reason: 'a provider was asked, and this is none', taskId: found.header.id })
      return closedText()
    }
    const outcome =
      'error' in body
        ? await consents.deny(state, body.error)
        : await consents.grant(state, { token: body.token, scopes: body.scopes ?? found.asked.scopes })
    return outcome === 'done' ? { status: 204, headers: consentHeaders, body: '' } : closedText()
  }

  const clientOf = ({ asked }: OpenConsent) => (asked.oauth === undefined ? undefined : clients.get(asked.oauth))

  const placeOf = async (found: OpenConsent) => (await clientOf(found)?.place()) ?? linkOf(found)

  function codeRequest(state: string, { asked }: OpenConsent): CodeRequest {
    const verifier = toBase64url(consents.derive('pkce', state))
    return { state, verifier, redirectUri: consentCallback(base()), scopes: asked.scopes }
  }

  function failedPage(state: string, reason: string): HttpReply {
    log.warn('a provider did not confirm a consent', { reason })
    return outcomePage(
      502,
      'It did not work',
      'The place that you were sent to did not confirm it. Nothing was decided, and you can try again.',
      consentLink(base(), state),
    )
  }

  /** @param why without a word of the body, which may hold a credential */
  function refuseBody(status: number, why: string): HttpReply {
    log.info('a consent was refused', { reason: why })
    return text(status, why)
  }

  /** The agent asked for a way that is not there: a provider that the server no longer has, or a link that is none. */
  function lostPage({ header, asked }: OpenConsent): HttpReply {
    log.error('a request for consent leads nowhere', { taskId: header.id, provider: asked.oauth })
    return outcomePage(500, 'It leads nowhere', 'The agent asks for something that its server cannot offer. Tell whoever runs it.')
  }

  async function answer(raw: RawRequest): Promise<HttpReply> {
    const cut = raw.target.indexOf('?')
    const path = cut < 0 ? raw.target : raw.target.slice(0, cut)
    const { method } = raw
    if (path === `${consentPath}/callback`) {
      if (method === 'POST') return takeToken(raw)
      // A code is good for one use: HEAD is no promise of a GET, and must not spend it.
      return method === 'GET' ? takeCode(raw, new URLSearchParams(raw.target.slice(path.length + 1))) : notAllowed(['GET', 'POST'])
    }
    if (method === 'GET' || method === 'HEAD') return question(path.slice(consentPath.length + 1))
    return method === 'POST' ? decide(raw, path.slice(consentPath.length + 1)) : notAllowed(['GET', 'HEAD', 'POST'])
  }

  return async (raw) => {
    try {
      return await answer(raw)
    } catch (error) {
      if (error instanceof CallbackBodyError) return refuseBody(error.status, error.message)
      if (error instanceof ResourceExhaustedError) return refuseBody(413, error.message)
      if (error !== gone) log.error('a request to the consent page failed', { error })
      return outcomePage(503, 'Not now', 'Something is out of order here. Nothing was decided; try again later.')
    }
  }
}

/** The author's own link. Browsers follow others than these as well, and they are no places. */
function linkOf({ asked: { link } }: OpenConsent): URL | undefined {
  if (link === undefined || !URL.canParse(link)) return undefined
  const url = new URL(link)
  return url.protocol === 'https:' || url.protocol === 'http:' ? url : undefined
}

function given(outcome: ConsentOutcome): HttpReply {
  return outcome === 'done' ? outcomePage(200, 'Done', 'The agent goes on. You may close this window.') : closedPage()
}

function declined(outcome: ConsentOutcome): HttpReply {
  return outcome === 'done'
    ? outcomePage(200, 'Declined', 'The agent is told that you did not agree. You may close this window.')
    : closedPage()
}

/** The same for each state that is of no use: which ones there were is nobody's business. */
function closedPage(): HttpReply {
  return outcomePage(404, 'Nothing is asked here', 'This request is not open: it was answered or taken back, or its time is over.')
}

function closedText(): HttpReply {
  return text(404, 'No request is open under this state: it was answered or taken back, or its time is over.')
}

function redirect(target: URL, more: Readonly<Record<string, string>> = {}): HttpReply {
  return { status: 303, headers: { ...consentHeaders, ...more, location: target.href }, body: '' }
}

function notAllowed(allow: readonly string[]): HttpReply {
  return text(405, `This address takes ${allow.join(', ')}.`, { allow: allow.join(', ') })
}

function text(status: number, body: string, more: Readonly<Record<string, string>> = {}): HttpReply {
  return { status, headers: { ...consentHeaders, ...more, 'content-type': 'text/plain; charset=utf-8' }, body: `${body}\n` }
}
