/** Compares a log with itself, with the log before it, and with what the clients were told. */

import { isDeepStrictEqual } from 'node:util'
import { isFinal } from '../../src/protocol/states.js'
import { fold } from '../laws/fold.js'
import type { Claim, Ledger, Sent, StreamSeen } from './ledger.js'
import type { Log, LoggedEvent, LoggedTask } from './log.js'

/** What is wrong with the log alone, and what of `before` is no longer in it; one line each. */
export function judgeLog(log: Log, before: Log | undefined): string[] {
  const found: string[] = []
  if (log.integrity !== 'ok') found.push(`the file is damaged: ${log.integrity}`)
  if (!isDeepStrictEqual(log.counters, log.counted))
    found.push(`the counters say ${JSON.stringify(log.counters)}, there are ${JSON.stringify(log.counted)}`)
  for (const task of log.tasks.values()) {
    const earlier = before?.tasks.get(task.id)
    if (earlier !== undefined && earlier.lastSeq === task.lastSeq && earlier.state === task.state) continue
    found.push(...judgeTask(task).map((what) => `task ${task.id}: ${what}`))
  }
  for (const earlier of before?.tasks.values() ?? []) {
    const events = log.tasks.get(earlier.id)?.events
    const kept = earlier.events.every(({ body }, i) => events?.[i]?.body === body)
    if (!kept) found.push(`task ${earlier.id}: events that were there are gone`)
  }
  return found
}

function judgeTask({ events, lastSeq, state, epoch, snapshot }: LoggedTask): string[] {
  const found: string[] = []
  const statuses = events.filter((event) => event.state !== undefined)
  if (events.some(({ seq }, i) => seq !== i + 1)) found.push(`its events are numbered ${events.map(({ seq }) => seq).join(' ')}`)
  if (events.length !== lastSeq) found.push(`it has ${events.length} events, its header says ${lastSeq}`)
  if (statuses.at(-1)?.state !== state) found.push(`its last status is ${statuses.at(-1)?.state}, its header says ${state}`)
  if (events.findIndex(({ kind }) => kind === 'created') !== 0 || events.filter(({ kind }) => kind === 'created').length > 1)
    found.push('it is not created once, at first')
  const end = events.findIndex((event) => event.state !== undefined && isFinal(event.state))
  if (end >= 0 && end !== events.length - 1) found.push(`event ${end + 1} ends it and ${events.length - 1 - end} come after it`)
  if (!isSorted(events.map((event) => event.epoch)) || (events.at(-1)?.epoch ?? 0) > epoch) found.push('its epochs fall')
  const times = statuses.map(({ timestamp }) => timestamp ?? 0)
  if (!isSorted(times) || new Set(times).size < times.length) found.push(`its times do not grow: ${times.join(' ')}`)
  if (snapshot !== undefined && !isDeepStrictEqual(JSON.parse(snapshot.body), foldTo(events, snapshot.seq)))
    found.push(`its snapshot is not the fold of its events to ${snapshot.seq}`)
  return found
}

/** What was acknowledged and is not there, one line each. */
export function judgeClaims(log: Log, claims: readonly Claim[]): string[] {
  return claims.flatMap((claim) => {
    const events = log.tasks.get(claim.taskId)?.events ?? []
    return holds(claim, events)
      ? []
      : [`lost: ${claim.kind} ${claim.seq ?? ''} of ${claim.taskId}: ${JSON.stringify(claim.body)}; the log has ${events.length} events`]
  })
}

function holds(claim: Claim, events: readonly LoggedEvent[]): boolean {
  if (claim.kind === 'event') {
    const body = events[claim.seq - 1]?.body
    return body !== undefined && isDeepStrictEqual(JSON.parse(body), claim.body)
  }
  if (claim.seq !== undefined) return claim.seq <= events.length && isDeepStrictEqual(foldTo(events, claim.seq), claim.body)
  return events.some((_, i) => isDeepStrictEqual(foldTo(events, events.length - i), claim.body))
}

/** Frames that a stream passed over, or gave out of turn, or ended without. */
export function judgeStreams(log: Log, streams: readonly StreamSeen[]): string[] {
  return streams.flatMap(({ taskId, after, seqs, until, isEnded }) => {
    const events = log.tasks.get(taskId)?.events ?? []
    const frames = events.filter(({ seq, kind }) => seq > after && isFrame(kind))
    const expected = frames.slice(0, seqs.length).map(({ seq }) => seq)
    if (!isDeepStrictEqual(expected, seqs))
      return [`a stream of ${taskId} from ${after} gave ${seqs.join(' ')}, the log has ${expected.join(' ')}`]
    const last = events.slice(0, seqs.at(-1) ?? after).findLast(({ state }) => state !== undefined)?.state
    const isOver = last !== undefined && (isFinal(last) || (until === 'rest' && last === 'TASK_STATE_INPUT_REQUIRED'))
    return isEnded && !isOver ? [`a stream of ${taskId} from ${after} ended after ${seqs.at(-1) ?? 'nothing'}, at ${last}`] : []
  })
}

function isFrame(kind: LoggedEvent['kind']): boolean {
  return kind === 'created' || kind === 'status' || kind === 'artifact'
}

/** For the id of each message, the tasks in whose log it stands, once for each time. */
export type Messages = ReadonlyMap<string, readonly string[]>

export function messagesOf(log: Log): Messages {
  const places = new Map<string, string[]>()
  for (const { id, events } of log.tasks.values()) {
    for (const { kind, body } of events) {
      if (kind !== 'created' && kind !== 'turn' && kind !== 'message' && kind !== 'answer') continue
      const frame = JSON.parse(body)
      for (const { messageId } of frame.task?.history ?? [frame.message]) places.set(messageId, [...(places.get(messageId) ?? []), id])
    }
  }
  return places
}

/** Messages that are in the log twice, or not in the task that the answer named, or that nobody sent. */
export function judgeMessages(places: Messages, { sends }: Pick<Ledger, 'sends'>): string[] {
  const unknown = [...places.keys()].filter((id) => !sends.has(id)).map((id) => `message ${id} was sent by nobody`)
  return [...unknown, ...[...sends.values()].flatMap((sent) => judgeMessage(sent, places.get(sent.message.messageId) ?? []))]
}

function judgeMessage({ message, taskId, refused }: Sent, tasks: readonly string[]): string[] {
  if (refused !== undefined && tasks.length > 0) return [`message ${message.messageId} was refused and is in the log of ${tasks.join(' ')}`]
  if (tasks.length > 1) return [`message ${message.messageId} is in the log ${tasks.length} times: ${tasks.join(' ')}`]
  if (taskId !== undefined && tasks[0] !== taskId)
    return [`lost: message ${message.messageId} was accepted by ${taskId}, the log has it in ${tasks[0] ?? 'no task'}`]
  return []
}

function foldTo(events: readonly LoggedEvent[], seq: number): unknown {
  return fold(events.slice(0, seq).map(({ body }) => body))
}

function isSorted(numbers: readonly number[]): boolean {
  return numbers.every((number, i) => i === 0 || number >= (numbers[i - 1] ?? 0))
}
