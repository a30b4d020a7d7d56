/** The example of a task that outlives its process does what it says. */

import { crashEverywhere } from 'errand/testing'
import { expect, test } from 'vitest'
import { type Hotel, travel } from '../../examples/travel.js'

test('a stay is booked once, wherever the server crashes', async () => {
  const bookings = new Map<string, string>()
  const hotel: Hotel = {
    quote: async (city, nights) => ({ id: `${city}-${nights}`, price: 90 * nights }),
    async book(quote, token, key) {
      bookings.set(key, `${quote} by ${token}`)
      return `C-${quote}`
    },
  }
  const { points, diverged } = await crashEverywhere(
    travel(hotel),
    async (t) => {
      const asked = await t.client.skill('book').send({ city: 'Oslo', nights: 2 }).outcome
      if (asked.state !== 'input-required') return asked
      const told = await asked.reply({ data: { yes: true } }).outcome
      if (told.state !== 'auth-required') return told
      await t.grant(told.task.id, 'a token')
      const done = await told.follow().outcome
      expect(done.state === 'completed' && done.output).toEqual({ confirmation: 'C-Oslo-2', price: 180 })
      return done
    },
    { reset: () => bookings.clear(), effects: () => [...bookings.values()] },
  )
  expect(diverged).toEqual([])
  expect(points).toBeGreaterThan(10)
})
