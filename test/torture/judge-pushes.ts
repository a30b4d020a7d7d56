/**
 * Invariant 11: compares what each receiver of pushes got with what the store has kept of it, and both with what it had to be
 * told by D23 and D24.
 */

import { isFinal } from '../../src/protocol/states.js'
import { type Answer, afterAnswer, dueEvents, judgePost, type Place, type PushRules, placeAfter } from '../simulation/push-reference.js'
import type { Ledger, PushAsked } from './ledger.js'
import type { Log, LoggedDelivery, LoggedPush, LoggedTask } from './log.js'
import type { ReceivedPost } from './receivers.js'

export interface PushJudge {
  /** Posts that were made, and those of them that were made again because nobody had kept what they were answered. */
  readonly counts: { pushes: number; repeated: number }
  /**
   * What is wrong, one line each.
   *
   * @param posts that the server made since the last time
   */
  judge(log: Log, posts: readonly ReceivedPost[]): string[]
  /** Configurations that were not told everything though nothing kept the server from it. */
  judgeEnd(log: Log): string[]
}

/** Of a configuration, when it was judged last. */
interface Known {
  /** Deliveries that were kept. */
  readonly kept: number
  /** Number of the last post, where nobody kept what it was answered. */
  readonly open: number | undefined
  readonly isOver: boolean
}

interface Post extends ReceivedPost {
  readonly key: string
  readonly number: number
}

