/** The venue agent as `npm start` runs it, killed in the middle of a booking and started again: it is booked once. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { connect } from 'errand/client'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { walk } from './booking-kit.js'

const main = fileURLToPath(new URL('../../../dist/examples/venue-agent/main.js', import.meta.url))

let folder = ''
const running = new Set<ChildProcess>()
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'errand-booking-'))
})
afterEach(async () => {
  for (const child of running) child.kill('SIGKILL')
  running.clear()
  await rm(folder, { recursive: true, force: true })
})

/** Kills the process when it books: before the calendar hears of it, or when it has answered. */
const killer = (moment: 'before' | 'after') => `
  const { fetch } = globalThis
  globalThis.fetch = async (url, init) => {
    const isBooking = String(url).endsWith('/bookings')
    if (isBooking && '${moment}' === 'before') process.kill(process.pid, 'SIGKILL')
    const response = await fetch(url, init)
    if (isBooking) process.kill(process.pid, 'SIGKILL')
    return response
  }
`

async function start(port: string, preload = '') {
  const imported = ['--import', `data:text/javascript,${encodeURIComponent(preload)}`]
  const child = spawn(process.execPath, [...imported, main], { cwd: folder, env: { PATH: process.env['PATH'], PORT: port } })
  running.add(child)
  let said = ''
  for await (const text of child.stdout) {
    said += text
    if (said.endsWith('\n\n')) break
  }
  child.stdout.resume()
  return { url: /JSON-RPC +(\S+)\/a2a\/v1/.exec(said)?.[1] ?? '', child }
}

test.each(['before', 'after'] as const)('killed right %s the calendar is called, it confirms after the next start', async (moment) => {
  const first = await start('0', killer(moment))
  const killed = once(first.child, 'exit')
  const venues = await connect(first.url, { auth: 'alice' })
  const list = await venues.send('A place in Lisbon for 40 people for two days').outcome
  if (list.state !== 'completed') throw new Error(list.state)
  const asked = await venues.send('book the second one for 12 May', { contextId: list.task.contextId ?? '' }).outcome
  if (asked.state !== 'auth-required') throw new Error(asked.state)
  // It may be dead before its last page is sent.
  await walk(asked.links[0] ?? '', 'allow').catch(() => {})
  expect((await killed)[1]).toBe('SIGKILL')
  const second = await start(new URL(first.url).port)
  const booked = await (await connect(second.url, { auth: 'alice' })).task(asked.task.id).follow().outcome
  expect(booked).toMatchObject({ state: 'completed', text: expect.stringMatching(/Confirmation C-/) })
})
