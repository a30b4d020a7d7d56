/** Kills a server again and again while clients use it, and checks after each death what is in its file and what the clients were told. */

import { join } from 'node:path'
import { isFinal } from '../../src/protocol/states.js'
import { judgeClaims, judgeLog, judgeMessages, judgeStreams, type Messages, messagesOf } from './judge.js'
import { isGivenUp, judgeOutcomes, readEffects } from './judge-outcomes.js'
import { createPushJudge } from './judge-pushes.js'
import { judgeCalls, judgeRuns, wordsOf } from './judge-runs.js'
import { createLedger, type Sent } from './ledger.js'
import type { Left } from './load.js'
import { copyStore, type Log, type LoggedTask, readLog } from './log.js'
import { createRandom, type Random } from './random.js'
import { startReceivers } from './receivers.js'
import { lastRound, type RoundEnd, round } from './round.js'
import { startVictim, type Victim } from './victim.js'

export interface TortureOptions {
  readonly kills: number
  readonly seed: number
  /** An empty folder. */
  readonly folder: string
  /** The defect that is planted in the server. The torture ends as soon as its counter is above 0. */
  readonly sabotage?: Sabotage | undefined
  /** Told how it stands after each kill. */
  readonly onKill?: (summary: Summary) => void
}

/** The counter that a planted defect has to raise. */
export const sabotages = {
  'ack-before-commit': 'lost',
  'no-fence': 'staleWrites',
  'double-final': 'violations',
  'lost-answer': 'lost',
  'skip-push': 'violations',
  'no-transactions': 'violations',
  'forgotten-messages': 'violations',
} as const satisfies Readonly<Record<string, Counter>>

export type Sabotage = keyof typeof sabotages
type Counter = 'lost' | 'staleWrites' | 'violations'

export interface Summary {
  readonly seed: number
  kills: number
  /** Of these: servers that were asked to stop first. */
  stops: number
  /** Kills of a server that did not listen yet, or that was still asked about what the one before had left. */
  early: number
  /** Tasks that were not over at a kill, over all kills; and those of them that were at work, neither waiting nor waited for. */
  inFlight: number
  atWork: number
  /** Kills at which the server had received a message that it had not answered; with such a message committed, and with one that was not. */
  unanswered: number
  committedUnanswered: number
  lostUnanswered: number
  /** Answers, frames and signals that were given. */
  acknowledged: number
  tasks: number
  events: number
  /** Runs that began, those that took up what an earlier one had left, and how often a task was taken from a run that went on. */
  runs: number
  reruns: number
  takeovers: number
  evictions: number
  /** Tasks that were given up because they took too many processes with them. */
  givenUp: number
  /** What receivers of pushes got, and what of it they got again because their answer was not kept; how often one of them was killed. */
  pushes: number
  repeated: number
  receiverKills: number
  /** Acknowledged, and not there afterwards. */
  lost: number
  /** Events by a run that had lost its task. */
  staleWrites: number
  /** Whatever else is not as it should be. */
  violations: number
  /** A line for each of the last three. */
  readonly faults: string[]
}

/** A file grows with its age, and so does the time to read all of it. */
const killsPerFile = 50

/** So many of the last messages may be sent once more though they were answered. */
const repeatable = 30

const nothing: Left = { touched: [], streams: [], answered: [] }

/** @returns what was found; `faults` is empty when the server kept every promise */
export async function torture(options: TortureOptions): Promise<Summary> {
  const random = createRandom(options.seed)
  const summary: Summary = {
    seed: options.seed,
    kills: 0,
    stops: 0,
    early: 0,
    inFlight: 0,
    atWork: 0,
    unanswered: 0,
    committedUnanswered: 0,
    lostUnanswered: 0,
    acknowledged: 0,
    tasks: 0,
    events: 0,
    runs: 0,
    reruns: 0,
    takeovers: 0,
    evictions: 0,
    givenUp: 0,
    pushes: 0,
    repeated: 0,
    receiverKills: 0,
    lost: 0,
    staleWrites: 0,
    violations: 0,
    faults: [],
  }
  for (let file = 1; summary.kills < options.kills && !isFound(options, summary); file++) {
    const kills = Math.min(killsPerFile, options.kills - summary.kills)
    await tortureFile({ ...options, kills, file: join(options.folder, `tasks-${file}.db`), coalesces: file % 2 === 0, random, summary })
  }
  return summary
}

/** One line of a summary. */
export function told({ faults: _, ...numbers }: Summary): string {
  return Object.entries(numbers)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')
}

function isFound({ sabotage }: TortureOptions, summary: Summary): boolean {
  return sabotage !== undefined && summary[sabotages[sabotage]] > 0
}

interface FileOptions extends TortureOptions {
  readonly file: string
  /** Whether pushes make chunks one. */
  readonly coalesces: boolean
  readonly random: Random
  readonly summary: Summary
}

