/** The page with the question: who asks, for what, and two buttons. */

import { type AuthorizationRequest, lifetimes } from './grants.js'
import { page, text } from './page.js'
import { scopes as knownScopes } from './service.js'

/**
 * @param id names the request in the form
 * @param visitor names the browser in its cookie
 */
export function consentPage({ client, scopes }: AuthorizationRequest, id: string, visitor: string): Response {
  const wishes = scopes.map((scope) => `<li>${text(knownScopes[scope])} (<code>${scope}</code>)</li>`)
  const body = `
<p><strong>${text(client.name)}</strong> asks to</p>
<ul>
${wishes.join('\n')}
</ul>
<p>You are sent back to <code>${text(new URL(client.redirectUri).host)}</code> either way.</p>
<form method="post" action="/authorize">
<input type="hidden" name="request" value="${id}">
<button name="decision" value="allow">Allow</button>
<button name="decision" value="deny">Deny</button>
</form>`
  const response = page(200, 'Allow access to your calendar?', body, [new URL(client.redirectUri).origin])
  response.headers.set('set-cookie', `visitor=${visitor}; HttpOnly; SameSite=Strict; Path=/authorize; Max-Age=${lifetimes.request}`)
  return response
}
