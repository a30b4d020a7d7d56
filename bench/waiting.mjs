/** What tasks cost in memory that wait for an answer, beside their room on the disk; and how soon an answer to any of them is heard. */

import { setTimeout as delay } from 'node:timers/promises'
import { figure } from './figures.mjs'
import { load, message, requests } from './load.mjs'
import { start } from './start.mjs'

const some = 2_000 // by now everything is compiled
const many = 100_000
const answers = 400
const mostBytes = 100e6
const mostMs = 1_000
const text = `question ${'q'.repeat(100)}`

export async function measureWaiting() {
  const server = await start()
  const { rpc } = requests(server.url)
  for (const id of await ask(server, rpc, some)) await answer(server, rpc, id)
  const none = await atRest(server)
  const ids = await ask(server, rpc, many)
  const waiting = await atRest(server)
  const waits = []
  for (let count = 0; count < answers; count++) {
    const [id] = ids.splice(Math.floor(Math.random() * ids.length), 1)
    waits.push((await answer(server, rpc, id)).p50)
  }
  await server.stop()
  waits.sort((a, b) => a - b)
  const mb = (bytes) => bytes / 1e6
  return [
    figure('resident, none waiting', 'MB', [mb(none.rss)]),
    figure(`resident, ${many} waiting: more`, 'MB', [mb(waiting.rss - none.rss)], mb(mostBytes)),
    figure(`heap, ${many} waiting: more`, 'MB', [mb(waiting.heapUsed - none.heapUsed)]),
    figure('from an answer to the end of its task: median', 'ms', [waits[answers / 2]]),
    figure('from an answer to the end of its task: 99th percentile', 'ms', [waits[Math.floor(answers * 0.99)]]),
    figure('from an answer to the end of its task: longest', 'ms', [waits[answers - 1]], mostMs),
  ]
}

/** The least of some seconds: what was collected goes back to the system little by little. */
async function atRest(server) {
  const seen = []
  for (let second = 0; second < 15; second++) {
    seen.push(await server.memory())
    await delay(1_000)
  }
  return seen.reduce((least, one) => (one.rss < least.rss ? one : least))
}

/** Ids of so many new tasks, each with an open question. */
async function ask({ url }, rpc, total) {
  const ids = []
  await load(url, () => rpc('SendMessage', message(text)), {
    connections: 128,
    total,
    expected: 'TASK_STATE_INPUT_REQUIRED',
    onAnswer: (body) => ids.push(JSON.parse(body).result.task.id),
  })
  return ids
}

/** Answers a question and waits for the end of its task. */
function answer({ url }, rpc, taskId) {
  const bytes = rpc('SendMessage', message('forty-two', { taskId }))
  return load(url, () => bytes, { connections: 1, total: 1, expected: 'TASK_STATE_COMPLETED' })
}