export function createPushJudge({ pushes: asked, sends }: Pick<Ledger, 'pushes' | 'sends'>, rules: PushRules): PushJudge {
  const counts = { pushes: 0, repeated: 0 }
  const known = new Map<string, Known>()
  const bodies = new Map<string, string>()
  /** The deletions that were confirmed before this server began. */
  const deleted = new Set<string>()

  function judge(log: Log, received: readonly ReceivedPost[]): string[] {
    const posts = new Map<string, Post[]>()
    for (const post of received.map(postOf)) posts.set(post.path, [...(posts.get(post.path) ?? []), post])
    counts.pushes += received.length
    const found: string[] = []
    const there = new Set<string>()
    for (const task of log.tasks.values()) {
      for (const push of task.pushes) {
        const path = new URL(push.url).pathname
        there.add(path)
        found.push(...judgeOne(task, push, posts.get(path) ?? []).map((what) => `${path} of task ${task.id}: ${what}`))
      }
    }
    for (const [path, own] of posts) {
      const one = askedAt(path)
      found.push(...own.flatMap((post) => judgeRequest(post, one)))
      if (one?.state === 'deleting' || one?.state === 'deleted') {
        if (deleted.has(path)) found.push(`${path} was posted ${own.map(({ number }) => number)} after it had been deleted`)
      } else if (!there.has(path)) found.push(`${path} was posted, and there is no such configuration`)
    }
    found.push(...judgeAsked(there))
    for (const one of asked.values()) if (one.state === 'deleted') deleted.add(pathOf(one))
    return found
  }

  const askedAt = (path: string) => [...asked.values()].find((one) => pathOf(one) === path)

  function judgeAsked(there: ReadonlySet<string>): string[] {
    const bringers = new Map([...sends.values()].flatMap((sent) => (sent.push ? [[sent.push, sent] as const] : [])))
    return [...asked.values()].flatMap((one) => {
      const path = pathOf(one)
      if (one.state === 'accepted' && !there.has(path)) return [`lost: the push configuration ${path} was accepted`]
      if (one.state === 'deleted' && there.has(path)) return [`the push configuration ${path} was deleted and is there`]
      if (bringers.get(one)?.refused !== undefined && there.has(path))
        return [`the push configuration ${path} came with a message that was refused`]
      return []
    })
  }

  function judgeRequest({ key, headers, body, path }: Post, one: PushAsked | undefined): string[] {
    const found: string[] = []
    const expected = {
      'content-type': 'application/a2a+json',
      'x-a2a-notification-token': one?.token,
      authorization: one?.credentials && `Bearer ${one.credentials}`,
    }
    for (const [name, value] of Object.entries(expected))
      if (headers[name] !== value) found.push(`${path} was posted with ${name}: ${headers[name]}, and not ${value}`)
    if ((bodies.get(key) ?? body) !== body) found.push(`${key} was posted as ${bodies.get(key)} and then as ${body}`)
    bodies.set(key, body)
    return found
  }

  function judgeOne(task: LoggedTask, push: LoggedPush, posts: readonly Post[]): string[] {
    const one = asked.get(push.url)
    if (!one) return ['nobody asked for it']
    const { kept, open, isOver } = known.get(push.url) ?? { kept: 0, open: undefined, isOver: false }
    if (isOver && posts.length === 0) return []
    const beginning = beginningOf(task, push, one)
    if (typeof beginning === 'string') return [beginning]
    const found: string[] = []
    // Where it was before each delivery, and after the last.
    const places = [beginning]
    for (const { number, attempt, outcome, answer } of push.deliveries) {
      const place = places.at(-1) ?? beginning
      const due = dueEvents(place, task.events, rules).map(({ seq }) => seq)
      if (!due.includes(number)) found.push(`an answer to ${number} was kept where ${due.join(' or ') || 'nothing'} was due`)
      const next = afterAnswer(place, { number, answer, rules })
      if (outcome !== next.outcome || attempt !== place.attempts + 1)
        found.push(
          `attempt ${attempt} at ${number}, ${JSON.stringify(answer)}, is ${outcome} and has to be ${next.outcome}, ${place.attempts + 1}`,
        )
      places.push(next.place)
    }
    found.push(...judgeProgress(task, push, places.at(-1) ?? beginning))
    if (found.length > 0) return found
    if (open !== undefined && posts[0]?.number === open) counts.repeated++
    const left = matched({ deliveries: push.deliveries.slice(kept), places: places.slice(kept), posts, task })
    const isSilent = posts.length === 0 && kept === push.deliveries.length
    known.set(push.url, {
      kept: push.deliveries.length,
      open: isSilent ? open : left?.number,
      isOver: push.progress.state === 'ended',
    })
    if (left !== undefined) return found
    const told = posts.map(({ number, status }) => `${number}: ${status}`).join(', ')
    const since = push.deliveries.slice(kept).map(({ number, answer }) => `${number}: ${textOf(answer)}`)
    return [
      `its receiver got ${told || 'nothing'}, what was kept is ${since.join(', ') || 'nothing'}, and ${due(places, task)} was due at last`,
    ]
  }

  function due(places: readonly Place[], { events }: LoggedTask): string {
    const last = places.at(-1)
    return (
      (last &&
        dueEvents(last, events, rules)
          .map(({ seq }) => seq)
          .join(' or ')) ||
      'nothing'
    )
  }

  interface Fitting {
    readonly deliveries: readonly LoggedDelivery[]
    readonly places: readonly Place[]
    readonly posts: readonly Post[]
    readonly task: LoggedTask
  }

  /**
   * Whether each answer that was kept is one that the receiver gave, in order, and each post but the last one was answered and
   * kept. An attempt without an answer may have reached the receiver or not.
   */
  function matched({ deliveries, places, posts, task }: Fitting): { readonly number: number | undefined } | undefined {
    const isRight = (place: Place | undefined, post: Post | undefined) =>
      place !== undefined && post !== undefined && judgePost(place, post, { log: task.events, rules }) === undefined
    let reached = new Set([0])
    for (const [at, { number, answer }] of deliveries.entries()) {
      const isUnanswered = 'failure' in answer
      const next = new Set<number>()
      for (const seen of reached) {
        const post = posts[seen]
        const isIt = post?.number === number && isRight(places[at], post)
        if (isUnanswered) next.add(seen)
        if (isIt && (isUnanswered || post.status === answer.status)) next.add(seen + 1)
      }
      reached = next
    }
    if (reached.has(posts.length)) return { number: undefined }
    const last = posts.at(-1)
    return reached.has(posts.length - 1) && isRight(places.at(-1), last) ? { number: last?.number } : undefined
  }

  /** D24: after the message that brought it, or with the task as it was when it was made. */
  function beginningOf(task: LoggedTask, { progress, deliveries }: LoggedPush, one: PushAsked): Place | string {
    if (one.taskId !== undefined) {
      if (one.taskId !== task.id) return `it was asked for task ${one.taskId}`
      return placeAfter(progress.opens ? progress.after : (deliveries[0]?.number ?? progress.after), true)
    }
    const sent = [...sends.values()].find(({ push }) => push === one)
    const message = task.events.find(
      ({ kind, body }) => kind !== 'status' && kind !== 'artifact' && messageIdIn(body) === sent?.message.messageId,
    )
    return message ? placeAfter(message.seq, false) : 'the message that brought it is not in the log'
  }

  return {
    counts,
    judge,
    judgeEnd: (log) =>
      [...log.tasks.values()].flatMap(({ id, pushes }) =>
        pushes
          .filter(({ progress }) => progress.state !== 'ended')
          .map(({ url, progress }) => `${url} of task ${id} was not told everything: ${JSON.stringify(progress)}`),
      ),
  }
}

function judgeProgress({ state, lastSeq }: LoggedTask, { progress }: LoggedPush, place: Place): string[] {
  const isOver = place.isOver || (isFinal(state) && !place.opens && place.after >= lastSeq)
  const expected = {
    after: place.after,
    opens: place.opens,
    attempts: place.attempts,
    drops: place.drops,
    state: isOver ? 'ended' : place.isResting ? 'resting' : 'active',
  }
  const isEqual = JSON.stringify(progress) === JSON.stringify(expected)
  return isEqual ? [] : [`it stands at ${JSON.stringify(progress)}, and by what was kept at ${JSON.stringify(expected)}`]
}

function postOf(post: ReceivedPost): Post {
  const key = post.headers['idempotency-key'] ?? ''
  return { ...post, key, number: Number(key.split(':').at(-1)) }
}

function textOf(answer: Answer): string {
  return 'status' in answer ? String(answer.status) : answer.failure
}

function pathOf({ url }: PushAsked): string {
  return new URL(url).pathname
}

function messageIdIn(body: string): string | undefined {
  const { task, message } = JSON.parse(body)
  return (message ?? task?.history?.[0])?.messageId
}
