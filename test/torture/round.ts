/** The life of one server: clients use it until it is killed, or asked to stop; the last one is left in peace. */

import { type BindingName, bindingNames } from '../harness/server.js'
import { createClient } from './client.js'
import type { Ledger, Sent } from './ledger.js'
import { finish, type Left, type LoadOptions, lookAfter, work } from './load.js'
import type { Random } from './random.js'
import type { Receivers } from './receivers.js'
import type { Victim } from './victim.js'

export interface RoundOptions {
  readonly victim: Victim
  readonly ledger: Ledger
  readonly receivers: Receivers
  readonly left: Left
  readonly random: Random
}

export interface RoundEnd {
  /** Messages that the server had received and not answered. */
  readonly received: readonly Sent[]
  /** Whether it lived until all that the last one had left was looked after. */
  readonly isLookedAfter: boolean
  /** Whether it was asked to stop, and whether it did so before it was killed. */
  readonly isStopped: boolean
  readonly isOrderly: boolean
}

/** A server that nothing is heard of for so long is stuck; a busy machine makes it slow. */
const patienceMs = 60_000

/** Lives and ends one server. */
export async function round({ victim, ledger, receivers, left, random }: RoundOptions): Promise<RoundEnd> {
  const aim = aimOf(random)
  const timers: NodeJS.Timeout[] = []
  let isWorking = false
  let isStopped = false
  let toGo = aim.count
  const hit = () => {
    if (aim.stopMs === undefined) return victim.kill()
    isStopped = true
    victim.stop()
    timers.push(setTimeout(() => victim.kill(), aim.stopMs))
  }
  const count = (what: Aim['at']) => {
    if (what === aim.at && (isWorking || aim.isEarly) && --toGo === 0) hit()
  }
  if (aim.at === 'moment') timers.push(setTimeout(hit, aim.count))
  const watch = watchFor(() => {
    ledger.faults.push(`the server has come to a standstill: ${JSON.stringify(aim)}`)
    victim.kill()
  })
  receivers.onPost = () => count('posted')
  const url = await victim.open((messageId) => {
    const sent = ledger.sends.get(messageId)
    // The line may come after the answer that it announces.
    if (sent?.attempt === 'sent') sent.attempt = 'received'
    count('received')
  })
  if (url !== undefined) {
    const { load, settled } = prepare({ victim, ledger, receivers, left, random }, url, () => {
      watch.touch()
      count('told')
    })
    await lookAfter(load, left)
    isWorking = !victim.isEnding
    if (isWorking) await work({ ...load, random: random.fork() })
    await settled()
  }
  const code = await victim.gone
  receivers.onPost = () => {}
  for (const timer of timers) clearTimeout(timer)
  watch.stop()
  if (!victim.isEnding) ledger.faults.push(`the server ended by itself: ${victim.complaints.join('\n')}`)
  const isOrderly = isStopped && code !== null
  if (isOrderly && code !== 0) ledger.faults.push(`the server was asked to stop and ended with ${code}`)
  judgeCanceled(victim, ledger)
  ledger.faults.push(...victim.complaints)
  const unanswered = [...ledger.sends.values()].filter(({ attempt }) => attempt !== 'answered')
  const received = unanswered.filter(({ attempt }) => attempt === 'received')
  for (const sent of unanswered) sent.attempt = 'cut'
  return { received, isLookedAfter: isWorking, isStopped, isOrderly }
}

