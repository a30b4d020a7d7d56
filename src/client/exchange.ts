/** One request and its answer: limits, credentials and the end of the socket. What the answer says is read elsewhere. */

import type { World } from '../support/world.js'
import { credentialHeaders } from './credentials.js'
import { ConnectionError } from './errors.js'
import type { CallOptions, ClientAuth, ClientLimits, Fetching } from './options.js'

/** The host's side of every request. */
export interface Line {
  readonly fetch: Fetching
  readonly world: World
  readonly limits: ClientLimits
  readonly auth: ClientAuth | undefined
  /** Whether the address may be shown a credential. */
  readonly mayShow: (url: string) => boolean
}

export interface Ask {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** An answer whose body is still to be read: by `text` or `chunks`, or left by `close`. */
export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly isStream: boolean
  /** `address answered 200 with text/html`: how sentences about it begin. */
  readonly said: string
  readonly address: string
  /** A credential was at hand and not shown. */
  readonly withheld: boolean
  /** Names of the headers that carried a credential, in lower case. */
  readonly credential: readonly string[]
  /** @throws {ConnectionError} when it is cut, stalls or exceeds `answerBytes` */
  text(): Promise<string>
  chunks(): AsyncGenerator<Uint8Array, void, void>
  close(): void
}

/**
 * Asks, and asks once more with a fresh credential where the first was refused.
 *
 * @param waitMs until the headers; undefined: as long as it takes
 * @throws {ConnectionError} when no answer comes; the signal's reason when it is aborted
 */
export async function exchange(line: Line, ask: Ask, { auth = line.auth, signal }: CallOptions, waitMs?: number): Promise<Reply> {
  const shown = auth !== undefined && line.mayShow(ask.url)
  const attempt = async (refused?: number) => {
    const credential = shown ? await race(credentialHeaders(auth, { url: ask.url, refused, signal }), signal) : {}
    const reply = await once(line, { ...ask, headers: { ...ask.headers, ...credential } }, signal, waitMs)
    return { ...reply, withheld: auth !== undefined && !shown, credential: Object.keys(credential).map((name) => name.toLowerCase()) }
  }
  const reply = await attempt()
  if ((reply.status !== 401 && reply.status !== 403) || !shown || typeof auth !== 'function') return reply
  reply.close()
  return attempt(reply.status)
}

async function once(
  line: Line,
  { method, url, headers, body }: Ask,
  signal: AbortSignal | undefined,
  waitMs: number | undefined,
): Promise<Omit<Reply, 'withheld' | 'credential'>> {
  const { world, limits } = line
  signal?.throwIfAborted()
  const controller = new AbortController()
  const forward = () => controller.abort(signal?.reason)
  signal?.addEventListener('abort', forward, { once: true })
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  const close = () => {
    signal?.removeEventListener('abort', forward)
    controller.abort()
    // Whatever the stream says about its end, nobody asks any more.
    reader?.cancel().catch(() => {})
  }

  /** `promise`, unless the call is given up or `ms` pass first; a failure of the connection gets its name. */
  async function within<T>(promise: Promise<T>, ms: number | undefined, what: 'network' | 'cut'): Promise<T> {
    const late = () => controller.abort(new ConnectionError('timeout', url, `was silent for ${ms} ms`))
    const disarm = ms === undefined ? undefined : world.timer(ms, late)
    try {
      return await race(promise, controller.signal)
    } catch (error) {
      const reason = controller.signal.aborted ? controller.signal.reason : undefined
      close()
      throw reason ?? new ConnectionError(what, url, what === 'cut' ? 'broke off its answer' : 'cannot be reached', error)
    } finally {
      disarm?.()
    }
  }

  // A fetch that throws at once fails like one that rejects.
  const start = async () =>
    line.fetch(new Request(url, { method, headers, signal: controller.signal, redirect: 'manual', body: body ?? null }))
  const response = await within(start(), waitMs, 'network')
  reader = response.body?.getReader()
  const type = response.headers.get('content-type')?.replace(/;.*/, '').trim().toLowerCase() ?? 'no content type'

  async function* chunks(): AsyncGenerator<Uint8Array, void, void> {
    try {
      while (reader) {
        const { done, value } = await within(reader.read(), limits.idleMs, 'cut')
        if (done) return
        yield value
      }
    } finally {
      close()
    }
  }

  return {
    status: response.status,
    headers: response.headers,
    address: url,
    isStream: response.ok && type === 'text/event-stream',
    said: `${method} ${url} answered ${response.status} with ${type}`,
    chunks,
    close,
    async text() {
      const decoder = new TextDecoder()
      let text = ''
      let size = 0
      for await (const chunk of chunks()) {
        size += chunk.byteLength
        if (size > limits.answerBytes) throw new ConnectionError('cut', url, `answered with more than ${limits.answerBytes} bytes`)
        text += decoder.decode(chunk, { stream: true })
      }
      return text + decoder.decode()
    },
  }
}

/** `promise`, or the reason of the signal, whichever is there first. */
function race<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal?.reason)
    if (signal?.aborted) onAbort()
    signal?.addEventListener('abort', onAbort, { once: true })
    promise.then(resolve, reject).finally(() => signal?.removeEventListener('abort', onAbort))
  })
}
