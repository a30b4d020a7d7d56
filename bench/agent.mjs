/**
 * The workloads, chosen by the text of the message: `stream N` → N chunks of one artifact, a turn of the event loop between
 * them; `hold N` → waits for a message, then puts out an artifact N times, each in place of the last; `ask` → a question that
 * ends the turn; `question` → one within the turn, then an echo of the answer; anything else → an echo.
 */

import { setImmediate as turn } from 'node:timers/promises'
import { agent, artifact, chunk, inputRequired } from '../dist/src/index.js'

const piece = 'x'.repeat(50)

export const benchAgent = agent({ name: 'Bench', description: 'Works as told, to be measured.' }, async function* (task) {
  const [word, number] = task.text.split(' ')
  const count = Number(number)
  if (word === 'ask') return inputRequired('And then?')
  if (word === 'question') {
    const { text } = await task.ask('And then?')
    return `echo: ${text}`
  }
  if (word === 'stream') {
    for (let i = 1; i <= count; i++) {
      await turn()
      yield chunk('a', piece, { last: i === count })
    }
    return undefined
  }
  if (word === 'hold') {
    await task.inbox.next()
    for (let i = 0; i < count; i++) {
      await turn()
      yield artifact('a', piece)
    }
    return undefined
  }
  return `echo: ${task.text}`
})
