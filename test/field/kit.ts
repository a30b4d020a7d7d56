/** What the field cases share beyond the kit of the runtime's tests. */

import type { Server } from '../../src/index.js'
import { isFinal } from '../../src/protocol/states.js'
import type { Store, StoreSource } from '../../src/store/store.js'
import type { NewEvent } from '../../src/task/event.js'
import { nextTimestamp, statusEvent } from '../../src/task/make-event.js'
import { type BindingName, frames, result } from '../harness/server.js'
import { takeAll, withStore } from '../runtime/kit.js'

export const sends = ['SendMessage', 'SendStreamingMessage'] as const

/** The task that answers a send: the result, or what the stream begins with once all of it has been read. */
export async function taskOfSend(
  fetching: Server['fetch'],
  binding: BindingName,
  operation: (typeof sends)[number],
  params: Readonly<Record<string, unknown>>,
): Promise<any> {
  if (operation === 'SendMessage') return (await result(fetching, binding, operation, params)).task
  const [first] = await takeAll(frames(fetching, binding, operation, params))
  return first?.data.task
}

/**
 * A store in which every question of an agent is one for a credential. When the credential comes, the tasks that wait
 * for it are completed by what is no run of theirs.
 */
export function authAtQuestions(credential: Promise<void>): StoreSource {
  const toAuth = (event: NewEvent): NewEvent =>
    event.kind === 'status' && event.state === 'TASK_STATE_INPUT_REQUIRED'
      ? { ...event, state: 'TASK_STATE_AUTH_REQUIRED', body: event.body.replace('TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED') }
      : event
  return withStore((store) => ({
    async append(ref, fence, produce) {
      let asked = false
      const appended = await store.append(ref, fence, () => {
        const write = produce()
        const events = write?.events.map(toAuth) ?? []
        asked = events.some((event) => 'state' in event && event.state === 'TASK_STATE_AUTH_REQUIRED')
        return write && { ...write, events }
      })
      if (asked) void credential.then(() => complete(store, ref))
      return appended
    },
  }))
}

async function complete(store: Store, ref: Parameters<Store['read']>[0]): Promise<void> {
  await store.update(ref, (header) => {
    if (isFinal(header.state)) return { result: undefined }
    const at = nextTimestamp(header.statusTimestamp, 0)
    const events = [statusEvent(header, 'TASK_STATE_WORKING', at), statusEvent(header, 'TASK_STATE_COMPLETED', nextTimestamp(at, 0))]
    return { result: undefined, write: { events, waiting: null } }
  })
}
