/**
 * Half of a character, as `slice` leaves it of an emoji, has no UTF-8. Whatever an author puts out, asks, records or
 * remembers is refused with it, by an error that names the place, and nobody is sent any of it.
 */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  agent,
  artifact,
  chunk,
  completed,
  failed,
  inputRequired,
  type Json,
  type Run,
  rejected,
  type TaskHandle,
  working,
} from '../../src/index.js'
import { jsonText } from '../../src/support/json-text.js'
import { isText } from '../../src/support/options.js'
import { begin, getTask, openStill, until } from './kit.js'

const half = `cut ${'\u{1f600}'.slice(0, 1)}`
const info = { name: 'Test', description: 'Does what the test says.' }
const link = { callback: () => 'https://consent.example/' }

const yielding = (make: (task: TaskHandle) => unknown): Run =>
  async function* (task) {
    // What a run may yield, made when it runs.
    yield make(task) as string
  }
const doing = (make: (task: TaskHandle) => unknown): Run => {
  return async (task) => {
    await make(task)
    return 'done'
  }
}

const doors: readonly [string, Run, RegExp][] = [
  ['a text that is returned', () => half, /a text holds half of a character: "cut \\ud83d"/],
  [
    'data that is returned',
    () => ({ rooms: [{ name: half }] }),
    /a part holds half of a character at \.data\.rooms\[0\]\.name: "cut \\ud83d"/,
  ],
  ['a name in data', () => ({ 'a b': { [half]: 1 } }), /at \.data\["a b"\]\["cut \\ud83d"\]/],
  ['a note at the end', () => completed(half), /a text holds/],
  ['a result at the end', () => completed('Done.', { a: half }), /at \.data\.a/],
  ['a reason', () => failed(half), /a text holds/],
  ['a reason to decline', () => rejected(half), /a text holds/],
  ['a prompt that ends the turn', () => inputRequired(half), /a text holds/],
  ['a text that is yielded', yielding(() => half), /a text holds/],
  ['a note', yielding(() => working(half)), /a text holds/],
  ['a text of an artifact', yielding(() => artifact('a', ['x', half])), /a text holds/],
  ['data of an artifact', yielding(() => artifact('a', { data: [half] })), /at \.data\[0\]/],
  ['metadata of a part', yielding(() => chunk('a', { text: 'x', metadata: { by: half } })), /at \.metadata\.by/],
  ['the name of a file', yielding(() => chunk('a', { text: 'x', filename: half })), /at \.filename/],
  ['the name of an artifact', yielding(() => artifact(half, 'x')), /name holds/],
  ['the id of an artifact', yielding(() => chunk('a', 'x', { id: half })), /option id takes a text; it got "cut \\ud83d"/],
  ['the description of an artifact', yielding(() => artifact('a', 'x', { description: half })), /option description takes a text/],
  [
    'what a step gives',
    doing((task) => task.step('s', () => ({ a: [half] }))),
    /the step "s" failed: .+ holds half of a character at \.a\[0\]/,
  ],
  ['the key of a step', doing((task) => task.step(half, () => 1)), /task\.step takes the key.+ it got "cut \\ud83d"/],
  ['a chunk of a stream', (task) => task.stream('a', () => [half]), /a text holds/],
  ['the name of a stream', (task) => task.stream(half, () => ['x']), /task\.stream takes the name/],
  ['the key of a stream', (task) => task.stream('a', () => ['x'], { key: half }), /option key takes/],
  ['a question', doing((task) => task.ask(half)), /a text holds/],
  ['the key of a question', doing((task) => task.ask('A?', { key: half })), /option key takes/],
  ['the name of a signal', doing((task) => task.wait(half)), /task\.wait takes the name/],
  ['the key of a sleep', doing((task) => task.sleep(1, { key: half })), /option key takes/],
  [
    'the prompt of a consent',
    doing((task) => task.authorize({ ...link, prompt: half })),
    /option prompt takes a text; it got "cut \\ud83d"/,
  ],
  [
    'a value of the context',
    doing((task) => task.context.set('k', { a: half })),
    /context\.set\("k", …\) holds half of a character at \.a/,
  ],
  ['a key of the context', doing((task) => task.context.set(half, 1)), /the key of context\.set\(.+\) holds half of a character/],
]

describe('the author is told where it stands, and the caller gets none of it:', () => {
  test.each(doors)('%s', async (_, run, says) => {
    const { fetch, lines } = await openStill(agent(info, run))
    const id = await begin(fetch, 'go')
    await until(async () => (await getTask(fetch, id)).status.state === 'TASK_STATE_FAILED')
    const errors = lines.filter(({ level }) => level === 'error').map(({ fields }) => String(fields['error']))
    expect(errors).toEqual([expect.stringMatching(says)])
    const told = JSON.stringify(await getTask(fetch, id))
    expect(told).not.toMatch(/\\ud83d/)
    expect(told).toContain('The agent failed because of an internal error.')
  })
})

test('a value or name of a signal is refused, and the task waits on', async () => {
  const { server, fetch } = await openStill(agent(info, (task) => task.wait('paid')))
  const id = await begin(fetch, 'go')
  await expect(server.signal(id, 'paid', { by: half })).rejects.toThrow(
    /^signal\(…, "paid", …\) holds half of a character at \.by: "cut \\ud83d"/,
  )
  await expect(server.signal(id, half, 1)).rejects.toThrow(/the name of the signal second, a text; it got "cut \\ud83d"/)
  await server.signal(id, 'paid', 'yes')
  await until(async () => (await getTask(fetch, id)).status.state === 'TASK_STATE_COMPLETED')
})

test('a JSON value is refused exactly where it holds half of a character, and by its place', () => {
  const unit = fc.constantFrom('a', 'é', '\u{1f600}', '\ud83d', '\ude00', '\\ud83d', '"', '\\')
  const text = fc.string({ unit, maxLength: 6 })
  const { value } = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      text,
      fc.integer(),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(text, tie('value'), { maxKeys: 3 }),
    ),
  }))
  const isWhole = (one: unknown): boolean => {
    if (typeof one === 'string') return !/\p{Surrogate}/u.test(one)
    return typeof one !== 'object' || one === null || Object.entries(one).every((entry) => entry.every(isWhole))
  }
  fc.assert(
    fc.property(value, (one) => {
      if (isWhole(one)) expect(jsonText(one)).toBe(JSON.stringify(one))
      else expect(() => jsonText(one, 'this')).toThrow(/^this holds half of a character( at [.[].*)?: ".*\\ud[8-f].{2}"\. /)
    }),
    { numRuns: 2_000 },
  )
})

test('a text that is an option, a name or a key is whole', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(isText(`x${text}`)).toBe(true)
    }),
  )
  for (const text of ['\ud83d', 'x\ud83d', '\ude00x', '\ude00\ud83d']) expect(isText(text)).toBe(false)
})
