/** The venue agent reads the event brief behind a link, and goes nowhere that it should not. */

import { bearerTokens, createServer, sqlite } from 'errand'
import { describe, expect, onTestFinished, test } from 'vitest'
import { venueAgent } from '../../../examples/venue-agent/agent.js'
import { result, userMessage } from '../../harness/server.js'
import { listen } from '../../net/kit.js'

const brief = 'Our offsite: 120 people in Lisbon for two days, with catering and wifi.'
const pages: Readonly<Record<string, readonly [type: string, text: string]>> = {
  '/brief.txt': ['text/plain', brief],
  '/brief.html': [
    'text/html; charset=utf-8',
    `<style>p { width: 7 }</style><h1>Brief</h1><p>${brief.replace('Lisbon', '<b>Lisbon</b>')}</p>`,
  ],
  '/half.txt': ['text/plain', 'The place should be in Oslo. $& $1'],
  '/brief.pdf': ['application/pdf', brief],
}

async function open() {
  const { port, heard } = await listen((request, response) => {
    const [type, text] = pages[request.url ?? ''] ?? []
    if (type === undefined) response.writeHead(404).end()
    else response.writeHead(200, { 'content-type': type }).end(text)
  })
  const origin = `http://127.0.0.1:${port}`
  const auth = bearerTokens({ alice: 'alice' })
  const server = await createServer(venueAgent, {
    store: sqlite(':memory:'),
    url: 'http://agent.test',
    auth,
    outbound: { allow: [origin] },
  })
  onTestFinished(() => server.close())
  const say = async (text: string, more: object = {}) =>
    (await result(server.fetch, 'HTTP+JSON', 'SendMessage', { message: userMessage(text, { ...more }) })).task
  return { say, origin, heard }
}

test.each(['/brief.txt', '/brief.html'])('the brief at %s is searched for as if it had been written', async (path) => {
  const { say, origin } = await open()
  const task = await say(`Hello, our brief is at ${origin}${path}.`)
  expect(task.status.state).toBe('TASK_STATE_COMPLETED')
  expect(task.status.message.parts[0].text).toMatch(/120 people in Lisbon for 2 days with wifi and catering/)
})

test('what a brief leaves out is asked for, and the brief is read once', async () => {
  const { say, origin, heard } = await open()
  const asked = await say(`Please see ${origin}/half.txt`)
  expect(asked.status.state).toBe('TASK_STATE_INPUT_REQUIRED')
  expect(asked.status.message.parts[0].text).toBe('Please tell me how many people and for how many days.')
  const task = await say('40 people, 1 day', { taskId: asked.id })
  expect(task.status.message.parts[0].text).toMatch(/40 people in Oslo for 1 day/)
  expect(heard).toHaveLength(1)
})

describe('a link that cannot be read is told, and the task goes on without it', () => {
  test.each([
    ['https://10.0.0.5/brief.txt', /^I read public pages over https only, and that address is none\. Please tell me which city/],
    ['http://169.254.169.254/latest/meta-data/', /^I read public pages over https only/],
    ['https://localhost/brief.txt', /^I read public pages over https only/],
    ['/missing.txt', /^I found no brief at that address\. Please tell me/],
    ['/brief.pdf', /^What is at that address is no text\. Please tell me/],
  ])('%s', async (link, said) => {
    const { say, origin } = await open()
    const asked = await say(`Our brief: ${link.startsWith('/') ? origin + link : link}`)
    expect(asked.status.state).toBe('TASK_STATE_INPUT_REQUIRED')
    expect(asked.status.message.parts[0].text).toMatch(said)
    const task = await say('Lisbon, 120 people, 2 days', { taskId: asked.id })
    expect(task.status.state).toBe('TASK_STATE_COMPLETED')
  })
})
