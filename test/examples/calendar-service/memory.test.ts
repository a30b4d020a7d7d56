/** A calendar that is started anew knows what it had allowed and booked. */

import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { inFile } from '../../../examples/calendar-service/memory.js'
import { openCalendar } from './kit.js'

const wish = { venue: 'Sala Azulejo, Lisbon', from: '2027-05-12', days: 2, people: 40 }

async function openFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'errand-calendar-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return { folder, file: join(folder, 'calendar') }
}

test('a token is good after a restart, and a key books once across it', async () => {
  const { file } = await openFolder()
  const before = openCalendar(inFile(file))
  const headers = { authorization: `Bearer ${await before.accessToken()}`, 'idempotency-key': 'k1' }
  const booked = await before.book(wish, headers)
  const after = openCalendar(inFile(file))
  const again = await after.book(wish, headers)
  expect([booked.status, again.status]).toEqual([201, 200])
  expect(await again.json()).toEqual(await booked.json())
  expect((await after.book(wish, { ...headers, 'idempotency-key': 'k2' })).status).toBe(201)
  expect(await after.booked()).toHaveLength(2)
})

test('a token that was taken back stays so', async () => {
  const { file } = await openFolder()
  const before = openCalendar(inFile(file))
  const code = await before.code()
  const { access_token: token } = await (await before.token(code)).json()
  await before.token(code)
  const headers = { authorization: `Bearer ${token}`, 'idempotency-key': 'k' }
  expect((await openCalendar(inFile(file)).book(wish, headers)).status).toBe(401)
})

test('whoever reads the file learns no token, and nobody else may read it', async () => {
  const { folder, file } = await openFolder()
  const calendar = openCalendar(inFile(file))
  const token = await calendar.accessToken()
  await calendar.book(wish, { authorization: `Bearer ${token}`, 'idempotency-key': 'k' })
  const text = await readFile(file, 'utf8')
  expect(text).toContain('Sala Azulejo')
  expect(text).not.toContain(token)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(await readdir(folder)).toEqual(['calendar'])
})
