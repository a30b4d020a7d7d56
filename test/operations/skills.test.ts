/** Which skill a message goes to, and which messages are refused. Decision D9. */

import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type Agent, agent, inputRequired, type Server, skill } from '../../src/index.js'
import { scriptAgent } from '../harness/script-agent.js'
import { bindingNames, frames, refusal, result, userMessage } from '../harness/server.js'
import { openStill, until } from '../runtime/kit.js'

const Stay = z.object({
  city: z.string(),
  nights: z.number().int().max(30).default(1),
  guests: z.array(z.object({ name: z.string() })).default([]),
})

const book = skill({
  name: 'Book a stay',
  description: 'Books a room.',
  input: Stay,
  run: ({ input }) => ({ did: 'book', ...input }),
})
const weather = skill({
  name: 'Weather',
  description: 'Tells the weather.',
  input: z.object({ place: z.string() }),
  run: ({ input }) => ({ did: 'weather', ...input }),
})
const talk = skill({ name: 'Talk', description: 'Says it again.', run: ({ input }) => ({ did: 'talk', input }) })

const info = { name: 'Travel', description: 'Travels.' }
const travel = agent({ ...info, skills: { book, weather, talk } })
const chatty = agent({ ...info, skills: { book, weather, talk }, run: ({ text }) => ({ did: 'run', text }) })

const named = (id: unknown) => ({ metadata: { 'urn:errand:skill': id } })
const withData = (...values: unknown[]) => ({ parts: values.map((data) => ({ data })) })