/** The server that is left in peace: everything is answered, brought to its end, listed and closed. */
export async function lastRound({ victim, ledger, receivers, left, random }: RoundOptions): Promise<void> {
  await receivers.calm()
  const url = await victim.open()
  if (url === undefined) {
    ledger.faults.push(`the server did not start: ${victim.complaints.join('\n')}`)
    return
  }
  const ending = new Set<string>()
  const watch = watchFor(() => {
    ledger.faults.push(`the server, left in peace, has not brought to their end: ${[...ending].join(' ')}`)
    victim.kill()
  })
  receivers.onPost = watch.touch
  const { load, settled } = prepare({ victim, ledger, receivers, left, random }, url, watch.touch)
  await lookAfter(load, left)
  for (const { message, attempt } of ledger.sends.values()) {
    if (attempt !== 'answered') ledger.faults.push(`message ${message.messageId} was never answered`)
  }
  const listed = await load.client.list()
  const ids = new Set(listed.map(({ id }) => id))
  if (ids.size !== listed.length) ledger.faults.push('the list names a task twice')
  const words = wordsOf(ledger)
  for (const id of words.keys()) if (!ids.has(id)) ledger.faults.push(`lost: the list does not name task ${id}`)
  const open = listed.filter(({ status }) => !/COMPLETED|FAILED|CANCELED|REJECTED/.test(status.state))
  for (const { id } of open) ending.add(id)
  await finish(load, new Map(open.map(({ id }) => [id, words.get(id) ?? ''])), (taskId) => {
    ending.delete(taskId)
    watch.touch()
  })
  await settled()
  ending.add('pushes')
  await victim.pushed()
  watch.stop()
  judgeCanceled(victim, ledger)
  victim.stop()
  if ((await victim.gone) !== 0) ledger.faults.push('the server did not end in order')
  ledger.faults.push(...victim.complaints)
}

/** @param onSilence called when there was no `touch` for too long */
function watchFor(onSilence: () => void): { readonly touch: () => void; readonly stop: () => void } {
  const timer = setTimeout(onSilence, patienceMs)
  return { touch: () => void timer.refresh(), stop: () => clearTimeout(timer) }
}

function prepare({ victim, ledger, receivers, random }: RoundOptions, url: string, onTold: () => void) {
  const pending = new Set<Promise<void>>()
  const background = (work: Promise<void>) => {
    pending.add(work)
    void work.finally(() => pending.delete(work))
  }
  const client = createClient({ url, victim, ledger, pickBinding: pickerOf(random), onTold })
  const load: LoadOptions = { ledger, client, random: random.fork(), victim, receivers: receivers.origins, background }
  const settled = async () => {
    while (pending.size > 0) await Promise.all(pending)
  }
  return { load, settled }
}

/** After CANCELED is answered, the signal of the live run has fired: of the latest one, since one whose task was taken away finds out by itself. */
function judgeCanceled(victim: Victim, ledger: Ledger): void {
  for (const taskId of ledger.canceled) {
    const run = victim.latest.get(taskId)
    if (run !== undefined && victim.live.get(taskId)?.has(run)) {
      ledger.faults.push(`task ${taskId} was canceled, and the signal of ${run}, epoch ${victim.epochs.get(run)}, has not fired`)
    }
  }
}

/** The word of each task that clients know. */
function wordsOf({ sends }: Ledger): ReadonlyMap<string, string> {
  const words = new Map<string, string>()
  for (const { taskId, message } of sends.values()) {
    if (taskId !== undefined && message.taskId === undefined) words.set(taskId, message.parts[0].text.split(' ', 1)[0] ?? '')
  }
  return words
}

interface Aim {
  /** What is counted: messages received, things acknowledged, posts made; or milliseconds since the file was opened. */
  readonly at: 'received' | 'told' | 'posted' | 'moment'
  readonly count: number
  /** Counts from the start, when the server is still asked about what the last one left. */
  readonly isEarly: boolean
  /** It is asked to stop first, and killed if it still lives after so long. */
  readonly stopMs: number | undefined
}

function aimOf(random: Random): Aim {
  const stopMs = random.chance(85) ? undefined : random.chance(60) ? patienceMs / 2 : random.between(1, 300)
  if (random.chance(8)) return { at: 'told', count: random.between(1, 15), isEarly: true, stopMs }
  if (random.chance(4)) return { at: 'moment', count: random.between(1, 150), isEarly: true, stopMs }
  if (random.chance(15)) return { at: 'posted', count: random.between(1, 60), isEarly: random.chance(15), stopMs }
  if (random.chance(50)) return { at: 'received', count: random.between(1, 30), isEarly: false, stopMs }
  if (random.chance(60)) return { at: 'told', count: random.between(1, 100), isEarly: false, stopMs }
  return { at: 'moment', count: random.between(100, 600), isEarly: false, stopMs }
}

function pickerOf(random: Random): () => BindingName {
  const own = random.fork()
  return () => own.pick(bindingNames)
}
