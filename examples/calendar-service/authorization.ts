/** Where a person is asked whether an application may do something for them. RFC 6749 §4.1.1, RFC 7636 §4.3. */

import { consentPage } from './consent-page.js'
import { type AuthorizationRequest, type Grants, randomName } from './grants.js'
import { page } from './page.js'
import { readForm, readParameters } from './parameters.js'
import { type Client, scopes as knownScopes, type Scope } from './service.js'

export function createAuthorization(clients: readonly Client[], grants: Grants) {
  return {
    /** Shows the page, or sends the browser back with what is wrong about the request. */
    async ask(request: Request): Promise<Response> {
      const search = new URL(request.url).searchParams
      const client = clients.find(({ id }) => isOnly(search, 'client_id', id))
      // Nobody is sent to an address that is not registered. RFC 6749 §4.1.2.1.
      if (client === undefined) return page(400, 'Unknown application', '<p>No application of that name is registered here.</p>')
      if (!isOnly(search, 'redirect_uri', client.redirectUri))
        return page(400, 'Unknown address', '<p>The application asks to be answered at an address that is not registered for it.</p>')
      const read = readRequest(search, client)
      if ('error' in read) return sendBack(client, search.getAll('state').length === 1 ? search.get('state') : null, read)
      const visitor = visitorOf(request) ?? randomName()
      return consentPage(read, grants.ask(read, visitor), visitor)
    },

    /** Takes the decision from the form of the page. */
    async decide(request: Request): Promise<Response> {
      const form = await readForm(request)
      const id = form?.get('request') ?? ''
      // The form names a request, the cookie the browser that saw it: a page elsewhere cannot know the one or send the other.
      const asked = grants.decide(id, visitorOf(request) ?? '')
      if (asked === undefined)
        return page(403, 'Ask again', '<p>This page is out of date, or was opened elsewhere. Go back to the application and ask again.</p>')
      const { client, state = null } = asked
      return form?.get('decision') === 'allow'
        ? sendBack(client, state, { code: grants.allow(asked) })
        : sendBack(client, state, { error: 'access_denied', error_description: 'the person did not allow it' })
    },
  }
}

interface Refusal {
  readonly error: string
  readonly error_description: string
}

function readRequest(search: URLSearchParams, client: Client): AuthorizationRequest | Refusal {
  const parameters = readParameters(search)
  if (parameters === undefined) return { error: 'invalid_request', error_description: 'a parameter is there more than once' }
  const { response_type, scope = '', state, code_challenge, code_challenge_method } = parameters
  if (response_type === undefined) return { error: 'invalid_request', error_description: 'response_type is missing' }
  if (response_type !== 'code') return { error: 'unsupported_response_type', error_description: 'response_type must be code' }
  if (code_challenge === undefined) return { error: 'invalid_request', error_description: 'code_challenge is missing: PKCE is required' }
  if (code_challenge_method !== 'S256') return { error: 'invalid_request', error_description: 'code_challenge_method must be S256' }
  if (!/^[\w-]{43}$/.test(code_challenge))
    return { error: 'invalid_request', error_description: 'code_challenge is no SHA-256 in base64url' }
  const asked = scope.split(' ')
  if (!asked.every(isScope)) return { error: 'invalid_scope', error_description: `scope must be of ${Object.keys(knownScopes).join(' ')}` }
  return { client, scopes: [...new Set(asked)], codeChallenge: code_challenge, ...(state !== undefined && { state }) }
}

const isScope = (text: string): text is Scope => Object.hasOwn(knownScopes, text)

const isOnly = (search: URLSearchParams, name: string, value: string) => {
  const values = search.getAll(name)
  return values.length === 1 && values[0] === value
}

/** Back to the application. RFC 6749 §4.1.2; `state` comes back as it was. */
function sendBack({ redirectUri }: Client, state: string | null, answer: Refusal | { readonly code: string }): Response {
  const url = new URL(redirectUri)
  for (const [name, value] of Object.entries(answer)) url.searchParams.set(name, value)
  if (state !== null) url.searchParams.set('state', state)
  return new Response(null, { status: 303, headers: { location: url.href, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' } })
}

const visitorOf = (request: Request) => /(?:^|; ?)visitor=([\w-]{43})(?:;|$)/.exec(request.headers.get('cookie') ?? '')?.[1]
