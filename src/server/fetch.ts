/** The Fetch door: a Request in, a Response out. */

import type { HttpReply } from '../bindings/http.js'
import { createBody } from './body.js'
import type { Core } from './create-server.js'
import { gone, hasNoBody, type RawRequest } from './handler.js'
import { createKeepAlive, type KeepAlive } from './keep-alive.js'
import type { Limits } from './options.js'

interface FetchOptions extends Pick<Core, 'handler' | 'world'> {
  readonly limits: Pick<Required<Limits>, 'keepAliveMs'>
}

export function createFetch({ handler, world, limits }: FetchOptions): (request: Request) => Promise<Response> {
  const keepAlive = createKeepAlive(world, limits.keepAliveMs)
  return async (request) => {
    const call = new AbortController()
    const leave = () => call.abort(gone)
    if (request.signal.aborted) leave()
    else request.signal.addEventListener('abort', leave, { once: true })
    const end = () => {
      request.signal.removeEventListener('abort', leave)
      handler.done(call)
    }
    const { status, headers, body } = await handler.handle(rawRequest(request), call)
    if (typeof body !== 'string') return new Response(readable(body, { call, leave, end, keepAlive }), { status, headers })
    end()
    return new Response(request.method === 'HEAD' || hasNoBody(status) ? null : body, { status, headers })
  }
}

function rawRequest(request: Request): RawRequest {
  const url = new URL(request.url)
  return {
    method: request.method,
    target: url.pathname + url.search,
    header: (name) => request.headers.get(name) ?? (name === 'host' ? url.host : undefined),
    body: (limit) => readBody(request, limit),
  }
}

async function readBody({ body, signal }: Request, limit: number): Promise<Uint8Array> {
  const read = createBody(limit)
  try {
    for await (const piece of body ?? []) read.add(piece)
  } catch (thrown) {
    throw signal.aborted ? gone : thrown
  }
  return read.whole()
}

interface StreamOwner {
  readonly call: AbortController
  readonly leave: () => void
  readonly end: () => void
  readonly keepAlive: KeepAlive
}

/** Pulled by its reader, so that a slow one leaves the events where they are: in the log. */
function readable(body: Exclude<HttpReply['body'], string>, { call, leave, end, keepAlive }: StreamOwner): ReadableStream<Uint8Array> {
  const texts = body[Symbol.asyncIterator]()
  const encoder = new TextEncoder()
  let watched: ReturnType<KeepAlive['watch']> | undefined
  let isFinished = false
  const finish = () => {
    if (isFinished) return
    isFinished = true
    watched?.end()
    end()
  }
  // A client that is gone may never pull or cancel again. A server that stops has a last word to be pulled.
  call.signal.addEventListener('abort', () => {
    if (call.signal.reason === gone) finish()
  })
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        watched = keepAlive.watch((comment) => {
          // A reader that has not taken the last text needs no sign of life.
          if ((controller.desiredSize ?? 0) >= 0) controller.enqueue(encoder.encode(comment))
        })
      },
      async pull(controller) {
        const { done, value } = await texts.next()
        if (done) {
          finish()
          controller.close()
          return
        }
        watched?.wrote()
        controller.enqueue(encoder.encode(value))
      },
      async cancel() {
        leave()
        finish()
        // A stream that waits to be pulled hears no signal; it is left like a loop.
        await texts.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}
