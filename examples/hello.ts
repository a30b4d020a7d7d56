/** The smallest agent: one function, served on this machine. */

import { agent, serve } from 'errand'

const hello = agent({ name: 'Hello', description: 'Says hello.' }, (task) => `Hello, ${task.text || 'world'}!`)

const { url } = await serve(hello, { port: 3000 })
console.log(`card ${url}/.well-known/agent-card.json`)
