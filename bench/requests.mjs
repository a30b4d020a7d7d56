/** What a blocking SendMessage and a GetTask cost, on both bindings, every commit on the disk, every call authenticated. */

import { figure } from './figures.mjs'
import { ask, load, message, requests } from './load.mjs'
import { start } from './start.mjs'

const rounds = 5
const leadMs = 400 // an idle engine has shrunk its heap; this much of each slice is not counted
const sliceMs = 1_000
const text = 'q'.repeat(100)

export async function measureRequests() {
  const server = await start()
  const floor = await start('floor.mjs')
  const { rpc, post, get } = requests(server.url)
  const bare = requests(floor.url)
  const { id } = (await ask(server.url, rpc('SendMessage', message(text)))).result.task
  const getRpc = rpc('GetTask', { id })
  const getRest = get(`/tasks/${id}`)
  const cases = [
    { name: 'node:http alone, JSON-RPC', target: floor, make: () => bare.rpc('SendMessage', message(text)) },
    { name: 'SendMessage, JSON-RPC', target: server, make: () => rpc('SendMessage', message(text)) },
    { name: 'SendMessage, HTTP+JSON', target: server, make: () => post('/message:send', message(text)) },
    { name: 'GetTask, JSON-RPC', target: server, make: () => getRpc },
    { name: 'GetTask, HTTP+JSON', target: server, make: () => getRest },
  ].map((one) => ({ ...one, cpu: [], rate: [], p50: [], p99: [] }))
  for (let round = 0; round < rounds; round++) {
    // Every other round runs backwards, so that no case always follows the same one.
    for (const one of round % 2 === 0 ? cases : cases.toReversed()) await slice(one)
  }
  await server.stop()
  await floor.stop()
  const bareCpu = cases[0].cpu
  return cases.flatMap(({ name, cpu, rate, p50, p99 }) => [
    figure(`${name}: CPU`, 'µs/request', cpu),
    // What a busy machine adds, it adds to both.
    ...(cpu === bareCpu
      ? []
      : [
          figure(
            `${name}: against node:http alone`,
            '×',
            cpu.map((cost, round) => cost / bareCpu[round]),
          ),
        ]),
    figure(`${name}: rate on 32 connections`, '1/s', rate),
    figure(`${name}: median wait`, 'ms', p50),
    figure(`${name}: 99th percentile`, 'ms', p99),
  ])
}

async function slice({ target, make, cpu, rate, p50, p99 }) {
  const expected = 'TASK_STATE_COMPLETED'
  await load(target.url, make, { ms: leadMs, expected })
  const before = target.cpu()
  const seen = await load(target.url, make, { ms: sliceMs, expected })
  cpu.push((target.cpu() - before) / seen.answered)
  rate.push(seen.perSecond)
  p50.push(seen.p50)
  p99.push(seen.p99)
}
