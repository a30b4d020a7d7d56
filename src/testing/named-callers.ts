/** The identity of callers in a sandbox: whoever shows a name as a token is that user. */

import { type Auth, bearerChallenge, bearerOf } from '../server/authenticate.js'

export function namedCallers(): Auth {
  return Object.freeze({
    authenticates: true,
    identify(credentials) {
      const id = bearerOf(credentials)
      return id === undefined ? undefined : { id, claims: {}, scopes: [], tenants: [], authenticated: true }
    },
    challenge: bearerChallenge,
    schemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
  } satisfies Auth)
}
