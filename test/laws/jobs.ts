/** Laws of jobs: what anybody may claim is known by the very commit that makes it so. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Store, TaskHeader, TaskRef, TaskWrite } from '../../src/store/store.js'
import {
  completed,
  create,
  finalStates,
  headerOf,
  inputRequired,
  moved,
  newTask,
  nextTurn,
  note,
  type Open,
  put,
  said,
  upTo,
  waitsFor,
  working,
} from './kit.js'

const all = 10_000

export function jobLaws(open: Open): void {
  test('a task is runnable from its making until somebody claims it', async () => {
    const { store } = await open()
    const header = await create(store, newTask())
    expect(await store.runnable(all)).toEqual([header.ref])
    await store.claim(header.ref, 'here')
    expect(await store.runnable(all)).toEqual([])
    await write(store, header, { holder: null })
    expect(await store.runnable(all)).toEqual([header.ref])
  })

  test('a task that is made with a holder is not runnable', async () => {
    const { store } = await open()
    await create(store, newTask({ holder: 'here' }))
    expect(await store.runnable(all)).toEqual([])
  })

  test('a task that waits is runnable when its waiting is over, due or not', async () => {
    const { store, world } = await open()
    const task = newTask()
    const header = await create(store, task)
    await write(store, header, { waiting: { kind: 'sleep', key: 's', due: world.now() - 1 } })
    expect(await store.runnable(all)).toEqual([])
    await write(store, header, { waiting: null })
    expect(await store.runnable(all)).toEqual([header.ref])
  })

  test.each(finalStates)('a task in %s is not runnable', async (state) => {
    const { store } = await open()
    const task = newTask()
    const header = await create(store, task)
    await put(store, header, moved(task, state, 2_000))
    expect(await store.runnable(all)).toEqual([])
  })

  test('those that became runnable first come first, also those of one turn', async () => {
    const { store } = await open()
    const headers = await Promise.all(upTo(6).map(() => create(store, newTask())))
    const refs = headers.map(({ ref }) => ref)
    expect(await store.runnable(all)).toEqual(refs)
    expect(await store.runnable(4)).toEqual(refs.slice(0, 4))
    const [a, b, c, d, e, f] = headers
    if (!a || !b || !c || !d || !e || !f) throw new Error('six were made')
    await Promise.all([a, c, e].map(({ ref }) => store.claim(ref, 'here')))
    await Promise.all([e, a].map((header) => write(store, header, { holder: null })))
    expect(await store.runnable(all)).toEqual([b, d, f, e, a].map(({ ref }) => ref))
    const g = newTask()
    await Promise.all([write(store, c, { holder: null }), create(store, g)])
    expect(await store.runnable(all)).toEqual([b.ref, d.ref, f.ref, e.ref, a.ref, c.ref, (await headerOf(store, g)).ref])
  })

  test('what happens to a runnable task while it is one costs it its place in the queue nothing', async () => {
    const { store } = await open()
    const [first, second] = [await create(store, newTask()), await create(store, newTask())]
    await put(store, first, note(first, 'x'), said(first, 'message', 'm'))
    await Promise.all([store.claim(first.ref, 'here'), write(store, first, { holder: null })])
    expect(await store.runnable(all)).toEqual([first.ref, second.ref])
  })

  test('the message that begins a turn makes its task runnable in its own commit', async () => {
    const { store } = await open()
    const task = newTask({ holder: 'here' })
    const header = await create(store, task)
    const asking = { events: [moved(task, inputRequired, 2_000)], waiting: waitsFor('q'), holder: null }
    await store.append(header.ref, { epoch: 1, holder: 'here' }, () => asking)
    expect(await store.runnable(all)).toEqual([])
    const seen: Promise<readonly TaskRef[]>[] = []
    store.onCommit(() => seen.push(store.runnable(all)))
    await write(store, header, { events: [said(task, 'turn', 'Monday'), moved(task, working, 3_000)], waiting: null, turn: 2 })
    expect(await Promise.all(seen)).toEqual([[header.ref]])
  })

  test('nobody reads a job before its commit', async () => {
    const { store } = await open()
    const making = create(store, newTask())
    expect(await store.runnable(all)).toEqual([])
    const { ref } = await making
    expect(await store.runnable(all)).toEqual([ref])
  })

  test('listeners are told of each task that became runnable, after the commit, and of no other', async () => {
    const { store, world } = await open()
    const told: TaskRef[] = []
    const seen: Promise<readonly TaskRef[]>[] = []
    store.onRunnable((ref) => {
      told.push(ref)
      seen.push(store.runnable(all))
    })
    const header = await create(store, newTask())
    await create(store, newTask({ holder: 'here' }))
    await put(store, header, note(header, 'still'))
    await Promise.all([store.claim(header.ref, 'here'), write(store, header, { holder: null })])
    await nextTurn(world)
    expect(told).toEqual([header.ref])
    await store.claim(header.ref, 'here')
    await Promise.all([write(store, header, { holder: null }), store.claim(header.ref, 'there')])
    await nextTurn(world)
    expect(told).toEqual([header.ref])
    await write(store, header, { holder: null })
    await nextTurn(world)
    expect(told).toEqual([header.ref, header.ref])
    for (const refs of await Promise.all(seen)) expect(refs).toEqual([header.ref])
  })

  test('a task that begins and ends in one commit is never told of', async () => {
    const { store, world } = await open()
    const told: TaskRef[] = []
    store.onRunnable((ref) => told.push(ref))
    const task = newTask()
    await store.create(task, (created) => {
      if (created.outcome === 'created') void put(store, created.header, moved(task, completed, 2_000))
    })
    await nextTurn(world)
    expect([told, await store.runnable(all)]).toEqual([[], []])
  })

  test('a listener for runnable tasks that was taken back hears nothing more, the others do', async () => {
    const { store, world } = await open()
    const heard = { first: 0, second: 0 }
    const stop = store.onRunnable(() => heard.first++)
    store.onRunnable(() => heard.second++)
    await create(store, newTask())
    await nextTurn(world)
    stop()
    stop()
    await create(store, newTask())
    await nextTurn(world)
    expect(heard).toEqual({ first: 1, second: 2 })
  })

  test('no runnable task without a job, no job without its task, first come first, whatever happens', async () => {
    const actions = ['create', 'create held', 'claim', 'hand back', 'wait', 'go on', 'note', 'end'] as const
    const action = fc.record({ does: fc.constantFrom(...actions), which: fc.nat(7) })
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(action, { minLength: 1, maxLength: 5, size: 'max' }), { maxLength: 20, size: 'max' }),
        async (turns) => {
          const { store, world } = await open()
          const made: TaskHeader[] = []
          const told: TaskRef[] = []
          let queue: readonly TaskRef[] = []
          store.onRunnable((ref) => told.push(ref))
          for (const turn of turns) {
            // Each in its own order: all of a turn share a commit.
            await Promise.allSettled(turn.map(({ does, which }) => act(store, made, does, which)))
            await nextTurn(world)
            const now = await Promise.all(made.map(({ ref }) => store.header(ref)))
            const runnable = now.filter((header) => header !== undefined && isRunnable(header)).map((header) => header?.ref)
            const found = await store.runnable(all)
            expect([...found].sort()).toEqual(runnable.sort())
            const stayed = queue.filter((ref) => runnable.includes(ref))
            const became = found.slice(stayed.length)
            expect(found).toEqual([...stayed, ...became])
            expect(told.splice(0)).toEqual(became)
            queue = found
          }
          await store.close()
        },
      ),
      { numRuns: 60 },
    )
  })
}

function isRunnable({ state, holder, waiting }: TaskHeader): boolean {
  return holder === undefined && waiting === undefined && !finalStates.includes(state)
}

type Action = 'create' | 'create held' | 'claim' | 'hand back' | 'wait' | 'go on' | 'note' | 'end'

async function act(store: Store, made: TaskHeader[], does: Action, which: number): Promise<void> {
  const header = made[which % Math.max(1, made.length)]
  if (does === 'create' || does === 'create held' || header === undefined) {
    const task = newTask(does === 'create held' ? { holder: 'here' } : {})
    await store.create(task, (created) => {
      if (created.outcome === 'created') made.push(created.header)
    })
  } else if (does === 'claim') await store.claim(header.ref, 'here')
  else if (does === 'hand back') await write(store, header, { holder: null })
  else if (does === 'wait') await write(store, header, { waiting: { kind: 'sleep', key: 's', due: 5 } })
  else if (does === 'go on') await write(store, header, { waiting: null })
  else if (does === 'note') await put(store, header, note(header, 'x'))
  else await put(store, header, moved(header, completed, 9_000))
}

async function write(store: Store, { ref }: TaskHeader, members: Partial<TaskWrite>): Promise<void> {
  await store.update(ref, () => ({ write: { events: [], ...members }, result: 0 }))
}
