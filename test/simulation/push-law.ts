/**
 * Invariant 11, judged as it happens: each configuration is told every event that it has to be told, in order, and again only
 * what nobody has kept the answer to.
 */

import type { Delivery, PushProgress, StoredPushConfig } from '../../src/store/store.js'
import type { TaskEvent } from '../../src/task/event.js'
import type { Life } from './life.js'
import { type Answer, afterAnswer, dueEvents, judgePost, type Place, type PushRules, placeAfter } from './push-reference.js'

/** A configuration as a caller meant it; no two have the same URL, but for one that is sent once more. */
export interface Intent {
  readonly id?: string
  readonly url: string
  readonly token: string
  readonly authentication: { readonly scheme: string; readonly credentials: string }
}

/** What a COMMIT did. */
export type PushFact =
  | { readonly kind: 'written'; readonly taskId: string; readonly events: readonly TaskEvent[] }
  /** `after` is the event that it begins after. */
  | {
      readonly kind: 'made'
      readonly taskId: string
      readonly config: StoredPushConfig
      readonly by: 'send' | 'operation'
      readonly after: number
    }
  | { readonly kind: 'deleted'; readonly taskId: string; readonly id: string }
  | {
      readonly kind: 'advanced'
      readonly taskId: string
      readonly config: StoredPushConfig
      readonly progress: PushProgress
      readonly delivery?: Omit<Delivery, 'configId'>
    }

/** A post that a receiver got. */
export interface Posted {
  readonly line: Line
  readonly number: number
  readonly life: Life
  readonly at: number
  answer?: Answer
  answeredAt?: number
}

interface PostRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** All that was and is of one id of a task. */
export interface Line {
  readonly taskId: string
  readonly id: string
  /** Undefined where it is deleted. */
  place: Place | undefined
  config: StoredPushConfig
  /** The action by which it was made, replaced or deleted last, and the one by which it was deleted last. */
  changedIn: number
  deletedIn: number
  /** The last post whose answer was not kept. */
  open: Posted | undefined
  /** The next post has to be this one, and not before that time. */
  settled: { readonly number: number; readonly body: string } | undefined
  notBefore: number
}

export interface PushLaw {
  take(fact: PushFact): void
  /** A receiver got it. */
  posted(request: PostRequest, life: Life): Posted | undefined
  answered(post: Posted, answer: Answer): void
  /** The server waits for the answer no longer. */
  givenUp(post: Posted): void
  /** A caller is about to ask for it. */
  meant(intent: Intent): void
  line(taskId: string, id: string): Line | undefined
  /** Of the configurations that the task has. */
  idsOf(taskId: string): readonly string[]
  /** Whether one of that URL was ever made. */
  wasMade(url: string): boolean
  atRest(): void
}

interface LawOptions {
  readonly rules: PushRules & { readonly timeoutMs: number; readonly backoffMs: number }
  readonly violate: (what: string) => void
  readonly now: () => number
  /** Number of the action that is under way. */
  readonly action: () => number
}

const longestPauseMs = 60_000

