/** An agent that asks back in the middle of its work, and a caller that answers in the same task. */

import { agent, serve, sqlite } from 'errand'
import { connect } from 'errand/client'

const waiter = agent({ name: 'Waiter', description: 'Reserves tables.' }, async (task) => {
  const people = await task.ask('For how many people?')
  const place = await task.ask('Inside or on the terrace?')
  return `A table for ${people.text}, ${place.text}.`
})

const server = await serve(waiter, { store: sqlite(':memory:') })

const client = await connect(server.url)
const answers = ['four', 'on the terrace']
let outcome = await client.send('A table, please').outcome
while (outcome.state === 'input-required') {
  const answer = answers.shift() ?? 'as you like'
  console.log(`${outcome.prompt} ${answer}`)
  outcome = await outcome.reply(answer).outcome
}
console.log(outcome.state === 'completed' ? outcome.text : outcome)

await server.close()
