/** The sealing key of a file: beside it, for its owner's eyes alone, and never another one by mistake. */

import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { sqlite } from '../../../src/store/sqlite/sqlite.js'
import type { Store } from '../../../src/store/store.js'
import { virtualWorld } from '../../../src/testing/virtual-world.js'
import { freshFile } from './watched.js'

const hex = 'ab'.repeat(32)

async function openFile(file: string, seed = 1): Promise<Store> {
  const store = await sqlite(file).open({ world: virtualWorld({ seed }) })
  onTestFinished(() => store.close())
  return store
}

test('there is no key before one is asked for', async () => {
  const file = freshFile()
  const store = await openFile(file)
  await store.secret('x')
  expect(existsSync(`${file}.key`)).toBe(false)
})

test('it is made as 64 hex characters and a line break that only its owner may read', async () => {
  const file = freshFile()
  const store = await openFile(file)
  const key = await store.sealingKey()
  expect(readFileSync(`${file}.key`, 'utf8')).toBe(`${Buffer.from(key).toString('hex')}\n`)
  expect(statSync(`${file}.key`).mode & 0o777).toBe(0o600)
})

test('the one that is there is taken, also at the next start', async () => {
  const file = freshFile()
  writeFileSync(`${file}.key`, `${hex}\n`, { mode: 0o600 })
  for (const seed of [1, 2]) {
    const store = await openFile(file, seed)
    expect(Buffer.from(await store.sealingKey()).toString('hex')).toBe(hex)
    await store.close()
  }
})

test('it is not in the store', async () => {
  const file = freshFile()
  const store = await openFile(file)
  const key = Buffer.from(await store.sealingKey())
  await store.close()
  expect(readFileSync(file).includes(key)).toBe(false)
  expect(readFileSync(file).includes(key.toString('hex'))).toBe(false)
})

test('a link to a file and the file have one key', async () => {
  const file = freshFile()
  const first = await openFile(file)
  const key = await first.sealingKey()
  await first.close()
  const link = join(dirname(file), 'link.db')
  symlinkSync(file, link)
  expect([...(await (await openFile(link, 2)).sealingKey())]).toEqual([...key])
  expect(existsSync(`${link}.key`)).toBe(false)
})

test.each([
  ['nothing', ''],
  ['half of it', 'ab'.repeat(16)],
  ['no line break', hex],
  ['a line break too many', `${hex}\n\n`],
  ['no hex', `${'zz'.repeat(32)}\n`],
  ['bytes', '\u0000'.repeat(65)],
])('a key file with %s in it is refused, says what to do and stays as it was', async (_, content) => {
  const file = freshFile()
  writeFileSync(`${file}.key`, content, { mode: 0o600 })
  const store = await openFile(file)
  await expect(store.sealingKey()).rejects.toThrow(`${file}.key is not 64 hex characters and a line break. Put the right one back`)
  expect(readFileSync(`${file}.key`, 'utf8')).toBe(content)
})

test('an error does not show the key', async () => {
  const file = freshFile()
  writeFileSync(`${file}.key`, hex, { mode: 0o600 })
  const store = await openFile(file)
  await expect(store.sealingKey()).rejects.toThrow(expect.objectContaining({ message: expect.not.stringContaining('abab') }))
})

test.each([0o640, 0o604, 0o620, 0o666])('a key file of mode %o is refused until it is closed to others', async (mode) => {
  const file = freshFile()
  writeFileSync(`${file}.key`, `${hex}\n`)
  chmodSync(`${file}.key`, mode)
  const store = await openFile(file)
  await expect(store.sealingKey()).rejects.toThrow(/open to other users of this machine \(mode 6\d\d\): chmod 600 it/)
  chmodSync(`${file}.key`, 0o600)
  expect(Buffer.from(await store.sealingKey()).toString('hex')).toBe(hex)
})

test('what is no file is refused', async () => {
  const file = freshFile()
  mkdirSync(`${file}.key`)
  const store = await openFile(file)
  await expect(store.sealingKey()).rejects.toThrow(`the sealing key ${file}.key cannot be read`)
})

test('in memory there is a key of its own, and no file', async () => {
  const [a, b] = [await openFile(':memory:', 1), await openFile(':memory:', 2)]
  expect([...(await a.sealingKey())]).toEqual([...(await a.sealingKey())])
  expect([...(await a.sealingKey())]).not.toEqual([...(await b.sealingKey())])
  expect(existsSync(':memory:.key')).toBe(false)
})
