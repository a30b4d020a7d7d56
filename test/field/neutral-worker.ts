/** The tests' agent as a worker at the edge, on a store that needs no files. */

import type { Server } from '../../src/edge.js'
import { bearerTokens, createServer } from '../../src/edge.js'
import { systemWorld } from '../../src/support/world.js'
import { scriptAgent } from '../harness/script-agent.js'
import { emptyModel, modelStore } from '../laws/model-store.js'

export function open(): Promise<Server> {
  const store = modelStore(systemWorld, emptyModel())
  return createServer(scriptAgent, {
    store: { open: async () => store },
    auth: bearerTokens({ alice: 'alice' }),
    url: 'http://agent.test',
    push: true,
  })
}
