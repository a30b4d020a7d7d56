/** Defects planted from outside: what a store or a world does wrong, so that the oracles can prove that they see it. */

import { isFinal } from '../../src/protocol/states.js'
import type { Store, TaskHeader, TaskWrite, Updated } from '../../src/store/store.js'
import type { World } from '../../src/support/world.js'
import type { TaskEvent } from '../../src/task/event.js'
import type { Chance } from './chance.js'
import type { Sabotage } from './history.js'
import type { Plan } from './plan.js'
import type { Program } from './program.js'
import { pushDefects } from './push-defects.js'
import type { PostSabotage } from './pushing.js'

export interface Defect {
  readonly store?: Sabotage
  readonly world?: (world: World) => World
  readonly post?: PostSabotage
  /** Histories in which it shows. */
  readonly plan?: Partial<Plan>
  /** What a law says of it. */
  readonly found: RegExp
}

interface Written {
  readonly write: TaskWrite
  readonly header: TaskHeader
  readonly by: 'run' | 'anybody'
  readonly chance: Chance
}

/** Another write in the place of the one that was meant; undefined in place of none. */
const rewriting =
  (change: (written: Written) => TaskWrite | undefined): Sabotage =>
  (store, chance) => ({
    ...store,
    append: (ref, fence, produce) =>
      store.append(ref, fence, (header, find) => {
        const write = produce(header, find)
        return write && change({ write, header, by: 'run', chance })
      }),
    update: (ref, decide, inbound) =>
      store.update(
        ref,
        (header, find) => {
          const { write, ...decision } = decide(header, find)
          const changed = write && change({ write, header, by: 'anybody', chance })
          return { ...decision, ...(changed && { write: changed }) }
        },
        inbound,
      ),
  })

const without = <Name extends keyof TaskWrite>(write: TaskWrite, ...names: readonly Name[]): TaskWrite => {
  const copy = { ...write }
  for (const name of names) delete copy[name]
  return copy
}

const isHandBack = ({ events, holder }: TaskWrite) => holder === null && events.length === 0
const taker: Program = [
  {
    acts: Array.from({ length: 6 }, (_, n) => [{ does: 'sleep', id: `s${n}`, duration: '10m' } as const, { does: 'take' } as const]).flat(),
    end: 'value',
  },
]

const crashes = { crashAtCommit: 0.1, crash: 0.1, recovery: 'restart' } as const

/** Tells the caller before the COMMIT what it will have done. */
const hasty: Sabotage = (store) => ({
  ...store,
  update: <R>(...[ref, decide, inbound]: Parameters<Store['update']>) =>
    new Promise<Updated<R>>((resolve, reject) => {
      const early: Parameters<Store['update']>[1] = (header, find) => {
        const decision = decide(header, find)
        // Of the type that the caller's own decide has.
        queueMicrotask(() => resolve({ outcome: 'updated', header, result: decision.result as R }))
        return decision
      }
      store.update(ref, early, inbound).then((updated) => resolve(updated as Updated<R>), reject)
    }),
})

/** Whoever writes is taken for the one who may. */
export const fenceless: Sabotage = (store) => ({
  ...store,
  async append(ref, _fence, produce) {
    const updated = await store.update(ref, (header, find) => {
      const write = isFinal(header.state) ? undefined : produce(header, find)
      return { result: isFinal(header.state), ...(write && { write }) }
    })
    if (updated.outcome !== 'updated' || updated.result) return { outcome: 'fenced' }
    return { outcome: 'committed', lastSeq: updated.header.lastSeq }
  },
})

const forgetful: Sabotage = (store) => ({
  ...store,
  create: ({ inbound: _, ...task }, onAccepted) => store.create(task, onAccepted),
  update: (ref, decide) => store.update(ref, decide),
})

const skipping: Sabotage = (store, chance) => ({
  ...store,
  events: async (...given) => (await store.events(...given)).filter(({ kind }) => kind !== 'artifact' || !chance.is(0.2)),
})

/** Who listens gets the final event twice; the first one does not look like an end. */
const repeating: Sabotage = (store) => {
  const doubled = (events: readonly TaskEvent[]) =>
    events.flatMap(({ state, ...event }) =>
      state !== undefined && isFinal(state) ? [event, { ...event, state }] : [{ ...event, ...(state && { state }) }],
    )
  return {
    ...store,
    events: async (...given) => doubled(await store.events(...given)),
    onCommit: (listener) => store.onCommit((ref, lastSeq, events) => listener(ref, lastSeq, events && doubled(events))),
  }
}

/** Gives what it has given before. */
const stale: Sabotage = (store, chance) => {
  const kept = new Map<number, Awaited<ReturnType<Store['read']>>>()
  return {
    ...store,
    async read(ref) {
      const known = kept.get(ref)
      if (known && chance.is(0.5)) return known
      const text = await store.read(ref)
      kept.set(ref, text)
      return text
    },
  }
}

