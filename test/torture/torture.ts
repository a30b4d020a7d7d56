/** Kills a server with SIGKILL again and again while clients use it, and checks after each death that nothing acknowledged is gone. */

import { join } from 'node:path'
import type { BindingName } from '../harness/server.js'
import { bindingNames } from '../harness/server.js'
import { createClient } from './client.js'
import { judgeClaims, judgeLog, judgeMessages, judgeStreams, type Messages, messagesOf } from './judge.js'
import { createLedger, type Ledger, type Sent } from './ledger.js'
import { type Left, lookAfter, work } from './load.js'
import { copyStore, type Log, readLog } from './log.js'
import { createRandom, type Random } from './random.js'
import { startVictim, type Victim } from './victim.js'

export interface TortureOptions {
  readonly kills: number
  readonly seed: number
  /** An empty folder. */
  readonly folder: string
  /** The defect that is planted in the server. */
  readonly sabotage?: string | undefined
  /** End with the first fault. */
  readonly stopAtFault?: boolean
}

export interface Summary {
  readonly seed: number
  kills: number
  /** Kills at which the server had received a message that it had not answered. */
  inFlight: number
  /** Of these: kills at which such a message was committed already, and at which one was not. */
  committedUnanswered: number
  lostUnanswered: number
  /** Kills of a server that did not listen yet, or that still recovered what the one before had left. */
  early: number
  /** Answers and frames that were given. */
  acknowledged: number
  /** Of these, not in the log afterwards. */
  lost: number
  tasks: number
  events: number
  readonly faults: string[]
}

/** A file grows with its age, and so does the time to read all of it. */
const killsPerFile = 100

/** So many of the last messages may be sent once more though they were answered. */
const repeatable = 30

const nothing: Left = { touched: [], streams: [], answered: [] }

/** @returns what was found; `faults` is empty when the server kept every promise */
export async function torture(options: TortureOptions): Promise<Summary> {
  const random = createRandom(options.seed)
  const summary: Summary = {
    seed: options.seed,
    kills: 0,
    inFlight: 0,
    committedUnanswered: 0,
    lostUnanswered: 0,
    early: 0,
    acknowledged: 0,
    lost: 0,
    tasks: 0,
    events: 0,
    faults: [],
  }
  for (let file = 1; summary.kills < options.kills; file++) {
    const kills = Math.min(killsPerFile, options.kills - summary.kills)
    await tortureFile({ ...options, kills, file: join(options.folder, `tasks-${file}.db`), random, summary })
    if (options.stopAtFault && summary.faults.length > 0) break
  }
  return summary
}

/** One line of a summary. */
export function told({ faults, ...numbers }: Summary): string {
  return [...Object.entries(numbers).map(([name, value]) => `${name} ${value}`), `faults ${faults.length}`].join(', ')
}

interface FileOptions extends TortureOptions {
  readonly file: string
  readonly random: Random
  readonly summary: Summary
}

async function tortureFile({ kills, sabotage, stopAtFault, file, random, summary }: FileOptions): Promise<void> {
  const ledger = createLedger()
  let left = nothing
  let log: Log | undefined
  let messages: Messages = new Map()
  // While one server lives the next one is started, up to the point where it needs the file.
  let next = startVictim({ file, sabotage })
  const successor = () => {
    const victim = next
    next = startVictim({ file, sabotage })
    return victim
  }

  async function judge(isLookedAfter: boolean): Promise<void> {
    const copy = `${file}.copy`
    copyStore(file, copy)
    const before = log
    log = await readLog(copy)
    messages = messagesOf(log)
    const lost = [...judgeClaims(log, ledger.claims), ...judgeMessages(messages, ledger)]
    summary.lost += lost.filter((line) => line.startsWith('lost')).length
    summary.faults.push(
      ...ledger.faults.splice(0),
      ...lost,
      ...judgeStreams(log, [...ledger.streams, ...ledger.resumed]),
      ...judgeLog(log, before),
    )
    const earlier = isLookedAfter ? nothing : left
    left = {
      touched: [...new Set([...earlier.touched, ...ledger.touched])],
      streams: [...earlier.streams, ...ledger.streams],
      answered: [...ledger.sends.values()]
        .filter(({ taskId, refused }) => taskId !== undefined && refused === undefined)
        .slice(-repeatable),
    }
    ledger.claims = []
    ledger.streams = []
    ledger.resumed = []
    ledger.touched.clear()
  }

  for (let kill = 0; kill < kills; kill++) {
    const { received, isLookedAfter } = await untilKilled({ victim: successor(), ledger, left, random })
    summary.kills++
    if (!isLookedAfter) summary.early++
    await judge(isLookedAfter)
    countInFlight(summary, received, messages)
    if (stopAtFault && summary.faults.length > 0) break
  }
  if (!stopAtFault || summary.faults.length === 0) {
    await lastRun({ victim: successor(), ledger, left, random })
    await judge(true)
  }
  next.kill()
  await next.gone
  summary.acknowledged += ledger.acknowledged
  summary.tasks += log?.tasks.size ?? 0
  for (const { events } of log?.tasks.values() ?? []) summary.events += events.length
}

