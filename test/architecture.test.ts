/** The rooms of src/ hold: imports go the ways the table allows, and time, chance and node:* stay where they belong. */

import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { maxLines, violations } from './architecture-rules.js'

const root = new URL('../', import.meta.url)
const sources = readdirSync(new URL('src/', root), { recursive: true, encoding: 'utf8' })
  .map((file) => `src/${file.replaceAll('\\', '/')}`)
  .filter((file) => file.endsWith('.ts'))

test('every source file keeps to the table of rooms', () => {
  expect(sources.length).toBeGreaterThan(10)
  expect(sources.flatMap((file) => violations(file, readFileSync(new URL(file, root), 'utf8')))).toEqual([])
})

describe('a planted violation is found', () => {
  test.each([
    ['src/protocol/model.ts', "import { uuid } from '../support/world.js'"],
    ['src/protocol/model.ts', "import type { World } from '../support/world.js'"],
    ['src/support/log.ts', "import { isFinal } from '../protocol/states.js'"],
    ['src/task/fold.ts', "export * from '../store/store.js'"],
    ['src/task/fold.ts', "type Store = import('../store/store.js').Store"],
    ['src/net/address-guard.ts', "import { decode } from '../protocol/codec.js'"],
    ['src/store/sqlite/sqlite.ts', "import { agent } from '../../runtime/agent.js'"],
    ['src/runtime/run.ts', "import { sqlite } from '../store/sqlite/sqlite.js'"],
    ['src/runtime/run.ts', "const sqlite = await import('../store/sqlite/sqlite.js')"],
    ['src/push/worker.ts', "import { claim } from '../runtime/run.js'"],
    ['src/operations/send-message.ts', "import { jsonRpc } from '../bindings/json-rpc.js'"],
    ['src/bindings/json-rpc.ts', "import { operations } from '../operations/index.js'"],
    ['src/bindings/json-rpc.ts', "import type { Store } from '../store/store.js'"],
    ['src/server/create-server.ts', "import { virtualWorld } from '../testing/virtual-world.js'"],
    ['src/client/connect.ts', "import { createServer } from '../server/create-server.js'"],
    ['src/testing/test-agent.ts', "import { run } from '../check/run.js'"],
    ['src/check/run.ts', "import { createServer } from '../server/create-server.js'"],
    ['src/check/checks/send.ts', "import { planted } from '../defects/planted.js'"],
    ['src/index.ts', "import { storeLaws } from '../test/laws/store-laws.js'"],
    ['src/runtime/agent.ts', "import { working } from 'errand'"],
    ['src/utils/strings.ts', 'export const empty = 0'],
  ])('%s: %s', (path, text) => {
    expect(violations(path, `${text}\n`)).toHaveLength(1)
  })

  test.each([
    ['src/server/limits.ts', "import { createServer } from 'node:http'"],
    ['src/server/limits.ts', "import { createServer } from 'http'"],
    ['src/index.ts', "export { readFileSync } from 'node:fs'"],
    ['src/store/store.ts', "const sqlite = process.getBuiltinModule('node:sqlite')"],
    ['src/operations/get-task.ts', "const fs = require('node:fs')"],
    ['src/server/node.ts', "import { createHash } from 'node:crypto'"],
    ['src/store/sqlite/driver.ts', "import { webcrypto } from 'crypto'"],
    ['src/cli/main.ts', 'const door = await import(name)'],
  ])('%s: %s', (path, text) => {
    expect(violations(path, `${text}\n`)).toHaveLength(1)
  })

  test.each([
    'const at = Date.now()',
    "const at = Date['now']()",
    'const at = globalThis.Date.now()',
    'const { now } = Date',
    'const { now: clock } = Date',
    'const clock = Date.now',
    'const at = new Date()',
    'const at = new Date',
    'const at = Date()',
    'const at = performance.now()',
    'const at = process.hrtime.bigint()',
    'setTimeout(run, 10)',
    'globalThis.setTimeout(run, 10)',
    'const later = setImmediate',
    'const { setInterval } = globalThis',
    'const clock = { setTimeout }',
    'wait(AbortSignal.timeout(10))',
    'const n = Math.random()',
    'const id = crypto.randomUUID()',
    'const id = webcrypto.randomUUID()',
    'const { randomUUID } = crypto',
    'const bytes = crypto.getRandomValues(new Uint8Array(16))',
  ])('src/server/node.ts: %s', (text) => {
    expect(violations('src/server/node.ts', `${text}\n`)).toHaveLength(1)
  })

  test('a file one line too long is found', () => {
    expect(violations('src/task/fold.ts', '\n'.repeat(maxLines))).toEqual([])
    expect(violations('src/task/fold.ts', '\n'.repeat(maxLines + 1))).toHaveLength(1)
  })

  test('the finding names the file and the line', () => {
    expect(violations('src/task/fold.ts', '\n\nconst at = Date.now()\n')).toEqual(['src/task/fold.ts:3 uses Date.now; take it from World'])
  })
})

describe('what is allowed is left alone', () => {
  test.each([
    ['src/support/world.ts', 'export const now = () => Date.now() + Math.random()'],
    ['src/task/fold.ts', "import type { Task } from '../protocol/wire.js'"],
    ['src/task/fold.ts', '// Date.now() and setTimeout() belong to the world\nconst text = "import(\'../store/store.js\')"'],
    ['src/runtime/run.ts', "import type { Store } from '../store/store.js'"],
    ['src/store/sqlite/sqlite.ts', "import { batch } from './batch.js'\nimport type { Store } from '../store.js'"],
    ['src/store/sqlite/driver.ts', "import { join } from 'node:path'\nconst name = await import('better-sqlite3')"],
    ['src/server/node-http.ts', "import { createServer } from 'node:http'\nserver.setTimeout(0)"],
    ['src/bindings/grpc.ts', "import { createSecureContext } from 'node:tls'"],
    ['src/check/probe.ts', "import { request } from 'node:http'"],
    ['src/check/defects/gap.ts', "import { createServer } from '../../server/create-server.js'"],
    [
      'src/testing/test-agent.ts',
      "import { connect } from '../client/connect.js'\nimport { createServer } from '../server/create-server.js'",
    ],
    ['src/cli/serve.ts', "import { agent } from '../index.js'"],
    ['src/index.ts', "export { sqlite } from './store/sqlite/sqlite.js'"],
    ['src/server/limits.ts', 'type Handle = ReturnType<typeof setTimeout>\ninterface Timers { setTimeout(): void }'],
    ['src/server/limits.ts', 'const at = new Date(world.now()).toISOString()\nconst later = world.now()'],
  ])('%s: %s', (path, text) => {
    expect(violations(path, `${text}\n`)).toEqual([])
  })
})
