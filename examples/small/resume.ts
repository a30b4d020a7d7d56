/** A connection that is cut in the middle of an answer: the client takes it up again by itself, and everything comes once. */

import { once } from 'node:events'
import { agent, chunk, completed, serve, sqlite } from 'errand'
import { connect } from 'errand/client'

const cable = new AbortController()
const pulled = once(cable.signal, 'abort')

const counter = agent({ name: 'Counter', description: 'Counts to six.' }, async function* () {
  for (const digit of ['1', '2', '3']) yield chunk('count', digit)
  // Else the whole count might be over before anybody pulls.
  await pulled
  for (const digit of ['4', '5', '6']) yield chunk('count', digit)
  return completed()
})

const server = await serve(counter, { store: sqlite(':memory:') })

/** What is under way when the cable is pulled breaks off; what comes later finds it plugged in again. */
function overCable(request: Request): Promise<Response> {
  const lastEventId = request.headers.get('last-event-id')
  if (lastEventId) console.log(`the client goes on after event ${lastEventId}`)
  return cable.signal.aborted ? fetch(request) : fetch(request, { signal: AbortSignal.any([request.signal, cable.signal]) })
}

const client = await connect(server.url, { fetch: overCable })
const sending = client.send('Count')
for await (const event of sending) {
  if (event.kind !== 'artifact') continue
  for (const { text } of event.delta) console.log(text)
  if (event.text === '123') {
    console.log('the cable is pulled')
    cable.abort()
  }
}
const outcome = await sending.outcome
console.log(outcome.state === 'completed' ? `all of it: ${outcome.text}` : outcome)

await server.close()
