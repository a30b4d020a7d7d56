/** The process that is measured: the bench agent on a socket. It tells its parent where it is, and what it holds when asked. */

import { bearerTokens, serve, sqlite } from '../dist/src/index.js'
import { benchAgent } from './agent.mjs'

const [file] = process.argv.slice(2)
const server = await serve(benchAgent, { store: sqlite(file), auth: bearerTokens({ bench: 'bench' }), concurrency: 10_000 })

process.on('message', async (question) => {
  if (question === 'memory') process.send(await heapAtRest())
})
// The parent is gone, or done.
process.on('disconnect', () => server.close().then(() => process.exit(0)))
process.send({ url: server.url })

/** Collected until it shrinks no more: what finalisers let go of is freed by the next collection only. */
async function heapAtRest() {
  let heapUsed = Number.POSITIVE_INFINITY
  for (let round = 0; round < 6; round++) {
    globalThis.gc()
    await new Promise((resolve) => setTimeout(resolve, 50))
    heapUsed = Math.min(heapUsed, process.memoryUsage().heapUsed)
  }
  return { heapUsed, rss: process.memoryUsage().rss }
}
