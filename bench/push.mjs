/** How soon a receiver has each event of a task after its commit, while 999 other configurations of the task hang: on its own host, and on hosts of their own. */

import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { figure } from './figures.mjs'
import { ask, load, message, requests } from './load.mjs'
import { start } from './start.mjs'

const many = 999
const events = 400
const everyMs = 100 // so that attempts time out, and are made again, while events come
const mostMs = 1_000

export async function measurePush() {
  return [
    ...(await measure('none hangs', { hanging: 0, hosts: ['127.0.0.1'] })),
    ...(await measure(`${many} hang on its host`, { hanging: many, hosts: ['127.0.0.1'], most: mostMs })),
    ...(await measure(`${many} hang elsewhere`, { hanging: many, hosts: ownHosts(), most: mostMs })),
  ]
}

/** One for each configuration. */
const ownHosts = () => Array.from({ length: many + 1 }, (_, n) => `127.1.${n >> 8}.${n & 255}`)

async function measure(name, { hanging, hosts, most }) {
  const { origins, waits, hung, close } = await openReceiver(hosts)
  process.env['PUSH_ORIGINS'] = origins.join(' ')
  const server = await start('push-server.mjs')
  const { rpc } = requests(server.url)
  const { id } = (await ask(server.url, rpc('SendMessage', message('go')))).result.task
  const urls = Array.from({ length: hanging + 1 }, (_, n) => `${origins[n % origins.length]}/${n === 0 ? 'good' : 'hang'}`)
  await load(server.url, () => rpc('CreateTaskPushNotificationConfig', { taskId: id, url: urls.pop() }), { total: hanging + 1 })
  const before = server.cpu()
  const bytes = rpc('SendMessage', message(`say ${events} ${everyMs}`, { taskId: id }))
  await load(server.url, () => bytes, { connections: 1, total: 1, expected: 'TASK_STATE_COMPLETED' })
  const used = server.cpu() - before
  // The state that the message brought, each number, and the end.
  while (waits.length < events + 2) await delay(100)
  await server.stop()
  close()
  waits.sort((a, b) => a - b)
  return [
    figure(`${name}: from an event to its post, median`, 'ms', [waits[waits.length >> 1]]),
    figure(`${name}: 99th percentile`, 'ms', [waits[Math.floor(waits.length * 0.99)]]),
    figure(`${name}: longest`, 'ms', [waits.at(-1)], most),
    figure(`${name}: posts that hung`, '', [hung()]),
    figure(`${name}: CPU in all`, 's', [used / 1e6]),
  ]
}

/** Hangs but on the path `/good`, where it notes how old each status is: its time is taken before its commit. */
async function openReceiver(hosts) {
  const waits = []
  let hung = 0
  async function answer(request, response) {
    if (request.url !== '/good') {
      hung++
      return
    }
    const at = Date.now()
    let body = ''
    for await (const piece of request) body += piece
    const { statusUpdate } = JSON.parse(body)
    if (statusUpdate) waits.push(at - Date.parse(statusUpdate.status.timestamp))
    response.writeHead(204).end()
  }
  const servers = hosts.map((host) => createServer(answer).listen(0, host))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const origins = servers.map((server) => `http://${server.address().address}:${server.address().port}`)
  const close = () => {
    for (const server of servers) {
      server.closeAllConnections()
      server.close()
    }
  }
  return { origins, waits, hung: () => hung, close }
}
