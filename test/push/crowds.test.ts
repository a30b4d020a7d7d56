/** Receivers that hang keep nobody else from being told. */

import { expect, test } from 'vitest'
import { createPlaces } from '../../src/push/places.js'
import { virtualWorld } from '../../src/testing/virtual-world.js'
import { scriptAgent } from '../harness/script-agent.js'
import { result, userMessage } from '../harness/server.js'
import { createConfig, openPushing, saysOf } from './kit.js'

test.each([
  ['one host', () => 'hook.example'],
  ['hosts of their own', (n: number) => `hook${n}.example`],
])('of 1,000 configurations on %s 999 hang, and the thousandth gets every event within a second of its commit', async (_, hostOf) => {
  const pushing = await openPushing(scriptAgent)
  pushing.answer = ({ url }) => (url.endsWith('/good') ? 204 : 'hang')
  const { world } = pushing
  const { task } = await result(pushing.fetch, 'JSONRPC', 'SendMessage', { message: userMessage('ask') })
  const bad = Array.from({ length: 999 }, (_, n) => createConfig(pushing, task.id, { url: `https://${hostOf(n)}/bad` }))
  await Promise.all(bad)
  await createConfig(pushing, task.id, { url: `https://${hostOf(999)}/good` })
  const told = () => pushing.posts.filter(({ url }) => url.endsWith('/good')).map(saysOf)
  await world.advance(1_000)
  expect(told()).toEqual([{ task: 'INPUT_REQUIRED' }])
  await result(pushing.fetch, 'JSONRPC', 'SendMessage', { message: userMessage('42', { taskId: task.id }) })
  await world.advance(1_000)
  expect(told()).toEqual([{ task: 'INPUT_REQUIRED' }, 'WORKING', [{ data: { answer: '42' } }], 'COMPLETED'])
  expect((await result(pushing.fetch, 'JSONRPC', 'GetTask', { id: task.id })).status.state).toBe('TASK_STATE_COMPLETED')
})

const limits = { quick: 4, quickOfHost: 2, open: 6, openOfHost: 4, slowMs: 100 }

function openPlaces() {
  const world = virtualWorld()
  const places = createPlaces(world, limits)
  const begun: string[] = []
  const never = new AbortController().signal
  const take = async (name: string, { host = 'a', isFailing = false, signal = never } = {}) => {
    const leave = await places.take(host, { isFailing, signal })
    begun.push(name)
    return leave
  }
  return { world, begun, take }
}

test('what has no answer for a while gives its place to others, up to a bound for its host and one for all', async () => {
  const { world, begun, take } = openPlaces()
  for (const n of [1, 2, 3, 4, 5]) void take(`a${n}`)
  void take('b1', { host: 'b' })
  await world.advance(0)
  expect(begun).toEqual(['a1', 'a2', 'b1'])
  await world.advance(100)
  expect(begun).toEqual(['a1', 'a2', 'b1', 'a3', 'a4'])
  for (const n of [1, 2, 3]) void take(`c${n}`, { host: 'c' })
  await world.advance(10_000)
  expect(begun.slice(5)).toEqual(['c1'])
})

test('those that fail wait behind those that do not, and hosts take turns', async () => {
  const { world, begun, take } = openPlaces()
  const first = await Promise.all(['1', '2'].map((name) => take(name)))
  void take('failing', { isFailing: true })
  void take('healthy')
  void take('healthy too')
  await world.advance(0)
  for (const leave of first) leave()
  await world.advance(0)
  expect(begun).toEqual(['1', '2', 'healthy', 'healthy too'])
  await world.advance(100)
  expect(begun.at(-1)).toBe('failing')
})

test('whoever gives up waiting leaves no trace', async () => {
  const { world, begun, take } = openPlaces()
  const leaves = await Promise.all(['1', '2'].map((name) => take(name)))
  const end = new AbortController()
  const given = take('gone', { signal: end.signal })
  void take('next')
  end.abort(new Error('deleted'))
  await expect(given).rejects.toThrow('deleted')
  await expect(take('late', { signal: end.signal })).rejects.toThrow('deleted')
  leaves[0]?.()
  await world.advance(0)
  expect(begun).toEqual(['1', '2', 'next'])
})
