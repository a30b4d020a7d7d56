/** Laws of push configurations: each belongs to one task and keeps its place. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Store, StoredPushConfig, TaskRef } from '../../src/store/store.js'
import { completed, create, moved, newTask, type Open, put, unlessEndless, upTo } from './kit.js'

export function pushConfigLaws(open: Open): void {
  test('a configuration comes back as it was put in', async () => {
    const { store } = await open()
    const { ref } = await create(store, newTask())
    const full = { ...config('full'), scheme: 'Bearer', sealed: 'tökén "1" 😀' }
    const small = config('small')
    await store.putPushConfig(ref, full)
    await store.putPushConfig(ref, small)
    expect(await store.getPushConfig(ref, 'full')).toEqual(full)
    expect(await store.getPushConfig(ref, 'small')).toEqual(small)
    expect(await store.listPushConfigs(ref, { limit: 10 })).toEqual([full, small])
  })

  test('a configuration may come with the write that it belongs to', async () => {
    const { store } = await open()
    const { ref } = await create(store, newTask())
    const mine = config('mine')
    await store.update(ref, () => ({ result: undefined, write: { events: [], pushConfig: mine } }))
    expect(await store.listPushConfigs(ref, { limit: 10 })).toEqual([mine])
    const refused = store.update(ref, () => {
      throw new Error('no')
    })
    await expect(refused).rejects.toThrow('no')
    expect(await store.listPushConfigs(ref, { limit: 10 })).toEqual([mine])
  })

  test('a configuration that is not there is none', async () => {
    const { store } = await open()
    const { ref } = await create(store, newTask())
    expect(await store.getPushConfig(ref, 'x')).toBeUndefined()
    expect(await store.listPushConfigs(ref, { limit: 10 })).toEqual([])
  })

  test('the configuration of a new task is there with the task', async () => {
    const { store } = await open()
    const pushConfig = config('first')
    const { ref } = await create(store, newTask({ pushConfig }))
    expect(await store.getPushConfig(ref, 'first')).toEqual(pushConfig)
    expect(await store.listPushConfigs(ref, { limit: 10 })).toEqual([pushConfig])
  })

  test('a message that came twice brings no second configuration', async () => {
    const { store } = await open()
    const inbound = { messageId: 'm', contentHash: 'ab'.repeat(16) }
    const first = newTask({ inbound })
    const { ref } = await create(store, { ...first, pushConfig: config('one') })
    const again = newTask({ caller: first.caller, inbound, pushConfig: config('two') })
    expect((await store.create(again)).outcome).toBe('duplicate')
    expect((await store.listPushConfigs(ref, { limit: 10 })).map(({ id }) => id)).toEqual(['one'])
  })

  test('an id that is used again replaces its configuration in its place', async () => {
    const { store } = await open()
    const { ref } = await create(store, newTask())
    for (const id of ['a', 'b', 'c']) await store.putPushConfig(ref, { ...config(id), sealed: 'old' })
    const newer = { ...config('b'), url: 'https://new.example/' }
    await store.putPushConfig(ref, newer)
    expect(await store.getPushConfig(ref, 'b')).toEqual(newer)
    expect((await store.listPushConfigs(ref, { limit: 10 })).map(({ id }) => id)).toEqual(['a', 'b', 'c'])
  })

  test('deleting is for good, twice is fine, and another one stays', async () => {
    const { store } = await open()
    const { ref } = await create(store, newTask())
    for (const id of ['a', 'b']) await store.putPushConfig(ref, config(id))
    await store.deletePushConfig(ref, 'a')
    await store.deletePushConfig(ref, 'a')
    await store.deletePushConfig(ref, 'never there')
    expect(await store.getPushConfig(ref, 'a')).toBeUndefined()
    expect((await store.listPushConfigs(ref, { limit: 10 })).map(({ id }) => id)).toEqual(['b'])
  })

  test('an id that was deleted and made again comes last', async () => {
    const { store } = await open()
    const { ref } = await create(store, newTask())
    for (const id of ['a', 'b']) await store.putPushConfig(ref, config(id))
    await store.deletePushConfig(ref, 'a')
    await store.putPushConfig(ref, config('a'))
    expect((await store.listPushConfigs(ref, { limit: 10 })).map(({ id }) => id)).toEqual(['b', 'a'])
  })

  test('the same id on two tasks means two configurations', async () => {
    const { store } = await open()
    const [first, second] = [await create(store, newTask()), await create(store, newTask())]
    await store.putPushConfig(first.ref, config('x'))
    expect(await store.getPushConfig(second.ref, 'x')).toBeUndefined()
    await store.putPushConfig(second.ref, config('x'))
    await store.deletePushConfig(second.ref, 'x')
    expect(await store.getPushConfig(first.ref, 'x')).toEqual(config('x'))
    expect(await store.listPushConfigs(second.ref, { limit: 10 })).toEqual([])
  })

  test('a final task keeps its configurations and takes others', async () => {
    const { store } = await open()
    const task = newTask()
    const header = await create(store, task)
    await store.putPushConfig(header.ref, config('a'))
    await put(store, header, moved(task, completed, 2_000))
    await store.putPushConfig(header.ref, config('b'))
    expect((await store.listPushConfigs(header.ref, { limit: 10 })).map(({ id }) => id)).toEqual(['a', 'b'])
  })

  test('pages of configurations lose nothing and repeat nothing, in the order of their making', async () => {
    const { store } = await open()
    const act = fc.record({ does: fc.constantFrom('put', 'put', 'delete'), id: fc.constantFrom('z', 'a', 'é', '10', '9', 'A', '😀', 'm') })
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 20 }), async (acts) => {
        const { ref } = await create(store, newTask())
        const expected: string[] = []
        // All in one turn: their order is the order of the calls.
        const underWay = acts.map(({ does, id }) => {
          const place = expected.indexOf(id)
          if (does === 'put' && place < 0) expected.push(id)
          if (does === 'delete' && place >= 0) expected.splice(place, 1)
          return does === 'put' ? store.putPushConfig(ref, config(id)) : store.deletePushConfig(ref, id)
        })
        await Promise.all(underWay)
        for (const limit of [1, 2, 3, 100]) expect(await pages(store, ref, limit)).toEqual(expected)
      }),
      { numRuns: 40 },
    )
  })

  test('a page of configurations is no longer than asked for', async () => {
    const { store } = await open()
    const { ref } = await create(store, newTask())
    for (const n of upTo(5)) await store.putPushConfig(ref, config(`c${n}`))
    expect((await store.listPushConfigs(ref, { limit: 2 })).map(({ id }) => id)).toEqual(['c1', 'c2'])
    expect((await store.listPushConfigs(ref, { after: 'c2', limit: 2 })).map(({ id }) => id)).toEqual(['c3', 'c4'])
    expect((await store.listPushConfigs(ref, { after: 'c5', limit: 2 })).map(({ id }) => id)).toEqual([])
  })
}

function config(id: string): StoredPushConfig {
  return { id, url: `https://receiver.example/${encodeURIComponent(id)}` }
}

async function pages(store: Store, ref: TaskRef, limit: number): Promise<readonly string[]> {
  const ids: string[] = []
  for (;;) {
    const last = ids.at(-1)
    const page = await store.listPushConfigs(ref, { limit, ...(last === undefined ? {} : { after: last }) })
    if (page.length === 0) return ids
    ids.push(...page.map(({ id }) => id))
    unlessEndless(ids.length)
  }
}
