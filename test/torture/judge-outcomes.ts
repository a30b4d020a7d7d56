/** What has to come of each task, by the word that made it: compared with its log and with what the service outside has seen. */

import { existsSync, readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { fold } from '../laws/fold.js'
import { answerOf, runOf, wasAtWork, wordsOf } from './judge-runs.js'
import type { Ledger } from './ledger.js'
import type { Log, LoggedTask } from './log.js'

/** What the service outside has seen. */
export interface Effects {
  /** Lines read so far. */
  readonly lines: number
  /** Calls that are new since the last reading. */
  readonly calls: readonly Call[]
  /** The idempotency keys that each step came with. */
  readonly keys: ReadonlyMap<string, ReadonlySet<string>>
  /** What the service did for each key. */
  readonly values: ReadonlyMap<string, string>
}

interface Call {
  readonly taskId: string
  readonly turn: number
  readonly step: string
}

/** @param file that `effects.mjs` writes */
export function readEffects(file: string, from = 0): Effects {
  const keys = new Map<string, Set<string>>()
  const values = new Map<string, string>()
  const calls: Call[] = []
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
  for (const [index, line] of lines.entries()) {
    const [word, key = '', second = '', turn, step = ''] = line.split(' ')
    if (word === 'done') values.set(key, second)
    if (word !== 'call') continue
    const place = `${second} ${turn} ${step}`
    keys.set(place, (keys.get(place) ?? new Set()).add(key))
    if (index >= from) calls.push({ taskId: second, turn: Number(turn), step })
  }
  // The last one may still be written to.
  return { lines: lines.length - 1, calls, keys, values }
}

interface OutcomeOptions {
  readonly before: Log | undefined
  readonly effects: Effects
  readonly ledger: Pick<Ledger, 'signals'>
}

/** Tasks that have ended since `before`, and not as they should; one line each. */
export function judgeOutcomes(log: Log, options: OutcomeOptions): string[] {
  const { before, effects } = options
  const found = [...effects.keys].filter(([, keys]) => keys.size > 1).map(([place]) => `the step ${place} came with two idempotency keys`)
  for (const task of log.tasks.values()) {
    const earlier = before?.tasks.get(task.id)
    if (earlier?.state === task.state) continue
    if (task.state === 'TASK_STATE_COMPLETED') found.push(...judgeCompleted(task, options))
    if (task.state === 'TASK_STATE_FAILED') found.push(...judgeFailed(task, earlier))
  }
  return found
}

/** So many processes may die with a task before it is given up. */
const mostTakeovers = 3

function judgeFailed(task: LoggedTask, earlier: LoggedTask | undefined): string[] {
  const words = wordsOf(task)
  const last = task.events.at(-1)?.body ?? ''
  if (words.startsWith('fail ') && last.includes('It could not be done.')) return []
  if (isGivenUp(task)) {
    const isRight = earlier !== undefined && wasAtWork(earlier) && earlier.attempt >= mostTakeovers
    return isRight ? [] : [`task ${task.id} "${words}" was given up at attempt ${earlier?.attempt}`]
  }
  const seq = answerOf(task.events)
  return seq === undefined
    ? [`task ${task.id} "${words}" failed: ${last}`]
    : [`lost: task ${task.id} "${words}" failed on the answer ${seq}: ${last}`]
}

export function isGivenUp({ state, events }: LoggedTask): boolean {
  return state === 'TASK_STATE_FAILED' && /The agent was started \d+ times/.test(events.at(-1)?.body ?? '')
}

function judgeCompleted(task: LoggedTask, { before, effects, ledger }: OutcomeOptions): string[] {
  const folded: any = fold(task.events.map(({ body }) => body))
  const artifacts: readonly any[] = folded.artifacts ?? []
  const textOf = (id: string) => partsOf(artifacts, id).reduce((text: string, part: any) => text + part.text, '')
  const result = partsOf(artifacts, 'result')[0]?.data
  if (result === undefined) return [`task ${task.id} "${wordsOf(task)}" completed without a result`]
  const { run } = result
  const [word = '', rest = ''] = wordsOf(task).split(' ')
  const count = Number(rest)
  const found: string[] = []
  const expectEqual = (what: string, is: unknown, wanted: unknown, sign = '') => {
    if (isDeepStrictEqual(is, wanted)) return
    found.push(`${sign}task ${task.id} "${word} ${rest}": ${what} is ${JSON.stringify(is)}, and has to be ${JSON.stringify(wanted)}`)
  }
  /** What the service did for a step. */
  const done = (step: string, turn = 1) => {
    const [key = ''] = effects.keys.get(`${task.id} ${turn} ${step}`) ?? []
    return effects.values.get(key) ?? 'nothing done'
  }
  const answers = task.events.filter(({ kind }) => kind === 'answer').map(({ body }) => JSON.parse(body).message)
  const rule: Readonly<Record<string, () => void>> = {
    trickle() {
      const [by = ''] = textOf('drops').split(':')
      expectEqual('drops', textOf('drops'), Array.from({ length: count }, (_, i) => `${by}:${count - i};`).join(''))
    },
    ask: () => expectEqual('the answer', result.answer, answers.at(-1)?.messageId, 'lost: '),
    impatient: () => expectEqual('the answer', result.answer, answers.at(-1)?.messageId ?? null, 'lost: '),
    order() {
      const [by = ''] = result.notes.split(':')
      expectEqual('notes', result.notes, Array.from({ length: count }, (_, piece) => `${by}:${piece};`).join(''))
      expectEqual('the artifact notes', textOf('notes'), result.notes)
      expectEqual('what was reserved', result.reserved, done('reserve'))
      expectEqual('what was booked', result.booked, done('book'))
      expectEqual('the number', String(result.many), answers.at(-1)?.parts[0].text, 'lost: ')
    },
    parallel() {
      expectEqual('left', result.left, done('left'))
      expectEqual('right', result.right, done('right'))
      expectEqual('the reason', result.reason, done('broken'))
      expectEqual('the order', [...result.order].sort(), ['broken', 'left', 'right'])
      expectEqual('the first', result.first, result.order[0])
      const recorded = (before?.tasks.get(task.id)?.records ?? [])
        .filter(({ kind, n }) => kind === 'step' && n !== undefined)
        .sort((a, b) => (a.n ?? 0) - (b.n ?? 0))
        .map(({ key }) => key.slice('step:'.length))
      expectEqual('the order of what was recorded', result.order.slice(0, recorded.length), recorded)
    },
    linger: () =>
      expectEqual(
        'values',
        result.values,
        Array.from({ length: count }, (_, round) => done(`work-${round + 1}`)),
      ),
    hold() {
      const first = task.events.find(({ kind }) => kind === 'message')
      expectEqual('the message', result.by, first && JSON.parse(first.body).message.messageId, 'lost: ')
    },
    await() {
      if (!ledger.signals.get(task.id)?.values.has(result.signal))
        found.push(`task ${task.id} got the signal ${result.signal}, which nobody sent`)
    },
    turns: () =>
      expectEqual(
        'tallies',
        result.tallies,
        [1, 2, 3].map((turn) => done('tally', turn)),
      ),
  }
  rule[word]?.()
  expectEqual('the last run', runOf(task.events.at(-1)?.body ?? ''), run)
  return found
}

function partsOf(artifacts: readonly any[], id: string): readonly any[] {
  return artifacts.find(({ artifactId }) => artifactId === id)?.parts ?? []
}
