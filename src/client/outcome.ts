/** How a send ended, in the caller's words. */

import { isFinal } from '../protocol/states.js'
import type { Json, Message, Task, TaskStatus } from '../protocol/wire.js'
import { textOf } from './parts.js'

/** Where a send, or a task that is followed, came to rest. */
export type Ended<Output = Json> =
  | {
      readonly state: 'completed'
      /**
       * What the artifact `result` holds: its data, or its text. Without one, the data of the first artifact that has data, or
       * else the text. The type is what the agent promises; an agent that completes without a result has none to give.
       */
      readonly output: Output
      /** Texts of the artifacts, or of the last status where there are none. */
      readonly text: string
      readonly task: Task
    }
  | { readonly state: 'message'; readonly text: string; readonly message: Message }
  | { readonly state: 'input-required'; readonly prompt: string; readonly task: Task }
  | { readonly state: 'auth-required'; readonly prompt: string; readonly links: readonly string[]; readonly task: Task }
  | { readonly state: 'failed' | 'rejected' | 'canceled'; readonly reason: string; readonly task: Task }

export function endOfMessage(message: Message): Extract<Ended, { state: 'message' }> {
  return { state: 'message', text: textOf(message.parts), message }
}

/** @param task at rest */
export function endOfTask(task: Task): Ended {
  const { state, message } = task.status
  const said = textOf(message?.parts)
  if (state === 'TASK_STATE_COMPLETED') {
    const text = task.artifacts?.length
      ? task.artifacts
          .map(({ parts }) => textOf(parts))
          .filter(Boolean)
          .join('\n')
      : said
    return { state: 'completed', output: resultOf(task) ?? text, text, task }
  }
  if (state === 'TASK_STATE_AUTH_REQUIRED') return { state: 'auth-required', prompt: said, links: linksOf(task.status), task }
  if (!isFinal(state)) return { state: 'input-required', prompt: said, task }
  const ended = state === 'TASK_STATE_FAILED' ? 'failed' : state === 'TASK_STATE_REJECTED' ? 'rejected' : 'canceled'
  return { state: ended, reason: said, task }
}

function resultOf({ artifacts = [] }: Task): Json | undefined {
  const result = artifacts.find(({ artifactId, name }) => artifactId === 'result' || name === 'result')
  for (const { parts } of result ? [result] : artifacts) {
    const found = parts.find(({ data }) => data !== undefined)
    if (found?.data !== undefined) return found.data
  }
  return result && textOf(result.parts)
}

/** Addresses to show to the person, each once; nothing else than http and https is one. */
function linksOf({ message }: TaskStatus): readonly string[] {
  const said = JSON.stringify(message?.parts?.map(({ text, url, data }) => [text, url, data]) ?? '')
  // A backslash is how JSON writes what ends an address in a text.
  const found = said.match(/https?:\/\/[^\s<>"')\]\\]+/g) ?? []
  return [...new Set(found.map((link) => link.replace(/[.,;:!?]+$/, '')))].filter((link) => URL.canParse(link))
}
