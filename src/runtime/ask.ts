/** `task.ask`: a question to the caller, within a turn. */

import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Json, Message, Part } from '../protocol/wire.js'
import { durationMs } from '../support/duration.js'
import { jsonText } from '../support/json-text.js'
import { checkOptions, isText, type OptionRule } from '../support/options.js'
import { checkWhole } from '../support/whole-text.js'
import type { World } from '../support/world.js'
import { copyParts, type PartLike, toSomeParts } from './output.js'
import type { AskBody, Reason } from './record-bodies.js'
import { AnswerSchemaError, reasonOf, WaitTimeoutError } from './run-errors.js'
import type { Draft } from './run-writer.js'
import { isSchema, type Problem, validate } from './schema.js'
import { timeRule } from './steps.js'
import type { WaitOptions } from './task.js'
import { textOf } from './turn.js'
import type { WaitKeys } from './wait-keys.js'
import type { Opening, Wait } from './waits.js'

interface AskNeeds {
  readonly world: World
  readonly keys: WaitKeys
  /** The message that an event of the task carries. */
  readonly messageAt: (seq: number) => Promise<Message>
}

export interface AskOptions extends WaitOptions {
  readonly schema?: StandardSchemaV1
}

const rules: Readonly<Record<keyof AskOptions, OptionRule>> = {
  schema: { takes: 'a schema of a library that speaks Standard Schema, such as zod', ok: isSchema },
  timeout: timeRule,
  key: { takes: 'a text', ok: isText },
}

/** @throws {TypeError} for a wrong prompt or option */
export function askWait(prompt: PartLike, options: AskOptions, { world, keys, messageAt }: AskNeeds): Wait<unknown> {
  const parts = copyParts(toSomeParts('task.ask', prompt))
  checkOptions('task.ask', options, rules)
  const timeoutMs = options.timeout === undefined ? undefined : durationMs(options.timeout, 'task.ask: timeout')
  const { schema } = options
  const question = parts.map(wordsOf).join('\n')
  let asked = 0

  const open = (draft: Draft, said: readonly Part[]): Opening => {
    const id = draft.status('TASK_STATE_INPUT_REQUIRED', said)
    asked++
    const body: AskBody = { asked }
    const due = timeoutMs === undefined ? undefined : world.now() + timeoutMs
    return { waiting: { ...(id !== undefined && { question: id }), ...(due !== undefined && { due }) }, body: JSON.stringify(body) }
  }

  return {
    kind: 'ask',
    key: keys.key('ask', question, options.key),
    prepare: async () => (draft) => open(draft, parts),
    async judge(body) {
      const { answer } = body as { readonly answer: number } // What accepting a message writes into an open question.
      if (!schema) return { settled: { answer } satisfies AskBody }
      const verdict = await judgeMessage(schema, await messageAt(answer))
      if ('error' in verdict) return { settled: { answer, error: verdict.error } satisfies AskBody }
      if (!verdict.fits) return { again: (draft) => open(draft, [...parts, { text: complaint(verdict.problems) }]) }
      return { settled: { answer, value: verdict.value } satisfies AskBody }
    },
    overdue: { timeout: true } satisfies AskBody,
    async read(given) {
      const body = given as AskBody // Only this file writes it.
      if ('timeout' in body) throw new WaitTimeoutError(`an answer to ${JSON.stringify(question)} within ${options.timeout}`)
      if ('value' in body) return body.value
      if ('error' in body) throw new AnswerSchemaError(body.error.message)
      if (!('answer' in body)) throw new Error('a question that is open was taken for one that is answered')
      const message = await messageAt(body.answer)
      return { message, text: textOf(message) }
    },
  }
}

type Judged = { readonly fits: true; readonly value: Json } | { readonly fits: false; readonly problems: readonly Problem[] }

/** The data part of an answer must fit, or where it has none its text, as it is or as JSON. */
async function judgeMessage(schema: StandardSchemaV1, message: Message): Promise<Judged | { readonly error: Reason }> {
  let first: Judged | undefined
  for (const candidate of candidates(message)) {
    try {
      const verdict = await validate(schema, candidate)
      if (verdict.fits) return { fits: true, value: toJson(verdict.value) }
      checkWhole('what the schema says of an answer', verdict.problems)
      first ??= verdict
    } catch (error) {
      return { error: reasonOf(error) }
    }
  }
  return first ?? { fits: false, problems: [{ path: '', description: 'the message has neither data nor text' }] }
}

function candidates(message: Message): readonly unknown[] {
  const data = message.parts.find((part) => part.data !== undefined)
  if (data) return [data.data]
  const text = textOf(message)
  if (text === '') return []
  try {
    return [text, JSON.parse(text)]
  } catch {
    return [text]
  }
}

/** What a rerun gets is what the first run gets: the value as JSON keeps it. */
function toJson(value: unknown): Json {
  const text = jsonText(value, 'what the schema of task.ask makes of an answer')
  if (text === undefined) throw new TypeError('the schema of task.ask makes of an answer what is no JSON value; an answer must be recorded')
  // Parsed from JSON.
  return JSON.parse(text) as Json
}

function complaint(problems: readonly Problem[]): string {
  return `That answer does not fit: ${problems.map(({ path, description }) => (path === '' ? description : `${path}: ${description}`)).join('; ')}`
}

function wordsOf(part: Part): string {
  return part.text ?? part.url ?? (part.data === undefined ? 'a file' : JSON.stringify(part.data))
}