async function tortureFile(options: FileOptions): Promise<void> {
  const { kills, file, coalesces, random, summary, onKill, sabotage } = options
  const ledger = createLedger()
  const receivers = await startReceivers(`${file}.receiver`, random.fork())
  const pushJudge = createPushJudge(ledger, { attempts: 3, ...(coalesces && { coalesce: 'chunks' }) })
  const push = { origins: receivers.origins, coalesces }
  let left = nothing
  let log: Log | undefined
  let messages: Messages = new Map()
  let linesRead = 0
  const epochs = new Map<string, number>()
  // While one server lives the next one is started, up to the point where it needs the file.
  let next = startVictim({ file, sabotage, push })
  const successor = () => {
    const victim = next
    next = startVictim({ file, sabotage, push })
    return victim
  }

  async function judge(victim: Victim, { isLookedAfter, isOrderly }: Pick<RoundEnd, 'isLookedAfter' | 'isOrderly'>): Promise<void> {
    for (const [run, epoch] of victim.epochs) epochs.set(run, epoch)
    addCounts(summary, victim.counts)
    const copy = `${file}.copy`
    copyStore(file, copy)
    const before = log
    log = await readLog(copy)
    messages = messagesOf(log)
    const effects = readEffects(`${file}.effects`, linesRead)
    linesRead = effects.lines
    const posts = await receivers.read()
    record(summary, [
      ...ledger.faults.splice(0),
      ...judgeClaims(log, ledger.claims),
      ...judgeMessages(messages, ledger),
      ...judgeStreams(log, [...ledger.streams, ...ledger.resumed]),
      ...judgeLog(log, before),
      ...judgeRuns(log, { before, epochs, isOrderly }),
      ...judgeCalls(effects, before),
      ...judgeOutcomes(log, { before, effects, ledger }),
      ...pushJudge.judge(log, posts),
    ])
    const earlier = isLookedAfter ? nothing : left
    left = {
      touched: [...new Set([...earlier.touched, ...ledger.touched])],
      streams: [...earlier.streams, ...ledger.streams].filter(({ isEnded }) => !isEnded),
      answered: [...ledger.sends.values()]
        .filter(({ taskId, refused }) => taskId !== undefined && refused === undefined)
        .slice(-repeatable),
    }
    ledger.claims = []
    ledger.streams = []
    ledger.resumed = []
    ledger.touched.clear()
    ledger.canceled.clear()
  }

  for (let kill = 0; kill < kills && !isFound(options, summary); kill++) {
    const victim = successor()
    const end = await round({ victim, ledger, receivers, left, random })
    summary.kills++
    if (!end.isLookedAfter) summary.early++
    if (end.isStopped) summary.stops++
    await judge(victim, end)
    countAtKill(summary, log, end.received, messages)
    onKill?.(summary)
  }
  if (!isFound(options, summary)) {
    const victim = successor()
    await lastRound({ victim, ledger, receivers, left, random })
    await judge(victim, { isLookedAfter: true, isOrderly: true })
    const open = [...(log?.tasks.values() ?? [])].filter(({ state }) => !isFinal(state))
    record(
      summary,
      open.map((task) => `task ${task.id} "${wordsOf(task)}" has not come to its end: ${shown(task)}`),
    )
    if (log) record(summary, pushJudge.judgeEnd(log))
  }
  next.kill()
  await next.gone
  await receivers.close()
  summary.receiverKills += receivers.kills
  summary.pushes += pushJudge.counts.pushes
  summary.repeated += pushJudge.counts.repeated
  summary.acknowledged += ledger.acknowledged
  for (const task of log?.tasks.values() ?? []) {
    summary.tasks++
    summary.events += task.events.length
    summary.reruns += Math.max(0, task.epoch - task.turn)
    if (isGivenUp(task)) summary.givenUp++
  }
}

/** Where it stands, and the last lines of its log. */
function shown({ state, holder, attempt, turn, waiting, records, events }: LoggedTask): string {
  const last = events.slice(-4).map(({ seq, epoch, kind, body }) => `${seq} of epoch ${epoch}: ${kind} ${body.slice(-160)}`)
  return JSON.stringify({ state, isHeld: holder !== undefined, attempt, turn, waiting, records, last })
}

function record(summary: Summary, faults: readonly string[]): void {
  for (const fault of faults) {
    if (fault.startsWith('lost: ')) summary.lost++
    else if (fault.startsWith('stale: ')) summary.staleWrites++
    else summary.violations++
  }
  summary.faults.push(...faults)
}

function countAtKill(summary: Summary, log: Log | undefined, received: readonly Sent[], places: Messages): void {
  for (const { state, holder, waiting } of log?.tasks.values() ?? []) {
    if (isFinal(state)) continue
    summary.inFlight++
    if (holder !== undefined && waiting === undefined) summary.atWork++
  }
  if (received.length === 0) return
  summary.unanswered++
  if (received.some(({ message }) => places.has(message.messageId))) summary.committedUnanswered++
  if (received.some(({ message }) => !places.has(message.messageId))) summary.lostUnanswered++
}

function addCounts(summary: Summary, { runs, takeovers, evictions }: Victim['counts']): void {
  summary.runs += runs
  summary.takeovers += takeovers
  summary.evictions += evictions
}
