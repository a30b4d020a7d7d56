/** Random histories of a task that every agent could have made. */

import fc from 'fast-check'
import type { Part, TaskState } from '../../src/protocol/wire.js'
import type { NewEvent } from '../../src/task/event.js'
import {
  agentMessage,
  artifact,
  authRequired,
  type Chunk,
  failed,
  inputRequired,
  moved,
  type Named,
  rejected,
  said,
  submitted,
  working,
} from './kit.js'

/** One thing that happens to a task, before it is known what the task is by then. */
export type Step =
  | { readonly does: 'report' | 'ask' | 'authorize'; readonly text: string | undefined; readonly laterMs: number }
  | { readonly does: 'say'; readonly text: string; readonly laterMs: number }
  | {
      readonly does: 'produce'
      readonly which: number
      readonly parts: readonly Part[]
      readonly append: boolean
      readonly lastChunk: boolean
    }

const text = fc.oneof(fc.string({ maxLength: 20 }), fc.string({ unit: 'binary', maxLength: 8 }))
const later = fc.integer({ min: 1, max: 5_000 })

const part: fc.Arbitrary<Part> = fc.oneof(
  text.map((value) => ({ text: value })),
  fc
    .dictionary(fc.constantFrom('a', 'é', 'toString', ''), fc.oneof(fc.integer(), text, fc.constant(null)))
    .map((value) => ({ data: value })),
  fc.uint8Array({ maxLength: 6 }).map((bytes) => ({ raw: Buffer.from(bytes).toString('base64') })),
)

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ does: fc.constantFrom('report', 'ask', 'authorize'), text: fc.option(text, { nil: undefined }), laterMs: later }),
  fc.record({ does: fc.constant('say'), text, laterMs: later }),
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant('produce'),
      which: fc.integer({ min: 1, max: 3 }),
      parts: fc.array(part, { minLength: 1, maxLength: 3 }),
      append: fc.boolean(),
      lastChunk: fc.boolean(),
    }),
  },
)

/** Histories of up to `maxSteps` steps, about half of which end. */
export function histories(maxSteps: number): fc.Arbitrary<{ readonly steps: readonly Step[]; readonly end: TaskState | undefined }> {
  const end = fc.constantFrom<(TaskState | undefined)[]>(
    undefined,
    undefined,
    'TASK_STATE_COMPLETED',
    'TASK_STATE_FAILED',
    'TASK_STATE_CANCELED',
    rejected,
  )
  return fc.record({ steps: fc.array(step, { maxLength: maxSteps, size: 'max' }), end })
}

const reached = { report: working, ask: inputRequired, authorize: authRequired } as const

/** The events of `history` for `task`, which began at `startedAt`: one list for each transaction. */
export function eventsOf(
  task: Named,
  history: { readonly steps: readonly Step[]; readonly end: TaskState | undefined },
  startedAt: number,
) {
  const writes: NewEvent[][] = []
  const open = new Map<string, boolean>()
  const now: { state: TaskState; at: number } = { state: submitted, at: startedAt }
  const move = (to: TaskState, words: string | undefined) => {
    now.state = to
    now.at++
    return moved(task, to, now.at, words === undefined ? undefined : agentMessage(task, words))
  }
  const produce = (chunk: Chunk) => {
    // Only an artifact that is there and not closed can be appended to (protocol, section 3).
    const append = chunk.append === true && open.get(chunk.artifactId) === true
    open.set(chunk.artifactId, chunk.lastChunk !== true)
    return artifact(task, { ...chunk, append })
  }
  for (const step of history.steps) {
    if (step.does !== 'produce') now.at += step.laterMs
    if (step.does === 'produce') writes.push([produce({ ...step, artifactId: `artifact ${step.which}` })])
    else if (step.does !== 'say') writes.push([move(reached[step.does], step.text ?? (step.does === 'report' ? undefined : 'which?'))])
    else if (now.state === inputRequired || now.state === authRequired)
      writes.push([said(task, step.laterMs % 2 === 0 ? 'turn' : 'answer', step.text), move(working, undefined)])
    else writes.push([said(task, 'message', step.text)])
  }
  // Only a task that has not begun can be declined (D10).
  if (history.end !== undefined) writes.push([move(history.end === rejected && now.state !== submitted ? failed : history.end, 'done')])
  return writes
}
