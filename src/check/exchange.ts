/** One request and what came back: the evidence of a verdict, and how to repeat it. */

export type HeaderList = readonly (readonly [name: string, value: string])[]

export interface Sent {
  readonly method: string
  readonly url: string
  readonly headers: HeaderList
  readonly body?: string | Uint8Array
}

export interface Exchange {
  readonly sent: Sent
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  /** Milliseconds from the request to the end of the answer. */
  durationMs: number
  /** Absent where no answer came. */
  status?: number
  headers: HeaderList
  /** As it came, in UTF-8; no more of it than is kept. */
  body: string
  /** What ended the exchange before its time. */
  broken?: 'unreachable' | 'timeout' | 'cut'
  problem?: string
}

/** All values of a header, joined as RFC 9110 §5.3 says; undefined where there is none. */
export function headerOf({ headers }: Pick<Exchange, 'headers'>, name: string): string | undefined {
  const values = headers.filter(([one]) => one.toLowerCase() === name).map(([, value]) => value)
  return values.length === 0 ? undefined : values.join(', ')
}

/** The command that sends the same request again. */
export function curlOf({ sent }: Exchange): string {
  const headers = sent.headers.filter(([name]) => !/^(host|connection|content-length)$/i.test(name))
  const { body } = sent
  return [
    `curl -i -X ${sent.method} ${quote(sent.url)}`,
    ...headers.map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`--data-binary ${quote(typeof body === 'string' ? body : new TextDecoder().decode(body))}`]),
  ].join(' ')
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** A copy in which each of the secrets is replaced by its name, wherever it stands. */
export function redacted(exchange: Exchange, secrets: ReadonlyMap<string, string>): Exchange {
  const forms = [...secrets].flatMap(([secret, name]) =>
    [...new Set([secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])].map((form) => [form, name] as const),
  )
  const hide = (text: string) => forms.reduce((hidden, [form, name]) => hidden.replaceAll(form, name), text)
  const hideAll = (headers: HeaderList) => headers.map(([name, value]) => [name, hide(value)] as const)
  const { sent, problem } = exchange
  const { body } = sent
  return {
    ...exchange,
    sent: {
      ...sent,
      url: hide(sent.url),
      headers: hideAll(sent.headers),
      ...(body !== undefined && { body: hide(typeof body === 'string' ? body : new TextDecoder().decode(body)) }),
    },
    headers: hideAll(exchange.headers),
    body: hide(exchange.body),
    ...(problem !== undefined && { problem: hide(problem) }),
  }
}
