/** Push notifications in the sandbox: what is posted, again where it is refused, and across a crash. */

import { agent, artifact, chunk, completed, inputRequired } from 'errand'
import { type RecordedPush, type Sandbox, testAgent } from 'errand/testing'
import { expect, test } from 'vitest'

const info = { name: 'Pushed', description: 'Tells somebody else.' }
const push = { url: 'https://receiver.test/hook', token: 'a token' }

const writer = agent(info, async function* () {
  yield chunk('text', 'one ')
  yield chunk('text', 'two', { last: true })
})

const told = ({ event }: RecordedPush) => (event.kind === 'artifact' ? event.text : event.kind === 'status' ? event.state : event.kind)

async function posted(t: Sandbox) {
  await t.advance('5m')
  return t.pushes.map(told)
}

test('each event is posted once, in order, and artifacts come assembled', async () => {
  await using t = await testAgent(writer, { push: true })
  await t.client.send('go', { push }).outcome
  expect(await posted(t)).toEqual(['TASK_STATE_WORKING', 'one ', 'one two', 'TASK_STATE_COMPLETED'])
  expect(t.pushes.map(({ url, attempt }) => `${url} ${attempt}`)).toEqual(Array(4).fill('https://receiver.test/hook 1'))
})

test('nothing is posted for who did not ask for it', async () => {
  await using t = await testAgent(writer, { push: true })
  await t.client.send('go').outcome
  expect(await posted(t)).toEqual([])
})

test('a post that is refused is tried again as time goes on, and tells the same', async () => {
  await using t = await testAgent(writer, { push: true })
  t.failPush(2)
  await t.client.send('go', { push }).outcome
  expect(await posted(t)).toEqual([...Array(3).fill('TASK_STATE_WORKING'), 'one ', 'one two', 'TASK_STATE_COMPLETED'])
  expect(t.pushes.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 1, 1, 1])
})

test('what was not delivered before a crash is posted by the next process, which goes on with the assembled task', async () => {
  const asker = agent(info, async function* (task) {
    if (task.turn === 1) return inputRequired('Which one?')
    yield artifact('choice', task.text)
    return completed('Done.')
  })
  await using t = await testAgent(asker, { push: true })
  t.failPush(1)
  const asked = await t.client.send('choose', { push }).outcome
  if (asked.state !== 'input-required') throw new Error(asked.state)
  await t.crash()
  await asked.reply('two').outcome
  expect(await posted(t)).toEqual([...Array(2).fill('TASK_STATE_INPUT_REQUIRED'), 'TASK_STATE_WORKING', 'two', 'TASK_STATE_COMPLETED'])
  expect(t.pushes.map(({ attempt }) => attempt)).toEqual([1, 2, 1, 1, 1])
  expect(t.pushes.at(-1)?.event).toMatchObject({ task: { id: asked.task.id, artifacts: [{ parts: [{ text: 'two' }] }] } })
})

test('pushes without the option are none', async () => {
  await using t = await testAgent(writer)
  expect(await t.client.send('go', { push }).outcome.catch((error) => error.name)).toBe('PushNotificationNotSupportedError')
  expect(await posted(t)).toEqual([])
})
