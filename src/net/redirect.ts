/** Where an answer sends the next request, and what of the request goes along. */

/** One request of a chain. */
export interface Hop {
  readonly url: URL
  readonly method: string
  readonly headers: Headers
  readonly body: Uint8Array<ArrayBuffer> | undefined
}

const redirects = new Set([301, 302, 303, 307, 308])

/** What another origin may read: what is wanted, never who asks. */
const keptAcrossOrigins = new Set(['accept', 'accept-language', 'content-type', 'user-agent'])

/** The hop after `hop`, or undefined where the answer is no redirect. Its URL is not checked. */
export function redirectOf(hop: Hop, status: number, location: string | null): Hop | undefined {
  if (!redirects.has(status) || location === null || !URL.canParse(location, hop.url)) return undefined
  const url = new URL(location, hop.url)
  const becomesGet = status === 303 ? hop.method !== 'HEAD' : (status === 301 || status === 302) && hop.method === 'POST'
  const headers = new Headers([...hop.headers].filter(([name]) => url.origin === hop.url.origin || keptAcrossOrigins.has(name)))
  if (!becomesGet) return { ...hop, url, headers }
  for (const name of [...headers.keys()].filter((name) => name.startsWith('content-'))) headers.delete(name)
  return { url, method: 'GET', headers, body: undefined }
}
