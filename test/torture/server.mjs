/**
 * The server that is killed: an agent of few words on a store in a file.
 *
 * It opens the file when a line comes in. On standard output it says where it listens and, before it handles it, which message it has received.
 */

import { once } from 'node:events'
import { writeSync } from 'node:fs'
import { agent, bearerTokens, chunk, completed, failed, inputRequired, serve, sqlite, working } from '../../dist/src/index.js'
import { sabotaged } from './sabotage.mjs'

const [file = '', sabotage] = process.argv.slice(2)

const say = (line) => writeSync(1, `${line}\n`)

const script = agent({ name: 'Script', description: 'Does what it is told.' }, async function* (task) {
  const [word, count] = task.text.split(' ')
  if (task.turn > 1) return completed('Thank you.', { answer: task.text })
  switch (word) {
    case 'trickle':
      for (let left = Number(count); left > 0; left--) {
        yield chunk('drops', `${left};`, { last: left === 1 })
        await task.sleep(1)
      }
      return completed('dry')
    case 'ask':
      yield working('thinking of a question')
      return inputRequired('What is the answer?')
    case 'hold': {
      yield working('holding')
      const message = await task.inbox.next()
      return completed('released', { by: message?.messageId ?? null })
    }
    case 'fail':
      return failed('It could not be done.')
    default:
      return `echo ${task.text}`
  }
})

/** The store, telling of each message that reaches it. Nothing of it has been written by then. */
const telling = (source) => ({
  async open(options) {
    const store = await source.open(options)
    const tell = (inbound) => inbound && say(`received ${inbound.messageId}`)
    return {
      ...store,
      create(task, onAccepted) {
        tell(task.inbound)
        return store.create(task, onAccepted)
      },
      update(ref, decide, inbound) {
        tell(inbound)
        return store.update(ref, decide, inbound)
      },
    }
  },
})

// Its standard input ends with the process that started it: nobody else would stop it then.
process.stdin.once('end', () => process.exit(1))
await once(process.stdin, 'data')

const store = sabotage === undefined ? sqlite(file) : sabotaged(file, sabotage)
const server = await serve(script, { store: telling(store), auth: bearerTokens({ alice: 'alice' }) })
say(`listening ${server.url}`)

process.once('SIGTERM', () => void server.close().then(() => process.exit(0)))
