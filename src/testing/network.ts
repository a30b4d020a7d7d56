/** A network in memory: requests reach the server that listens, and break off when it dies. */

import type { Fetching } from '../client/options.js'

export interface Network {
  readonly fetch: Fetching
  /** Requests under way, answers that are still being read included. */
  open(): number
  /** `serve` answers from here on. */
  listen(serve: Fetching): void
  /** Nobody listens any more, and whatever is under way breaks off. */
  cut(): void
}

/** @param onUse told of each request and each piece of an answer */
export function createNetwork(onUse: () => void): Network {
  let serve: Fetching | undefined
  const exchanges = new Set<(reason: Error) => void>()

  async function fetch(request: Request): Promise<Response> {
    onUse()
    request.signal.throwIfAborted()
    if (!serve) throw refused()
    const exchange = openExchange(request)
    const response = await exchange.unlessCut(serve(request))
    onUse()
    if (!response.body) {
      exchange.end()
      return response
    }
    return new Response(exchange.carry(response.body), { status: response.status, headers: response.headers })
  }

  /** One request: its answer and the pieces of it, until it ends, is left, or is cut. */
  function openExchange({ signal }: Request) {
    let isEnded = false
    let fail: (reason: Error) => void = () => {}
    const failure = new Promise<never>((_, reject) => {
      fail = reject
    })
    // Where nobody waits for a piece just then, the next one who does is told.
    failure.catch(() => {})
    const end = () => {
      isEnded = true
      exchanges.delete(fail)
      signal.removeEventListener('abort', end)
    }
    exchanges.add(fail)
    signal.addEventListener('abort', end, { once: true })

    async function unlessCut<T>(coming: Promise<T>): Promise<T> {
      try {
        return await Promise.race([coming, failure])
      } catch (error) {
        end()
        throw error
      }
    }

    function carry(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
      const reader = body.getReader()
      return new ReadableStream<Uint8Array>(
        {
          async pull(controller) {
            const { done, value } = await unlessCut(reader.read())
            onUse()
            if (!done) return controller.enqueue(value)
            end()
            controller.close()
          },
          async cancel(reason) {
            // After a cut there is nobody to be told.
            if (isEnded && !signal.aborted) return
            end()
            await reader.cancel(reason)
          },
        },
        { highWaterMark: 0 },
      )
    }

    return { unlessCut, carry, end }
  }

  return {
    fetch,
    open: () => exchanges.size,
    listen(server) {
      serve = server
    },
    cut() {
      serve = undefined
      for (const fail of [...exchanges]) fail(new TypeError('terminated', { cause: new Error('the server died') }))
      exchanges.clear()
    },
  }
}

/** As the fetch of Node says it. */
function refused(): TypeError {
  return new TypeError('fetch failed', { cause: Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }) })
}
