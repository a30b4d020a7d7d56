/** Wherever the agent's process dies while something is booked: it is booked once, and nobody outside can tell. */

import { crashEverywhere, type Sandbox, testAgent } from 'errand/testing'
import { beforeEach, expect, test } from 'vitest'
import { createVenueAgent } from '../../../examples/venue-agent/agent.js'
import type { Order } from '../../../examples/venue-agent/calendar.js'

/** A calendar that keeps to the key, and notes how often each came. */
let booked: Map<string, { readonly order: Order; readonly token: string; times: number }>
beforeEach(reset)
function reset() {
  booked = new Map()
}

const agent = createVenueAgent({
  calendar: {
    async book(order, { token, idempotencyKey }) {
      const known = booked.get(idempotencyKey)
      if (known) known.times++
      else booked.set(idempotencyKey, { order, token, times: 1 })
      return { confirmation: `C-${order.from}` }
    },
  },
  today: () => '2027-05-11',
})

/** From the search to the confirmation. */
async function searchAndBook({ client, grant }: Sandbox) {
  const list = await client.send('A place in Lisbon for 40 people for two days').outcome
  if (list.state !== 'completed') return list
  const asked = await client.send('book the second one', { contextId: list.task.contextId ?? '' }).outcome
  if (asked.state !== 'input-required') return asked
  const told = await asked.reply('from 12 May').outcome
  if (told.state !== 'auth-required') return told
  await grant(told.task.id, 'a token')
  return told.follow().outcome
}

test('without a crash it is booked with the token that was granted', async () => {
  await using sandbox = await testAgent(agent)
  expect(await searchAndBook(sandbox)).toMatchObject({ state: 'completed', text: expect.stringContaining('Confirmation C-2027-05-12') })
  expect([...booked.values()]).toEqual([
    { order: { venue: 'Sala Azulejo, Lisbon', from: '2027-05-12', days: 2, people: 40 }, token: 'a token', times: 1 },
  ])
})

test('with a crash before or after any commit it is booked once', async () => {
  const effects = () => [...booked.values()].map(({ order, token }) => ({ ...order, token }))
  const { points, diverged } = await crashEverywhere(agent, searchAndBook, { reset, effects })
  expect(diverged).toEqual([])
  expect(points).toBeGreaterThan(10)
})
