/** Laws of one page of the list: what is in it, in which order, and how many there are. */

import { expect, test } from 'vitest'
import type { TaskState } from '../../src/protocol/wire.js'
import type { ListQuery, Store, TaskRef } from '../../src/store/store.js'
import {
  agentMessage,
  authRequired,
  canceled,
  completed,
  create,
  failed,
  finalStates,
  freshCaller,
  idIn,
  inputRequired,
  moved,
  newTask,
  note,
  type Open,
  parsed,
  put,
  rejected,
  status,
  submitted,
  unlessEndless,
  upTo,
  working,
} from './kit.js'

export function listingLaws(open: Open): void {
  test('the newest status comes first, and ties go by id downwards', async () => {
    const { store } = await open()
    const caller = freshCaller()
    const given = [
      ['b', 30],
      ['a', 10],
      ['c', 30],
      ['e', 20],
      ['d', 10],
      ['aa', 30],
    ] as const
    for (const [id, at] of given) await create(store, newTask({ caller, id, at }))
    expect(await idsOf(store, { caller, pageSize: 10 })).toEqual(['c', 'b', 'aa', 'e', 'd', 'a'])
  })

  test('a task moves to where its newest status puts it', async () => {
    const { store } = await open()
    const caller = freshCaller()
    const tasks = upTo(3).map((n) => newTask({ caller, id: `t${n}`, at: n * 10 }))
    const [first] = await Promise.all(tasks.map((task) => create(store, task)))
    if (first === undefined) throw new Error('three were made')
    await put(store, first, note(first, 'no change of status'))
    expect(await idsOf(store, { caller, pageSize: 10 })).toEqual(['t3', 't2', 't1'])
    await put(store, first, moved(first, working, 25))
    expect(await idsOf(store, { caller, pageSize: 10 })).toEqual(['t3', 't1', 't2'])
    await put(store, first, moved(first, completed, 31))
    expect(await idsOf(store, { caller, pageSize: 10 })).toEqual(['t1', 't3', 't2'])
  })

  test('a listed task is what reading it gives, with its status', async () => {
    const { store } = await open()
    const task = newTask()
    const question = agentMessage(task, 'which?')
    const header = await put(store, await create(store, task), note(task, 'x'), moved(task, inputRequired, 2_000, question))
    const page = await store.list({ caller: task.caller, pageSize: 10 })
    expect(page.tasks.map(({ text }) => parsed(text))).toEqual([parsed((await store.read(header.ref)).text)])
    expect(page.tasks.map(({ status }) => parsed(status))).toEqual([status(inputRequired, 2_000, question)])
    expect(page.total).toBe(1)
    expect(page.next).toBeUndefined()
  })

  test('a caller without tasks has an empty list', async () => {
    const { store } = await open()
    expect(await store.list({ caller: freshCaller(), pageSize: 10 })).toEqual({ tasks: [], total: 0 })
  })

  test('filters narrow the list and its total down, alone and together', async () => {
    const { store } = await open()
    const caller = freshCaller()
    const states: readonly TaskState[] = [submitted, working, inputRequired, authRequired, completed, failed, canceled, rejected]
    const made = await Promise.all(
      upTo(48).map(async (n) => {
        const state = states[n % 8] ?? submitted
        const task = newTask({ caller, contextId: `context ${n % 3}`, at: n })
        const header = await create(store, task)
        const at = state === submitted ? n : n + 100
        if (state !== submitted) await put(store, header, moved(task, state, at))
        return { id: task.id, contextId: task.contextId, state, at }
      }),
    )
    for (const contextId of [undefined, 'context 0', 'context 2', 'context 9']) {
      for (const state of [undefined, ...states]) {
        for (const since of [undefined, 0, 24, 40, 101, 125, 148, 149]) {
          const matching = made
            .filter((task) => (contextId === undefined || task.contextId === contextId) && (state === undefined || task.state === state))
            .filter((task) => since === undefined || task.at >= since)
          const query = {
            caller,
            pageSize: 100,
            ...(contextId === undefined ? {} : { contextId }),
            ...(state === undefined ? {} : { state }),
            ...(since === undefined ? {} : { since }),
          }
          const page = await store.list(query)
          expect(page.tasks.map(({ text }) => parsed(text))).toEqual(
            matching.sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1)).map(({ id }) => expect.objectContaining({ id })),
          )
          expect(page.total).toBe(matching.length)
        }
      }
    }
  })

  test('since takes the status of that very millisecond in', async () => {
    const { store } = await open()
    const task = newTask({ at: 5_000 })
    await create(store, task)
    const totals = await Promise.all(
      [4_999, 5_000, 5_001].map(async (since) => (await store.list({ caller: task.caller, since, pageSize: 10 })).total),
    )
    expect(totals).toEqual([1, 1, 0])
  })

  test('each of 137 tasks is visited once for every page size from 1 to 50', async () => {
    const { store } = await open()
    const caller = freshCaller()
    // Many share a time, so that pages end among equals.
    const tasks = upTo(137).map((n) => newTask({ caller, at: (n * 7) % 11 }))
    await Promise.all(tasks.map((task) => create(store, task)))
    const expected = await idsOf(store, { caller, pageSize: 137 })
    expect([...expected].sort()).toEqual(tasks.map(({ id }) => id).sort())
    for (const pageSize of upTo(50)) {
      const pages = await walk(store, { caller, pageSize })
      expect(pages.flatMap(({ ids }) => ids)).toEqual(expected)
      expect(pages.map(({ ids }) => ids.length).slice(0, -1)).toEqual(upTo(Math.ceil(137 / pageSize) - 1).map(() => pageSize))
      expect(new Set(pages.map(({ total }) => total))).toEqual(new Set([137]))
    }
  })

  test('a last page that is full has no next', async () => {
    const { store } = await open()
    const caller = freshCaller()
    await Promise.all(upTo(12).map((at) => create(store, newTask({ caller, at }))))
    for (const pageSize of [1, 2, 3, 4, 6, 12]) expect(await walk(store, { caller, pageSize })).toHaveLength(12 / pageSize)
  })

  test('unfinished tasks are those that are not final, of all callers, oldest first', async () => {
    const { store } = await open()
    const moves: readonly (TaskState | undefined)[] = [
      undefined,
      working,
      inputRequired,
      authRequired,
      completed,
      failed,
      canceled,
      rejected,
      undefined,
      working,
    ]
    const expected: TaskRef[] = []
    for (const [n, state] of [...moves, ...moves].entries()) {
      // Times run against the order of making, which is the one that counts.
      const task = newTask({ at: 10_000 - n })
      const header = await create(store, task)
      if (state !== undefined) await put(store, header, moved(task, state, 20_000))
      if (state === undefined || !finalStates.includes(state)) expected.push(header.ref)
    }
    for (const limit of [1, 2, 3, 7, 8, 100]) {
      const found: TaskRef[] = []
      for (;;) {
        const after = found.at(-1)
        const page = await store.unfinished({ limit, ...(after === undefined ? {} : { after }) })
        expect(page.length).toBeLessThanOrEqual(limit)
        if (page.length === 0) break
        found.push(...page.map(({ ref }) => ref))
        unlessEndless(found.length)
      }
      expect(found).toEqual(expected)
    }
  })

  test('an unfinished task is told with its newest header', async () => {
    const { store } = await open()
    const task = newTask({ holder: 'here' })
    const header = await put(store, await create(store, task), moved(task, working, 2_000))
    expect(await store.unfinished({ limit: 10 })).toEqual([header])
  })
}

/** The ids on one page. */
export async function idsOf(store: Store, query: ListQuery): Promise<readonly unknown[]> {
  return (await store.list(query)).tasks.map(({ text }) => idIn(text))
}

/** Every page from the first to the last. */
export async function walk(store: Store, query: ListQuery) {
  const pages: { readonly ids: readonly unknown[]; readonly total: number }[] = []
  for (let from = query.from; ; ) {
    const { tasks, total, next } = await store.list({ ...query, ...(from === undefined ? {} : { from }) })
    pages.push({ ids: tasks.map(({ text }) => idIn(text)), total })
    unlessEndless(pages.length * 100)
    if (next === undefined) return pages
    from = next
  }
}
