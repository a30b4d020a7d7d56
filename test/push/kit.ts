/** A server that posts to receivers in memory: each answers as the test says, and what it was posted is kept. */

import { onTestFinished } from 'vitest'
import { type Agent, type Delivery, type ServerOptions, sqlite } from '../../src/index.js'
import type { Post, PostRequest } from '../../src/push/post.js'
import { mountServer, type Server } from '../../src/server/create-server.js'
import { type VirtualWorld, virtualWorld } from '../../src/testing/virtual-world.js'
import { people, result, userMessage } from '../harness/server.js'
import { closeStill, keptLog, type LogLine } from '../runtime/kit.js'

export const hook = 'https://hook.example/path'

export interface Received extends PostRequest {
  readonly at: number
  /** The body, parsed. */
  readonly event: any
  /** The last part of its Idempotency-Key. */
  readonly number: number
}

/** The status of the answer, or a promise of it; `hang` never answers, `refuse` has no connection. */
export type Answering = (post: Received) => number | Promise<number> | 'hang' | 'refuse'

export interface Receivers {
  readonly posts: Received[]
  /** Default: 204. */
  answer: Answering
  readonly post: Post
}

export function openReceivers(now: () => number): Receivers {
  const posts: Received[] = []
  const receivers: Receivers = {
    posts,
    answer: () => 204,
    async post(request) {
      const number = Number(request.headers['idempotency-key']?.split(':').at(-1))
      const received = { ...request, at: now(), event: JSON.parse(request.body), number }
      posts.push(received)
      const answer = receivers.answer(received)
      if (answer === 'refuse') throw new Error('connect ECONNREFUSED')
      return answer === 'hang' ? new Promise<never>(() => {}) : answer
    },
  }
  return receivers
}

export interface Pushing extends Receivers {
  readonly server: Server
  readonly fetch: Server['fetch']
  readonly world: VirtualWorld
  readonly lines: readonly LogLine[]
}

export interface PushingOptions extends Partial<ServerOptions> {
  readonly world?: VirtualWorld
}

/** Its clock stands still; it is closed after the test, whatever hangs. */
export async function openPushing(agent: Agent, { world = virtualWorld(), ...options }: PushingOptions = {}): Promise<Pushing> {
  const { log, lines } = keptLog()
  const receivers = openReceivers(world.now)
  const server = await mountServer(
    agent,
    { store: sqlite(':memory:'), auth: people, url: 'http://agent.test', push: true, log, world, ...options },
    {
      openPost: () => ({
        post: (request, signal) => receivers.post(request, signal),
        checkAddresses: async () => {},
        close: async () => {},
      }),
    },
  )
  onTestFinished(() => closeStill(server, world))
  return Object.assign(receivers, { server, fetch: server.fetch, world, lines })
}

/** Sends a message with a push configuration in it, and gives the task. */
export async function send({ fetch }: Pick<Server, 'fetch'>, text: string, config: object = {}, more: object = {}): Promise<any> {
  const configuration = { taskPushNotificationConfig: { url: hook, ...config } }
  return (await result(fetch, 'JSONRPC', 'SendMessage', { message: userMessage(text, { ...more }), configuration })).task
}

export async function createConfig({ fetch }: Pick<Server, 'fetch'>, taskId: string, config: object = {}): Promise<any> {
  return result(fetch, 'JSONRPC', 'CreateTaskPushNotificationConfig', { taskId, url: hook, ...config })
}

/** What a post says: the state of a status, the parts of an artifact, or the state of a whole task. */
export function saysOf({ event }: Received): unknown {
  if (event.statusUpdate) return event.statusUpdate.status.state.replace('TASK_STATE_', '')
  if (event.task) return { task: event.task.status.state.replace('TASK_STATE_', '') }
  return event.artifactUpdate.artifact.parts
}

export const numbersOf = (list: readonly { readonly number: number }[]): number[] => list.map(({ number }) => number)

/** Without the times, for comparing. */
export const outcomesOf = (deliveries: readonly Delivery[]): unknown[] => deliveries.map(({ at: _, configId: __, ...rest }) => rest)
