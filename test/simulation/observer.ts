/** A store that is watched: what each transaction writes is known once its COMMIT has taken effect, whoever hears of it. */

import type { Fence, Push, PushRef, Store, TaskHeader, TaskRef, TaskWrite } from '../../src/store/store.js'
import type { NewEvent } from '../../src/task/event.js'
import { textOf } from './interpret.js'
import type { PushFact } from './push-law.js'

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

type Configured = Extract<PushFact, { kind: 'made' | 'deleted' }>
type Advanced = Extract<PushFact, { kind: 'advanced' }>

/** @param told of what has to do with pushes, once it is committed */
export function createObserver(told: (fact: PushFact) => void = () => {}): Observer {
  const tasks = new Map<TaskRef, WatchedTask>()
  const begun = new Map<string, string>()
  const lastSeqs = new Map<TaskRef, number>()
  let staged: Staged[] = []
  let configured: Configured[] = []
  let advanced: Advanced[] = []

  const lastSeqOf = (ref: TaskRef) => lastSeqs.get(ref) ?? 0
  /** With what this turn adds. */
  const nextSeqOf = (ref: TaskRef) =>
    staged.filter((one) => one.ref === ref).reduce((sum, { fact }) => sum + fact.write.events.length, lastSeqOf(ref))

  function keep({ ref, id, fact }: Staged): void {
    const task = tasks.get(ref) ?? { id, ref, facts: [] }
    tasks.set(ref, task)
    task.facts.push(fact)
    const { events } = fact.write
    if (!fact.before) begun.set(textOf(JSON.parse(events[0]?.body ?? '').task.history[0]), id)
    const first = lastSeqOf(ref) + 1
    lastSeqs.set(ref, lastSeqOf(ref) + events.length)
    told({ kind: 'written', taskId: id, events: events.map((event, place) => ({ ...event, seq: first + place })) })
  }

  function forget(): void {
    staged = []
    configured = []
    advanced = []
  }

  return {
    tasks,
    begunBy: (text) => begun.get(text),
    committed() {
      staged.forEach(keep)
      // A store writes how far a configuration is before another one takes its place.
      for (const fact of [...advanced, ...configured]) told(fact)
      forget()
    },
    failed: forget,
    watch(store, life) {
      const seen = new Map<PushRef, Push>()
      return {
        ...store,
        create: (task, onAccepted) =>
          store.create(task, (created) => {
            if (created.outcome === 'created') {
              const { ref, id } = created.header
              const { created: event, records = [], holder, pushConfig: config } = task
              const write: TaskWrite = {
                events: [event] as readonly NewEvent[],
                records,
                ...(holder !== undefined && { holder, epoch: 1 }),
              }
              staged.push({ ref, id, fact: { before: undefined, fence: undefined, write, life } })
              if (config) configured.push({ kind: 'made', taskId: id, config, by: 'send', after: 1 })
            }
            onAccepted?.(created)
          }),
        update: (ref, decide, inbound) =>
          store.update(
            ref,
            (header, find) => {
              const decision = decide(header, find)
              const { write } = decision
              if (!write) return decision
              staged.push({ ref, id: header.id, fact: { before: header, fence: undefined, write, life } })
              const { events, pushConfig: config } = write
              const after = header.lastSeq + 1 + events.findIndex(({ kind }) => kind !== 'status' && kind !== 'artifact')
              if (config) configured.push({ kind: 'made', taskId: header.id, config, by: 'send', after })
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
        putPushConfig(ref, config) {
          configured.push({ kind: 'made', taskId: tasks.get(ref)?.id ?? '', config, by: 'operation', after: nextSeqOf(ref) })
          return store.putPushConfig(ref, config)
        },
        deletePushConfig(ref, id) {
          configured.push({ kind: 'deleted', taskId: tasks.get(ref)?.id ?? '', id })
          return store.deletePushConfig(ref, id)
        },
        async push(ref) {
          const found = await store.push(ref)
          if (found) seen.set(ref, found)
          return found
        },
        advancePush(ref, progress, delivery) {
          const { task, config } = seen.get(ref) ?? {}
          if (task && config) advanced.push({ kind: 'advanced', taskId: task.id, config, progress, ...(delivery && { delivery }) })
          return store.advancePush(ref, progress, delivery)
        },
      }
    },
  }
}
