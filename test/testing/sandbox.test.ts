/** The sandbox: a server, callers, a clock and crashes, as tests of agents use them. */

import { agent, anonymous, artifact, chunk, completed, failed, inputRequired, skill, working } from 'errand'
import { ConnectionError } from 'errand/client'
import { type Sandbox, type TestOptions, testAgent } from 'errand/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { keptLog } from '../runtime/kit.js'

const info = { name: 'Tried', description: 'Is tried out.' }

const asker = agent(info, async function* (task) {
  if (task.turn === 1) return inputRequired('Which one?')
  yield artifact('choice', task.text)
  return completed('Done.', { chosen: task.text })
})

describe('a sandbox', () => {
  test('is a server and a caller in memory, over the real bindings', async () => {
    await using t = await testAgent(asker)
    expect(t.client.card).toMatchObject({ name: 'Tried', supportedInterfaces: [{ url: 'http://agent.test/a2a/v1' }, {}] })
    const asked = await t.client.send('choose').outcome
    if (asked.state !== 'input-required') throw new Error(asked.state)
    expect(await asked.reply('the second').outcome).toMatchObject({ state: 'completed', output: { chosen: 'the second' } })
  })

  test('knows the skills of its agent', async () => {
    const adder = agent({
      ...info,
      skills: {
        add: skill({
          ...info,
          input: z.object({ a: z.number(), b: z.number() }),
          output: z.number(),
          run: ({ input }) => input.a + input.b,
        }),
      },
    })
    await using t = await testAgent(adder)
    const out = await t.client.skill('add').send({ a: 1, b: 2 }).outcome
    expect(out.state === 'completed' && out.output + 1).toBe(4)
  })

  test('has a clock that stands still until it is moved', async () => {
    const sleeper = agent(info, async function* (task) {
      yield working('asleep')
      await task.sleep('3d')
      return 'awake'
    })
    await using t = await testAgent(sleeper, { now: '2026-12-01T00:00:00Z' })
    const sending = t.client.send('sleep')
    const id = (await sending.taskId) ?? ''
    expect(t.now()).toEqual(new Date('2026-12-01T00:00:00Z'))
    await t.advance('2d')
    expect(await t.client.task(id).get()).toMatchObject({ status: { state: 'TASK_STATE_WORKING' } })
    await t.advance('1d')
    expect(await sending.outcome).toMatchObject({ state: 'completed', text: 'awake' })
    expect(t.now()).toEqual(new Date('2026-12-04T00:00:00Z'))
  })

  test('keeps callers apart', async () => {
    await using t = await testAgent(asker)
    const id = (await t.client.send('mine').taskId) ?? ''
    const bob = await t.as('bob')
    await expect(bob.task(id).get()).rejects.toMatchObject({ name: 'TaskNotFoundError' })
    expect(await (await t.as('user')).task(id).get()).toMatchObject({ id })
  })

  test('tells what happened to a task, from its log', async () => {
    const streamer = agent(info, async function* () {
      yield chunk('a', 'one ')
      yield chunk('a', 'two', { last: true })
    })
    await using t = await testAgent(streamer)
    const out = await t.client.send('go').outcome
    const events = await t.events('task' in out ? out.task.id : '')
    expect(events.map((event) => (event.kind === 'artifact' ? event.text : event.kind === 'status' ? event.state : event.kind))).toEqual([
      'task',
      'TASK_STATE_WORKING',
      'one ',
      'one two',
      'TASK_STATE_COMPLETED',
    ])
    await expect(t.events('none')).rejects.toThrow(/there is no task none/)
  })

  test('has the same ids for equal seeds, and others for others', async () => {
    const idOf = async (options: TestOptions) => {
      await using t = await testAgent(asker, options)
      return await t.client.send('x').taskId
    }
    expect(await idOf({ seed: 7 })).toBe(await idOf({ seed: 7 }))
    expect(await idOf({ seed: 7 })).not.toBe(await idOf({ seed: 8 }))
  })

  test('refuses options that it does not have, in a sentence that says what to do', async () => {
    // @ts-expect-error the store is the sandbox's own
    await expect(testAgent(asker, { store: {} })).rejects.toThrow(/testAgent has no option "store"; it takes/)
    await expect(testAgent(asker, { now: 'tomorrow' })).rejects.toThrow(/option now takes a time such as/)
    await expect(testAgent(asker, { concurrency: 0 })).rejects.toThrow(/option concurrency takes a whole number from 1/)
    await using t = await testAgent(asker)
    await expect(t.advance('3 weeks')).rejects.toThrow(/advance takes milliseconds or a number with a unit/)
    await expect(t.grant('none', 'secret')).rejects.toThrow(/there is no task none/)
    const asked = await t.client.send('x').outcome
    if (asked.state !== 'input-required') throw new Error(asked.state)
    await expect(t.grant(asked.task.id, 'secret')).rejects.toThrow(/does not ask for consent: it is TASK_STATE_INPUT_REQUIRED/)
  })

  test('takes any provider of consent as there, and with the option oauth those that it names', async () => {
    const booker = agent(info, async (task) => {
      const consent = await task.authorize({ oauth: 'hotel', scopes: ['book'] })
      return 'granted' in consent ? completed('Booked.', consent.granted.token) : failed('There was no consent.')
    })
    await using t = await testAgent(booker)
    const asked = await t.client.send('book').outcome
    if (asked.state !== 'auth-required') throw new Error(asked.state)
    await t.grant(asked.task.id, 'secret')
    expect(await asked.follow().outcome).toMatchObject({ state: 'completed', output: 'secret' })

    const { log, lines } = keptLog()
    const motel = { authorizationEndpoint: 'https://motel.test/agree', tokenEndpoint: 'https://motel.test/token', clientId: 'us' }
    await using misnamed = await testAgent(booker, { oauth: { motel }, log })
    expect(await misnamed.client.send('book').outcome).toMatchObject({ state: 'failed' })
    expect(String(lines.find(({ level }) => level === 'error')?.fields['error'])).toMatch(/oauth has no provider "hotel"/)
  })

  test('takes options of a server', async () => {
    await using t = await testAgent(asker, { auth: anonymous(), url: 'https://elsewhere.test/base' })
    expect(await t.client.send('x').outcome).toMatchObject({ state: 'input-required' })
    expect(t.client.card).toMatchObject({ supportedInterfaces: [{ url: 'https://elsewhere.test/base/a2a/v1' }, {}] })
  })
})

