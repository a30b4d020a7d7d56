/** Skills as they are declared: what is refused at once, and what the card says of them. */

import { type } from 'arktype'
import { exportJWK, generateKeyPair } from 'jose'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type Agent, agent, type ServerOptions, type Skill, skill, verifyCard } from '../../src/index.js'
import { call, userMessage } from '../harness/server.js'
import { openStill } from './kit.js'

// The types forbid what is tried here; people without them do it all the same.
type Untyped = (...args: readonly unknown[]) => unknown
const anySkill = skill as Untyped
const anyAgent = agent as Untyped

const info = { name: 'Book', description: 'Books a room.' }
const run = () => 'done'
const about = { name: 'Travel', description: 'Travels.' }
const book = skill({ ...info, run })

function complaint(attempt: () => unknown): string {
  try {
    attempt()
  } catch (error) {
    if (error instanceof TypeError) return error.message
    throw error
  }
  throw new Error('it was accepted')
}

const loop: Record<string, unknown> = {}
loop['self'] = loop
const wrong: Readonly<Record<string, readonly unknown[]>> = {
  name: ['', 7, null, 'half \ud800'],
  description: ['', {}],
  tags: ['one', [1]],
  examples: ['one', [{}]],
  inputModes: ['text/plain', [7], [], ['plain']],
  outputModes: [{}, [null]],
  input: [
    { type: 'object' },
    'string',
    null,
    {},
    { '~standard': null },
    { '~standard': { version: 2, validate: run } },
    { '~standard': { version: 1 } },
  ],
  output: [{ type: 'object' }, 7, run],
  inputSchema: [[], 'object', null, loop],
  run: ['done', {}, null],
}

describe('skill', () => {
  test.each(Object.entries(wrong).flatMap(([option, values]) => values.map((value) => ({ option, value }))))(
    'option $option does not take $value',
    ({ option, value }) => {
      const said = complaint(() => anySkill({ ...info, run, [option]: value }))
      expect(said).toMatch(new RegExp(`^skill: option ${option} takes .+; it got .+$`))
    },
  )

  test.each(['name', 'description', 'run'])('option %s is needed', (option) => {
    expect(complaint(() => anySkill({ ...info, run, [option]: undefined }))).toMatch(new RegExp(`^skill needs the option ${option}: .+`))
  })

  test('an option that does not exist is named beside those that do', () => {
    expect(complaint(() => anySkill({ ...info, run, id: 'book' }))).toBe(
      `skill has no option "id"; it takes ${Object.keys(wrong).join(', ')}`,
    )
  })

  test('a JSON Schema of what is not taken is refused', () => {
    expect(complaint(() => anySkill({ ...info, run, inputSchema: { type: 'object' } }))).toBe(
      'skill: option inputSchema describes what the option input takes; give the skill its input too',
    )
  })

  test.each([undefined, null, 'Book', []])('%j is no object of options', (options) => {
    expect(complaint(() => anySkill(options))).toMatch(/^skill takes an object of options; it got /)
  })
})

describe('agent', () => {
  test.each([null, [], {}, 'book', { book: {} }, { book: run }, { book: undefined }, { '': book }, [book]])(
    'option skills does not take %j',
    (skills) => {
      expect(complaint(() => anyAgent({ ...about, skills }))).toMatch(
        /^agent: option skills takes an object with what skill\(\) made under its id; it got .+$/,
      )
    },
  )

  test('skills and a function as second argument contradict each other', () => {
    expect(complaint(() => anyAgent({ ...about, skills: { book } }, run))).toBe(
      'agent takes skills or a function as its second argument, not both; beside skills the function is the option run',
    )
  })

  test('the function is no option where there are no skills', () => {
    expect(complaint(() => anyAgent({ ...about, run }))).toMatch(/^agent has no option "run"; /)
  })

  test.each(['tags', 'examples'])('option %s belongs to each skill', (option) => {
    expect(complaint(() => anyAgent({ ...about, skills: { book }, [option]: ['a'] }))).toBe(
      `agent: option ${option} belongs to each skill where the agent has skills`,
    )
  })

  test('the other options are checked as ever', () => {
    expect(complaint(() => anyAgent({ ...about, skills: { book }, run: 'done' }))).toMatch(
      /^agent: option run takes the function .+; it got "done"$/,
    )
    expect(complaint(() => anyAgent({ skills: { book }, name: 'Travel' }))).toBe('agent needs the option description: a text')
    expect(complaint(() => anyAgent({ ...about, skills: { book }, skils: {} }))).toMatch(
      /^agent has no option "skils"; it takes .*skills, run$/,
    )
  })

  test('the extension of the schemas is made by nobody else', () => {
    const extensions = [{ uri: 'urn:errand:skill-schemas' }]
    expect(complaint(() => anyAgent({ ...about, skills: { book }, extensions }))).toMatch(
      /^agent: option extensions must not hold urn:errand:skill-schemas/,
    )
  })

  test('what was made cannot be changed, and later changes to the options do not reach it', () => {
    const skills: Record<string, Skill> = { book }
    const made = agent({ ...about, skills })
    skills['other'] = book
    expect(Object.keys(made.skills ?? {})).toEqual(['book'])
    expect([made, made.skills].every(Object.isFrozen)).toBe(true)
  })
})