interface Round {
  readonly victim: Victim
  readonly ledger: Ledger
  readonly left: Left
  readonly random: Random
}

interface Killed {
  /** Messages that the server had received and not answered. */
  readonly received: readonly Sent[]
  /** Whether it lived until all that the last one had left was looked after. */
  readonly isLookedAfter: boolean
}

/** Lives and ends one server. */
async function untilKilled({ victim, ledger, left, random }: Round): Promise<Killed> {
  const aim = aimOf(random)
  let isWorking = false
  let toGo = aim.count
  function count(what: Aim['at']): void {
    if (what === aim.at && (isWorking || aim.isEarly) && --toGo === 0) victim.kill()
  }
  const clock = aim.at === 'moment' ? setTimeout(() => victim.kill(), aim.count) : undefined
  const url = await victim.open((messageId) => {
    const sent = ledger.sends.get(messageId)
    // The line may come after the answer that it announces.
    if (sent?.attempt === 'sent') sent.attempt = 'received'
    count('received')
  })
  if (url !== undefined) {
    const client = createClient({ url, victim, ledger, pickBinding: pickerOf(random), onTold: () => count('told') })
    await lookAfter(ledger, client, random.fork(), left)
    isWorking = !victim.isKilled
    if (isWorking) await work(ledger, client, random.fork(), victim)
  }
  await victim.gone
  clearTimeout(clock)
  if (!victim.isKilled) throw new Error(`the server ended by itself: ${victim.complaints.join('\n')}`)
  ledger.faults.push(...victim.complaints)
  const unanswered = [...ledger.sends.values()].filter(({ attempt }) => attempt !== 'answered')
  const received = unanswered.filter(({ attempt }) => attempt === 'received')
  for (const sent of unanswered) sent.attempt = 'cut'
  return { received, isLookedAfter: isWorking }
}

/** The server that is left in peace: everything is answered, listed and closed. */
async function lastRun({ victim, ledger, left, random }: Round): Promise<void> {
  const url = await victim.open()
  if (url === undefined) throw new Error(`the server did not start: ${victim.complaints.join('\n')}`)
  const client = createClient({ url, victim, ledger, pickBinding: pickerOf(random), onTold: () => {} })
  await lookAfter(ledger, client, random.fork(), left)
  for (const { message, attempt } of ledger.sends.values()) {
    if (attempt !== 'answered') ledger.faults.push(`message ${message.messageId} was never answered`)
  }
  const listed = await client.list()
  if (new Set(listed).size !== listed.length) ledger.faults.push('the list names a task twice')
  const known = new Set([...ledger.sends.values()].flatMap(({ taskId }) => (taskId === undefined ? [] : [taskId])))
  for (const id of known) if (!listed.includes(id)) ledger.faults.push(`lost: the list does not name task ${id}`)
  victim.stop()
  if ((await victim.gone) !== 0) ledger.faults.push('the server did not end in order')
  ledger.faults.push(...victim.complaints)
}

interface Aim {
  /** What is counted: messages received, things acknowledged; or milliseconds since the file was opened. */
  readonly at: 'received' | 'told' | 'moment'
  readonly count: number
  /** Counts from the start, when the server is still asked about what the last one left. */
  readonly isEarly: boolean
}

function aimOf(random: Random): Aim {
  if (random.chance(8)) return { at: 'told', count: random.between(1, 15), isEarly: true }
  if (random.chance(4)) return { at: 'moment', count: random.between(1, 150), isEarly: true }
  if (random.chance(75)) return { at: 'received', count: random.between(1, 40), isEarly: false }
  if (random.chance(60)) return { at: 'told', count: random.between(1, 100), isEarly: false }
  return { at: 'moment', count: random.between(100, 600), isEarly: false }
}

function countInFlight(summary: Summary, received: readonly Sent[], places: Messages): void {
  if (received.length === 0) return
  summary.inFlight++
  if (received.some(({ message }) => places.has(message.messageId))) summary.committedUnanswered++
  if (received.some(({ message }) => !places.has(message.messageId))) summary.lostUnanswered++
}

function pickerOf(random: Random): () => BindingName {
  const own = random.fork()
  return () => own.pick(bindingNames)
}
