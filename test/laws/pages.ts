/** Laws of the log's pages: whatever their size and kinds, nothing is lost and nothing comes twice. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { EventKind } from '../../src/task/event.js'
import { eventsOf, histories } from './histories.js'
import { create, logOf, newTask, note, type Open, put, unlessEndless, upTo } from './kit.js'

export function pageLaws(open: Open): void {
  test('pages of the log lose nothing and repeat nothing, whatever their size', async () => {
    const { store } = await open()
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 3_000 }), { maxLength: 40 }),
        fc.integer({ min: 1, max: 20_000 }),
        async (sizes, maxBytes) => {
          const task = newTask()
          const header = await put(store, await create(store, task), ...sizes.map((size) => note(task, 'x'.repeat(size))))
          const expected = (await store.events(header.ref, 0, { maxBytes: 1 << 30 })).map(({ seq, body }) => [seq, body.length])
          expect(expected).toHaveLength(sizes.length + 1)
          expect((await logOf(store, header, maxBytes)).map(({ seq, body }) => [seq, body.length])).toEqual(expected)
          for (const after of [0, sizes.length >> 1, sizes.length]) {
            expect((await store.events(header.ref, after, { maxBytes }))[0]?.seq).toBe(after + 1)
          }
          expect(await store.events(header.ref, header.lastSeq, { maxBytes })).toEqual([])
        },
      ),
      { numRuns: 50 },
    )
  })

  test('a page of the log is about as large as was asked for', async () => {
    const { store } = await open()
    const task = newTask()
    const header = await put(store, await create(store, task), ...upTo(200).map(() => note(task, 'x'.repeat(1_000))))
    const page = await store.events(header.ref, 0, { maxBytes: 10_000 })
    const bytes = page.reduce((sum, { body }) => sum + body.length, 0)
    expect(bytes).toBeGreaterThan(5_000)
    expect(bytes).toBeLessThan(20_000)
  })

  test('a single event that is larger than a page is a page', async () => {
    const { store } = await open()
    const task = newTask()
    const header = await put(store, await create(store, task), note(task, 'x'.repeat(5_000)), note(task, 'y'.repeat(5_000)))
    expect((await store.events(header.ref, 1, { maxBytes: 1 })).map(({ seq }) => seq)).toEqual([2])
  })

  test('kinds narrow the log down, and each page still has one where there is one', async () => {
    const { store } = await open()
    const kinds: readonly EventKind[] = ['created', 'status', 'artifact', 'turn', 'answer', 'message']
    await fc.assert(
      fc.asyncProperty(
        histories(30),
        fc.subarray([...kinds], { minLength: 1 }),
        fc.integer({ min: 1, max: 2_000 }),
        async (history, wanted, maxBytes) => {
          const task = newTask({ at: 1_000 })
          const header = await put(store, await create(store, task), ...eventsOf(task, history, 1_000).flat())
          const expected = (await logOf(store, header)).filter(({ kind }) => wanted.includes(kind))
          const found: unknown[] = []
          for (let after = 0; ; ) {
            const page = await store.events(header.ref, after, { maxBytes, kinds: wanted })
            found.push(...page)
            unlessEndless(found.length)
            const last = page.at(-1)
            if (last === undefined) break
            after = last.seq
          }
          expect(found).toEqual(expected)
        },
      ),
      { numRuns: 50 },
    )
  })
}
