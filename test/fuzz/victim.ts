/** Somebody else's tasks, to be found unchanged in the end, and the material for requests that try to reach them. */

import { expect } from 'vitest'
import type { Server } from '../../src/index.js'
import { frames, result, userMessage } from '../harness/server.js'
import type { Material } from './mutate.js'

export interface Victim {
  readonly material: Material
  /** Every byte that its owner is shown. */
  look(): Promise<string>
  /** A task of the attacker's own that is still at work, in place of one that it ended. */
  renew(): Promise<void>
}

/** Tasks of Alice in every sort of state, and the means of Bob, who knows all their ids. */
export async function prepare(server: Server): Promise<Victim> {
  const send = async (text: string, as: string) =>
    (await result(server.fetch, 'JSONRPC', 'SendMessage', { message: userMessage(text) }, { as })).task
  const held = async (as: string) => {
    let task: any
    for await (const { data } of frames(server.fetch, 'JSONRPC', 'SendStreamingMessage', { message: userMessage('hold') }, { as })) {
      task ??= data.task
      if (data.statusUpdate?.status.message) break
    }
    return task
  }
  const hers = [await held('alice'), await send('ask', 'alice'), await send('chunks 3', 'alice'), await send('reject', 'alice')]
  const push = { taskId: hers[0].id, id: 'c-1', url: 'https://a.example/alice', token: 'secret' }
  await result(server.fetch, 'JSONRPC', 'CreateTaskPushNotificationConfig', push)
  const taskIds = [...hers.map(({ id }) => id), (await send('echo', 'bob')).id, (await send('ask', 'bob')).id, (await held('bob')).id]
  const material = { as: 'bob', taskIds, contextIds: [hers[0].contextId, 'my-own', (await send('echo', 'bob')).contextId] }
  return {
    material,
    async look() {
      const all = [await result(server.fetch, 'JSONRPC', 'ListTasks', { includeArtifacts: true })]
      for (const { id } of hers) {
        all.push(await result(server.fetch, 'JSONRPC', 'GetTask', { id }))
        all.push(await result(server.fetch, 'JSONRPC', 'ListTaskPushNotificationConfigs', { taskId: id }))
      }
      expect(all[0].totalSize).toBe(hers.length)
      return JSON.stringify(all)
    },
    async renew() {
      taskIds[taskIds.length - 2] = (await send('ask', 'bob')).id
      taskIds[taskIds.length - 1] = (await held('bob')).id
    },
  }
}
