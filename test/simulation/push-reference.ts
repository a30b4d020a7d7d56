/** What a receiver has to be told, written a second time from D23 and D24, so that one checks the other. */

import { isDeepStrictEqual } from 'node:util'
import type { TaskEvent } from '../../src/task/event.js'
import { fold } from '../laws/fold.js'

/** What the receiver of a configuration knows, as far as the server has kept what it was answered. */
export interface Place {
  /** Number of the newest event that is done with. */
  readonly after: number
  /** The Task as of that number comes first. */
  readonly opens: boolean
  /** Attempts of the next post that failed. */
  readonly attempts: number
  readonly drops: number
  readonly isResting: boolean
  /** It said 410. */
  readonly isOver: boolean
}

export type Answer = { readonly status: number } | { readonly failure: 'connection' | 'timeout' | 'address' }
export type Outcome = 'delivered' | 'failed' | 'dropped' | 'ended'

export interface PushRules {
  /** That a post may have. */
  readonly attempts: number
  readonly coalesce?: 'chunks'
}

export const placeAfter = (after: number, opens: boolean): Place => ({
  after,
  opens,
  attempts: 0,
  drops: 0,
  isResting: false,
  isOver: false,
})

const restStates: readonly (string | undefined)[] = [
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_AUTH_REQUIRED',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
]

/** The events of which each may be the newest in the next post: none, one, or several where chunks are made one. */
export function dueEvents({ after, opens, isResting, isOver }: Place, log: readonly TaskEvent[], rules: PushRules): readonly TaskEvent[] {
  if (isOver) return []
  if (opens) return log.slice(after - 1, after)
  const left = log.slice(after).filter(({ kind }) => kind === 'status' || kind === 'artifact')
  if (isResting) return left.filter(({ state }) => restStates.includes(state)).slice(0, 1)
  if (rules.coalesce === undefined) return left.slice(0, 1)
  const end = left.findIndex((event, place) => place > 0 && !follows(event, left[place - 1]))
  return end < 0 ? left : left.slice(0, end)
}

/** The body of the post whose newest event has this number, parsed. */
export function dueBody({ after, opens, isResting }: Place, log: readonly TaskEvent[], number: number): unknown {
  const bodies = log.slice(0, number).map(({ body }) => body)
  if (opens) return { task: fold(bodies) }
  if (isResting) return JSON.parse(bodies[number - 1] ?? '')
  const [first, ...more] = log.slice(after, number).flatMap((event) => (event.kind === 'artifact' ? updateIn(event) : []))
  const last = more.at(-1)
  if (!last) return JSON.parse(bodies[number - 1] ?? '')
  const parts = [first, ...more].flatMap(({ artifact }) => artifact.parts)
  return { artifactUpdate: { ...first, artifact: { ...first.artifact, parts }, lastChunk: last.lastChunk ?? false } }
}

/** Whether `event` is a chunk that goes on where the one before it ends. */
function follows(event: TaskEvent, before: TaskEvent | undefined): boolean {
  if (event.kind !== 'artifact' || before?.kind !== 'artifact') return false
  const [one, other] = [updateIn(before), updateIn(event)]
  return other.append === true && one.lastChunk !== true && one.artifact.artifactId === other.artifact.artifactId
}

function updateIn({ body }: TaskEvent): any {
  return JSON.parse(body).artifactUpdate
}

/** What comes of an attempt at the post of that number. */
export function afterAnswer(
  place: Place,
  { number, answer, rules }: { readonly number: number; readonly answer: Answer; readonly rules: PushRules },
): { readonly outcome: Outcome; readonly place: Place } {
  const attempts = place.attempts + 1
  const next: Place = { ...placeAfter(number, false), isResting: place.isResting }
  if (isIn(answer, 200, 299)) return { outcome: 'delivered', place: { ...next, isResting: false } }
  if (isIn(answer, 410)) return { outcome: 'ended', place: { ...next, isOver: true } }
  if (!isForGood(answer) && attempts < rules.attempts) return { outcome: 'failed', place: { ...place, attempts } }
  const drops = place.drops + 1
  return { outcome: 'dropped', place: { ...next, drops, isResting: place.isResting || drops >= 5 } }
}

/** Another attempt would be answered the same. */
function isForGood(answer: Answer): boolean {
  if ('failure' in answer) return answer.failure === 'address'
  return isIn(answer, 400, 499) && ![404, 408, 425, 429].includes(answer.status)
}

function isIn(answer: Answer, from: number, to = from): answer is { readonly status: number } {
  return 'status' in answer && from <= answer.status && answer.status <= to
}

/** What is wrong with a post for somebody who is at `place`; undefined where nothing is. */
export function judgePost(
  place: Place,
  { number, body }: { readonly number: number; readonly body: string },
  { log, rules }: { readonly log: readonly TaskEvent[]; readonly rules: PushRules },
): string | undefined {
  const due = dueEvents(place, log, rules).map(({ seq }) => seq)
  if (!due.includes(number)) return `event ${number} was posted where ${due.join(' or ') || 'nothing'} was due`
  if (!isDeepStrictEqual(JSON.parse(body), dueBody(place, log, number)))
    return `what was posted as ${number} is not what the log has: ${body}`
  return undefined
}
