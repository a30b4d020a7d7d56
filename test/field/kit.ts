/** What the field cases share beyond the kit of the runtime's tests. */

import { agent, completed, type Server } from '../../src/index.js'
import { type BindingName, frames, result } from '../harness/server.js'
import { takeAll } from '../runtime/kit.js'

export const sends = ['SendMessage', 'SendStreamingMessage'] as const

/** The task that answers a send: the result, or what the stream begins with once all of it has been read. */
export async function taskOfSend(
  fetching: Server['fetch'],
  binding: BindingName,
  operation: (typeof sends)[number],
  params: Readonly<Record<string, unknown>>,
): Promise<any> {
  if (operation === 'SendMessage') return (await result(fetching, binding, operation, params)).task
  const [first] = await takeAll(frames(fetching, binding, operation, params))
  return first?.data.task
}

/**
 * An agent that books once somebody has consented at another place, and takes a message in place of the credential.
 * `bring` is that place: it posts a credential for the `number`th request.
 */
export function bookingWithConsent() {
  const places: { readonly callbackUrl: string; readonly state: string }[] = []
  const booking = agent({ name: 'Booking', description: 'Books with consent.' }, async function* (task) {
    const consent = await task.authorize({
      prompt: 'May I use your calendar?',
      callback(place) {
        places.push(place)
        return 'https://calendar.example/consent'
      },
    })
    if ('message' in consent) return completed('Thank you.', { declined: consent.message.parts[0]?.text ?? '' })
    return completed('Booked.', { scopes: consent.granted.scopes })
  })
  const bring = (fetching: Server['fetch'], number: number): Promise<Response> => {
    const { callbackUrl = '', state } = places[number] ?? {}
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ state, token: 'a-credential', scopes: ['calendar.book'] })
    return fetching(new Request(callbackUrl, { method: 'POST', headers, body }))
  }
  return { booking, bring }
}
