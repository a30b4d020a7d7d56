/** The tests' agent as a worker at the edge, on a store that needs no files. */

import type { Server } from '../../src/edge.js'
import { bearerTokens } from '../../src/edge.js'
import { mountServer } from '../../src/server/create-server.js'
import { systemWorld } from '../../src/support/world.js'
import { scriptAgent } from '../harness/script-agent.js'
import { emptyModel, modelStore } from '../laws/model-store.js'

export function open(): Promise<Server> {
  const store = modelStore(systemWorld, emptyModel())
  const options = { store: { open: async () => store }, auth: bearerTokens({ alice: 'alice' }), url: 'http://agent.test', push: true }
  // The host gives the way out that it has.
  const openPost = () => ({ post: async () => 204, checkAddresses: async () => {}, close: async () => {} })
  return mountServer(scriptAgent, options, { openPost })
}
