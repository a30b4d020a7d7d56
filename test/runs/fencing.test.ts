/** Two servers over one store: the one that was paused past the takeover of its task writes nothing more. */

import { expect, test } from 'vitest'
import { agent, chunk, type Run, sqlite } from '../../src/index.js'
import type { Store, StoreSource, TaskHeader } from '../../src/store/store.js'
import { sleep, type World } from '../../src/support/world.js'
import { type VirtualWorld, virtualWorld } from '../../src/testing/virtual-world.js'
import { openServer } from '../harness/server.js'
import { logOf } from '../laws/kit.js'
import { begin, closeStill, getTask } from '../runtime/kit.js'
import { stateOf, wordOf } from './kit.js'

const trials = 200

/** What a process sees of the world and of the store. While it is paused, nothing reaches it; it finds all of it when it goes on. */
interface Pausable {
  readonly world: World
  readonly source: StoreSource
  pause(): void
  resume(): void
  /** Appends that it has tried since `watch` was called, and those of them that were committed. */
  watch(header: TaskHeader): { readonly tried: number; readonly committed: number }
}

function pausable(world: World, store: Store): Pausable {
  let held: (() => void)[] | undefined
  let watched: { header: TaskHeader; tried: number; committed: number } | undefined
  const whenAwake = (run: () => void) => {
    if (held) held.push(run)
    else run()
  }
  const awake = <T>(outcome: Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      outcome.then(
        (value) => whenAwake(() => resolve(value)),
        (error: unknown) => whenAwake(() => reject(error)),
      )
    })
  const seen: Store = {
    ...store,
    create: (...given) => awake(store.create(...given)),
    accepted: (...given) => awake(store.accepted(...given)),
    find: (...given) => awake(store.find(...given)),
    header: (...given) => awake(store.header(...given)),
    update: (...given) => awake(store.update(...given)),
    async append(ref, fence, produce) {
      const stale = watched !== undefined && ref === watched.header.ref && fence.epoch <= watched.header.epoch ? watched : undefined
      if (stale) stale.tried++
      const outcome = await awake(store.append(ref, fence, produce))
      if (stale && outcome.outcome === 'committed') stale.committed++
      return outcome
    },
    claim: (...given) => awake(store.claim(...given)),
    records: (...given) => awake(store.records(...given)),
    read: (...given) => awake(store.read(...given)),
    events: (...given) => awake(store.events(...given)),
    list: (...given) => awake(store.list(...given)),
    unfinished: (...given) => awake(store.unfinished(...given)),
    runnable: (...given) => awake(store.runnable(...given)),
    due: (...given) => awake(store.due(...given)),
    nextDue: () => awake(store.nextDue()),
    onCommit: (listener) => store.onCommit((...told) => whenAwake(() => listener(...told))),
    onRunnable: (listener) => store.onRunnable((...told) => whenAwake(() => listener(...told))),
    // It belongs to both.
    close: () => Promise.resolve(),
  }
  return {
    world: {
      now: world.now,
      timer: (ms, fire) => world.timer(ms, () => whenAwake(fire)),
      defer: (run) => world.defer(() => whenAwake(run)),
      randomBytes: world.randomBytes,
    },
    source: { open: () => Promise.resolve(seen) },
    pause() {
      held = []
    },
    resume() {
      const found = held ?? []
      held = undefined
      for (const run of found) run()
    },
    watch(header) {
      watched = { header, tried: 0, committed: 0 }
      return watched
    },
  }
}

/** Chunks and steps that take some milliseconds each; every chunk says who made it. */
const workOf = (who: string, world: World, length: (place: number) => number): Run =>
  async function* (task) {
    for (let place = 0; place < 12; place++) {
      yield chunk('log', `${who}${place};`)
      if (place % 3 === 2) await task.step(`${place}`, () => sleep(world, length(place)))
      else await sleep(world, length(place))
    }
    return 'done'
  }

async function trial(seed: number) {
  const world: VirtualWorld = virtualWorld({ seed })
  const random = (below: number) => ((world.randomBytes(1)[0] ?? 0) * 256 + (world.randomBytes(1)[0] ?? 0)) % below
  const store = await sqlite(':memory:').open({ world })
  const open = async (who: string) => {
    const process = pausable(world, store)
    const lengths = Array.from({ length: 12 }, () => 1 + random(10))
    const run = workOf(who, process.world, (place) => lengths[place] ?? 1)
    const made = agent({ name: who, description: 'Works.' }, run)
    return { ...process, server: await openServer(made, { store: process.source, world: process.world }) }
  }
  const [a, b] = [await open('A'), await open('B')]
  const id = await begin(a.server.fetch, 'go')
  // It takes 12 ms at least.
  await world.advance(random(11))
  a.pause()
  await world.advance(random(40))
  const before = await store.locate(id)
  if (!before || before.holder === undefined) throw new Error(`seed ${seed}: nobody holds the task`)
  // As whoever looks after the dead does: the lease of A is over.
  const taken = await store.update(before.ref, ({ epoch, holder, attempt }) =>
    epoch === before.epoch && holder === before.holder
      ? { write: { events: [], holder: null, attempt: attempt + 1 }, result: true }
      : { result: false },
  )
  if (taken.outcome !== 'updated' || !taken.result) throw new Error(`seed ${seed}: there was no takeover`)
  const stale = a.watch(before)
  await world.advance(random(60))
  a.resume()
  await world.advance(30_000)
  const log = await logOf(store, before)
  const after = log.filter(({ seq }) => seq > before.lastSeq).map(wordOf)
  const task = await getTask(b.server.fetch, id)
  const outcome = {
    seed,
    tried: stale.tried > 0,
    committed: stale.committed,
    staleEvents: after.filter((word) => /A\d/.test(word)),
    state: stateOf(task),
    text: task.artifacts?.[0].parts.map(({ text }: any) => text).join(''),
    numbers: log.every(({ seq }, place) => seq === place + 1),
  }
  await closeStill(a.server, world)
  await closeStill(b.server, world)
  await store.close()
  return outcome
}

test(`a run that was paused past its takeover writes nothing: ${trials} trials`, async () => {
  let tried = 0
  for (let seed = 1; seed <= trials; seed++) {
    const outcome = await trial(seed)
    if (outcome.tried) tried++
    expect(outcome).toMatchObject({ seed, committed: 0, staleEvents: [], state: 'COMPLETED', numbers: true })
    expect(outcome.text).toBe(Array.from({ length: 12 }, (_, place) => `B${place};`).join(''))
  }
  // Those that did not try had learned of the takeover before.
  expect(tried).toBeGreaterThanOrEqual(150)
}, 180_000)
