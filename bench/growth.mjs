/** What does not grow with the number of tasks that are finished: the cost of a page, and what the process holds in memory. */

import { figure } from './figures.mjs'
import { load, message, requests } from './load.mjs'
import { start } from './start.mjs'

const few = 1_000
const some = 10_000 // by now everything is compiled and every pool is filled
const many = 100_000
const waiting = 200 // of the first tasks; a filter for them has few rows among many
const rounds = 7
const callsPerRound = 40
const pageSize = 50

const lists = [
  { name: 'ListTasks of 50', params: { pageSize } },
  { name: 'ListTasks of 50 that are completed', params: { pageSize, status: 'TASK_STATE_COMPLETED' } },
  { name: 'ListTasks of 50 that wait for input', params: { pageSize, status: 'TASK_STATE_INPUT_REQUIRED' } },
]

export async function measureGrowth() {
  const large = await start()
  await fill(large, 0, some)
  const heapAtSome = await large.memory()
  await fill(large, some, many)
  const heapAtMany = await large.memory()
  const small = await start()
  await fill(small, 0, few)
  const cpu = await pages({ small, large })
  await small.stop()
  await large.stop()
  const mib = (bytes) => bytes / 2 ** 20
  const grown = (heapAtMany.heapUsed - heapAtSome.heapUsed) / (many - some)
  return [
    ...lists.flatMap(({ name }, index) => {
      const [atFew, atMany] = [cpu.small[index], cpu.large[index]]
      const growth = atMany.map((cost, round) => cost / atFew[round])
      return [
        figure(`${name}, at ${few}: CPU`, 'µs/call', atFew),
        figure(`${name}, at ${many}: CPU`, 'µs/call', atMany),
        figure(`${name}, at ${many} against ${few}`, '×', growth, 1.3),
      ]
    }),
    figure(`heap at ${some} finished tasks`, 'MiB', [mib(heapAtSome.heapUsed)]),
    figure(`heap at ${many} finished tasks`, 'MiB', [mib(heapAtMany.heapUsed)]),
    figure(`resident at ${many} finished tasks`, 'MiB', [mib(heapAtMany.rss)]),
    figure('heap for each finished task', 'bytes', [grown], 16),
  ]
}

/** Sends until a server that has `from` tasks has `to`. */
async function fill({ url }, from, to) {
  const { rpc } = requests(url)
  const send = (text, total) => load(url, () => rpc('SendMessage', message(text)), { connections: 256, total, expected: '"task"' })
  if (from === 0) await send('ask', waiting)
  await send('echo', to - Math.max(from, waiting))
}

/** Microseconds per call, for each list in each round. The servers take turns, so that a busy machine is busy for both. */
async function pages(servers) {
  const cpu = Object.fromEntries(Object.keys(servers).map((name) => [name, lists.map(() => [])]))
  for (let round = -1; round < rounds; round++) {
    for (const [index, { params }] of lists.entries()) {
      for (const [name, { url, cpu: clock }] of Object.entries(servers)) {
        const bytes = requests(url).rpc('ListTasks', params)
        const before = clock()
        await load(url, () => bytes, { connections: 1, total: callsPerRound, expected: '"pageSize":50' })
        // The first round is for the compiler.
        if (round >= 0) cpu[name][index].push((clock() - before) / callsPerRound)
      }
    }
  }
  return cpu
}
