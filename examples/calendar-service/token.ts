/** Where an application changes a code for a token. RFC 6749 §4.1.3 and §5, RFC 7636 §4.5. */

import { type Grants, lifetimes } from './grants.js'
import { readForm, readParameters } from './parameters.js'
import type { Client } from './service.js'

export function createTokenEndpoint(clients: readonly Client[], grants: Grants) {
  return async (request: Request): Promise<Response> => {
    const form = await readForm(request)
    if (form === undefined) return refuse('invalid_request', 'the body must be a form: application/x-www-form-urlencoded')
    const parameters = readParameters(form)
    if (parameters === undefined) return refuse('invalid_request', 'a parameter is there more than once')
    const { grant_type, client_id, code, redirect_uri, code_verifier } = parameters
    // A secret would prove nothing: none was ever given out.
    if (request.headers.has('authorization') || !clients.some(({ id }) => id === client_id))
      return refuse('invalid_client', 'client_id must be in the form, and be that of a registered application')
    if (grant_type === undefined) return refuse('invalid_request', 'grant_type is missing')
    if (grant_type !== 'authorization_code') return refuse('unsupported_grant_type', 'grant_type must be authorization_code')
    if (client_id === undefined || code === undefined || redirect_uri === undefined || code_verifier === undefined)
      return refuse('invalid_request', 'code, redirect_uri and code_verifier are required')
    if (!/^[\w.~-]{43,128}$/.test(code_verifier)) return refuse('invalid_request', 'code_verifier must have 43 to 128 characters')
    const granted = grants.redeem(code, { clientId: client_id, redirectUri: redirect_uri, codeVerifier: code_verifier })
    if (granted === undefined) return refuse('invalid_grant', 'the code is unknown, used, expired or meant for another request')
    const { token, scopes } = granted
    return answer(200, { access_token: token, token_type: 'Bearer', expires_in: lifetimes.token, scope: scopes.join(' ') })
  }
}

function refuse(error: string, error_description: string): Response {
  if (error !== 'invalid_client') return answer(400, { error, error_description })
  const response = answer(401, { error, error_description })
  response.headers.set('www-authenticate', 'Basic realm="calendar"')
  return response
}

function answer(status: number, body: object): Response {
  return Response.json(body, { status, headers: { 'cache-control': 'no-store', pragma: 'no-cache' } })
}
