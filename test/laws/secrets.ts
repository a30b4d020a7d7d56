/** Laws of the small things a store keeps, and of its end. */

import { expect, test } from 'vitest'
import { create, newTask, note, type Open, put, upTo } from './kit.js'

export function secretLaws(open: Open): void {
  test('a secret is 32 bytes and the same each time it is asked for', async () => {
    const { store } = await open()
    const secrets = await Promise.all(upTo(10).map(() => store.secret('page tokens')))
    expect(secrets[0]).toHaveLength(32)
    for (const secret of [...secrets, await store.secret('page tokens')]) expect([...secret]).toEqual([...(secrets[0] ?? [])])
  })

  test('secrets of other names are others', async () => {
    const { store } = await open()
    const names = ['a', 'A', 'a ', '', 'é', 'constructor', '__proto__']
    const secrets = await Promise.all(names.map((name) => store.secret(name)))
    expect(new Set(secrets.map((secret) => secret.join())).size).toBe(names.length)
  })

  test('the sealing key is 32 bytes, the same each time, and none of the secrets', async () => {
    const { store } = await open()
    const keys = [await store.sealingKey(), ...(await Promise.all(upTo(3).map(() => store.sealingKey())))]
    expect(keys[0]).toHaveLength(32)
    expect(new Set(keys.map((key) => key.join())).size).toBe(1)
    expect((await store.secret('sealing')).join()).not.toBe(keys[0]?.join())
    const other = await open()
    expect((await other.store.sealingKey()).some((byte) => byte !== 0)).toBe(true)
  })

  test('a sealing check is none before one is kept, and then the one that was kept last', async () => {
    const { store } = await open()
    await Promise.all([store.secret('s'), store.sealingKey()])
    expect(await store.sealingCheck()).toBeUndefined()
    await store.keepSealingCheck(Uint8Array.of(1, 2))
    await store.keepSealingCheck(Uint8Array.of(3))
    expect(await store.sealingCheck()).toEqual(Uint8Array.of(3))
  })

  test('whoever spoils the bytes of a key spoils its own copy only', async () => {
    const { store } = await open()
    const given = Uint8Array.of(1, 2)
    await store.keepSealingCheck(given)
    const all = () => Promise.all([store.secret('s'), store.sealingKey(), store.sealingCheck()])
    const kept = await all()
    const before = kept.map((bytes) => bytes?.join())
    for (const bytes of [given, ...kept]) bytes?.fill(0)
    expect((await all()).map((bytes) => bytes?.join())).toEqual(before)
  })

  test('closing commits what is under way, and a second time does nothing', async () => {
    const { store } = await open()
    const header = await create(store, newTask())
    const writing = put(store, header, note(header, 'last'))
    const closing = store.close()
    await Promise.all([closing, store.close()])
    expect((await writing).lastSeq).toBe(2)
    await store.close()
  })
}
