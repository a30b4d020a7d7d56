/** An agent of one function, and a caller that sends it one message. */

import { agent, serve, sqlite } from 'errand'
import { connect } from 'errand/client'

const hello = agent({ name: 'Hello', description: 'Says hello.' }, (task) => `Hello, ${task.text || 'world'}!`)

// On any free port. Without `store`, tasks are kept in the file errand.db.
const server = await serve(hello, { store: sqlite(':memory:') })

const client = await connect(server.url)
const outcome = await client.send('Ada').outcome
console.log(outcome.state === 'completed' ? outcome.text : outcome)

await server.close()