/** Records come back in another order than the one in which they settled. */
const disorderly: Sabotage = (store) => ({
  ...store,
  async claim(ref, holder) {
    const claimed = await store.claim(ref, holder)
    if (!claimed) return undefined
    const last = Math.max(0, ...claimed.records.map(({ n }) => n ?? 0))
    return {
      ...claimed,
      records: claimed.records.map((record) => (record.n === undefined ? record : { ...record, n: last + 1 - record.n })),
    }
  },
})

const deaf: Sabotage = (store) => ({
  ...store,
  update: (ref, decide, inbound) =>
    store.update(
      ref,
      (header, find) => {
        const { question: _, ...waiting } = header.waiting ?? {}
        // Still of its kind, only that nobody knows what was asked.
        return decide(header.waiting ? { ...header, waiting: waiting as typeof header.waiting } : header, find)
      },
      inbound,
    ),
})

export const defects: Readonly<Record<string, Defect>> = {
  ...pushDefects,
  'a run is not fenced': { store: fenceless, plan: { takeover: 0.5, shutdown: 0 }, found: /does not hold|after epoch|written to after/ },
  'a write is acknowledged before its COMMIT': {
    store: hasty,
    plan: { failedCommit: 0.15, cancels: 0.1 },
    found: /was accepted and is not in|was confirmed/,
  },
  'an answer is acknowledged and lost': {
    store: rewriting(({ write }) => (write.events.some(({ kind }) => kind === 'answer') ? undefined : write)),
    found: /was accepted and is not in/,
  },
  'an answer does not close its question': {
    store: rewriting(({ write }) => (write.events.some(({ kind }) => kind === 'answer') ? without(write, 'records') : write)),
    found: /answers did not fit|a call that was not made/,
  },
  'the final event is delivered twice': { store: repeating, found: /a reader of task/ },
  'a step is done and its record lost': {
    store: rewriting(({ write, chance }) =>
      write.records?.some(({ kind }) => kind === 'step') && chance.is(0.5) ? without(write, 'records') : write,
    ),
    plan: crashes,
    found: /after it had settled|after \d/,
  },
  'records are given back in another order': { store: disorderly, plan: crashes, found: /should be|ends with/ },
  'a message that comes again is taken for a new one': { store: forgetful, found: /a message twice|began task/ },
  'a run that is handed back stays held': {
    store: rewriting(({ write }) => (isHandBack(write) ? undefined : write)),
    plan: { shutdown: 0.5, crash: 0, crashAtCommit: 0, failedCommit: 0 },
    found: /is held by a process that was shut down|came to rest/,
  },
  'a shutdown counts an attempt': {
    store: rewriting(({ write, header }) =>
      isHandBack(write) && write.attempt === undefined ? { ...write, attempt: header.attempt + 1 } : write,
    ),
    plan: { shutdown: 0.5, crash: 0, crashAtCommit: 0, failedCommit: 0, takeover: 0 },
    found: /a shutdown counted an attempt/,
  },
  'a cancel is confirmed and not done': {
    store: rewriting(({ write }) =>
      write.events.some((event) => 'state' in event && event.state === 'TASK_STATE_CANCELED') ? undefined : write,
    ),
    plan: { cancels: 0.3 },
    found: /a cancel was answered with|cancel of task/,
  },
  'an output is lost': {
    store: rewriting(({ write, by, chance }) =>
      by === 'run' && chance.is(0.3) ? { ...write, events: write.events.filter(({ kind }) => kind !== 'artifact') } : write,
    ),
    found: /not what was committed/,
  },
  'the memory of the context is lost': {
    store: rewriting(({ write }) => without(write, 'memory')),
    found: /the memory of task|should be|ends with/,
  },
  'a message is taken out of the inbox and stays in it': {
    store: rewriting(({ write }) => without(write, 'inboxSeq')),
    // Seen only where one message is taken, the process dies, and the next one takes another.
    plan: { ...crashes, crash: 0.25, actions: 250, programs: [taker] },
    found: /out of the inbox/,
  },
  'nobody knows what was asked': { store: deaf, found: /came to task|came to rest/ },
  'a signal is accepted and lost': {
    store: rewriting(({ write, by }) => (by === 'anybody' && write.records?.some(({ kind }) => kind === 'signal') ? undefined : write)),
    found: /was accepted and is lost/,
  },
  'a stream leaves out events': { store: skipping, plan: { failedCommit: 0.1 }, found: /a reader of task/ },
  'a read gives what was': {
    store: stale,
    found: /accepted and is not in|began with what it never was|a reader of task|before the task rested/,
  },
  'timers do not fire': {
    world: (world) => ({ ...world, timer: () => () => undefined }),
    plan: { crash: 0, crashAtCommit: 0, shutdown: 0, cancels: 0 },
    found: /could happen|came to rest/,
  },
  'chance repeats itself': {
    world: (world) => ({ ...world, randomBytes: (length) => new Uint8Array(length) }),
    found: /was answered by/,
  },
}
