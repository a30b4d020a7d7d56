/** Laws of commits: what shares one, who is told of it, and that nobody sees it before. */

import { expect, test } from 'vitest'
import type { Store, TaskRef } from '../../src/store/store.js'
import type { TaskEvent } from '../../src/task/event.js'
import { create, headerOf, logOf, moved, newTask, nextTurn, note, type Open, put, upTo, working } from './kit.js'

export function commitLaws(open: Open): void {
  test('what an append produces is asked for once, and all put out until then shares one write', async () => {
    const { store, world } = await open()
    const task = newTask({ holder: 'here' })
    const header = await create(store, task)
    const told: (readonly TaskEvent[] | undefined)[] = []
    store.onCommit((_, __, events) => told.push(events))
    const out = [note(task, 'before')]
    let asked = 0
    const appending = store.append(header.ref, { epoch: 1, holder: 'here' }, () => {
      asked++
      return { events: out.splice(0) }
    })
    out.push(note(task, 'the same step'))
    await Promise.resolve()
    out.push(note(task, 'a promise later'))
    expect(await appending).toEqual({ outcome: 'committed', lastSeq: 4 })
    await nextTurn(world)
    expect(asked).toBe(1)
    expect(told.map((events) => events?.map(({ seq }) => seq))).toEqual([[2, 3, 4]])
  })

  test('a new task is told to onAccepted once, in time for the first output', async () => {
    const { store, world } = await open()
    const task = newTask({ holder: 'here' })
    const accepted: unknown[] = []
    let output: Promise<unknown> = Promise.resolve()
    const outcome = await store.create(task, (created) => {
      accepted.push(created)
      if (created.outcome !== 'created') return
      output = store.append(created.header.ref, { epoch: 1, holder: 'here' }, () => ({ events: [moved(task, working, 2_000)] }))
    })
    await nextTurn(world)
    expect(outcome).toMatchObject({ outcome: 'created', header: { epoch: 1, holder: 'here', lastSeq: 1 } })
    expect(accepted).toEqual([outcome])
    expect(await output).toEqual({ outcome: 'committed', lastSeq: 2 })
    expect((await headerOf(store, task)).state).toBe(working)
  })

  test('every committed event is told once, in order, and the log has it by then', async () => {
    const { store, world } = await open()
    const told = new Map<TaskRef, number[]>()
    const checks: Promise<void>[] = []
    store.onCommit((ref, lastSeq, events) => {
      told.set(ref, [...(told.get(ref) ?? []), ...(events ?? []).map(({ seq }) => seq)])
      checks.push(expectInLog(store, ref, lastSeq, events ?? []))
    })
    const tasks = upTo(5).map(() => newTask({ holder: 'here' }))
    const headers = await Promise.all(tasks.map((task) => create(store, task)))
    const writes = upTo(10).flatMap((n) =>
      headers.flatMap((header) => [
        put(store, header, note(header, `${n}`)),
        store.append(header.ref, { epoch: n % 3, holder: 'here' }, () => ({ events: [note(header, `a${n}`), note(header, `b${n}`)] })),
      ]),
    )
    await Promise.all(writes)
    await nextTurn(world)
    await Promise.all(checks)
    for (const header of headers) {
      const log = await logOf(store, header)
      expect(told.get(header.ref)).toEqual(log.map(({ seq }) => seq))
    }
  })

  test('a listener that was taken back hears nothing more, the others do', async () => {
    const { store, world } = await open()
    const heard = { first: 0, second: 0 }
    const stop = store.onCommit(() => heard.first++)
    store.onCommit(() => heard.second++)
    const header = await create(store, newTask())
    await nextTurn(world)
    expect(heard).toEqual({ first: 1, second: 1 })
    stop()
    stop()
    await put(store, header, note(header, 'x'))
    await nextTurn(world)
    expect(heard).toEqual({ first: 1, second: 2 })
  })

  test('nobody reads what is not committed yet', async () => {
    const { store, world } = await open()
    const task = newTask()
    const header = await create(store, task)
    const newcomer = newTask({ caller: task.caller })
    let committed = 1
    store.onCommit((ref, lastSeq) => {
      if (ref === header.ref) committed = lastSeq
    })
    let newcomerStands = false
    const early: string[] = []
    const look = async () => {
      const seen = Math.max((await store.read(header.ref)).seq, (await logOf(store, header)).length, (await headerOf(store, task)).lastSeq)
      if (seen > committed) early.push(`event ${seen} before its commit`)
      if ((await store.find(task.caller, newcomer.id)) !== undefined && !newcomerStands) early.push('a task before its commit')
    }
    const looks = [look()]
    const writes: Promise<unknown>[] = upTo(5).map((n) =>
      store
        .update(header.ref, () => {
          looks.push(look())
          return { write: { events: [note(task, `${n}`)] }, result: 0 }
        })
        .then((updated) => {
          if (updated.outcome === 'updated') committed = Math.max(committed, updated.header.lastSeq)
        }),
    )
    writes.push(
      store
        .create(newcomer, () => looks.push(look()))
        .then(() => {
          newcomerStands = true
        }),
    )
    for (let i = 0; i < 10; i++) {
      looks.push(look())
      await Promise.resolve()
    }
    await Promise.all(writes)
    await nextTurn(world)
    await Promise.all([...looks, look()])
    expect(early).toEqual([])
    expect(committed).toBe(6)
  })
}

async function expectInLog(store: Store, ref: TaskRef, lastSeq: number, events: readonly TaskEvent[]): Promise<void> {
  const log = await store.events(ref, lastSeq - events.length)
  expect(log.slice(0, events.length)).toEqual(events)
}
