/** An agent that posts what becomes of a task, and a caller that has hung up and hears of it all the same. */

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { agent, artifact, completed, serve, sqlite, working } from 'errand'
import { connect, pushReceiver } from 'errand/client'

const baker = agent({ name: 'Baker', description: 'Bakes.' }, async function* (task) {
  yield working(`Kneading ${task.text}`)
  yield working('In the oven')
  yield artifact('receipt', `One of ${task.text}`)
  return completed('It is ready.')
})

const http = createServer((request, response) => hooks.middleware(request, response)).listen(0, '127.0.0.1')
await once(http, 'listening')
// Listening on a port, the address is one of host and port.
const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
// Kept for good, it lets the caller know its own posts after a restart.
const hooks = pushReceiver({ publicUrl: `${origin}/a2a-push`, secret: randomBytes(32).toString('base64') })

// Posts go to public https addresses; any other has to be named.
const server = await serve(baker, { store: sqlite(':memory:'), push: true, outbound: { allow: [origin] } })

const client = await connect(server.url)
const target = hooks.target()
for await (const event of client.send('rye bread', { push: target })) {
  console.log(`The ${event.kind} is there; the caller hangs up`)
  break
}
for await (const event of target) {
  if (event.kind === 'status') console.log(event.state, event.message?.parts[0]?.text)
  if (event.kind === 'artifact') console.log(event.artifact.name, event.delta[0]?.text)
}

await server.close()
http.close()
