/** The pages that a person sees who is asked for consent: no scripts, nothing from elsewhere, every text of others escaped. */

import { sha256 } from '@noble/hashes/sha2.js'
import type { HttpReply } from '../bindings/http.js'
import { utf8 } from '../support/crypto.js'

/** What the page says that asks. */
export interface ConsentQuestion {
  readonly agent: string
  readonly organization: string | undefined
  /** Undefined where callers do not say who they are. */
  readonly requester: string | undefined
  readonly prompt: string
  readonly scopes: readonly string[]
  /** Milliseconds. */
  readonly due: number | undefined
  /** Where the person is sent who agrees. */
  readonly target: URL
}

/** The page that asks. Its form goes to the address that it has itself. */
export function questionPage({ agent, organization, requester, prompt, scopes, due, target }: ConsentQuestion): HttpReply {
  const title = html`${agent} asks for your consent`
  return page(
    200,
    title,
    html`<h1>${title}</h1>
<dl>
<dt>Agent</dt>
<dd>${foreign(agent)}${organization === undefined ? '' : html`, of ${foreign(organization)}`}</dd>
<dt>For</dt>
<dd>${requester === undefined ? 'Somebody who did not say who they are' : foreign(requester)}</dd>
${prompt === '' ? '' : html`<dt>What it asks</dt>\n<dd class="prompt" dir="auto" lang="">${prompt}</dd>`}
${scopes.length === 0 ? '' : html`<dt>Rights</dt>\n<dd><ul>${scopes.map((scope) => html`<li>${foreign(scope)}</li>`)}</ul></dd>`}
<dt>Where you go next</dt>
<dd>${foreign(target.host)}</dd>
${due === undefined ? '' : html`<dt>Open until</dt>\n<dd>${timeOf(due)}</dd>`}
</dl>
<p id="warning">Agree only if you know who asks, and what for: what you allow is done for ${
      requester === undefined ? 'somebody who did not say who they are' : foreign(requester)
    }.</p>
<form method="post" aria-describedby="warning">
<button name="decision" value="agree">Agree and go to ${foreign(target.host)}</button>
<button name="decision" value="decline" class="other">Decline</button>
</form>`,
    // Browsers hold the redirect that answers a form to this rule, and each one that the provider adds to it.
    `'self' ${target.protocol}`,
  )
}

/** A page that says what came of it; `again` leads back to the question. */
export function outcomePage(status: number, title: string, text: string, again?: string): HttpReply {
  const link = again === undefined ? '' : html`<p><a href="${again}">Back to the question</a></p>`
  return page(status, html`${title}`, html`<h1>${title}</h1>\n<p>${text}</p>\n${link}`, "'none'")
}

/** Of every answer under this path, page or not. */
export const consentHeaders = Object.freeze({
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  // The address of the page is what lets one consent: other places do not learn it. With `no-referrer`, browsers would
  // keep from us, too, that a form came from our own page.
  'referrer-policy': 'same-origin',
})

/** Text that was escaped, or needs no escape. */
interface Html {
  readonly markup: string
}

type Inserted = string | Html | readonly Html[]

/** Markup in which every inserted text is escaped. */
function html(strings: TemplateStringsArray, ...inserted: readonly Inserted[]): Html {
  return { markup: strings.reduce((made, string, i) => made + markupOf(inserted[i - 1] ?? '') + string) }
}

function markupOf(inserted: Inserted): string {
  if (typeof inserted === 'string') return inserted.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
  return 'markup' in inserted ? inserted.markup : inserted.map(({ markup }) => markup).join('')
}

/** A name that somebody else chose: its writing direction must not turn the words around it. */
const foreign = (text: string) => html`<bdi>${text}</bdi>`

function timeOf(ms: number): Html {
  const iso = new Date(ms).toISOString()
  return html`<time datetime="${iso}">${iso.slice(0, 10)}, ${iso.slice(11, 16)} UTC</time>`
}

const style = `:root{color-scheme:light dark;font:100%/1.5 system-ui,sans-serif}
body{margin:0 auto;padding:1.5rem 1rem;max-width:36rem;overflow-wrap:anywhere}
h1{font-size:1.4rem;line-height:1.25}
dt{font-weight:600;margin-top:.75rem}
dd{margin:0}
ul{margin:0;padding-left:1.25rem}
.prompt{white-space:pre-line}
button{display:block;width:100%;min-height:2.75rem;margin:.75rem 0;padding:.5rem 1rem;font:inherit;font-weight:600;border-radius:.5rem;border:2px solid #1d4ed8;background:#1d4ed8;color:#fff}
button.other{background:transparent;color:inherit;border-color:currentColor}
button:focus-visible,a:focus-visible{outline:3px solid #f59e0b;outline-offset:2px}`

const styleHash = btoa(String.fromCharCode(...sha256(utf8(style))))

function page(status: number, title: Html, body: Html, formAction: string): HttpReply {
  const { markup } = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${{ markup: style }}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`
  return {
    status,
    headers: {
      ...consentHeaders,
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; form-action ${formAction}; base-uri 'none'; frame-ancestors 'none'`,
      'x-frame-options': 'DENY',
    },
    body: markup,
  }
}
