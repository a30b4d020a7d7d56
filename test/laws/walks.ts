/** Laws of a walk through the list (D20): a snapshot of its first page, whatever happens to the tasks meanwhile. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ListPosition, Store } from '../../src/store/store.js'
import {
  completed,
  create,
  freshCaller,
  idIn,
  moved,
  newTask,
  note,
  type Open,
  parsed,
  put,
  status,
  submitted,
  upTo,
  working,
} from './kit.js'
import { Walks, walkSteps } from './walk-model.js'

export function walkLaws(open: Open): void {
  test('a walk visits each task of its first page’s snapshot once, whatever is added, moved or finished meanwhile', async () => {
    const { store } = await open()
    await fc.assert(
      fc.asyncProperty(walkSteps, async (steps) => {
        const walks = new Walks(() => store, freshCaller())
        for (const step of steps) await walks.take(step)
        await walks.finish()
      }),
      { numRuns: 150 },
    )
  })

  test('a walk keeps the order, the filter and the status of its first page, and shows artifacts as they are now', async () => {
    const { store } = await open()
    const caller = freshCaller()
    const tasks = upTo(4).map((n) => newTask({ caller, id: `t${n}`, at: n }))
    const headers = await Promise.all(tasks.map((task) => create(store, task)))
    const first = await store.list({ caller, state: submitted, pageSize: 2 })
    expect(first.tasks.map(({ text }) => idIn(text))).toEqual(['t4', 't3'])
    if (first.next === undefined) throw new Error('two are left')
    for (const header of headers) await put(store, header, moved(header, working, 100), note(header, 'x'), moved(header, completed, 200))
    await create(store, newTask({ caller, id: 't0', at: 0 }))
    const rest = await store.list({ caller, state: submitted, pageSize: 2, from: first.next })
    expect(rest.tasks.map(({ text }) => parsed(text))).toMatchObject([
      { id: 't2', artifacts: [{ parts: [{ text: 'x' }] }] },
      { id: 't1', artifacts: [{ parts: [{ text: 'x' }] }] },
    ])
    expect(rest.tasks.map((task) => parsed(task.status))).toEqual([status(submitted, 2), status(submitted, 1)])
    expect([rest.total, rest.next]).toEqual([4, undefined])
    expect((await store.list({ caller, state: submitted, pageSize: 2 })).total).toBe(1)
  })

  test('a page asked for again is the same page', async () => {
    const { store } = await open()
    const caller = freshCaller()
    const headers = await Promise.all(upTo(9).map((at) => create(store, newTask({ caller, at }))))
    const { next } = await store.list({ caller, pageSize: 3 })
    if (next === undefined) throw new Error('six are left')
    const ids = async () => (await store.list({ caller, pageSize: 3, from: next })).tasks.map(({ text }) => idIn(text))
    const before = await ids()
    for (const header of headers) await put(store, header, moved(header, working, 100))
    expect(await ids()).toEqual(before)
    expect(await ids()).toEqual(before)
  })

  test('the size of the pages may change along a walk', async () => {
    const { store } = await open()
    const caller = freshCaller()
    const tasks = upTo(10).map((at) => newTask({ caller, at }))
    await Promise.all(tasks.map((task) => create(store, task)))
    const seen: unknown[] = []
    let from: ListPosition | undefined
    for (const pageSize of upTo(4)) {
      const page: Awaited<ReturnType<Store['list']>> = await store.list({ caller, pageSize, ...(from === undefined ? {} : { from }) })
      seen.push(...page.tasks.map(({ text }) => idIn(text)))
      from = page.next
    }
    expect(from).toBeUndefined()
    expect(seen).toEqual(tasks.map(({ id }) => id).reverse())
  })

  test('walks made in the turn of a write see it whole or not at all', async () => {
    const { store } = await open()
    const caller = freshCaller()
    const headers = await Promise.all(upTo(4).map((at) => create(store, newTask({ caller, at }))))
    const pages = [store.list({ caller, state: working, pageSize: 10 })]
    const writes = headers.map((header) => put(store, header, moved(header, working, 100)))
    for (let i = 0; i < 5; i++) {
      pages.push(store.list({ caller, state: working, pageSize: 10 }))
      await Promise.resolve()
    }
    await Promise.all(writes)
    for (const page of await Promise.all(pages)) {
      expect(page.total).toBe(page.tasks.length)
      for (const task of page.tasks) expect(parsed(task.status)).toEqual(status(working, 100))
    }
    expect((await store.list({ caller, state: working, pageSize: 10 })).total).toBe(4)
  })
}
