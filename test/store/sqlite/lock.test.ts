/** One process owns a file, for as long as it lives and no longer. */

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { loadSqlite } from '../../../src/store/sqlite/driver.js'
import { sqlite } from '../../../src/store/sqlite/sqlite.js'
import { virtualWorld } from '../../../src/testing/virtual-world.js'
import { freshFile } from './watched.js'

const world = virtualWorld()

test('a second open in the same process is refused and names the file and the pid', async () => {
  const file = freshFile()
  const store = await sqlite(file).open({ world })
  await expect(sqlite(file).open({ world })).rejects.toThrow(`${file} is in use by this process (pid ${process.pid})`)
  await expect(sqlite(file.replace('/tasks', '/./tasks')).open({ world })).rejects.toThrow('is in use')
  await store.close()
})

test('a refused open does not loosen the lock against other processes', async () => {
  const file = freshFile()
  const store = await sqlite(file).open({ world })
  await expect(sqlite(file).open({ world })).rejects.toThrow('is in use')
  const { source } = await loadSqlite()
  const script = `${source}(${JSON.stringify(`${file}.lock`)}).exec('begin exclusive')`
  const intruder = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' })
  expect(intruder.stderr).toContain('database is locked')
  await store.close()
  expect(spawnSync(process.execPath, ['-e', script]).status).toBe(0)
})

test('the lock is free after close', async () => {
  const file = freshFile()
  for (let i = 0; i < 3; i++) await (await sqlite(file).open({ world })).close()
})

test('an open that fails leaves the lock free', async () => {
  const file = freshFile()
  const options = { world }
  const { openSqlite } = await import('../../../src/store/sqlite/sqlite.js')
  const failing = openSqlite(file, {
    ...options,
    wrap() {
      throw new Error('no driver today')
    },
  })
  await expect(failing).rejects.toThrow('no driver today')
  await (await sqlite(file).open({ world })).close()
})

test('another process that has the file is named, and its end frees it, however it ends', async () => {
  const file = freshFile()
  const { source } = await loadSqlite()
  const script = `
    const driver = ${source}(${JSON.stringify(`${file}.lock`)})
    driver.exec('pragma locking_mode = exclusive; begin exclusive; pragma user_version = ' + process.pid + '; commit')
    process.stdout.write('locked')
    process.stdin.resume()`
  const child = spawn(process.execPath, ['-e', script], { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  await expect(sqlite(file).open({ world })).rejects.toThrow(`${file} is in use by the process with pid ${child.pid}`)
  child.kill('SIGKILL')
  await once(child, 'exit')
  await (await sqlite(file).open({ world })).close()
})

test('stores in memory do not meet', async () => {
  const [a, b] = [await sqlite(':memory:').open({ world }), await sqlite(':memory:').open({ world })]
  await a.close()
  await b.close()
})

test('a link to a file that is open is that file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'errand-link-'))
  const file = join(folder, 'tasks.db')
  const first = await sqlite(file).open({ world: virtualWorld() })
  symlinkSync(file, join(folder, 'link.db'))
  await expect(sqlite(join(folder, 'link.db')).open({ world: virtualWorld() })).rejects.toThrow(`pid ${process.pid}`)
  await first.close()
  const second = await sqlite(join(folder, 'link.db')).open({ world: virtualWorld() })
  await second.close()
  rmSync(folder, { recursive: true })
})
