/** The door of the SQLite store. */

import { expect, test } from 'vitest'
import { loadSqlite } from '../../../src/store/sqlite/driver.js'
import { sqlite } from '../../../src/store/sqlite/sqlite.js'
import { virtualWorld } from '../../../src/testing/virtual-world.js'
import { freshFile } from './watched.js'

test('an option that does not exist is refused by name', () => {
  // @ts-expect-error: it does not exist
  expect(() => sqlite('x.db', { durabilty: 'power' })).toThrow(/sqlite\(\) has no option "durabilty"/)
})

test('a durability that does not exist is refused', () => {
  // @ts-expect-error: it is none of the two
  expect(() => sqlite('x.db', { durability: 'none' })).toThrow(TypeError)
  expect(() => sqlite('')).toThrow(TypeError)
})

test.each(['power', 'process'] as const)('durability %s opens and closes', async (durability) => {
  const store = await sqlite(freshFile(), { durability }).open({ world: virtualWorld() })
  expect(await store.find({ tenant: '', owner: 'x' }, 'y')).toBeUndefined()
  await store.close()
})

test('nothing is opened before open is called', () => {
  expect(() => sqlite('/no/such/folder/tasks.db')).not.toThrow()
})

test('a folder that is not there is an error of open', async () => {
  await expect(sqlite('/no/such/folder/tasks.db').open({ world: virtualWorld() })).rejects.toThrow(/there is no folder .+ Make it first/)
})

test('loading the driver says nothing', async () => {
  const warned: unknown[] = []
  const listener = (warning: unknown) => warned.push(warning)
  process.on('warning', listener)
  await loadSqlite()
  await new Promise((resolve) => setImmediate(resolve))
  process.off('warning', listener)
  expect(warned).toEqual([])
})
