/** Signals that nobody waits for are kept within bounds, and whoever sends more is told. */

import { expect, test } from 'vitest'
import { agent, type Json, type Server } from '../../src/index.js'
import { signalLimits } from '../../src/runtime/signal.js'
import { begin, getTask, openStill, until } from './kit.js'

const info = { name: 'Test', description: 'Does what the test says.' }
const consent = { callback: () => 'https://consent.example/' }

/** A task that waits for `go`, and then for as many signals of that name as it is told to. Sealed, where it asked for consent before. */
async function open(isSealed = false) {
  const made = agent(info, async (task) => {
    if (isSealed) await task.authorize({ ...consent, timeout: '1s' }).catch(() => undefined)
    const { name, count } = await task.wait<{ name: string; count: number }>('go')
    let sum = 0
    for (let taken = 0; taken < count; taken++) sum += JSON.stringify(await task.wait(name)).length
    return sum
  })
  const { server, fetch, world } = await openStill(made)
  const id = await begin(fetch, 'go')
  if (isSealed) {
    await until(async () => (await getTask(fetch, id)).status.state === 'TASK_STATE_AUTH_REQUIRED')
    await world.advance(1_000)
  }
  const result = async () => {
    await until(async () => (await getTask(fetch, id)).status.state === 'TASK_STATE_COMPLETED')
    return (await getTask(fetch, id)).artifacts[0].parts[0].data
  }
  return { server, id, result }
}

/** Sends `count` signals at once: how many were kept, and the refusals. */
async function send(server: Server, id: string, count: number, next: (place: number) => readonly [name: string, value: Json]) {
  const outcomes = await Promise.allSettled(Array.from({ length: count }, (_, place) => server.signal(id, ...next(place))))
  const refusals = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
  return { kept: count - refusals.length, refusals }
}

test.each([
  ['of one name', () => ['paid', 1] as const],
  ['each of its own name', (place: number) => [`paid ${place}`, 1] as const],
])('a task keeps 1,000 signals %s', async (_, next) => {
  const { server, id } = await open()
  const { kept, refusals } = await send(server, id, signalLimits.kept + 3, next)
  expect(kept).toBe(signalLimits.kept)
  for (const refusal of refusals) {
    expect(refusal).toMatchObject({ name: 'ResourceExhaustedError' })
    expect(String(refusal)).toMatch(/keeps 1000 signals that it has not waited for.+ the signal "paid.*" was not kept/)
  }
  await expect(server.signal(id, 'paid', 1)).rejects.toThrow(/takes no more/)
})

test.each([false, true])('and 4 MiB of them (sealed: %s)', async (isSealed) => {
  const { server, id } = await open(isSealed)
  const value = 'x'.repeat(signalLimits.valueBytes / 2)
  const { kept, refusals } = await send(server, id, 9, () => ['paid', value])
  expect(kept).toBe(isSealed ? 5 : 7)
  expect(String(refusals[0])).toMatch(/takes no more/)
})

test('long names count too', async () => {
  const { server, id } = await open()
  const { kept } = await send(server, id, 5, (place) => [`${place}${'n'.repeat(1 << 20)}`, 1])
  expect(kept).toBe(3)
})

test('what is refused takes nothing away, what is taken makes room, and one that is waited for always comes through', async () => {
  const { server, id, result } = await open()
  // Few and large ones, that the run is soon done with.
  const value = 'x'.repeat(signalLimits.valueBytes / 2)
  expect((await send(server, id, 9, () => ['paid', value])).kept).toBe(7)
  await server.signal(id, 'go', { name: 'paid', count: 8 })
  await until(async () => (await send(server, id, 1, () => ['paid', value])).kept === 1)
  expect(await result()).toBe(8 * (value.length + 2))
})

test('a value of more than 1 MiB is refused, also by a task that waits for it', async () => {
  const { server, id, result } = await open()
  const most = 'x'.repeat(signalLimits.valueBytes - '""'.length)
  for (const name of ['go', 'paid']) {
    await expect(server.signal(id, name, `${most}x`)).rejects.toThrow(
      `The value of the signal "${name}" is larger than 1048576 bytes of JSON`,
    )
    await expect(server.signal(id, name, 'é'.repeat(600_000))).rejects.toMatchObject({ name: 'ResourceExhaustedError' })
  }
  await server.signal(id, 'paid', most)
  await server.signal(id, 'go', { name: 'paid', count: 1 })
  expect(await result()).toBe(most.length + 2)
})
