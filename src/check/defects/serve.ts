/** A clean server, or one with a defect, behind pipes: for the checker to be tested with. */

import { type CoreOptions, createCore } from '../../server/create-server.js'
import { gone } from '../../server/handler.js'
import { nodeRequest } from '../../server/node-request.js'
import type { World } from '../../support/world.js'
import { createPipes, type Pipes } from '../probe-pipe.js'
import type { Plant } from './defect.js'
import { layered, mounts, type Reply } from './seam.js'

export interface Piped {
  readonly pipes: Pipes
  readonly url: string
  close(): Promise<void>
}

/** Everything that the options of a server say, and its agent. */
export interface Served extends Omit<CoreOptions, 'own' | 'neighbours'> {
  readonly agent: Parameters<typeof createCore>[0]
  readonly world: World
}

export async function servePiped({ agent, ...clean }: Served, plant: Plant = {}): Promise<Piped> {
  const url = 'http://agent.test'
  const core = await createCore(agent, { ...clean, mounts, url, ...plant.options?.(clean), own: () => url, neighbours: false })
  core.start()
  const handle = plant.layer ? layered(core.handler, plant.layer(clean.world)) : core.handler.handle
  const pipes = createPipes(async (request, response) => {
    const call = new AbortController()
    response.on('close', () => {
      if (!response.writableEnded) call.abort(gone)
      core.handler.done(call)
    })
    try {
      const raw = nodeRequest(request, response, false, core.limits.bodyBytes)
      await write(await handle(raw, call), request.method === 'HEAD', response)
    } catch {
      response.destroy()
    }
  })
  return {
    pipes,
    url,
    async close() {
      pipes.close()
      await core.close()
    },
  }
}

async function write(
  { status, headers, body }: Reply,
  isHead: boolean,
  response: Parameters<Parameters<typeof createPipes>[0]>[1],
): Promise<void> {
  if (typeof body === 'string') {
    const hasBody = status !== 304 && status !== 204
    response.writeHead(status, { ...headers, ...(hasBody && { 'content-length': new TextEncoder().encode(body).length }) })
    response.end(isHead || !hasBody ? undefined : body)
    return
  }
  response.writeHead(status, headers)
  response.flushHeaders()
  for await (const text of body) {
    if (response.destroyed) return
    response.write(text)
  }
  response.end()
}
