/** Compares the runs of each task with each other, and its records with those that were there before. */

import { isFinal } from '../../src/protocol/states.js'
import type { Effects } from './judge-outcomes.js'
import type { Log, LoggedEvent, LoggedRecord, LoggedTask } from './log.js'

const waitKinds: readonly string[] = ['ask', 'authorize', 'wait', 'sleep']

interface RunsOptions {
  readonly before: Log | undefined
  /** Of every run that has begun. */
  readonly epochs: ReadonlyMap<string, number>
  /** Whether the server ended because it was asked to. */
  readonly isOrderly: boolean
}

/** What is wrong with the tasks that are not over, one line each; those that begin with `lost` or `stale` are counted apart. */
export function judgeRuns(log: Log, { before, epochs, isOrderly }: RunsOptions): string[] {
  const found: string[] = []
  const withJob = [...log.tasks.values()].filter(({ hasJob }) => hasJob).length
  if (withJob !== log.jobs) found.push(`there are ${log.jobs} jobs for ${withJob} tasks`)
  for (const task of log.tasks.values()) {
    const earlier = before?.tasks.get(task.id)
    const isOver = isFinal(task.state)
    if (earlier !== undefined && isFinal(earlier.state)) continue
    const lines = [
      ...judgeWriters(task, epochs),
      ...judgeClaim(task),
      ...(isOver ? judgeEnd(task, earlier) : [...judgeRecords(task), ...judgeKept(task, earlier), ...judgeAnswer(task)]),
      ...(isOver ? [] : judgeAttempt(task, earlier)),
      ...(isOrderly && task.holder !== undefined ? ['the server ended in order and still holds it'] : []),
    ]
    found.push(...lines.map((line) => line.replace(/^(lost: |stale: |)/, `$1task ${task.id} "${wordsOf(task)}": `)))
  }
  return found
}

/** The text that made the task. */
export function wordsOf({ events }: LoggedTask): string {
  return JSON.parse(events[0]?.body ?? '{}').task?.history?.[0]?.parts?.[0]?.text?.slice(0, 20) ?? ''
}

/** The run that put an event out: it names itself first, and may hand on what an earlier one has recorded. */
export function runOf(body: string): string | undefined {
  return body.match(/run-[0-9a-f-]{36}/)?.[0]
}

/** A run writes in the epoch that it was begun in: one that writes in a later one had lost its task by then. */
function judgeWriters({ events }: LoggedTask, epochs: ReadonlyMap<string, number>): string[] {
  return events.flatMap(({ seq, epoch, kind, body }) => {
    const run = kind === 'status' || kind === 'artifact' ? runOf(body) : undefined
    if (run === undefined || epochs.get(run) === epoch) return []
    return [`stale: ${run} of epoch ${epochs.get(run)} wrote event ${seq} in epoch ${epoch}`]
  })
}

/** Whoever may go on with a task that nobody holds is told by a job, and only then. */
function judgeClaim({ state, holder, waiting, hasJob }: LoggedTask): string[] {
  const isRunnable = !isFinal(state) && holder === undefined && waiting === undefined
  if (isRunnable === hasJob) return []
  return [isRunnable ? 'it is runnable and has no job' : `it has a job and is ${state}, ${holder ? 'held' : 'waiting'}`]
}

function judgeEnd({ holder, records }: LoggedTask, earlier: LoggedTask | undefined): string[] {
  const found: string[] = []
  if (holder !== undefined) found.push('it has ended and is held')
  if (records.length > 0) found.push(`it has ended and keeps ${records.length} records`)
  if (earlier?.state === 'TASK_STATE_CANCELED') found.push('it went on after it was canceled')
  return found
}

function judgeRecords({ state, turn, waiting, records }: LoggedTask): string[] {
  const found: string[] = []
  const own = records.filter((record) => record.turn === turn)
  const places = own.flatMap(({ n }) => n ?? [])
  if (new Set(places).size < places.length) found.push(`two records have the same place: ${places.join(' ')}`)
  const open = own.filter(({ kind, n }) => n === undefined && waitKinds.includes(kind))
  if (open.length > 1) found.push(`${open.length} waits are open`)
  if (waiting === undefined) return found
  const { kind, key } = waiting
  const expected = kind === 'turn' || kind === 'ask' ? 'TASK_STATE_INPUT_REQUIRED' : 'TASK_STATE_WORKING'
  if (state !== expected) found.push(`it waits for ${kind} and is ${state}`)
  if (kind !== 'turn' && open[0]?.key !== key) found.push(`it waits for ${kind} ${key}, the open record is ${open[0]?.key}`)
  return found
}

/** What was settled stays as it is as long as the turn lasts. */
function judgeKept({ turn, records }: LoggedTask, earlier: LoggedTask | undefined): string[] {
  if (earlier?.turn !== turn) return []
  return settledOf(earlier).flatMap(({ key, n, body }) => {
    const now = records.find((record) => record.turn === turn && record.key === key)
    return now?.body === body && now.n === n ? [] : [`lost: the record ${key} was ${body} and is ${now?.body}`]
  })
}

function settledOf({ turn, records }: LoggedTask): readonly LoggedRecord[] {
  return records.filter((record) => record.turn === turn && record.n !== undefined)
}

/** The last answer that was accepted has reached its question, unless the question was asked again since. */
function judgeAnswer({ turn, events, records }: LoggedTask): string[] {
  const seq = answerOf(events)
  if (seq === undefined) return []
  const has = records.some((record) => record.turn === turn && record.kind === 'ask' && JSON.parse(record.body).answer === seq)
  return has ? [] : [`lost: the answer ${seq} is not in the record of its question`]
}

/** Number of the answer to the last question, if there is one. */
export function answerOf(events: readonly LoggedEvent[]): number | undefined {
  const last = events.findLast(({ kind, state }) => kind === 'answer' || kind === 'turn' || state === 'TASK_STATE_INPUT_REQUIRED')
  return last?.kind === 'answer' ? last.seq : undefined
}

/** Only a process that died with the task at work counts. */
function judgeAttempt({ attempt }: LoggedTask, earlier: LoggedTask | undefined): string[] {
  const most = earlier === undefined ? 0 : earlier.attempt + (wasAtWork(earlier) ? 1 : 0)
  return attempt <= most ? [] : [`its attempt is ${attempt}, and can be ${most} at most`]
}

export function wasAtWork({ holder, waiting }: LoggedTask): boolean {
  return holder !== undefined && waiting === undefined
}

/** Steps that were called again though what came of them was recorded. */
export function judgeCalls(effects: Effects, before: Log | undefined): string[] {
  return effects.calls.flatMap(({ taskId, turn, step }) => {
    const task = before?.tasks.get(taskId)
    const record = task?.records.find((one) => one.turn === turn && one.key === `step:${step}` && one.n !== undefined)
    return record === undefined ? [] : [`task ${taskId}: the step ${step} of turn ${turn} was recorded and was called again`]
  })
}
