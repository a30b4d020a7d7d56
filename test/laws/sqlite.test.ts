/** SQLite keeps the laws of a store: in memory, in a file, and on a database that crashes can be played on. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, vi } from 'vitest'
import { type CrashableMemory, createCrashableMemory } from '../../src/store/sqlite/crashable.js'
import { sqlite } from '../../src/store/sqlite/sqlite.js'
import type { Store } from '../../src/store/store.js'
import type { World } from '../../src/support/world.js'
import { storeLaws } from './store-laws.js'

// A law is no measure of speed: a slow disk may take as long as it likes.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 })

const folders: string[] = []
const files = new WeakMap<Store, string>()

async function openFile(file: string, world: World): Promise<Store> {
  const store = await sqlite(file).open({ world })
  files.set(store, file)
  return store
}

const inMemory = { open: (world: World) => sqlite(':memory:').open({ world }), reopen: undefined }

const inFile = {
  async open(world: World) {
    const folder = await mkdtemp(join(tmpdir(), 'errand-laws-'))
    folders.push(folder)
    return openFile(join(folder, 'tasks.db'), world)
  },
  async reopen(store: Store, world: World) {
    const file = files.get(store)
    if (file === undefined) throw new Error('this store has no file')
    await store.close()
    return openFile(file, world)
  },
}

const memories = new WeakMap<Store, CrashableMemory>()

async function openMemory(memory: CrashableMemory, world: World): Promise<Store> {
  const store = await memory.open({ world })
  memories.set(store, memory)
  return store
}

const crashable = {
  open: (world: World) => openMemory(createCrashableMemory(), world),
  async reopen(store: Store, world: World) {
    const memory = memories.get(store)
    if (memory === undefined) throw new Error('this store has no database')
    await store.close()
    return openMemory(memory, world)
  },
}

afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true })
})

describe.each([
  ['in memory', inMemory],
  ['in a file', inFile],
  ['on a database that outlives it', crashable],
] as const)('sqlite %s', (_, { open, reopen }) => storeLaws(open, reopen))
