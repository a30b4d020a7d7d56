/** A chunk late in a long stream costs what an early one does: nothing is copied, folded or sent again for it. */

import { figure, median } from './figures.mjs'
import { message, requests, stream } from './load.mjs'
import { start } from './start.mjs'

const chunks = 4_000
const tenth = chunks / 10
const rounds = 3

export async function measureChunks() {
  const server = await start()
  // The first stream finds an engine that has compiled nothing.
  await readOne(server)
  const seen = []
  for (let round = 0; round < rounds; round++) seen.push(await readOne(server))
  await server.stop()
  return [
    figure(
      'chunk, second tenth of 4000: CPU',
      'µs/chunk',
      seen.map((tenths) => tenths[1]),
    ),
    figure(
      'chunk, last tenth of 4000: CPU',
      'µs/chunk',
      seen.map((tenths) => tenths[9]),
    ),
    figure(
      'chunk, all tenths: CPU',
      'µs/chunk',
      seen.map((tenths) => median(tenths)),
    ),
    figure(
      'chunk, last tenth against the second',
      '×',
      seen.map((tenths) => tenths[9] / tenths[1]),
      1.3,
    ),
  ]
}

/** Microseconds of the server per chunk, for each tenth of a stream. */
async function readOne(server) {
  const { rpc } = requests(server.url)
  const marks = [{ frames: 0, cpu: server.cpu() }]
  const { done } = await stream(server.url, rpc('SendStreamingMessage', message(`stream ${chunks}`)), (frames) => {
    if (frames >= marks.length * tenth && marks.length <= 10) marks.push({ frames, cpu: server.cpu() })
  })
  const frames = await done
  if (frames < chunks || marks.length < 11) throw new Error(`a stream ended after ${frames} frames`)
  return marks.slice(1).map(({ frames, cpu }, index) => (cpu - marks[index].cpu) / (frames - marks[index].frames))
}
