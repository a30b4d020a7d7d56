/** A file of the first schema goes on where it was. */

import { expect, test } from 'vitest'
import { loadSqlite } from '../../../src/store/sqlite/driver.js'
import { migrate, migrations } from '../../../src/store/sqlite/schema.js'
import { sqlite } from '../../../src/store/sqlite/sqlite.js'
import type { Store } from '../../../src/store/store.js'
import { virtualWorld } from '../../../src/testing/virtual-world.js'
import {
  agentMessage,
  completed,
  headerOf,
  inputRequired,
  logOf,
  moved,
  type Named,
  newTask,
  put,
  recordsOf,
  working,
} from '../../laws/kit.js'
import { freshFile } from './watched.js'

const caller = { tenant: 't', owner: 'o' }
const question = agentMessage({ id: 'asking', contextId: 'c' }, 'which?')

interface Old {
  readonly id: string
  readonly state: number
  readonly waiting: string | null
  readonly holder: string | null
}

// By key: as the first schema kept them, with a log of a creation and a status each.
const old: readonly Old[] = [
  { id: 'new', state: 0, waiting: null, holder: null },
  { id: 'at work', state: 1, waiting: null, holder: 'dead' },
  { id: 'asking', state: 2, waiting: question.messageId, holder: null },
  { id: 'over', state: 4, waiting: null, holder: null },
  { id: 'asking without words', state: 2, waiting: null, holder: null },
  { id: 'handed back', state: 1, waiting: null, holder: null },
]

/** A file as a version that knew the first schema alone left it. */
async function oldFile(): Promise<string> {
  const file = freshFile()
  const driver = (await loadSqlite()).open(file)
  migrate(driver, file, migrations.slice(0, 1))
  driver.exec(`insert into account values (1, '${caller.tenant}', '${caller.owner}'); insert into number values ('revision', 2)`)
  const insertTask = driver.prepare(`insert into task values (?, 1, ?, ?, ?, ?, 2, 2, 1, 2, 1, ?, 0, 1, ?, 0, 1, 0, 0)`)
  const insertEvent = driver.prepare('insert into task_event values (?, 1, ?, ?, ?, ?, ?)')
  const states = ['TASK_STATE_SUBMITTED', working, inputRequired, '', completed] as const
  for (const [n, { id, state, waiting, holder }] of old.entries()) {
    const key = n + 1
    const task: Named = { id, contextId: 'c' }
    insertTask.run(key, id, 'c', state, 2_000 + n, holder, waiting)
    insertEvent.run(key * 2 ** 30 + 1, 8, 1_000, 1, 0, newTask({ ...task, caller }).created.body)
    const status = moved(task, states[state] || working, 2_000 + n, waiting === null ? undefined : question)
    insertEvent.run(key * 2 ** 30 + 2, state, 2_000 + n, 2, 1, status.body)
    driver.prepare('insert into task_count values (1, ?, 1) on conflict do update set n = n + 1').run(state)
  }
  driver.close()
  return file
}

const idsOf = async (store: Store, refs: Awaited<ReturnType<Store['runnable']>>) =>
  Promise.all(refs.map(async (ref) => (await store.header(ref))?.id))

test('every task is there, with its log, its text and its place in the list', async () => {
  const store = await sqlite(await oldFile()).open({ world: virtualWorld() })
  for (const { id } of old) {
    const header = await headerOf(store, { caller, id })
    expect(header).toMatchObject({ id, contextId: 'c', lastSeq: 2, epoch: 1, turn: 1, sealed: false })
    expect(await store.locate(id)).toEqual(header)
    expect((await logOf(store, header)).map(({ seq }) => seq)).toEqual([1, 2])
    expect(JSON.parse((await store.read(header.ref)).text)).toMatchObject({ id })
    expect(await recordsOf(store, header, 1)).toEqual([])
  }
  expect((await store.list({ caller, pageSize: 10 })).tasks.map(({ text }) => JSON.parse(text).id)).toEqual(
    old.map(({ id }) => id).reverse(),
  )
  expect((await store.unfinished({ limit: 10 })).map(({ id }) => id)).toEqual(old.map(({ id }) => id).filter((id) => id !== 'over'))
  await store.close()
})

test('what asked waits for the message that begins the next turn', async () => {
  const store = await sqlite(await oldFile()).open({ world: virtualWorld() })
  const waiting = async (id: string) => (await headerOf(store, { caller, id })).waiting
  expect(await waiting('asking')).toEqual({ kind: 'turn', question: question.messageId })
  expect(await waiting('asking without words')).toEqual({ kind: 'turn' })
  for (const id of ['new', 'at work', 'over', 'handed back']) expect(await waiting(id)).toBeUndefined()
  expect(await store.nextDue()).toBeUndefined()
  await store.close()
})

test('what nobody held and nothing was waited for has a job, in the order of making', async () => {
  const store = await sqlite(await oldFile()).open({ world: virtualWorld() })
  expect(await idsOf(store, await store.runnable(10))).toEqual(['new', 'handed back'])
  const claimed = await store.claim((await headerOf(store, { caller, id: 'new' })).ref, 'here')
  expect(claimed).toMatchObject({ header: { epoch: 2, holder: 'here' }, records: [] })
  expect(await idsOf(store, await store.runnable(10))).toEqual(['handed back'])
  await store.close()
})

test('it goes on as any other, and a second start changes nothing', async () => {
  const file = await oldFile()
  const world = virtualWorld()
  let store = await sqlite(file).open({ world })
  const header = await headerOf(store, { caller, id: 'at work' })
  const record = { kind: 'step', key: 'k', n: 1, body: '{}' } as const
  const write = { events: [], holder: null, waiting: { kind: 'sleep', key: 's', due: 9 }, records: [record] } as const
  await store.append(header.ref, { epoch: 1, holder: 'dead' }, () => write)
  const asking = await headerOf(store, { caller, id: 'asking' })
  await put(store, asking, moved(asking, completed, 3_000))
  const before = await store.unfinished({ limit: 10 })
  await store.close()
  store = await sqlite(file).open({ world })
  expect(await store.unfinished({ limit: 10 })).toEqual(before)
  expect(await store.due(9, 10)).toEqual([header.ref])
  expect(await store.records(header.ref, 1)).toEqual([record])
  await store.close()
})