export function createPushLaw({ rules, violate, now, action }: LawOptions): PushLaw {
  const lines = new Map<string, Line>()
  const logs = new Map<string, TaskEvent[]>()
  const meant = new Map<string, { readonly intent: Intent; readonly since: number }>()
  const made = new Set<string>()
  const traces = new Map<string, string>()
  const nameOf = ({ taskId, id }: Pick<Line, 'taskId' | 'id'>) => `the configuration ${id} of task ${taskId}`
  const keyOf = (taskId: string, id: string) => `${taskId}:${id}`
  const logOf = (taskId: string) => logs.get(taskId) ?? []

  function madeBy(fact: Extract<PushFact, { kind: 'made' }>): void {
    const { taskId, config, by, after } = fact
    const key = keyOf(taskId, config.id)
    const before = lines.get(key)
    const { intent, since } = meant.get(config.url) ?? {}
    if (!intent || since === undefined) {
      violate(`nobody asked for the configuration ${config.id} of task ${taskId}`)
      return
    }
    // D24: one that comes inside a send without an id and equals one of the task is that one.
    const twin = [...lines.values()].find(
      (one) => one.taskId === taskId && one.config.url === config.url && one.id !== config.id && one.place && !one.place.isOver,
    )
    if (by === 'send' && twin && twin.changedIn < since) violate(`${nameOf(twin)} was made once more, as ${config.id}`)
    made.add(config.url)
    const goesOn = by === 'send' && before?.place && !before.place.isOver ? before : undefined
    // What the one before had not been told is not lost, and what it was to be told next stays as it was settled.
    const place = goesOn?.place ? placeAfter(goesOn.place.after, goesOn.place.opens) : placeAfter(after, by === 'operation')
    lines.set(key, {
      taskId,
      id: config.id,
      place,
      config,
      changedIn: action(),
      deletedIn: before?.deletedIn ?? -1,
      open: undefined,
      settled: goesOn?.settled,
      notBefore: 0,
    })
  }

  function deleted({ taskId, id }: Extract<PushFact, { kind: 'deleted' }>): void {
    const line = lines.get(keyOf(taskId, id))
    if (!line) return
    line.place = undefined
    line.changedIn = action()
    line.deletedIn = action()
  }

  function advanced({ taskId, config, progress, delivery }: Extract<PushFact, { kind: 'advanced' }>): void {
    const line = lines.get(keyOf(taskId, config.id))
    // The store writes nothing of one that is not this one any more.
    if (!line?.place || line.config.sealed !== config.sealed) return
    const { place, open } = line
    if (!delivery) {
      if (progress.after !== place.after || progress.opens !== place.opens || progress.attempts !== place.attempts)
        violate(`${nameOf(line)} moved on to ${progress.after} without an answer`)
      return
    }
    const { number, attempt, outcome, status, failure } = delivery
    const { answer, answeredAt = 0 } = open?.number === number ? open : {}
    if (!answer) {
      violate(`${nameOf(line)} has kept an answer to ${number} that nobody gave`)
      return
    }
    if (status !== ('status' in answer ? answer.status : undefined) || failure !== ('failure' in answer ? answer.failure : undefined))
      violate(`${nameOf(line)} has kept ${status ?? failure} as the answer to ${number}, and it was ${JSON.stringify(answer)}`)
    const expected = afterAnswer(place, { number, answer, rules })
    if (outcome !== expected.outcome || attempt !== place.attempts + 1)
      violate(`attempt ${attempt} at ${number} of ${nameOf(line)} is ${outcome} and should be ${expected.outcome}, ${place.attempts + 1}`)
    line.place = expected.place
    line.open = undefined
    const pause = Math.min(longestPauseMs, rules.backoffMs * 4 ** place.attempts) / 2
    line.notBefore = expected.outcome === 'failed' ? answeredAt + pause : 0
    if (expected.outcome !== 'failed') line.settled = undefined
  }

  function judgeHeaders(line: Line, { url, headers }: PostRequest): void {
    const { intent } = meant.get(line.config.url) ?? {}
    const expected = {
      'content-type': 'application/a2a+json',
      authorization: `${intent?.authentication.scheme} ${intent?.authentication.credentials}`,
      'x-a2a-notification-token': intent?.token,
    }
    if (url !== line.config.url) violate(`${nameOf(line)} was posted to ${url}`)
    for (const [name, value] of Object.entries(expected))
      if (headers[name] !== value) violate(`${nameOf(line)} was posted with ${name}: ${headers[name]} and not ${value}`)
    const key = headers['idempotency-key'] ?? ''
    const trace = headers['traceparent']?.slice(0, 35) ?? ''
    if ((traces.get(key) ?? trace) !== trace) violate(`${key} was posted in two traces`)
    traces.set(key, trace)
  }

  function answered(post: Posted, answer: Answer): void {
    post.answer = answer
    post.answeredAt = now()
  }

  return {
    take(fact) {
      if (fact.kind === 'written') logs.set(fact.taskId, [...logOf(fact.taskId), ...fact.events])
      else if (fact.kind === 'made') madeBy(fact)
      else if (fact.kind === 'deleted') deleted(fact)
      else advanced(fact)
    },
    posted(request, life) {
      const [taskId = '', id = '', last] = (request.headers['idempotency-key'] ?? '').split(':')
      const number = Number(last)
      const line = lines.get(keyOf(taskId, id))
      if (!line) {
        violate(`${request.headers['idempotency-key']} was posted, and there is no such configuration`)
        return undefined
      }
      const post: Posted = { line, number, life, at: now() }
      // It was on its way when that was committed.
      if (line.changedIn === action() && line.config.url !== request.url) return post
      if (!line.place) {
        if (line.changedIn !== action()) violate(`${nameOf(line)} was posted ${number} after it was deleted`)
        return post
      }
      const { open, settled, place } = line
      if (open?.life === life) violate(`${nameOf(line)} was posted ${number} before the answer to ${open.number} was kept`)
      const wrong = judgePost(place, { number, body: request.body }, { log: logOf(taskId), rules })
      if (wrong !== undefined) violate(`${nameOf(line)}: ${wrong}`)
      if (settled && (settled.number !== number || settled.body !== request.body))
        violate(`${nameOf(line)} was posted ${number}, ${request.body}, where ${settled.number}, ${settled.body}, was to be repeated`)
      if (now() < line.notBefore) violate(`${nameOf(line)} was posted ${number} again ${line.notBefore - now()} ms too early`)
      judgeHeaders(line, request)
      line.settled = { number, body: request.body }
      line.open = post
      return post
    },
    answered,
    givenUp(post) {
      const { line, life, at } = post
      if (now() - at >= rules.timeoutMs) return answered(post, { failure: 'timeout' })
      // Nobody waits for what a configuration is answered that is not there any more, nor for ever while the server closes.
      const isGone = lines.get(keyOf(line.taskId, line.id)) !== line || !line.place
      if (!isGone && life.closingSince === undefined) violate(`${nameOf(line)} was not given the time to answer ${post.number}`)
      if (line.open === post) line.open = undefined
    },
    meant: (intent) => void meant.set(intent.url, { intent, since: action() }),
    line: (taskId, id) => lines.get(keyOf(taskId, id)),
    idsOf: (taskId) => [...lines.values()].filter((line) => line.taskId === taskId && line.place).map(({ id }) => id),
    wasMade: (url) => made.has(url),
    atRest() {
      for (const line of lines.values()) {
        const due = line.place ? dueEvents(line.place, logOf(line.taskId), rules) : []
        if (due.length > 0) violate(`${nameOf(line)} was never told of event ${due[0]?.seq}`)
      }
    },
  }
}
