/** Files are brought up to date when they are opened, once and whole. */

import { expect, onTestFinished, test } from 'vitest'
import { type Driver, loadSqlite } from '../../../src/store/sqlite/driver.js'
import { migrate } from '../../../src/store/sqlite/schema.js'
import { sqlite } from '../../../src/store/sqlite/sqlite.js'
import { virtualWorld } from '../../../src/testing/virtual-world.js'
import { freshFile } from './watched.js'

async function openDriver(file = ':memory:'): Promise<Driver> {
  const driver = (await loadSqlite()).open(file)
  onTestFinished(() => driver.close())
  return driver
}

function tables(driver: Driver): readonly unknown[] {
  return driver
    .prepare(`select name from sqlite_master where type = 'table' order by name`)
    .all()
    .map(({ name }) => name)
}

test('migrations run in order, and each of them once', async () => {
  const driver = await openDriver()
  migrate(driver, 'x', ['create table a(n)'])
  migrate(driver, 'x', ['create table a(n)', 'create table b(n); insert into b values (1)'])
  migrate(driver, 'x', ['create table a(n)', 'create table b(n); insert into b values (1)'])
  expect(tables(driver)).toEqual(['a', 'b', 'migration'])
  expect(driver.prepare('select count(*) as n from b').get()).toMatchObject({ n: 1 })
})

test('a migration that fails leaves nothing of itself', async () => {
  const driver = await openDriver()
  expect(() => migrate(driver, 'x', ['create table a(n)', 'create table b(n); create table a(n)'])).toThrow(
    'x could not be brought to schema 2',
  )
  expect(tables(driver)).toEqual(['a', 'migration'])
  migrate(driver, 'x', ['create table a(n)', 'create table c(n)'])
  expect(tables(driver)).toEqual(['a', 'c', 'migration'])
})

test('a file that a newer version wrote is refused and left alone', async () => {
  const file = freshFile()
  const world = virtualWorld()
  await (await sqlite(file).open({ world })).close()
  const driver = await openDriver(file)
  driver.exec('insert into migration values (99)')
  await expect(sqlite(file).open({ world })).rejects.toThrow(/has schema 99, this version of Errand knows \d+: open it with a newer Errand/)
  driver.exec('delete from migration where number = 99')
  await (await sqlite(file).open({ world })).close()
})
