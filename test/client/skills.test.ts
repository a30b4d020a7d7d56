/** Skills called by their types: what goes out is what the agent's router takes, and what comes back is the skill's result. */

import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { type Client, connect, InvalidParamsError } from '../../src/client.js'
import { agent, artifact, completed, inputRequired, skill } from '../../src/index.js'
import { bindingNames, openServer } from '../harness/server.js'
import { bytesAgent, chunkFrame, frame, sse, statusFrame, taskFrame } from './kit.js'

const info = { name: 'One', description: 'Is called.' }
const stays = agent({
  name: 'Stays',
  description: 'Has skills.',
  skills: {
    book: skill({
      ...info,
      input: z.object({ city: z.string(), nights: z.number().default(1) }),
      output: z.object({ confirmation: z.string() }),
      async *run(task) {
        if (task.turn === 1 && task.input.city === 'Bergen') return inputRequired('In this weather?')
        yield artifact('receipt', { data: { price: 7 } })
        return completed('Booked.', {
          confirmation: `${task.input.city} ${task.input.nights} ${task.message.metadata?.['urn:test:more'] ?? ''}`,
        })
      },
    }),
    shout: skill({
      ...info,
      output: z.string(),
      async *run(task) {
        yield artifact('aside', { data: { heard: task.input } })
        return task.input.toUpperCase()
      },
    }),
    plain: skill({ ...info, run: ({ input }) => `plain ${input}` }),
  },
})

async function open(prefer: (typeof bindingNames)[number]): Promise<Client<typeof stays>> {
  const server = await openServer(stays)
  onTestFinished(() => server.close())
  return connect<typeof stays>('http://agent.test', { fetch: server.fetch, auth: 'alice', prefer: [prefer] })
}

describe.each(bindingNames)('over %s', (binding) => {
  test('an object goes out as data, and the output is the result, whatever other artifacts there are', async () => {
    const client = await open(binding)
    const outcome = await client.skill('book').send({ city: 'Oslo' }, { metadata: { 'urn:test:more': 'kept' } }).outcome
    expect(outcome).toMatchObject({ state: 'completed', output: { confirmation: 'Oslo 1 kept' } })
  })

  test('a text goes out as text to the skill that is named, and a text is the output', async () => {
    const client = await open(binding)
    expect(await client.skill('shout').send('hey').outcome).toMatchObject({ state: 'completed', output: 'HEY' })
    expect(await client.skill('plain').send('hey').outcome).toMatchObject({ state: 'completed', output: 'plain hey' })
  })

  test('a reply goes on with the same skill', async () => {
    const client = await open(binding)
    const asked = await client.skill('book').send({ city: 'Bergen', nights: 2 }).outcome
    if (asked.state !== 'input-required') throw new Error(asked.state)
    expect(await asked.reply({ data: { yes: true } }).outcome).toMatchObject({
      output: { confirmation: 'Bergen 2 ' },
      task: { id: asked.task.id },
    })
  })

  test('what the agent does not take is refused by the agent, which says what it has', async () => {
    const client: Client = await open(binding)
    await expect(client.skill('nope').send('x').outcome).rejects.toThrow(InvalidParamsError)
    await expect(client.skill('nope').send('x').outcome).rejects.toThrow(/book, shout, plain/)
    await expect(client.skill('book').send({ city: 1 }).outcome).rejects.toThrow(/message\.parts\[0\]\.data\.city/)
  })
})

test('of an agent whose result is a text among other artifacts, the text is the output; without a result the first data is', async () => {
  const answer = (named: string) => () =>
    sse([
      frame(taskFrame()),
      frame({ artifactUpdate: { ...chunkFrame('').artifactUpdate, artifact: { artifactId: 'd', parts: [{ data: { n: 1 } }] } } }),
      frame({
        artifactUpdate: { ...chunkFrame('').artifactUpdate, artifact: { artifactId: 'r', name: named, parts: [{ text: 'said' }] } },
      }),
      frame(statusFrame('COMPLETED')),
    ])
  const withResult = await bytesAgent(answer('result'))
  expect(await withResult.send('go').outcome).toMatchObject({ output: 'said', text: 'said' })
  const without = await bytesAgent(answer('other'))
  expect(await without.send('go').outcome).toMatchObject({ output: { n: 1 }, text: 'said' })
})
