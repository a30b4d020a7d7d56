/** Two receivers of pushes: one that has to know the task first, and one that binds each call to the task that comes. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { type PushConfig, pushReceiver } from 'errand/client'

export interface Receiver {
  /** Where the agent is to post for the next call. */
  config(): PushConfig
  /** The reply to the call has come: it named the task. */
  learn(taskId: string): void
  answer(request: IncomingMessage, response: ServerResponse): Promise<void>
}

/** Takes posts for tasks that it knows, as most first receivers do; nobody knows a task before the reply. */
export function naiveReceiver(url: string): Receiver {
  const expected = new Set<string>()
  return {
    config: () => ({ url }),
    learn: (taskId) => void expected.add(taskId),
    async answer(request, response) {
      const { statusUpdate, artifactUpdate } = (await json(request)) as Record<string, { readonly taskId: string } | undefined>
      const taskId = (statusUpdate ?? artifactUpdate)?.taskId
      response.statusCode = taskId !== undefined && expected.has(taskId) ? 200 : 404
      response.end()
    },
  }
}

/** Knows its calls by their credentials; which task a call has made, the first post tells. */
export function bindingReceiver(url: string): Receiver {
  const hooks = pushReceiver({ publicUrl: url, secret: 'of this demonstration and of nothing else' })
  return { config: () => hooks.target(), learn() {}, answer: hooks.middleware }
}
