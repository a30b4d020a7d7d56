/** Walks through a list are snapshots, and no page looks at more than it has to. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Caller, ListPosition, ListQuery, Store, TaskHeader } from '../../../src/store/store.js'
import { completed, create, fresh, freshCaller, inputRequired, moved, newTask, put, working } from '../../laws/kit.js'
import { openWatched } from './watched.js'

interface Seen {
  readonly id: string
  readonly status: string
}

interface Living {
  readonly store: Store
  readonly caller: Caller
  readonly headers: TaskHeader[]
  clock: number
}

async function walk(store: Store, query: ListQuery, between: (page: number) => Promise<void> = async () => {}): Promise<readonly Seen[]> {
  const seen: Seen[] = []
  let from: ListPosition | undefined
  for (let page = 0; ; page++) {
    const { tasks, total, next } = await store.list({ ...query, ...(from && { from }) })
    // A walk that never ends would give the test no chance to time out.
    if (page > 200) throw new Error('the walk does not end')
    for (const { text, status } of tasks) seen.push({ id: JSON.parse(text).id, status })
    if (next === undefined) {
      expect(seen.length).toBe(total)
      return seen
    }
    from = next
    await between(page)
  }
}

const contexts = ['red', 'blue']
const states = [working, inputRequired, completed] as const

async function step(living: Living, action: readonly [number, number]): Promise<void> {
  const [what, which] = action
  // Times stand still now and then: ties are broken by id.
  living.clock += which % 3
  const header = living.headers[which % Math.max(1, living.headers.length)]
  if (what === 0 || header === undefined) {
    const contextId = contexts[which % 2] ?? 'red'
    living.headers.push(
      await create(living.store, newTask({ caller: living.caller, contextId, id: `${which % 7}-${fresh('t')}`, at: living.clock })),
    )
    return
  }
  const state = states[which % 3] ?? working
  await living.store.update(header.ref, ({ state: now, statusTimestamp }) => {
    if (now === completed) return { result: undefined }
    living.clock = Math.max(living.clock, statusTimestamp + 1)
    return { write: { events: [moved(header, state, living.clock)] }, result: undefined }
  })
}

const action = fc.tuple(fc.nat(3), fc.nat(1_000))
const filters = fc.record(
  { contextId: fc.constantFrom(...contexts), state: fc.constantFrom(...states), since: fc.integer({ min: 990, max: 1_030 }) },
  { requiredKeys: [] },
)

test('a walk shows what its first page saw, whatever moves between its pages', async () => {
  const { store } = await openWatched()
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(fc.array(fc.tuple(fc.constant(0), fc.nat(1_000)), { minLength: 4, maxLength: 12 }), fc.array(action, { maxLength: 20 })),
      filters,
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.array(action, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 8 }),
      async (before, filter, pageSize, meanwhile) => {
        const living: Living = { store, caller: freshCaller(), headers: [], clock: 1_000 }
        for (const one of before.flat()) await step(living, one)
        const query = { caller: living.caller, ...filter }
        const expected = await walk(store, { ...query, pageSize: 100 })
        const seen = await walk(store, { ...query, pageSize }, async (page) => {
          for (const one of meanwhile[page % meanwhile.length] ?? []) await step(living, one)
        })
        expect(seen).toEqual(expected)
      },
    ),
    { numRuns: 300 },
  )
})

test('ties keep one order for all ids of Unicode, moved or not', async () => {
  const { store } = await openWatched()
  const caller = freshCaller()
  const ids = ['z', '\u{1f600}', '\uffee', 'ä', 'a', '\u{10ffff}', '\ue000', 'aa']
  const headers: TaskHeader[] = []
  for (const id of ids) headers.push(await create(store, newTask({ caller, id })))
  const expected = [...ids].sort((a, b) => Buffer.compare(Buffer.from(b), Buffer.from(a)))
  const seen = await walk(store, { caller, pageSize: 1 }, async (page) => {
    const header = headers[page]
    if (header) await put(store, header, moved(header, working, 2_000))
  })
  expect(seen.map(({ id }) => id)).toEqual(expected)
})

test('no read goes through a whole table or sorts one', async () => {
  const { prepared, driver } = await openWatched()
  const reads = prepared.filter((sql) => sql.startsWith('select') && !/max\(key\)|from number/.test(sql))
  expect(reads.length).toBeGreaterThan(15)
  for (const sql of reads) {
    const plan = driver.prepare(`explain query plan ${sql}`)
    const unbound = Array.from({ length: sql.split('?').length - 1 }, () => null)
    for (const { detail } of plan.all(...unbound)) expect(`${detail} — ${sql}`).not.toMatch(/^SCAN|TEMP B-TREE/)
  }
})
