/** The door of the SQLite store. */

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
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

describe('a file that is no store', () => {
  test('a database of another program is refused and stays as it was', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'errand-other-'))
    const file = join(folder, 'other.db')
    const { open } = await loadSqlite()
    const other = open(file)
    other.exec('create table users(name text); pragma user_version = 7')
    other.close()
    const before = readFileSync(file)
    await expect(sqlite(file).open({ world: virtualWorld() })).rejects.toThrow(/is the database of another program. Use another file/)
    expect(readFileSync(file).equals(before)).toBe(true)
    expect(readdirSync(folder)).toEqual(['other.db'])
    rmSync(folder, { recursive: true })
  })

  test.each([
    ['text', 'not a database, but long enough to have had a header of one hundred bytes, which is what is read first of all'],
    ['bytes', '\0\u0001\u0002'.repeat(400)],
  ])('%s is refused by name and stays as it was', async (_, content) => {
    const folder = mkdtempSync(join(tmpdir(), 'errand-none-'))
    const file = join(folder, 'notes.txt')
    writeFileSync(file, content)
    await expect(sqlite(file).open({ world: virtualWorld() })).rejects.toThrow(/notes\.txt cannot be opened: it is no SQLite database/)
    expect(readFileSync(file, 'utf8')).toBe(content)
    expect(readdirSync(folder)).toEqual(['notes.txt'])
    rmSync(folder, { recursive: true })
  })
})

test('a folder is no file', async () => {
  await expect(sqlite(tmpdir()).open({ world: virtualWorld() })).rejects.toThrow(/cannot be opened/)
})
