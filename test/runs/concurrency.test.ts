/** Places: what waits holds none, and a restart with thousands of open tasks gives them out evenly. */

import { describe, expect, test } from 'vitest'
import { result } from '../harness/server.js'
import { type Crashable, openCrashable, type Program, resultOf } from './kit.js'

describe('a run that waits holds no place', () => {
  const waits: readonly [string, Program, (server: Crashable, id: string) => Promise<void>][] = [
    ['for an answer', () => async (task) => void (await task.ask('A?')), (server, id) => server.say(id, 'yes')],
    ['for a signal', () => async (task) => void (await task.wait('paid')), (server, id) => server.signal(id, 'paid', 1)],
    ['for a time', () => (task) => task.sleep('1h'), (server) => server.advance(3_600_000)],
    [
      'for consent',
      () => async (task) => void (await task.authorize({ callback: ({ state }) => `https://consent.example/${state}` })),
      (server, id) => server.say(id, 'no'),
    ],
  ]
  test.each(waits)('%s', async (_, program, goOn) => {
    const server = await openCrashable(
      (process) => {
        const run = program(process)
        return (task) => (task.text === 'other' ? 'served' : run(task))
      },
      { concurrency: 1 },
    )
    const waiting = [await server.send('wait'), await server.send('wait'), await server.send('wait')]
    await server.rest()
    expect(resultOf(await server.comesTo(await server.send('other'), 'COMPLETED'))).toBe('served')
    for (const id of waiting) await goOn(server, id)
    for (const id of waiting) await server.comesTo(id, 'COMPLETED')
  })

  test('and takes its turn like any other when it goes on', async () => {
    const order: string[] = []
    const server = await openCrashable(
      ({ wait }) =>
        async (task) => {
          if (task.text === 'ask') {
            await task.ask('A?')
            await task.step('after', () => void order.push('the answered one'))
            return
          }
          order.push(task.text)
          await wait(1_000)
        },
      { concurrency: 1 },
    )
    const asked = await server.send('ask')
    await server.comesTo(asked, 'INPUT_REQUIRED')
    await server.send('first')
    await server.rest()
    await server.say(asked, 'yes')
    await server.send('second')
    await server.advance(5_000)
    expect(await server.state(asked)).toBe('COMPLETED')
    expect(order.toSorted()).toEqual(['first', 'second', 'the answered one'])
  })
})

test('never more than `concurrency` runs are at work, whatever wakes them', async () => {
  let active = 0
  let most = 0
  const server = await openCrashable(
    ({ wait }) =>
      async (task) => {
        const work = async () => {
          active++
          most = Math.max(most, active)
          await wait(10)
          active--
        }
        await work()
        await task.ask('A?')
        await work()
        await task.sleep('1m')
        await work()
        await task.wait('paid')
        await work()
      },
    { concurrency: 4 },
  )
  const ids: string[] = []
  for (let i = 0; i < 40; i++) ids.push(await server.send('go'))
  for (const id of ids) await server.comesTo(id, 'INPUT_REQUIRED')
  await Promise.all(ids.map((id) => server.say(id, 'yes')))
  await server.advance(61_000)
  await Promise.all(ids.map((id) => server.signal(id, 'paid', 1)))
  for (const id of ids) await server.comesTo(id, 'COMPLETED')
  expect(most).toBe(4)
})

test('10,000 open tasks at a restart are begun evenly: as many at once as allowed, and requests are answered meanwhile', async () => {
  const concurrency = 50
  const count = 10_000
  let active = 0
  let most = 0
  let begun = 0
  const server = await openCrashable(
    ({ number, wait, hold }) =>
      async (task) => {
        if (task.text === 'asked by the way') return 'served'
        await hold(1)
        begun++
        most = Math.max(most, ++active)
        await wait(1)
        active--
        return number
      },
    { concurrency },
  )
  const ids: string[] = []
  while (ids.length < count) ids.push(...(await Promise.all(Array.from({ length: 500 }, () => server.send('go')))))
  server.kill()
  await server.restart()
  expect(begun).toBeLessThanOrEqual(concurrency)
  let looks = 0
  for (; begun < count && looks < 1_000; looks++) {
    const before = begun
    await server.world.advance(1)
    // One millisecond ends those that are at work, and their places are given out once.
    expect(begun - before).toBeLessThanOrEqual(2 * concurrency)
    if (looks % 50 === 0) {
      expect(await server.state(ids[(looks * 37) % count] ?? '')).toMatch(/SUBMITTED|WORKING|COMPLETED/)
      expect(begun).toBeLessThan(count)
    }
  }
  expect(begun).toBe(count)
  expect(most).toBe(concurrency)
  await server.advance(10)
  for (const id of ids.filter((_, place) => place % 97 === 0)) expect(resultOf(await server.get(id))).toBe(2)
  const { tasks, totalSize } = await listed(server, 'TASK_STATE_COMPLETED')
  expect([totalSize, tasks.length > 0]).toEqual([count, true])
}, 180_000)

async function listed(server: Crashable, status: string): Promise<any> {
  return result(server.fetch, 'JSONRPC', 'ListTasks', { status, pageSize: 1 })
}
