/** An agent that books stays by all that may take days: steps, a stream, a question, a consent. And the hotel that it books at. */

import { agent, artifact, completed, failed, skill, working } from 'errand'
import { z } from 'zod'

const Stay = z.object({ city: z.string(), nights: z.number().int().max(30).default(1) })
const Booked = z.object({ confirmation: z.string(), price: z.number() })

type Quote = { readonly id: string; readonly price: number }

/** A hotel that does a thing once for a key, however often it is asked, and counts both. */
function openHotel() {
  const quotes = new Map<string, Quote>()
  const bookings = new Map<string, { readonly quote: string; readonly token: string; readonly confirmation: string }>()
  let asked = 0
  return {
    /** Fails as often as this before it books. */
    refusals: 0,
    async quote(city: string, nights: number, key: string): Promise<Quote> {
      asked++
      const known = quotes.get(key) ?? { id: `${city}-${nights}`, price: 90 * nights }
      quotes.set(key, known)
      return known
    },
    async book(quote: string, token: string, key: string): Promise<string> {
      asked++
      if (this.refusals > 0) {
        this.refusals--
        throw new Error('the hotel is busy')
      }
      const known = bookings.get(key) ?? { quote, token, confirmation: `C${quote}` }
      bookings.set(key, known)
      return known.confirmation
    },
    /** What has come of all that was asked. */
    effects: () => ({ quotes: Object.fromEntries(quotes), bookings: Object.fromEntries(bookings) }),
    asked: () => asked,
    reset() {
      quotes.clear()
      bookings.clear()
      asked = 0
      this.refusals = 0
    },
  }
}

export const hotel = openHotel()

const model = {
  async *stream(prompt: string): AsyncGenerator<string> {
    for (const word of prompt.split(' ')) yield `${word} `
  },
}

export const travel = agent({
  name: 'Travel',
  description: 'Books stays.',
  version: '1.2.0',
  answer: (turn) => (/^hello\b/i.test(turn.text) ? 'Hello! Tell me a city, and for how many nights.' : undefined),
  skills: {
    book: skill({
      name: 'Book a stay',
      description: 'Asks the hotel, then the traveller, then books.',
      input: Stay,
      output: Booked,
      async *run(task) {
        const { city, nights } = task.input
        yield working(`Asking in ${city} for ${nights} night(s)`)
        const quote = await task.step('quote', (step) => hotel.quote(city, nights, step.idempotencyKey))

        yield* task.stream('itinerary.md', () => model.stream(`What there is to see in ${city}`))

        const answer = await task.ask(`Book for ${quote.price} EUR?`, { schema: z.object({ yes: z.boolean() }), timeout: '3d' })
        if (!answer.yes) return completed('Nothing was booked.')

        const consent = await task.authorize({ oauth: 'hotel', scopes: ['book'], prompt: 'Allow one booking' })
        if ('message' in consent) return failed('There was no consent.')
        const { token } = consent.granted
        const confirmation = await task.step('book', (step) => hotel.book(quote.id, token, step.idempotencyKey), { retry: 3 })

        yield artifact('receipt', { data: { confirmation, price: quote.price } })
        return { confirmation, price: quote.price }
      },
    }),
  },
})
