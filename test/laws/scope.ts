/** Laws of access: whose a row is, is part of every key. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Caller } from '../../src/store/store.js'
import { create, fresh, headerOf, newTask, note, type Open, parsed, put } from './kit.js'

/** Pairs that become equal where tenant and owner are joined, cut, folded or normalised. */
const lookalikes: readonly Caller[] = [
  { tenant: '', owner: 'ab' },
  { tenant: 'a', owner: 'b' },
  { tenant: 'ab', owner: '' },
  { tenant: 'a', owner: 'B' },
  { tenant: 'a ', owner: 'b' },
  { tenant: 'a', owner: 'b ' },
  { tenant: 'a', owner: ' b' },
  { tenant: 'a', owner: 'b\n' },
  { tenant: 'a/', owner: 'b' },
  { tenant: 'a', owner: '/b' },
  { tenant: 'a', owner: 'b%' },
  { tenant: 'a', owner: '_' },
  { tenant: 'a', owner: '*' },
  { tenant: '1', owner: '1.0' },
  { tenant: '1', owner: '1' },
  { tenant: '01', owner: '1' },
  { tenant: 'null', owner: 'b' },
  { tenant: 'a', owner: '\u00e9' },
  { tenant: 'a', owner: 'e\u0301' },
  { tenant: 'a', owner: "b' OR '1'='1" },
]

export function scopeLaws(open: Open): void {
  test('the task of another tenant or another owner is no other case than none', async () => {
    const { store } = await open()
    const task = newTask({ caller: { tenant: 't', owner: 'o' } })
    await create(store, task)
    for (const caller of [
      { tenant: 't', owner: 'other' },
      { tenant: 'other', owner: 'o' },
      { tenant: '', owner: 'o' },
      { tenant: 'o', owner: 't' },
    ]) {
      expect(await store.find(caller, task.id)).toBeUndefined()
      expect(await store.list({ caller, pageSize: 10 })).toEqual({ tasks: [], total: 0 })
      expect(await store.list({ caller, contextId: task.contextId, pageSize: 10 })).toEqual({ tasks: [], total: 0 })
    }
    expect(await store.find(task.caller, fresh('task'))).toBeUndefined()
  })

  test('a task is located by its id alone, for those who may see all tasks', async () => {
    const { store } = await open()
    const tasks = [newTask(), newTask({ holder: 'here' }), newTask({ caller: { tenant: 't', owner: 'o' } })]
    for (const task of tasks) await create(store, task)
    for (const task of tasks) {
      const header = await headerOf(store, task)
      expect(await store.locate(task.id)).toEqual(header)
      expect(await store.header(header.ref)).toEqual(header)
    }
    expect(await store.locate(fresh('task'))).toBeUndefined()
    const [first] = tasks
    if (first === undefined) throw new Error('three were made')
    const header = await headerOf(store, first)
    const changing = put(store, header, note(first, 'x'))
    expect(await store.header(header.ref)).toEqual(header)
    expect(await store.locate(first.id)).toEqual(header)
    const changed = await changing
    expect(await store.header(header.ref)).toEqual(changed)
    expect(await store.locate(first.id)).toEqual(changed)
  })

  test('callers that look alike never meet, even under one id, one context and one message', async () => {
    const { store } = await open()
    const [id, contextId] = [fresh('task'), fresh('context')]
    const inbound = { messageId: 'm', contentHash: 'cd'.repeat(16) }
    const tasks = lookalikes.map((caller) => newTask({ caller, id, contextId, inbound, text: JSON.stringify(caller) }))
    const outcomes = await Promise.all(tasks.map((task) => store.create(task)))
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(tasks.map(() => 'created'))
    for (const task of tasks) {
      const header = await headerOf(store, task)
      expect(header.caller).toEqual(task.caller)
      await put(store, header, note(task, 'mine'))
      const { text } = await store.read(header.ref)
      expect(parsed(text)).toMatchObject({ id, contextId, history: [{ parts: [{ text: JSON.stringify(task.caller) }] }] })
      expect(await store.list({ caller: task.caller, pageSize: 10 })).toMatchObject({ tasks: [{ text }], total: 1 })
    }
    for (const task of tasks) expect((await headerOf(store, task)).lastSeq).toBe(2)
  })

  test('names of any characters are kept and kept apart', async () => {
    const { store } = await open()
    const name = fc.oneof(
      fc.string({ unit: 'binary', minLength: 1, maxLength: 16 }),
      fc.constantFrom('😀', 'שלום', 'a\u0000b', 'a', 'e\u0301', '\u00e9', '\'"`;--', '%', ' '),
    )
    const names = fc.record({ tenant: name, owner: name, id: name, contextId: name })
    await fc.assert(
      fc.asyncProperty(names, names, async (one, two) => {
        const run = fresh('run')
        const both = [one, two].map(({ tenant, owner, id, contextId }) =>
          newTask({ caller: { tenant: run + tenant, owner }, id, contextId }),
        )
        const isSame = one.tenant === two.tenant && one.owner === two.owner && one.id === two.id
        for (const task of isSame ? both.slice(0, 1) : both) await create(store, task)
        for (const { caller, id, contextId } of isSame ? both.slice(0, 1) : both) {
          const header = await headerOf(store, { caller, id })
          expect(header).toMatchObject({ caller, id, contextId })
          expect(parsed((await store.read(header.ref)).text)).toMatchObject({ id, contextId })
          expect((await store.list({ caller, contextId, pageSize: 10 })).tasks.map(({ text }) => parsed(text))).toContainEqual(
            expect.objectContaining({ id }),
          )
        }
      }),
      { numRuns: 60 },
    )
  })
}
