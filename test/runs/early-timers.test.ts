/** Timers of Node count from when their turn of the event loop began: one may fire some milliseconds before the clock has come so far. */

import { expect, test } from 'vitest'
import { agent, type TaskHandle } from '../../src/index.js'
import { virtualWorld } from '../../src/testing/virtual-world.js'
import { begin, getTask, openStill } from '../runtime/kit.js'

const waits: Readonly<Record<string, (task: TaskHandle) => Promise<unknown>>> = {
  'a sleep': (task) => task.sleep(1_000),
  'a question with a timeout': (task) => task.ask('Well?', { timeout: 1_000 }).catch(() => undefined),
  'a wait with a timeout': (task) => task.wait('paid', { timeout: 1_000 }).catch(() => undefined),
  'a request for consent with a timeout': (task) =>
    task.authorize({ callback: ({ state }) => `https://consent.example/${state}`, timeout: 1_000 }).catch(() => undefined),
}

test.each(Object.keys(waits))('%s is over in its time where timers fire early', async (name) => {
  const world = virtualWorld()
  const early = { ...world, timer: (ms: number, fire: () => void) => world.timer(Math.max(0, ms > 3 ? ms - 3 : ms), fire) }
  const { fetch } = await openStill(
    agent({ name: 'Waiting', description: 'Waits.' }, async (task) => {
      await waits[name]?.(task)
      return 'over'
    }),
    { world: early },
  )
  const id = await begin(fetch, 'go')
  await world.advance(999)
  expect((await getTask(fetch, id)).status.state).not.toBe('TASK_STATE_COMPLETED')
  await world.advance(2)
  expect((await getTask(fetch, id)).status.state).toBe('TASK_STATE_COMPLETED')
})
