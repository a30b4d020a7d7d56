/** Subscribers that left cost nothing: neither memory, nor time when their task goes on. */

import { figure, median } from './figures.mjs'
import { ask, message, requests, stream } from './load.mjs'
import { start } from './start.mjs'

const subscribers = 2_000
const events = 500
const rounds = 3
const mostKept = 256 // bytes; one forgotten listener with its closure is more, and the heap of a busy process moves by less

export async function measureLeavers() {
  const server = await start()
  await eventCost(server, 0)
  await eventCost(server, subscribers)
  const before = await server.memory()
  const alone = []
  const left = []
  for (let round = 0; round < rounds; round++) {
    alone.push(await eventCost(server, 0))
    left.push(await eventCost(server, subscribers))
  }
  const after = await server.memory()
  await server.stop()
  const each = (after.heapUsed - before.heapUsed) / (rounds * subscribers)
  return [
    figure('event that nobody ever subscribed to: CPU', 'µs/event', alone),
    figure(`event after ${subscribers} subscribers left: CPU`, 'µs/event', left),
    figure(
      'event, after they left against never',
      '×',
      left.map((cpu) => cpu / median(alone)),
      1.15,
    ),
    figure('heap kept for each subscriber that left', 'bytes', [each], mostKept),
  ]
}

/** Microseconds of the server per event of a task that `count` subscribers came to and left before its events. */
async function eventCost(server, count) {
  const { rpc } = requests(server.url)
  const held = { ...message(`hold ${events}`), configuration: { returnImmediately: true } }
  const { id } = (await ask(server.url, rpc('SendMessage', held))).result.task
  const open = await Promise.all(Array.from({ length: count }, () => stream(server.url, rpc('SubscribeToTask', { id }))))
  for (const { leave } of open) leave()
  await Promise.all(open.map(({ done }) => done))
  // The answer to this comes after the server has seen the sockets close.
  await ask(server.url, rpc('GetTask', { id }))
  const before = server.cpu()
  // A blocking send into the held task: it is answered when the task has ended.
  const ended = await ask(server.url, rpc('SendMessage', message('go', { taskId: id })))
  if (ended.result?.task.status.state !== 'TASK_STATE_COMPLETED') throw new Error(JSON.stringify(ended))
  return (server.cpu() - before) / events
}