describe('a crash', () => {
  test('leaves what is committed: a question is answered after it', async () => {
    await using t = await testAgent(asker)
    const asked = await t.client.send('choose').outcome
    if (asked.state !== 'input-required') throw new Error(asked.state)
    await t.crash()
    expect(await asked.reply('after').outcome).toMatchObject({
      state: 'completed',
      output: { chosen: 'after' },
      task: { id: asked.task.id },
    })
  })

  test('cuts a stream, which the caller takes up again by itself', async () => {
    const held = agent(info, async function* (task) {
      yield working('holding')
      const message = await task.inbox.next()
      return `released by ${message?.parts[0]?.text}`
    })
    await using t = await testAgent(held)
    const sending = t.client.send('hold')
    const id = (await sending.taskId) ?? ''
    await t.advance(0)
    await t.crash()
    t.client.send('me', { taskId: id })
    expect(await sending.outcome).toMatchObject({ state: 'completed', text: 'released by me', task: { id } })
  })

  test('is heard by nobody who does not wait: a stream that is not resumed ends in an error', async () => {
    const held = agent(info, (task) => task.inbox.next())
    await using t = await testAgent(held)
    const sending = t.client.send('hold', { resume: false })
    await sending.taskId
    await t.crash()
    await expect(sending.outcome).rejects.toThrow(ConnectionError)
  })

  test('ends a process for good: what its agent does and says later reaches nobody', async () => {
    const { log, lines } = keptLog()
    let release = () => {}
    let runs = 0
    const held = agent(info, async function* (task) {
      const run = ++runs
      yield working(`run ${run}`)
      if (run === 1) await new Promise<void>((resolve) => (release = resolve))
      task.log.info(`run ${run} goes on`)
      return `by run ${run}`
    })
    await using t = await testAgent(held, { log })
    const sending = t.client.send('hold')
    await sending.taskId
    await t.advance(0)
    await t.crash()
    release()
    await t.advance('1h')
    expect(await sending.outcome).toMatchObject({ state: 'completed', text: 'by run 2' })
    expect(lines.map(({ message }) => message).filter((line) => line.startsWith('run'))).toEqual(['run 2 goes on'])
  })
})

test('a sandbox whose agent never ends is closed all the same', async () => {
  const endless = agent(info, () => new Promise<never>(() => {}))
  const t: Sandbox = await testAgent(endless)
  await t.client.send('go').taskId
  await t[Symbol.asyncDispose]()
  await t[Symbol.asyncDispose]()
  await expect(t.client.send('go').outcome).rejects.toThrow(ConnectionError)
})
