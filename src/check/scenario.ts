/** Which message leads an agent into which state. */

import type { World } from '../support/world.js'
import { brief, isMembers, type Members } from './json.js'

/** What a check may ask of an agent. `answer` ends what `inputRequired` began; `delayed` works for some seconds, `working` until it is canceled. */
export const prompts = [
  'complete',
  'artifact',
  'chunks',
  'working',
  'delayed',
  'inputRequired',
  'answer',
  'authRequired',
  'rejected',
  'failed',
  'message',
] as const
export type Prompt = (typeof prompts)[number]

/** The message of a prompt: texts, parts, or members of the message itself. */
type Wording = string | { readonly parts: readonly unknown[] } | { readonly message: Members }

export interface Scenario {
  /** A message of a fresh id; undefined where nothing is known to lead there. */
  message(prompt: Prompt, more?: Members): Members | undefined
}

/** Of the public test kits: the prefix of the message id, and that of the first text. Both at once, as each looks at one of them. */
const signals: Readonly<Record<Prompt, readonly [id: string, text: string]>> = {
  complete: ['tck-complete-task', 'tck-complete-task'],
  artifact: ['tck-artifact-text', 'tck-artifact-text'],
  chunks: ['tck-stream-artifact-chunked', 'tck-stream-chunked'],
  working: ['test-resubscribe-message-id', 'tck-cancel'],
  delayed: ['tck-delayed-complete', 'tck-long-running'],
  inputRequired: ['tck-input-required', 'tck-multi-turn'],
  answer: ['tck-complete-task', 'done'],
  authRequired: ['tck-auth-required', 'tck-auth-required'],
  rejected: ['tck-reject-task', 'tck-reject-task'],
  failed: ['tck-task-failure', 'tck-task-failure'],
  message: ['tck-message-response', 'tck-message-response'],
}

/** Eight hexadecimal digits. */
export function freshId(world: World): string {
  return Array.from(world.randomBytes(4), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** The signals of the public kits. */
export function signalScenario(world: World): Scenario {
  return {
    message(prompt, more = {}) {
      const [id, text] = signals[prompt]
      const fresh = freshId(world)
      return { messageId: `${id}-${fresh}`, role: 'ROLE_USER', parts: [{ text: `${text} ${fresh}` }], ...more }
    },
  }
}

/**
 * A scenario from a file: `{ "inputRequired": "Find me a venue", "failed": { "parts": […] } }`.
 *
 * @throws {TypeError} for a prompt that there is not, or one that is no message
 */
export function scenarioOf(given: unknown, world: World): Scenario {
  if (!isMembers(given)) throw new TypeError(`a scenario is an object from prompt to message; it got ${brief(given, 40)}`)
  for (const [name, wording] of Object.entries(given)) {
    if (!prompts.some((one) => one === name)) throw new TypeError(`a scenario has no prompt ${brief(name)}; it has ${prompts.join(', ')}`)
    if (!isWording(wording))
      throw new TypeError(`the prompt ${name} takes a text, or an object with parts or message; it got ${brief(wording, 40)}`)
  }
  return {
    message(prompt, more = {}) {
      const wording = given[prompt]
      // An agent that is told nothing in particular does something; that is enough of a task.
      if (wording === undefined && prompt !== 'complete') return undefined
      const head = { messageId: freshId(world), role: 'ROLE_USER' }
      // Checked above.
      const known = (wording ?? 'Hello.') as Wording
      if (typeof known === 'string') return { ...head, parts: [{ text: known }], ...more }
      return 'message' in known ? { ...head, ...known.message, ...more } : { ...head, parts: known.parts, ...more }
    },
  }
}

function isWording(value: unknown): value is Wording {
  if (typeof value === 'string') return value.trim() !== ''
  if (!isMembers(value) || Object.keys(value).length !== 1) return false
  const { parts, message } = value
  return Array.isArray(parts) ? parts.length > 0 : isMembers(message) && Array.isArray(message['parts'])
}