describe('the card', () => {
  async function cardOf(made: Agent, options: Partial<ServerOptions> = {}): Promise<any> {
    const { fetch } = await openStill(made, options)
    return (await fetch(new Request('http://agent.test/.well-known/agent-card.json'))).json()
  }
  const schema = (extra: object = {}) => ({ type: 'object', properties: { city: { type: 'string' } }, required: ['city'], ...extra })

  test('lists each skill under its id with what it says of itself', async () => {
    const more = { tags: ['stay'], examples: ['Oslo, two nights'], inputModes: ['application/json'], outputModes: ['text/plain'] }
    const card = await cardOf(
      agent({ ...about, skills: { book: skill({ ...info, ...more, run }), other: skill({ ...info, name: 'Other', tags: [], run }) } }),
    )
    expect(card.skills).toEqual([
      { id: 'book', ...info, ...more },
      { id: 'other', name: 'Other', description: info.description, tags: ['other'] },
    ])
    expect(card.capabilities).not.toHaveProperty('extensions')
  })

  test('has the JSON Schemas that the libraries give, or that the author gave', async () => {
    const given = { ...schema(), title: 'Stay' }
    const skills = {
      zod: skill({ ...info, input: z.object({ city: z.string() }), run }),
      arktype: skill({ ...info, input: type({ city: 'string' }), run }),
      valibot: skill({ ...info, input: v.object({ city: v.string() }), run }),
      given: skill({ ...info, input: v.object({ city: v.string() }), inputSchema: given, run }),
      better: skill({ ...info, input: z.object({ city: z.string() }), inputSchema: given, run }),
      unspeakable: skill({ ...info, input: z.object({ at: z.date() }), run }),
      text: book,
    }
    const extensions = [{ uri: 'https://acme.test/x' }]
    const { capabilities } = await cardOf(agent({ ...about, skills, extensions }))
    expect(capabilities.extensions).toHaveLength(2)
    expect(capabilities.extensions[1]).toMatchObject({ uri: 'urn:errand:skill-schemas' })
    const described = capabilities.extensions[1].params.skills
    expect(Object.keys(described)).toEqual(['zod', 'arktype', 'given', 'better'])
    expect(described).toMatchObject({ zod: { input: schema() }, arktype: { input: schema() }, better: { input: given } })
    expect(described.given).toEqual({ input: given })
  })

  test('that has schemas is signed like any other', async () => {
    const keys = await generateKeyPair('ES256', { extractable: true })
    const signing = { key: await exportJWK(keys.privateKey), kid: 'one', alg: 'ES256' } as const
    const made = agent({ ...about, skills: { book: skill({ ...info, input: z.object({ city: z.string() }), run }) } })
    await expect(verifyCard(await cardOf(made, { signing }), () => keys.publicKey)).resolves.toBeDefined()
  })

  test('the extension is one that a caller may activate', async () => {
    const made = agent({ ...about, skills: { book: skill({ ...info, input: z.object({ city: z.string() }), run }) } })
    const { fetch } = await openStill(made)
    const message = { ...userMessage(''), parts: [{ data: { city: 'Oslo' } }] }
    const headers = { 'a2a-extensions': 'urn:errand:skill-schemas, urn:other' }
    const answer = await call(fetch, 'HTTP+JSON', 'SendMessage', { message }, { headers })
    expect(answer.headers.get('a2a-extensions')).toBe('urn:errand:skill-schemas')
  })
})
