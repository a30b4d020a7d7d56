/** A task that outlives its process: steps, a question of three days, a consent, and a booking that is made once. */

import { agent, artifact, completed, failed, skill } from 'errand'
import { z } from 'zod'

export interface Hotel {
  quote(city: string, nights: number, idempotencyKey: string): Promise<{ id: string; price: number }>
  book(quoteId: string, token: string, idempotencyKey: string): Promise<string>
}

export const travel = (hotel: Hotel) =>
  agent({
    name: 'Travel',
    description: 'Books hotels.',
    skills: {
      book: skill({
        name: 'Book a stay',
        description: 'Quotes, asks, then books.',
        input: z.object({ city: z.string(), nights: z.number().int().max(30).default(1) }),
        output: z.object({ confirmation: z.string(), price: z.number() }),
        async *run(task) {
          const { city, nights } = task.input
          const quote = await task.step('quote', (s) => hotel.quote(city, nights, s.idempotencyKey))
          const answer = await task.ask(`Book for ${quote.price} EUR?`, { schema: z.object({ yes: z.boolean() }), timeout: '3d' })
          if (!answer.yes) return completed('Nothing was booked.')
          const consent = await task.authorize({ oauth: 'hotel', scopes: ['book'], prompt: 'Allow one booking' })
          if ('message' in consent) return failed('Stopped: no consent was given.')
          const { token } = consent.granted
          const confirmation = await task.step('book', (s) => hotel.book(quote.id, token, s.idempotencyKey), { retry: 3 })
          yield artifact('receipt', { data: { confirmation, price: quote.price } })
          return { confirmation, price: quote.price }
        },
      }),
    },
  })
