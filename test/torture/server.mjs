/**
 * The server that is killed.
 *
 * Lines that come in: `open` lets it open its file; `signal ID TASK VALUE` gives a task a signal; `takeover TASK` hands a task
 * to the neighbour; `pushed` is answered when there is nobody left to tell anything by a push.
 * Lines that go out: where it listens, which message it has received before it handles it, which signals were kept or
 * refused, which tasks were claimed in which epoch, and the fate of each run; what the neighbour says begins with its name.
 */

import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { bearerTokens, serve, sqlite } from '../../dist/src/index.js'
import { createScript } from './agent.mjs'
import { openEffects } from './effects.mjs'
import { createNeighbour } from './neighbour.mjs'
import { sabotaged } from './sabotage.mjs'

const {
  values: { sabotage, receiver: receivers, coalesce },
  positionals: [file = ''],
} = parseArgs({
  allowPositionals: true,
  options: { sabotage: { type: 'string' }, receiver: { type: 'string', multiple: true, default: [] }, coalesce: { type: 'boolean' } },
})

// What pushes need is loaded before the file is opened: a process that is about to be killed has no time for it.
if (receivers.length > 0) await import('undici')

const say = (line) => writeSync(1, `${line}\n`)
const sayNeighbour = (line) => say(`neighbour ${line}`)

/** Few enough waiting runs that some are evicted, and a short time to stop in. */
const limits = { waitingRuns: 8, shutdownMs: 2000 }
/** A short time to answer in, and short pauses. */
const push = receivers.length > 0 && { timeoutMs: 400, backoffMs: 20, ...(coalesce && { coalesce: 'chunks' }) }

/** The store, telling of each message that reaches it. Nothing of it has been written by then. */
function telling(store, say) {
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
    async claim(ref, holder) {
      const claimed = await store.claim(ref, holder)
      if (claimed) say(`claimed ${claimed.header.id} ${claimed.header.epoch}`)
      return claimed
    },
  }
}

async function start() {
  const effect = openEffects(`${file}.effects`)
  const source = sabotage === undefined ? sqlite(file) : sabotaged(file, sabotage)
  let neighbour
  let opened
  const store = {
    async open(options) {
      opened = await source.open(options)
      neighbour = createNeighbour(opened, (view) => telling(view, sayNeighbour))
      return telling(neighbour.first, say)
    },
  }
  const server = await serve(createScript({ effect, say }), {
    store,
    limits,
    push,
    outbound: { allow: receivers },
    auth: bearerTokens({ alice: 'alice' }),
  })
  const second = await neighbour.open(createScript({ effect, say: sayNeighbour }), { limits })
  return {
    server,
    neighbour,
    isPushed: async () => (await opened.openPushes({ limit: 1 })).length === 0,
    async close() {
      await second.close()
      await server.close()
    },
  }
}

let starting
const commands = {
  async open() {
    starting = start()
    say(`listening ${(await starting).server.url}`)
  },
  async signal(id, taskId, value) {
    const { server } = await starting
    const word = await server.signal(taskId, 'go', value).then(
      () => 'kept',
      (error) => error.name,
    )
    say(`signal ${id} ${word}`)
  },
  async takeover(taskId) {
    const { neighbour } = await starting
    if (await neighbour.takeOver(taskId)) say('takeover')
  },
  async pushed() {
    const { isPushed } = await starting
    while (!(await isPushed())) await delay(20)
    say('pushed')
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
  const started = await starting
  await started?.close()
  process.exit(0)
})
