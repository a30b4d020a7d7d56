/** Parameters of a request, from its query or a form, as OAuth wants them. */

/** Each parameter once, one without a value as if it were not there; undefined where one is repeated. RFC 6749 §3.1. */
export function readParameters(search: URLSearchParams): Readonly<Record<string, string>> | undefined {
  const names = [...search.keys()]
  if (new Set(names).size < names.length) return undefined
  return Object.fromEntries([...search].filter(([, value]) => value !== ''))
}

/** The fields of a posted form; undefined where the body is none. */
export async function readForm(request: Request): Promise<URLSearchParams | undefined> {
  const type = request.headers.get('content-type') ?? ''
  return /^application\/x-www-form-urlencoded *(;|$)/i.test(type) ? new URLSearchParams(await request.text()) : undefined
}
