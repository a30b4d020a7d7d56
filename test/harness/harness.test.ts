/** The harness itself: what other tests stand on. */

import { expect, test } from 'vitest'
import { scriptAgent } from './script-agent.js'
import { bindingNames, call, frames, openServer, openSocket, refusal, result, userMessage } from './server.js'

test.each(bindingNames)('a message comes back as a completed task over %s', async (binding) => {
  const server = await openServer(scriptAgent)
  const { task } = await result(server.fetch, binding, 'SendMessage', { message: userMessage('one two') })
  expect(task.status.state).toBe('TASK_STATE_COMPLETED')
  expect(task.artifacts[0].parts).toEqual([{ text: 'echo one two' }])
  await server.close()
})

test.each(bindingNames)('a stream tells the whole life of a task over %s', async (binding) => {
  const server = await openSocket(scriptAgent)
  const seen: string[] = []
  for await (const frame of frames(fetch, binding, 'SendStreamingMessage', { message: userMessage('chunks 3') }, { url: server.url })) {
    seen.push(Object.keys(frame.data)[0] ?? '')
  }
  expect(seen).toEqual(['task', 'statusUpdate', 'artifactUpdate', 'artifactUpdate', 'artifactUpdate', 'statusUpdate'])
  await server.close()
})

test.each(bindingNames)('an unknown task is refused by name over %s', async (binding) => {
  const server = await openServer(scriptAgent)
  expect(await refusal(server.fetch, binding, 'GetTask', { id: 'nope' })).toMatchObject({ reason: 'TASK_NOT_FOUND' })
  expect((await call(server.fetch, binding, 'GetTask', { id: 'nope' }, { as: 'mallory' })).status).toBe(401)
  await server.close()
})
