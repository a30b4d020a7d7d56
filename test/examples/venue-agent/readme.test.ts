/** The booking that README.md shows goes as it says. */

import { readFileSync } from 'node:fs'
import { connect } from 'errand/client'
import { expect, test } from 'vitest'
import { openBooking, walk } from './booking-kit.js'

const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8')
const script = /```js\n([\s\S]*?)```/.exec(readme)?.[1] ?? ''

test('four lines search, book and tell the confirmation', async () => {
  expect(script.trim().split('\n')).toHaveLength(4)
  const { url, booked } = await openBooking()
  const said: string[] = []
  const log = (text: string) => {
    said.push(text)
    const link = /https?:\S+/.exec(text)?.[0]
    // The person, while the script goes on to its last line.
    if (link !== undefined) walked = walk(link, 'allow')
  }
  let walked: Promise<Response> | undefined
  const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor
  await AsyncFunction('venues', 'console', script)(await connect(url, { auth: 'alice' }), { log })
  expect((await walked)?.status).toBe(200)
  const [{ confirmation }] = await booked()
  expect(said[1]).toContain('Booked: Sala Azulejo, Lisbon, from 12 May')
  expect(said[1]).toContain(`Confirmation ${confirmation}.`)
})
