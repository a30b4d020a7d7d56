/** Every door of a task that takes a duration takes 100 years at most, and says so by its own name. */

import { expect, test } from 'vitest'
import { agent, type TaskHandle } from '../../src/index.js'
import { call, userMessage } from '../harness/server.js'
import { begin, getTask, openStill, until } from './kit.js'

const info = { name: 'Test', description: 'Does what the test says.' }
const callback = () => 'https://consent.example/'

const doors: readonly [string, (task: TaskHandle, given: number | string) => unknown][] = [
  ['task.sleep', (task, given) => task.sleep(given)],
  ['task.ask: timeout', (task, timeout) => task.ask('A?', { timeout })],
  ['task.wait: timeout', (task, timeout) => task.wait('paid', { timeout })],
  ['task.authorize: timeout', (task, timeout) => task.authorize({ callback, timeout })],
  ['inbox.next: timeout', (task, timeout) => task.inbox.next({ timeout })],
  ['task.step("s"): timeout', (task, timeout) => task.step('s', () => 1, { timeout })],
]

test.each(doors)('%s refuses more', async (name, open) => {
  const told: string[] = []
  const made = agent(info, async (task) => {
    for (const given of ['99999999999d', '36526d', 1e300, Number.POSITIVE_INFINITY]) {
      try {
        await open(task, given)
      } catch (error) {
        told.push(String(error))
      }
    }
  })
  const { fetch } = await openStill(made)
  await call(fetch, 'JSONRPC', 'SendMessage', { message: userMessage('go') })
  expect(told).toHaveLength(4)
  for (const one of told) expect(one).toContain(`TypeError: ${name} takes at most 100 years`)
})

test('a request for consent that is open for 100 years has a page', async () => {
  const made = agent(info, async (task) => {
    await task.authorize({ callback, timeout: '36525d' })
  })
  const { fetch } = await openStill(made)
  const id = await begin(fetch, 'go')
  await until(async () => (await getTask(fetch, id)).status.state === 'TASK_STATE_AUTH_REQUIRED')
  const link = /http:\S+/.exec((await getTask(fetch, id)).status.message.parts[0].text)?.[0] ?? ''
  const page = await fetch(new Request(link))
  expect(page.status).toBe(200)
  expect(await page.text()).toContain('2126')
})

test('an agent that may be idle for longer is none', () => {
  expect(() => agent({ ...info, inactivity: '99999999999d' }, () => 'x')).toThrow(/inactivity/)
})
