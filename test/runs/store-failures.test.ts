/** A store that cannot be read: no answer to what a function awaits. The run is given back, and the next one goes on. */

import { expect, test } from 'vitest'
import { agent, sqlite, type TaskHandle } from '../../src/index.js'
import type { Store } from '../../src/store/store.js'
import { result, userMessage } from '../harness/server.js'
import { begin, getTask, openStill } from '../runtime/kit.js'

const waits: Readonly<Record<string, (task: TaskHandle) => Promise<unknown>>> = {
  'task.ask': (task) => task.ask('Well?').then(({ text }) => text),
  'inbox.next': (task) => task.inbox.next().then((message) => message?.parts[0]?.text),
}

/** Reads by which a run learns what it waits for. */
const reads = ['header', 'records', 'events'] as const satisfies readonly (keyof Store)[]

test.each(Object.keys(waits).flatMap((wait) => reads.map((read) => [wait, read] as const)))(
  '%s, when %s fails once: the function is not told, and its task ends as it would have',
  async (wait, read) => {
    const told: unknown[] = []
    let fails = 0
    const run = async (task: TaskHandle) => {
      try {
        return String(await waits[wait]?.(task))
      } catch (error) {
        told.push((error as Error).name)
        throw error
      }
    }
    const { fetch, world } = await openStill(agent({ name: 'Asker', description: 'Waits.' }, run), {
      store: {
        async open(options) {
          const store = await sqlite(':memory:').open(options)
          const failing = async (...given: never[]) => {
            if (fails-- > 0) throw new Error('disk I/O error')
            return (store[read] as (...given: never[]) => Promise<never>)(...given)
          }
          return { ...store, [read]: failing }
        },
      },
    })
    const id = await begin(fetch, 'go')
    await world.advance(0)
    fails = 1
    const said = result(fetch, 'JSONRPC', 'SendMessage', {
      message: userMessage('yes', { taskId: id }),
      configuration: { returnImmediately: true },
    })
    await said.catch(() => undefined)
    await world.advance(120_000)
    fails = 0
    // Where the failure met the message itself, it has to be sent again.
    if ((await getTask(fetch, id)).status.state !== 'TASK_STATE_COMPLETED') await begin(fetch, 'yes', { taskId: id })
    await world.advance(120_000)
    const task = await getTask(fetch, id)
    expect([task.status.state, task.artifacts?.[0].parts[0].text]).toEqual(['TASK_STATE_COMPLETED', 'yes'])
    expect(told.filter((name) => name !== 'RunStoppedError')).toEqual([])
  },
)
