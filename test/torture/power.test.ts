/** What no kill can show, since the system keeps the pages of a dead process: that a write is in the file, and on the disk, when it is acknowledged. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Driver } from '../../src/store/sqlite/driver.js'
import { openSqlite, type SqliteOptions } from '../../src/store/sqlite/sqlite.js'
import { systemWorld } from '../../src/support/world.js'
import { bindingNames } from '../harness/server.js'
import { create, newTask, note, put } from '../laws/kit.js'
import { createClient, type Mode } from './client.js'
import { judgeClaims, judgeMessages, messagesOf } from './judge.js'
import { type Claim, createLedger, type Ledger, type Sent } from './ledger.js'
import { copyStore, readLog } from './log.js'
import { startVictim } from './victim.js'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'errand-power-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** `PRAGMA synchronous` and `PRAGMA journal_mode` of the connection that writes, in the moment of each commit. */
async function pragmasOfCommits(options: SqliteOptions): Promise<readonly unknown[]> {
  const read: unknown[] = []
  const wrap = (driver: Driver): Driver => ({
    exec: (sql) => driver.exec(sql),
    close: () => driver.close(),
    prepare(sql) {
      const statement = driver.prepare(sql)
      if (sql !== 'commit') return statement
      return {
        get: () => statement.get(),
        all: () => statement.all(),
        iterate: () => statement.iterate(),
        run() {
          read.push({ ...driver.prepare('pragma synchronous').get(), ...driver.prepare('pragma journal_mode').get() })
          statement.run()
        },
      }
    },
  })
  const store = await openSqlite(join(await mkdtemp(join(folder, 'pragma-')), 'tasks.db'), { ...options, world: systemWorld, wrap })
  const task = newTask()
  await put(store, await create(store, task), note(task, 'x'))
  await store.close()
  return read
}

test('the connection that writes waits for the disk at each commit', async () => {
  expect(await pragmasOfCommits({})).toEqual([
    { synchronous: 2, journal_mode: 'wal' },
    { synchronous: 2, journal_mode: 'wal' },
  ])
})

test("with durability 'process' it does not, and only then", async () => {
  expect(await pragmasOfCommits({ durability: 'process' })).toContainEqual({ synchronous: 1, journal_mode: 'wal' })
  expect(await pragmasOfCommits({ durability: 'power' })).not.toContainEqual({ synchronous: 1, journal_mode: 'wal' })
})

test('a copy of database and log that is taken at an acknowledgement opens and contains what was acknowledged', async () => {
  const { copies, lost } = await copyAtEachAcknowledgement()
  expect(copies).toBeGreaterThan(40)
  expect(lost).toEqual([])
})

test('the copies show it when a server acknowledges before it commits', async () => {
  const { lost } = await copyAtEachAcknowledgement('ack-before-commit')
  expect(lost.length).toBeGreaterThan(0)
})

/** Few enough that nothing is checkpointed before the last copy. */
const rounds = 4

async function copyAtEachAcknowledgement(sabotage?: string): Promise<{ readonly copies: number; readonly lost: readonly string[] }> {
  const file = join(await mkdtemp(join(folder, 'copies-')), 'tasks.db')
  const ledger = createLedger()
  const copies: { readonly copy: string; readonly claims: readonly Claim[]; readonly sends: Ledger['sends'] }[] = []
  const victim = startVictim({ file, sabotage })
  const url = await victim.open()
  if (url === undefined) throw new Error(victim.complaints.join('\n'))
  let calls = 0
  const client = createClient({
    url,
    victim,
    ledger,
    pickBinding: () => bindingNames[calls++ % 2] ?? 'JSONRPC',
    // Without any await between the answer and the copy.
    onTold() {
      const copy = `${file}.${copies.length}`
      copyStore(file, copy)
      const sends = new Map([...ledger.sends].map(([id, sent]) => [id, { ...sent }]))
      copies.push({ copy, claims: [...ledger.claims], sends })
    },
  })
  const send = async (text: string, mode: Mode, taskId?: string): Promise<Sent> => {
    const messageId = `message-${ledger.sends.size}`
    const sent: Sent = { message: { messageId, ...(taskId !== undefined && { taskId }), parts: [{ text }] }, attempt: 'sent' }
    ledger.sends.set(messageId, sent)
    await client.send(sent, mode)
    return sent
  }
  for (let round = 0; round < rounds; round++) {
    await Promise.all([send('echo', 'blocking'), send('trickle 2', 'stream'), send('fail', 'immediate')])
    const { taskId: asking } = await send('ask', 'stream')
    await send('forty-two', round % 2 === 0 ? 'blocking' : 'stream', asking)
    const { taskId: holding } = await send('hold', 'immediate')
    if (holding !== undefined) await (round % 2 === 0 ? client.cancel(holding) : send('go', 'blocking', holding))
  }
  victim.stop()
  await victim.gone
  const lost: string[] = [...ledger.faults, ...victim.complaints]
  for (const { copy, claims, sends } of copies) {
    const log = await readLog(copy)
    lost.push(...judgeClaims(log, claims), ...judgeMessages(messagesOf(log), { sends }))
    if (log.integrity !== 'ok') lost.push(log.integrity)
  }
  return { copies: copies.length, lost }
}
