/** The wire of pushes: a POST to a URL that a caller wrote, behind the address guard. */

import { type AddressGuard, AddressRefusedError } from '../net/address-guard.js'
import type { Dial, Resolve } from '../net/connector.js'
import type { World } from '../support/world.js'

export interface PostRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/**
 * Posts once, without following anything, and gives the status of the answer.
 *
 * @throws {AddressRefusedError} for an address that the guard does not let through; anything else without an answer
 */
export type Post = (request: PostRequest, signal: AbortSignal) => Promise<number>

export interface OpenedPost {
  readonly post: Post
  /**
   * Looks the host of `url` up once. A name that cannot be looked up passes: it is checked at each connection.
   *
   * @throws {AddressRefusedError}
   */
  checkAddresses(url: URL): Promise<void>
  /** Ends what is under way, and the connections. */
  close(): Promise<void>
}

export interface PostOptions {
  readonly guard: AddressGuard
  readonly world: World
  /** Default: the system's resolver. */
  readonly resolve?: Resolve
  /** Default: a socket of the system. */
  readonly dial?: Dial
}

/** Of an answer's body: nobody reads it, but where it is short the connection can be used again. */
const bodyBytes = 16 << 10
const bodyMs = 1_000

export function openPost(options: PostOptions): OpenedPost {
  const { guard, world } = options
  let opened: ReturnType<typeof open> | undefined

  // Loaded when first needed: a start would pay 130 ms for it.
  function wire() {
    opened ??= open()
    return opened
  }

  async function open() {
    const [{ Agent, request }, { checkHost, guardedConnector }] = await Promise.all([import('undici'), import('../net/connector.js')])
    // An agent of its own reads no proxy from the environment. How many connections there are, and for how long, is settled by who posts.
    const dispatcher = new Agent({ connect: guardedConnector(options), headersTimeout: 0, bodyTimeout: 0 })
    return { dispatcher, request, checkHost }
  }

  async function post({ url, headers, body }: PostRequest, signal: AbortSignal): Promise<number> {
    const checked = guard.checkUrl(url)
    const { dispatcher, request } = await wire()
    signal.throwIfAborted()
    try {
      const answer = await request(checked, { method: 'POST', headers, body, signal, dispatcher })
      passOver(answer.body)
      return answer.statusCode
    } catch (error) {
      // undici wraps what the connector threw.
      const cause = error instanceof Error ? error.cause : undefined
      throw cause instanceof AddressRefusedError ? cause : error
    }
  }

  function passOver(body: { dump(options: { readonly limit: number; readonly signal: AbortSignal }): Promise<void> }): void {
    const end = new AbortController()
    const clear = world.timer(bodyMs, () => end.abort())
    void body
      .dump({ limit: bodyBytes, signal: end.signal })
      .catch(() => {})
      .finally(clear)
  }

  return {
    post,
    async checkAddresses(url) {
      const { checkHost } = await wire()
      await checkHost(url, options)
    },
    async close() {
      await (await opened)?.dispatcher.destroy()
    },
  }
}
