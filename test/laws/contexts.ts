/** Laws of a context's memory: kept for its owner, merged member by member. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Json } from '../../src/protocol/wire.js'
import type { Caller, Store } from '../../src/store/store.js'
import { create, fresh, freshCaller, newTask, note, type Open, upTo } from './kit.js'

type Memory = Readonly<Record<string, Json>>

export function contextLaws(open: Open): void {
  test('a new context remembers nothing', async () => {
    const { store } = await open()
    expect(await memoryOf(store, freshCaller(), fresh('context'))).toEqual({})
  })

  test('later tasks and claims of the context see what was remembered', async () => {
    const { store } = await open()
    const task = newTask({ holder: 'here' })
    const { ref } = await create(store, task)
    await store.append(ref, { epoch: 1, holder: 'here' }, () => ({
      events: [note(task, 'x')],
      memory: { city: 'Bern', seats: 2 },
      holder: null,
    }))
    expect(await memoryOf(store, task.caller, task.contextId)).toEqual({ city: 'Bern', seats: 2 })
    expect((await store.claim(ref, 'there'))?.memory).toEqual({ city: 'Bern', seats: 2 })
  })

  test('a member is replaced as a whole, the others stay', async () => {
    const { store } = await open()
    const task = newTask()
    const { ref } = await create(store, task)
    for (const memory of [{ a: { x: 1 }, b: [1, 2] }, { a: { y: 2 } }, { c: false }]) {
      await store.update(ref, () => ({ write: { events: [], memory }, result: 0 }))
    }
    expect(await memoryOf(store, task.caller, task.contextId)).toEqual({ a: { y: 2 }, b: [1, 2], c: false })
  })

  test('the memories of two tasks of one context that write in one turn are one', async () => {
    const { store } = await open()
    const first = newTask()
    const tasks = [first, ...upTo(9).map(() => newTask({ caller: first.caller, contextId: first.contextId }))]
    const headers = await Promise.all(tasks.map((task) => create(store, task)))
    await Promise.all(
      headers.map(({ ref }, i) => store.update(ref, () => ({ write: { events: [], memory: { [`from ${i}`]: i } }, result: 0 }))),
    )
    expect(await memoryOf(store, first.caller, first.contextId)).toEqual(Object.fromEntries(headers.map((_, i) => [`from ${i}`, i])))
  })

  test('what was refused is not remembered', async () => {
    const { store } = await open()
    const task = newTask({ holder: 'here' })
    const { ref } = await create(store, task)
    await store.append(ref, { epoch: 9, holder: 'here' }, () => ({ events: [], memory: { fenced: true } }))
    const inbound = { messageId: 'm', contentHash: 'ef'.repeat(16) }
    await store.update(ref, () => ({ write: { events: [note(task, 'x')], memory: { kept: 1 } }, result: 0 }), inbound)
    await store.update(ref, () => ({ write: { events: [note(task, 'x')], memory: { repeated: true } }, result: 0 }), inbound)
    expect(await memoryOf(store, task.caller, task.contextId)).toEqual({ kept: 1 })
  })

  test('a memory is the merge of its writes, whoever else uses the same name for a context', async () => {
    const { store } = await open()
    const memory: fc.Arbitrary<Memory> = fc.dictionary(
      fc.constantFrom('a', 'b', 'A', 'é', 'a.b', 'constructor', '$', ''),
      fc.oneof(fc.integer(), fc.string({ unit: 'binary' }), fc.boolean(), fc.constant([{ x: [null] }])),
    )
    const write = fc.record({ who: fc.integer({ min: 0, max: 3 }), memory })
    await fc.assert(
      fc.asyncProperty(fc.array(write, { maxLength: 12 }), async (writes) => {
        const [contextId, name] = [fresh('context'), fresh('owner')]
        const callers = [
          { tenant: '', owner: name },
          { tenant: 'a', owner: name },
          { tenant: name, owner: 'a' },
          { tenant: 'a', owner: name.toUpperCase() },
        ]
        const refs = await Promise.all(callers.map(async (caller) => (await create(store, newTask({ caller, contextId }))).ref))
        const expected: Memory[] = callers.map(() => ({}))
        for (const { who, memory } of writes) {
          const ref = refs[who]
          if (ref === undefined) continue
          await store.update(ref, () => ({ write: { events: [], memory }, result: 0 }))
          expected[who] = { ...expected[who], ...memory }
        }
        for (const [i, caller] of callers.entries()) {
          expect(await memoryOf(store, caller, contextId)).toEqual(expected[i])
          expect(await memoryOf(store, caller, `${contextId} `)).toEqual({})
        }
      }),
      { numRuns: 40 },
    )
  })
}

/** What a new task of the context is given. */
async function memoryOf(store: Store, caller: Caller, contextId: string): Promise<Memory> {
  const outcome = await store.create(newTask({ caller, contextId }))
  if (outcome.outcome !== 'created') throw new Error(`expected a new task, not ${outcome.outcome}`)
  return outcome.memory
}
