/** Pages that people see: no scripts, nothing from elsewhere, and no frame around them. */

import { createHash } from 'node:crypto'

const style = `
  body { font: 1.1rem/1.5 system-ui, sans-serif; max-width: 32rem; margin: 3rem auto; padding: 0 1rem; color: #222; background: #fff }
  button { font: inherit; padding: .5rem 1.5rem; margin-right: 1rem; border: 1px solid #555; border-radius: .3rem; background: #eee }
  button[value=allow] { color: #fff; background: #06643c }
`
const styleHash = createHash('sha256').update(style).digest('base64')

/**
 * @param body HTML; what others wrote is in it as {@link text} only
 * @param formTargets origins that a form may lead to, other than this one
 */
export function page(status: number, title: string, body: string, formTargets: readonly string[] = []): Response {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${text(title)} – Calendar</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${text(title)}</h1>
${body}
</main>
</body>
</html>
`
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${styleHash}'`,
    // Browsers look at where a form's answer leads, too.
    `form-action ${["'self'", ...formTargets].join(' ')}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ]
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy.join('; '),
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  }
  return new Response(html, { status, headers })
}

/** `value` as text in HTML, between tags or in a quoted attribute. */
export function text(value: string): string {
  return value.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
