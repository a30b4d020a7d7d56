/** A worker at the edge in whole: an agent, a store that needs no files, and `fetch`, which is all that its host calls. */

import {
  agent,
  artifact,
  bearerTokens,
  chunk,
  completed,
  createServer,
  failed,
  inputRequired,
  jwt,
  type Server,
  type ServerOptions,
  working,
} from '../../src/edge.js'
import { systemWorld } from '../../src/support/world.js'
import { emptyModel, modelStore } from '../laws/model-store.js'

const edgeAgent = agent(
  {
    name: 'Edge',
    description: 'Runs without files and sockets.',
    answer: ({ text }) => (text === 'hello' ? 'Hello from the edge.' : undefined),
    extendedCard: ({ id }) => ({ description: `For ${id}.` }),
  },
  async function* (task) {
    if (task.turn > 1) return completed('Thank you.', { answer: task.text })
    switch (task.text) {
      case 'chunks':
        yield chunk('a', 'one')
        yield chunk('a', 'two', { last: true })
        return completed('all')
      case 'ask':
        return inputRequired('Which one?')
      case 'fail':
        return failed('It could not be done.')
      case 'throw':
        throw new Error('secret detail')
      case 'hold': {
        yield working('holding')
        const message = await task.inbox.next()
        return completed(`released by ${message?.messageId}`)
      }
      case 'nap':
        await task.sleep(5)
        return 'rested'
      default:
        yield artifact('heard', task.text)
        return completed()
    }
  },
)

const store = modelStore(systemWorld, emptyModel())

/** Asked by the host for each way of proving who one is. */
export function open(options: Partial<ServerOptions> = {}): Promise<Server> {
  return createServer(edgeAgent, {
    store: { open: async () => store },
    auth: bearerTokens({ alice: 'alice', bob: 'bob' }),
    url: 'http://agent.test',
    ...options,
  })
}

/** The same with tokens that an issuer signs. */
export function openWithJwt(secret: string): Promise<Server> {
  return open({ auth: jwt({ issuer: 'https://issuer.test', audience: 'edge', secret }) })
}
