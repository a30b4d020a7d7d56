/**
 * The server that is killed.
 *
 * Lines that come in: `open` lets it open its file; `signal ID TASK VALUE` gives a task a signal; `takeover TASK` takes a task
 * away from its run, as another process would that holds this one for dead: the run goes on, and finds out.
 * Lines that go out: where it listens, which message it has received before it handles it, which signals were kept or
 * refused, which tasks were claimed in which epoch, and the fate of each run.
 */

import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { bearerTokens, serve, sqlite } from '../../dist/src/index.js'
import { createScript } from './agent.mjs'
import { openEffects } from './effects.mjs'
import { sabotaged } from './sabotage.mjs'

const {
  values: { sabotage },
  positionals: [file = ''],
} = parseArgs({ allowPositionals: true, options: { sabotage: { type: 'string' } } })

const say = (line) => writeSync(1, `${line}\n`)

/** Few enough waiting runs that some are evicted, and a short time to stop in. */
const limits = { waitingRuns: 8, shutdownMs: 2000 }

let opened
/** The store, telling of each message that reaches it. Nothing of it has been written by then. */
const telling = (source) => ({
  async open(options) {
    const store = await source.open(options)
    const tell = (inbound) => inbound && say(`received ${inbound.messageId}`)
    opened = {
      ...store,
      create(task, onAccepted) {
        tell(task.inbound)
        return store.create(task, onAccepted)
      },
      update(ref, decide, inbound) {
        tell(inbound)
        return store.update(ref, decide, inbound)
      },
      async claim(ref, holder) {
        const claimed = await store.claim(ref, holder)
        if (claimed) say(`claimed ${claimed.header.id} ${claimed.header.epoch}`)
        return claimed
      },
    }
    return opened
  },
})

let opening
const commands = {
  async open() {
    const effect = openEffects(`${file}.effects`)
    const store = telling(sabotage === undefined ? sqlite(file) : sabotaged(file, sabotage))
    opening = serve(createScript({ effect, say }), { store, limits, auth: bearerTokens({ alice: 'alice' }) })
    say(`listening ${(await opening).url}`)
  },
  async signal(id, taskId, value) {
    const server = await opening
    const word = await server.signal(taskId, 'go', value).then(
      () => 'kept',
      (error) => error.name,
    )
    say(`signal ${id} ${word}`)
  },
  async takeover(taskId) {
    const found = await opened.locate(taskId)
    if (!found) return
    const { result: isTaken } = await opened.update(found.ref, ({ holder }) =>
      holder === undefined ? { result: false } : { result: true, write: { events: [], holder: null } },
    )
    if (isTaken) say('takeover')
  },
}

// Its standard input ends with the process that started it: nobody else would stop it then.
process.stdin.once('end', () => process.exit(1))
createInterface({ input: process.stdin }).on('line', (line) => {
  const [command, ...given] = line.split(' ')
  commands[command](...given).catch((error) => {
    // What is asked of a server that stops is refused.
    if (command === 'open') throw error
  })
})

process.once('SIGTERM', async () => {
  const server = await opening
  await server?.close()
  process.exit(0)
})
