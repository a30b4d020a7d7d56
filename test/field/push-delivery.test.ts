/** Field cases of what is posted to push configurations. How they are kept and shown has its own. */

import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { agent, artifact, chunk, completed, sqlite, working } from '../../src/index.js'
import { dialAddress } from '../../src/net/connector.js'
import { openPost } from '../../src/push/post.js'
import { mountServer } from '../../src/server/create-server.js'
import { scriptAgent } from '../harness/script-agent.js'
import { bindingNames, people, refusal, result, userMessage } from '../harness/server.js'
import { listen, recorder } from '../net/kit.js'
import { hook, numbersOf, openPushing, outcomesOf, saysOf } from '../push/kit.js'
import { gate, until } from '../runtime/kit.js'
import { copyOf } from '../server/secret-traces.js'
import { freshFile } from '../store/sqlite/watched.js'
import { bookingWithConsent } from './kit.js'

const threeNotes = agent({ name: 'Notes', description: 'Says three things.' }, async function* () {
  for (const note of ['one', 'two', 'three']) yield working(note)
  return completed('done')
})

const configuration = (more: object = {}) => ({ taskPushNotificationConfig: { url: hook, ...more } })

describe.each(bindingNames)('over %s', (binding) => {
  test('F004 a server that dies: the next one goes on with the task, and its end is pushed', async () => {
    const file = freshFile()
    const first = await openPushing(scriptAgent, { store: sqlite(file) })
    const sent = { message: userMessage('hold'), configuration: { returnImmediately: true, ...configuration() } }
    const { task } = await result(first.fetch, binding, 'SendMessage', sent)
    await until(async () => (await first.server.deliveries(task.id)).length === 1)
    // What is left of it if it ends here.
    const second = await openPushing(scriptAgent, { store: sqlite(join(copyOf(dirname(file)), 'tasks.db')) })
    await result(second.fetch, binding, 'SendMessage', { message: userMessage('go', { taskId: task.id }) })
    await second.world.advance(1_000)
    expect(first.posts.map(saysOf)).toEqual(['WORKING'])
    expect(second.posts.map(saysOf)).toEqual(['WORKING', [{ data: { by: expect.any(String) } }], 'COMPLETED'])
  })

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

  test('F008 posts into a private network: no address of one is taken, no name that leads there is dialled, and the operator may open one', async () => {
    const { port, heard } = await listen((_, response) => void response.writeHead(204).end())
    const allow = [`http://127.0.0.1:${port}`]
    const { dial, dialled } = recorder(dialAddress)
    const answers = [['93.184.216.34'], ['10.0.0.1']]
    const server = await mountServer(
      scriptAgent,
      { store: sqlite(':memory:'), auth: people, url: 'http://agent.test', push: true, outbound: { allow } },
      { openPost: (given) => openPost({ ...given, dial, resolve: async () => answers.shift() ?? [] }) },
    )
    onTestFinished(() => server.close())
    const ask = async (more: object = {}) =>
      (await result(server.fetch, binding, 'SendMessage', { message: userMessage('ask'), ...more })).task
    const { id: taskId } = await ask()
    for (const host of ['169.254.169.254', '127.0.0.1:8080', '[::ffff:10.0.0.1]', '0x7f000001', '100.64.0.1']) {
      for (const url of [`http://${host}/`, `https://${host}/`]) {
        const own = await refusal(server.fetch, binding, 'CreateTaskPushNotificationConfig', { taskId, url })
        expect([url, own.reason, own.fields]).toEqual([url, 'INVALID_PARAMS', ['url']])
        const sent = { message: userMessage('ask'), configuration: configuration({ url }) }
        const inline = await refusal(server.fetch, binding, 'SendMessage', sent)
        expect([url, inline.fields]).toEqual([url, ['configuration.taskPushNotificationConfig.url']])
      }
    }
    const { id } = await ask({ configuration: configuration({ url: 'https://turning.example/' }) })
    await until(async () => (await server.deliveries(id)).length === 1)
    expect(outcomesOf(await server.deliveries(id))).toEqual([{ number: 2, attempt: 1, outcome: 'dropped', failure: 'address' }])
    expect(dialled).toEqual([])
    await ask({ configuration: configuration({ url: `${allow[0]}/` }) })
    await until(() => heard.length === 1)
  })

  test('F049 a task whose work goes on elsewhere: what comes of it after the function gave it away is pushed', async () => {
    const printing = agent({ name: 'Print shop', description: 'Has things printed.' }, async function* (task) {
      yield working('sent to the printer')
      yield artifact('pages', { data: await task.wait<{ pages: number }>('printed') })
      return completed('done')
    })
    const pushing = await openPushing(printing)
    const sent = { message: userMessage('go'), configuration: { returnImmediately: true, ...configuration() } }
    const { task } = await result(pushing.fetch, binding, 'SendMessage', sent)
    await pushing.world.advance(3_000)
    expect(pushing.posts.map(saysOf)).toEqual(['WORKING'])
    await pushing.server.signal(task.id, 'printed', { pages: 12 })
    await pushing.world.advance(1_000)
    expect(pushing.posts.map(saysOf)).toEqual(['WORKING', [{ data: { pages: 12 } }], 'COMPLETED'])
  })

  test('F050 a task that waits for a credential: what follows when it comes, without a message, is pushed', async () => {
    const { booking, bring } = bookingWithConsent()
    const pushing = await openPushing(booking)
    const sent = { message: userMessage('book'), configuration: configuration() }
    const { task } = await result(pushing.fetch, binding, 'SendMessage', sent)
    expect(task.status.state).toBe('TASK_STATE_AUTH_REQUIRED')
    await pushing.world.advance(0)
    expect(pushing.posts.map(saysOf)).toEqual(['WORKING', 'AUTH_REQUIRED'])
    expect((await bring(pushing.fetch, 0)).status).toBe(204)
    await pushing.world.advance(1_000)
    expect(pushing.posts.slice(2).map(saysOf)).toEqual(['WORKING', [{ data: { scopes: ['calendar.book'] } }], 'COMPLETED'])
  })

  test('F058 a run that falls silent: its failure is pushed', async () => {
    const hung = agent({ name: 'Hung', description: 'Waits for a model.', inactivity: '10m' }, async function* () {
      yield chunk('a', 'half')
      return new Promise<never>(() => undefined)
    })
    const pushing = await openPushing(hung)
    const sent = { message: userMessage('go'), configuration: { returnImmediately: true, ...configuration() } }
    await result(pushing.fetch, binding, 'SendMessage', sent)
    await pushing.world.advance(10 * 60_000 - 1)
    expect(pushing.posts.map(saysOf)).toEqual(['WORKING', [{ text: 'half' }]])
    await pushing.world.advance(1)
    expect(pushing.posts.slice(2).map(({ event }) => event.statusUpdate.status)).toMatchObject([
      { state: 'TASK_STATE_FAILED', message: { parts: [{ text: expect.stringMatching(/inactivity/i) }] } },
    ])
  })

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
