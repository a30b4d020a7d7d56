/** At a start on a store that nobody else has: what a process that died was holding becomes anybody's again. */

import type { Decision, Store, TaskHeader, TaskRef } from '../store/store.js'
import type { Log } from '../support/log.js'
import { openBody, type Vault } from '../support/vault.js'
import type { World } from '../support/world.js'
import type { Agent } from './agent.js'
import { failTask, unreadable } from './fail-task.js'

/** A task that has taken so many processes with it, without a sign of progress, is given up. */
const mostTakeovers = 3
const page = 500

interface RecoverOptions {
  readonly agent: Agent
  readonly store: Store
  readonly world: World
  readonly log: Log
}

/** Counts an attempt of each task that was at work; one that waited loses nothing, and counts none. */
export async function recover(options: RecoverOptions): Promise<void> {
  const { store, log } = options
  let count = 0
  for (let after: TaskRef | undefined; ; ) {
    const found = await store.unfinished({ limit: page, ...(after !== undefined && { after }) })
    const held = found.filter(({ holder }) => holder !== undefined)
    await Promise.all(held.map(({ ref }) => store.update(ref, (header) => takeOver(header, options))))
    count += held.length
    after = found.at(-1)?.ref
    if (after !== undefined) continue
    if (count > 0) log.info('tasks of a process that died were taken over', { count })
    return
  }
}

function takeOver(header: TaskHeader, { agent, world }: RecoverOptions): Decision<undefined> {
  const { holder, waiting } = header
  if (holder === undefined) return { result: undefined }
  if (waiting !== undefined) return { result: undefined, write: { events: [], holder: null } }
  const attempt = header.attempt + 1
  if (agent.recovery === 'fail')
    return { result: undefined, ...failTask(header, 'The server stopped while the agent was working on this task.', world) }
  if (attempt > mostTakeovers)
    return { result: undefined, ...failTask(header, `The agent was started ${attempt} times and came no further.`, world) }
  return { result: undefined, write: { events: [], holder: null, attempt } }
}

/** Fails what goes on and holds what cannot be opened: its key is lost, and was given up. */
export async function giveUpSealed({ store, vault, world, log }: Omit<RecoverOptions, 'agent'> & { readonly vault: Vault }): Promise<void> {
  for (let after: TaskRef | undefined; ; ) {
    const found = await store.unfinished({ limit: page, ...(after !== undefined && { after }) })
    for (const { ref, id: taskId, turn } of found) {
      const records = await store.records(ref, turn)
      const opened = records.map(({ key, body }) => openBody(vault, { taskId, turn, key }, body))
      if ((await Promise.allSettled(opened)).every(({ status }) => status === 'fulfilled')) continue
      log.warn('a task was sealed with a key that is given up, and fails', { taskId })
      await store.update(ref, (header) => ({ result: undefined, ...failTask(header, unreadable, world) }))
    }
    after = found.at(-1)?.ref
    if (after === undefined) return
  }
}
