/** A store that is watched: what each transaction writes is known once its COMMIT has taken effect, whoever hears of it. */

import type { Fence, Store, TaskHeader, TaskRef, TaskWrite } from '../../src/store/store.js'
import type { NewEvent } from '../../src/task/event.js'
import { textOf } from './interpret.js'

/** A committed write to a task. */
export interface Fact {
  /** The task as it was; undefined where this write made it. */
  readonly before: TaskHeader | undefined
  /** Of the run that wrote; undefined where a caller or the server did. */
  readonly fence: Fence | undefined
  readonly write: TaskWrite
  /** Number of the process start that wrote. */
  readonly life: number
}

export interface WatchedTask {
  readonly id: string
  readonly ref: TaskRef
  readonly facts: Fact[]
}

export interface Observer {
  readonly tasks: ReadonlyMap<TaskRef, WatchedTask>
  /** Id of the task that a message of this text began. */
  begunBy(text: string): string | undefined
  /** The same store, watched. */
  watch(store: Store, life: number): Store
  /** The COMMIT that is being made has taken effect. */
  committed(): void
  /** It has not. */
  failed(): void
}

interface Staged {
  readonly ref: TaskRef
  readonly id: string
  readonly fact: Fact
}

export function createObserver(): Observer {
  const tasks = new Map<TaskRef, WatchedTask>()
  const begun = new Map<string, string>()
  let staged: Staged[] = []

  return {
    tasks,
    begunBy: (text) => begun.get(text),
    committed() {
      for (const { ref, id, fact } of staged) {
        const task = tasks.get(ref) ?? { id, ref, facts: [] }
        tasks.set(ref, task)
        task.facts.push(fact)
        if (!fact.before) begun.set(textOf(JSON.parse(fact.write.events[0]?.body ?? '').task.history[0]), id)
      }
      staged = []
    },
    failed() {
      staged = []
    },
    watch: (store, life) => ({
      ...store,
      create: (task, onAccepted) =>
        store.create(task, (created) => {
          if (created.outcome === 'created') {
            const { ref, id } = created.header
            const { created: event, records = [], holder } = task
            const write: TaskWrite = { events: [event] as readonly NewEvent[], records, ...(holder !== undefined && { holder, epoch: 1 }) }
            staged.push({ ref, id, fact: { before: undefined, fence: undefined, write, life } })
          }
          onAccepted?.(created)
        }),
      update: (ref, decide, inbound) =>
        store.update(
          ref,
          (header, find) => {
            const decision = decide(header, find)
            if (decision.write) staged.push({ ref, id: header.id, fact: { before: header, fence: undefined, write: decision.write, life } })
            return decision
          },
          inbound,
        ),
      append: (ref, fence, produce) =>
        store.append(ref, fence, (header, find) => {
          const write = produce(header, find)
          if (write) staged.push({ ref, id: header.id, fact: { before: header, fence, write, life } })
          return write
        }),
      claim: (ref, holder) => store.claim(ref, holder),
    }),
  }
}
