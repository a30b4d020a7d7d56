/** An answer that grows by the word, and a caller that sees it grow. */

import { agent, chunk, completed, serve, sqlite, working } from 'errand'
import { connect } from 'errand/client'

const poet = agent({ name: 'Poet', description: 'Writes a line about a thing.' }, async function* (task) {
  yield working(`Looking at ${task.text}`)
  for (const words of ['Slowly,', ' slowly', ` climbs ${task.text}.`]) yield chunk('line', words)
  return completed('It is a short one.')
})

const server = await serve(poet, { store: sqlite(':memory:') })

const client = await connect(server.url)
for await (const event of client.send('a snail')) {
  if (event.kind === 'status') console.log(event.state, event.message?.parts[0]?.text)
  if (event.kind === 'artifact') console.log(event.artifact.name, event.text)
}

await server.close()
