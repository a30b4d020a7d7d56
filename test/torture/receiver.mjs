/**
 * A receiver of pushes that is killed: it answers as its mood is, at once, late, or not at all.
 *
 * Lines that come in: `calm` lets it take everything from then on. Lines that go out: where it listens, and each post, before it
 * is answered. Its file has a line of JSON for each post, and one for each answer that is about to be given.
 */

import { openSync, writeSync } from 'node:fs'
import { createServer } from 'node:http'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'

const {
  values: { port, mood },
  positionals: [file = ''],
} = parseArgs({ allowPositionals: true, options: { port: { type: 'string', default: '0' }, mood: { type: 'string', default: 'well' } } })

/** What becomes of 100 posts; the rest is answered well, a third of it late. */
const shares = {
  well: { again: 8, never: 1, over: 0, hangs: 3, breaks: 3 },
  ill: { again: 30, never: 40, over: 2, hangs: 4, breaks: 4 },
}
const statuses = { again: [404, 429, 500, 503], never: [400, 403], over: [410], well: [200, 202, 204] }

const log = openSync(file, 'a')
const write = (line) => writeSync(log, `${JSON.stringify(line)}\n`)
const pick = (list) => list[Math.floor(Math.random() * list.length)]
let isCalm = false
let posts = 0

function fate() {
  let drawn = isCalm ? 100 : Math.random() * 100
  for (const [name, share] of Object.entries(shares[mood])) {
    drawn -= share
    if (drawn < 0) return name
  }
  return 'well'
}

async function read(request) {
  let body = ''
  for await (const piece of request.setEncoding('utf8')) body += piece
  return body
}

const server = createServer(async (request, response) => {
  const body = await read(request).catch(() => undefined)
  // Its server was killed in the middle of it.
  if (body === undefined) return
  // Whoever is answered this knows that all that came before it is written down.
  if (request.method !== 'POST') return response.end()
  const post = `${process.pid}-${++posts}`
  write({ post, path: request.url, headers: request.headers, body })
  writeSync(1, 'posted\n')
  const what = fate()
  if (what === 'hangs') return
  if (what === 'breaks') return request.socket.destroy()
  const status = pick(statuses[what])
  if (!isCalm && Math.random() < 0.3) await delay(Math.random() * 40)
  write({ post, status })
  response.writeHead(status).end()
})
server.listen(Number(port), '127.0.0.1', () => writeSync(1, `listening ${server.address().port}\n`))

process.stdin.once('end', () => process.exit(1))
createInterface({ input: process.stdin }).on('line', (line) => {
  if (line === 'calm') isCalm = true
})
