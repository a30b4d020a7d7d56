/** An agent of two skills: what they take and give is checked, their fields are on the card, and a message that fits neither is asked back. */

import { fileURLToPath } from 'node:url'
import { agent, serve, skill } from 'errand'
import { z } from 'zod'

export const roadTrip = agent({
  name: 'Road trip',
  description: 'Reckons what a drive takes.',
  skills: {
    fuel: skill({
      name: 'Fuel for a drive',
      description: 'Tells how much fuel a drive takes and what it costs.',
      tags: ['travel'],
      input: z.object({
        km: z.number().positive(),
        pricePerLitre: z.number().positive(),
        litresPer100Km: z.number().positive().default(6.5),
      }),
      output: z.object({ litres: z.number(), cost: z.number() }),
      run({ input }) {
        const litres = (input.km / 100) * input.litresPer100Km
        return { litres, cost: litres * input.pricePerLitre }
      },
    }),
    distance: skill({
      name: 'Miles in kilometres',
      description: 'Turns miles into kilometres.',
      input: z.object({ miles: z.number().nonnegative() }),
      output: z.object({ km: z.number() }),
      run: ({ input }) => ({ km: input.miles * 1.609344 }),
    }),
  },
})

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { url } = await serve(roadTrip, { port: 3000 })
  console.log(`card ${url}/.well-known/agent-card.json`)
}
