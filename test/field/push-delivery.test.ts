/** Field cases of what is posted to push configurations. How they are kept and shown has its own. */

import { describe, expect, test } from 'vitest'
import { agent, artifact, completed, working } from '../../src/index.js'
import { scriptAgent } from '../harness/script-agent.js'
import { bindingNames, refusal, result, userMessage } from '../harness/server.js'
import { hook, numbersOf, openPushing, saysOf } from '../push/kit.js'
import { gate } from '../runtime/kit.js'

const threeNotes = agent({ name: 'Notes', description: 'Says three things.' }, async function* () {
  for (const note of ['one', 'two', 'three']) yield working(note)
  return completed('done')
})

const configuration = (more: object = {}) => ({ taskPushNotificationConfig: { url: hook, ...more } })

describe.each(bindingNames)('over %s', (binding) => {
  test('F013 pushes of users who proved who they are: every update arrives, and nobody else sees the configuration', async () => {
    const pushing = await openPushing(threeNotes)
    const sent = { message: userMessage('go'), configuration: configuration({ id: 'mine' }) }
    const { task } = await result(pushing.fetch, binding, 'SendMessage', sent, { as: 'alice' })
    await pushing.world.advance(0)
    expect(pushing.posts.map(saysOf)).toEqual(['WORKING', 'WORKING', 'WORKING', 'COMPLETED'])
    const asked = { taskId: task.id, id: 'mine' }
    expect((await refusal(pushing.fetch, binding, 'GetTaskPushNotificationConfig', asked, { as: 'bob' })).reason).toBe('TASK_NOT_FOUND')
  })

  test.each(['Bearer', 'Basic', 'bEaReR'])(
    'F014 authorization that is left out: each post has it, with the scheme %s as it was given',
    async (scheme) => {
      const pushing = await openPushing(threeNotes)
      const authentication = { scheme, credentials: 'dDE=' }
      await result(pushing.fetch, binding, 'SendMessage', { message: userMessage('go'), configuration: configuration({ authentication }) })
      await pushing.world.advance(0)
      expect(pushing.posts.map(({ headers }) => headers['authorization'])).toEqual(Array(4).fill(`${scheme} dDE=`))
      for (const { headers, event } of pushing.posts) {
        expect(headers['content-type']).toBe('application/a2a+json')
        expect(Object.keys(event)).toHaveLength(1)
      }
    },
  )

  test('F019 a send that does not wait: what comes after its answer is pushed as well, the end too', async () => {
    const go = gate()
    const late = agent({ name: 'Late', description: 'Goes on when it is let.' }, async function* () {
      yield working('begun')
      await go.opened
      yield artifact('a', 'made')
      return completed('done')
    })
    const pushing = await openPushing(late)
    await result(pushing.fetch, binding, 'SendMessage', {
      message: userMessage('go'),
      configuration: { returnImmediately: true, ...configuration() },
    })
    await pushing.world.advance(0)
    expect(pushing.posts.map(saysOf)).toEqual(['WORKING'])
    go.open()
    await pushing.world.advance(0)
    expect(pushing.posts.map(saysOf)).toEqual(['WORKING', [{ text: 'made' }], 'COMPLETED'])
  })

  test('F059 posts out of order: a receiver that takes its time gets them in order, and others do not wait for it', async () => {
    const pushing = await openPushing(threeNotes)
    const slow = gate()
    pushing.answer = async ({ number, url }) => {
      if (url === hook && number === 2) await slow.opened
      return 204
    }
    await result(pushing.fetch, binding, 'SendMessage', { message: userMessage('go'), configuration: configuration() })
    const other = configuration({ url: 'https://other.example/' })
    const { task } = await result(pushing.fetch, binding, 'SendMessage', { message: userMessage('go'), configuration: other })
    await pushing.world.advance(500)
    const to = (of: string) => numbersOf(pushing.posts.filter(({ url }) => url === of))
    expect(task.status.state).toBe('TASK_STATE_COMPLETED')
    expect([to(hook), to('https://other.example/')]).toEqual([[2], [2, 3, 4, 5]])
    slow.open()
    await pushing.world.advance(0)
    expect(to(hook)).toEqual([2, 3, 4, 5])
  })

  test('F067 a post for each word: chunks may go out together, and each status by itself', async () => {
    const pushing = await openPushing(scriptAgent, { push: { coalesce: 'chunks' } })
    await result(pushing.fetch, binding, 'SendMessage', { message: userMessage('chunks 500'), configuration: configuration() })
    await pushing.world.advance(0)
    expect(pushing.posts.length).toBeLessThan(30)
    const parts = pushing.posts.flatMap(({ event }) => event.artifactUpdate?.artifact.parts ?? [])
    expect(parts.map(({ text }: any) => text)).toEqual(Array.from({ length: 500 }, (_, n) => `chunk ${n};`))
    expect(saysOf(pushing.posts.at(-1) as never)).toBe('COMPLETED')
  })

  test('F098 bytes that are read as text: a post has the same ones as the task', async () => {
    const raw = agent({ name: 'Raw', description: 'Makes bytes.' }, async function* () {
      yield artifact('bytes', { raw: 'AP/+gA==' })
      return completed()
    })
    const pushing = await openPushing(raw)
    const { task } = await result(pushing.fetch, binding, 'SendMessage', { message: userMessage('go'), configuration: configuration() })
    await pushing.world.advance(0)
    const posted = pushing.posts.find(({ event }) => event.artifactUpdate)?.event.artifactUpdate.artifact.parts
    expect(posted).toEqual(task.artifacts[0].parts)
    expect(posted[0].raw).toBe('AP/+gA==')
  })

  test('F100 states that are lost on the way: a push says REJECTED', async () => {
    const pushing = await openPushing(scriptAgent)
    await result(pushing.fetch, binding, 'SendMessage', { message: userMessage('reject'), configuration: configuration() })
    await pushing.world.advance(0)
    expect(pushing.posts.map(saysOf)).toEqual(['REJECTED'])
  })
})