describe.each(bindingNames)('over %s', (binding) => {
  async function open(made: Agent) {
    const { fetch } = await openStill(made)
    return {
      fetch,
      send: async (more: object, text = '') =>
        (await result(fetch, binding, 'SendMessage', { message: userMessage(text, { ...more }) })).task,
      refused: (more: object, text = '') => refusal(fetch, binding, 'SendMessage', { message: userMessage(text, { ...more }) }),
    }
  }
  const count = async (fetch: Server['fetch']) => (await result(fetch, binding, 'ListTasks', {})).totalSize
  const resultOf = (task: any) => task.artifacts?.[0].parts[0].data

  describe('a message that names a skill', () => {
    test('goes to it with its data, and defaults are filled in', async () => {
      const { send } = await open(chatty)
      const task = await send({ ...named('book'), ...withData({ city: 'Oslo' }) })
      expect(resultOf(task)).toEqual({ did: 'book', city: 'Oslo', nights: 1, guests: [] })
    })

    test('goes to one without a schema with its text, whatever else is in it', async () => {
      const { send } = await open(chatty)
      const parts = [{ text: 'hello' }, { data: { city: 'Oslo' } }, { text: 'you' }]
      expect(resultOf(await send({ ...named('talk'), parts }))).toEqual({ did: 'talk', input: 'hello\nyou' })
    })

    test('is called with the first data part that fits', async () => {
      const { send } = await open(travel)
      const parts = [{ text: 'please' }, { data: { city: 7 } }, { data: { city: 'Oslo', nights: 2 } }, { data: { city: 'Rome' } }]
      expect(resultOf(await send({ ...named('book'), parts }))).toMatchObject({ city: 'Oslo', nights: 2 })
    })

    test.each(['nope', '', 'Book', 'constructor', '__proto__', 7, ['book'], { id: 'book' }, true])(
      'is refused where there is no skill %j, by the name of the metadata',
      async (id) => {
        for (const made of [travel, chatty]) {
          const { fetch, refused } = await open(made)
          const error = await refused({ ...named(id), ...withData({ city: 'Oslo' }) })
          expect(error).toMatchObject({ reason: 'INVALID_PARAMS', fields: ['message.metadata'] })
          expect(error.message).toContain('book, weather, talk')
          expect(await count(fetch)).toBe(0)
        }
      },
    )

    test('a name that is null counts as none', async () => {
      const { send } = await open(travel)
      expect(resultOf(await send({ ...named(null), ...withData({ place: 'Oslo' }) }))).toMatchObject({ did: 'weather' })
    })

    test.each<[string, unknown, string[]]>([
      ['a wrong member', { city: 7 }, ['.city']],
      ['two of them', { city: 7, nights: 1.5 }, ['.city', '.nights']],
      ['one that is missing', {}, ['.city']],
      ['one inside a list', { city: 'Oslo', guests: [{ name: 'Ann' }, {}] }, ['.guests[1].name']],
      ['no object', 'Oslo', ['']],
      ['null', null, ['']],
    ])('data with %s is refused by the name of the field, and makes no task', async (_, data, paths) => {
      const { fetch, refused } = await open(chatty)
      const parts = [{ text: 'please' }, { data }]
      const error = await refused({ ...named('book'), parts })
      expect(error).toMatchObject({ reason: 'INVALID_PARAMS', fields: paths.map((path) => `message.parts[1].data${path}`) })
      expect(await count(fetch)).toBe(0)
    })

    test('without any data is refused by the name of the parts', async () => {
      const { refused } = await open(chatty)
      expect(await refused(named('book'), 'Oslo please')).toMatchObject({ reason: 'INVALID_PARAMS', fields: ['message.parts'] })
    })

    test('an answer to a thousand faults names twenty', async () => {
      const { refused } = await open(chatty)
      const guests = Array.from({ length: 1000 }, () => ({}))
      expect((await refused({ ...named('book'), ...withData({ city: 'Oslo', guests }) })).fields).toHaveLength(20)
    })

    test('a refused stream is a plain error', async () => {
      const { fetch } = await open(travel)
      expect(await refusal(fetch, binding, 'SendStreamingMessage', { message: userMessage('', named('nope')) })).toMatchObject({
        reason: 'INVALID_PARAMS',
      })
    })
  })

  describe('a message that names none', () => {
    test('goes to the one skill that its data fits, before the plain function', async () => {
      for (const made of [travel, chatty]) {
        const { send } = await open(made)
        expect(resultOf(await send(withData({ place: 'Oslo' })))).toEqual({ did: 'weather', place: 'Oslo' })
        expect(resultOf(await send(withData({ city: 'Oslo' })))).toMatchObject({ did: 'book' })
      }
    })

    test('goes to the plain function where its data fits none, or two', async () => {
      const { send } = await open(chatty)
      for (const data of [{ other: 1 }, { place: 'Oslo', city: 'Oslo' }])
        expect(resultOf(await send(withData(data)))).toMatchObject({ did: 'run' })
      expect(resultOf(await send({}, 'hello'))).toEqual({ did: 'run', text: 'hello' })
    })

    test.each<[string, object]>([
      ['text alone', {}],
      ['data that fits none', withData({ other: 1 })],
      ['data that fits two', withData({ place: 'Oslo', city: 'Oslo' })],
    ])('is asked which skill is meant where there is no plain function: %s', async (_, more) => {
      const { send } = await open(travel)
      const { status, artifacts } = await send(more, 'hello')
      expect(status.state).toBe('TASK_STATE_INPUT_REQUIRED')
      const [asked, ...lines] = status.message.parts[0].text.split('\n')
      expect(asked).toContain('urn:errand:skill')
      expect(lines).toEqual([
        '- book (Book a stay): Books a room. It takes a data part with the fields city (string), nights (integer, optional), guests (array, optional).',
        '- weather (Weather): Tells the weather. It takes a data part with the fields place (string).',
        '- talk (Talk): Says it again. It takes text.',
      ])
      expect(artifacts).toBeUndefined()
    })

    test('the question is the second frame of a stream, and its end', async () => {
      const { fetch } = await open(travel)
      const states: string[] = []
      for await (const { data } of frames(fetch, binding, 'SendStreamingMessage', { message: userMessage('hello') }))
        states.push((data.task ?? data.statusUpdate).status.state)
      expect(states).toEqual(['TASK_STATE_SUBMITTED', 'TASK_STATE_INPUT_REQUIRED'])
    })
  })

  describe('the answer to the question which skill is meant', () => {
    test('is routed again, by its metadata or its data', async () => {
      const { send } = await open(travel)
      const first = await send({}, 'hello')
      const done = await send({ taskId: first.id, ...named('talk') }, 'hello again')
      expect([done.id, resultOf(done)]).toEqual([first.id, { did: 'talk', input: 'hello again' }])
      const second = await send({}, 'hello')
      expect(resultOf(await send({ taskId: second.id, ...withData({ place: 'Oslo' }) }))).toMatchObject({ did: 'weather' })
    })

    test('that says no more is asked again', async () => {
      const { send } = await open(travel)
      const first = await send({}, 'hello')
      const again = await send({ taskId: first.id }, 'well')
      expect(again.status.state).toBe('TASK_STATE_INPUT_REQUIRED')
      expect(again.status.message.messageId).not.toBe(first.status.message.messageId)
      expect(resultOf(await send({ taskId: first.id, ...withData({ place: 'Oslo' }) }))).toMatchObject({ did: 'weather' })
    })

    test('that does not fit is refused, and the question stays open', async () => {
      const { fetch, send, refused } = await open(travel)
      const task = await send({}, 'hello')
      expect(await refused({ taskId: task.id, ...named('book'), ...withData({ nights: 2 }) })).toMatchObject({
        fields: ['message.parts[0].data.city'],
      })
      expect(await refused({ taskId: task.id, ...named('nope') })).toMatchObject({ fields: ['message.metadata'] })
      expect(await result(fetch, binding, 'GetTask', { id: task.id })).toEqual(task)
    })

    test('is not what names another question', async () => {
      const { send } = await open(travel)
      const task = await send({}, 'hello')
      const stray = { taskId: task.id, ...withData({ city: 'Oslo' }), metadata: { 'urn:errand:question': 'another' } }
      expect((await send(stray)).status).toEqual(task.status)
      const unfit = { ...stray, parts: [{ data: { city: 7 } }], metadata: { ...stray.metadata, 'urn:errand:skill': 'book' } }
      expect((await send(unfit)).status).toEqual(task.status)
      expect(resultOf(await send({ taskId: task.id, ...withData({ place: 'Rome' }) }))).toEqual({ did: 'weather', place: 'Rome' })
    })
  })

  describe('a message that comes while the task waits for a place', () => {
    const hold = skill({
      name: 'Hold',
      description: 'Waits.',
      run: async (task) => void (await task.step('work', () => task.inbox.next())),
    })
    const holding = agent({ ...info, skills: { hold, book, weather } })

    test('is for the inbox, and answers no question that is asked later', async () => {
      const { fetch } = await openStill(holding, { concurrency: 1 })
      const configuration = { returnImmediately: true }
      const begin = async (more: object) =>
        (await result(fetch, binding, 'SendMessage', { message: userMessage('', { ...more }), configuration })).task
      const stateOf = async (id: string) => (await result(fetch, binding, 'GetTask', { id })).status.state
      const asked = (id: string) => until(async () => (await stateOf(id)) === 'TASK_STATE_INPUT_REQUIRED')

      const first = await begin(named('hold'))
      const { id } = await begin({})
      expect((await begin({ taskId: id, ...withData({ city: 'Oslo' }) })).status.state).toBe('TASK_STATE_SUBMITTED')
      await begin({ taskId: first.id })
      await asked(id)

      const second = await begin(named('hold'))
      await begin({ taskId: id })
      expect((await begin({ taskId: id, ...withData({ city: 'Oslo' }) })).status.state).toBe('TASK_STATE_WORKING')
      await begin({ taskId: second.id })
      await asked(id)

      const message = userMessage('', { taskId: id, ...withData({ place: 'Rome' }) })
      expect(resultOf((await result(fetch, binding, 'SendMessage', { message })).task)).toEqual({ did: 'weather', place: 'Rome' })
    })
  })

  describe('a later turn', () => {
    const ask = skill({
      name: 'Ask',
      description: 'Asks before it answers.',
      input: Stay,
      run: (task) => (task.turn === 1 ? inputRequired('Sure?') : { turn: task.turn, input: task.input, said: task.text }),
    })
    const asking = agent({ ...info, skills: { ask, weather, talk }, run: () => 'run' })

    test('stays with the skill and its input, whatever the answer is', async () => {
      const { send } = await open(asking)
      for (const more of [{}, withData({ place: 'Oslo' }), named('ask'), { ...named('ask'), ...withData({ city: 7 }) }]) {
        const first = await send(withData({ city: 'Oslo' }))
        const done = await send({ taskId: first.id, ...more }, 'yes')
        expect(resultOf(done)).toMatchObject({ turn: 2, input: { city: 'Oslo', nights: 1 } })
      }
    })

    test('does not change to another skill', async () => {
      const { fetch, send, refused } = await open(asking)
      const first = await send(withData({ city: 'Oslo' }))
      for (const id of ['talk', 'nope']) {
        expect(await refused({ taskId: first.id, ...named(id) }, 'yes')).toMatchObject({
          reason: 'INVALID_PARAMS',
          fields: ['message.metadata'],
        })
      }
      expect(await result(fetch, binding, 'GetTask', { id: first.id })).toEqual(first)
    })

    test('of a finished task is refused as ever, whatever skill it names', async () => {
      const { send, refused } = await open(travel)
      const done = await send(withData({ place: 'Oslo' }))
      for (const more of [{}, named('nope'), named('book')])
        expect(await refused({ taskId: done.id, ...more })).toMatchObject({ reason: 'UNSUPPORTED_OPERATION' })
    })
  })

  describe('media types (D6)', () => {
    const look = skill({ name: 'Look', description: 'Looks at pictures.', inputModes: ['image/*'], run: () => ({ did: 'look' }) })
    const seeing = agent({ ...info, skills: { look, talk }, run: () => ({ did: 'run' }) })
    const picture = { parts: [{ raw: 'AAAA', mediaType: 'image/png' }] }

    test('are those of the skill, else those of the agent', async () => {
      const { send, refused } = await open(seeing)
      expect(resultOf(await send({ ...named('look'), ...picture }))).toEqual({ did: 'look' })
      for (const more of [{ ...named('talk'), ...picture }, picture, { ...named('look'), parts: [{ text: 'x', mediaType: 'text/plain' }] }])
        expect(await refused(more)).toMatchObject({ reason: 'CONTENT_TYPE_NOT_SUPPORTED' })
    })

    test('hold for later turns too', async () => {
      const ask = skill({
        name: 'Ask',
        description: 'Asks.',
        inputModes: ['image/*'],
        run: ({ turn }) => (turn === 1 ? inputRequired('A picture?') : 'seen'),
      })
      const { send, refused } = await open(agent({ ...info, skills: { ask } }))
      const { id } = await send(named('ask'))
      expect(await refused({ taskId: id, parts: [{ text: 'x', mediaType: 'text/plain' }] })).toMatchObject({
        reason: 'CONTENT_TYPE_NOT_SUPPORTED',
      })
      expect((await send({ taskId: id, ...picture })).status.state).toBe('TASK_STATE_COMPLETED')
    })
  })

  test('a message is judged before the agent may answer it', async () => {
    const answering = agent({ ...info, skills: { book }, answer: () => 'Hello.' })
    const { fetch, refused } = await open(answering)
    expect(await refused(named('nope'))).toMatchObject({ fields: ['message.metadata'] })
    expect((await result(fetch, binding, 'SendMessage', { message: userMessage('hi') })).message.parts).toEqual([{ text: 'Hello.' }])
  })

  test('an agent of one function has the skill of its card and no other', async () => {
    const { send, refused } = await open(scriptAgent)
    expect((await send(named('script'), 'echo')).status.state).toBe('TASK_STATE_COMPLETED')
    expect(await refused(named('nope'), 'echo')).toMatchObject({ reason: 'INVALID_PARAMS', fields: ['message.metadata'] })
  })

  test('the same message sent again is one call of the skill (D7)', async () => {
    const { fetch, send } = await open(travel)
    const message = { messageId: 'one', ...withData({ city: 'Oslo' }) }
    expect((await send(message)).id).toBe((await send(message)).id)
    expect(await count(fetch)).toBe(1)
  })
})
