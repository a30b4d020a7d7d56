/** Laws of records: each settles once, in an order, and an answer closes the one question that it was given to. */

import type { RecordKind } from '../../src/store/store.js'
import type { History } from './history.js'
import { type Told, turnOf } from './oracles.js'

export interface SettledRecord {
  readonly kind: RecordKind
  readonly key: string
  /** 0 for what has no place in the order. */
  readonly n: number
  readonly body: any
}

/** Invariant 10. */
export function judgeRecords({ violate, effects }: History, { id, facts, records }: Told): void {
  const settled = new Set<string>()
  const lastN = new Map<number, number>()
  for (const { before, write } of facts) {
    for (const record of write.records ?? []) {
      const turn = turnOf(record, write.turn ?? before?.turn ?? 1)
      const name = `${turn}/${record.key}`
      if (settled.has(name)) violate(`the record ${name} of task ${id} was written after it had settled`)
      if (record.n === undefined) continue
      settled.add(name)
      if (record.n !== (lastN.get(turn) ?? 0) + 1)
        violate(`the record ${name} of task ${id} has place ${record.n} after ${lastN.get(turn) ?? 0}`)
      lastN.set(turn, record.n)
    }
  }
  const seen = new Map([...effects.values()].map((effect) => [effect.label, effect]))
  for (const [turn, list] of records) {
    for (const { kind, key, body } of list) {
      if (kind !== 'step' || 'error' in body) continue
      const label = `${id}/${turn}/${key.replace('step:', '')}`
      if (!seen.has(label)) violate(`the step ${label} is recorded and never took effect`)
    }
  }
}

interface Asked {
  readonly id: string
  /** Id of the act, or what the turn ended with. */
  readonly words: string
  readonly seq: number
}

/** No answer is used twice, or for a question that it does not mean; messages to nobody reach the inbox, in order. */
export function judgeQuestions({ violate, callers }: History, { id, place, log, records, writes, task }: Told): void {
  const meant = new Map(callers.sendings.map((sending) => [sending.id, sending]))
  let open: Asked | undefined
  /** Which question the event of an answer closed. */
  const closed = new Map<number, Asked>()
  const timesAsked = new Map<string, number>()
  const inbox: number[] = []
  for (const { seq, kind, body } of log) {
    const { statusUpdate, message } = JSON.parse(body)
    if (kind === 'status') {
      const { state, message: said } = statusUpdate.status
      open = undefined
      if (!/REQUIRED/.test(state)) continue
      const [words = ''] = said.parts[0].text.split('\n')
      const asked = words.replace(/^ask /, '')
      open = { id: said.messageId, words: asked, seq }
      timesAsked.set(asked, (timesAsked.get(asked) ?? 0) + 1)
    }
    if (kind !== 'turn' && kind !== 'answer' && kind !== 'message') continue
    const sending = meant.get(message.messageId)
    if (!sending || sending.place !== place) {
      violate(`task ${id} has a message of nobody: ${body}`)
      continue
    }
    const isMine = open !== undefined && (sending.named === undefined || sending.named === open.id)
    if (isMine !== (kind !== 'message'))
      violate(`the message ${sending.id} came to task ${id} as ${kind} while ${open?.words ?? 'nothing'} was asked`)
    if (kind === 'message') inbox.push(seq)
    else if (open) {
      if (sending.meant !== undefined && sending.meant !== open.id)
        violate(`the message ${sending.id} answered a question that it did not mean`)
      closed.set(seq, open)
      open = undefined
    }
  }
  const used = new Set<number>()
  const taken: number[] = []
  for (const [, list] of [...records].sort(([a], [b]) => a - b)) {
    for (const { kind, key, body } of list) {
      if (kind === 'take' && body.seq !== undefined) taken.push(body.seq)
      if ((kind !== 'ask' && kind !== 'authorize') || body.answer === undefined) continue
      if (used.has(body.answer)) violate(`the answer ${body.answer} of task ${id} was used twice`)
      used.add(body.answer)
      const asked = closed.get(body.answer)
      if (asked?.words !== key.replace(/^\w+:/, '')) violate(`the question ${key} of task ${id} was given the answer to ${asked?.words}`)
    }
  }
  // What was taken is the inbox from its start, each message once.
  if (taken.some((seq, at) => seq !== inbox[at])) violate(`task ${id} took ${taken} out of the inbox ${inbox}`)
  if (task.status.state !== 'TASK_STATE_CANCELED') judgeAsked(violate, { id, closed, used, timesAsked, records })
  judgeGrants({ violate, callers }, { id, place, records, writes })
}

interface AskedOften {
  readonly id: string
  readonly closed: ReadonlyMap<number, Asked>
  readonly used: ReadonlySet<number>
  readonly timesAsked: ReadonlyMap<string, number>
  readonly records: Told['records']
}

/** An answer that no record uses was judged unfit, and the question asked again. */
function judgeAsked(violate: (what: string) => void, { id, closed, used, timesAsked, records }: AskedOften): void {
  for (const [turn, list] of records) {
    for (const { kind, key } of list) {
      if (kind !== 'ask') continue
      const words = key.replace(/^\w+:/, '')
      const unfit = [...closed].filter(([seq, asked]) => asked.words === words && !used.has(seq)).length
      // A later answer may have been left over by a run that ended.
      if (timesAsked.get(words) !== 1 + unfit)
        violate(`the question ${turn}/${key} of task ${id} was asked ${timesAsked.get(words)} times, and ${unfit} answers did not fit`)
    }
  }
}

/** A consent that was confirmed is what the agent got, and it got nothing else. */
function judgeGrants(
  { violate, callers }: Pick<History, 'violate' | 'callers'>,
  { id, place, records, writes }: Pick<Told, 'id' | 'place' | 'records' | 'writes'>,
): void {
  const given: string[] = []
  for (const list of records.values())
    for (const { kind, body } of list) if (kind === 'authorize' && body.granted) given.push(body.granted.token)
  if (new Set(given).size !== given.length) violate(`a consent of task ${id} was used twice`)
  for (const token of given) {
    const grant = callers.grants.find((one) => one.token === token)
    if (!grant || grant.place !== place) violate(`task ${id} was given a consent that was not meant for it`)
    else if (grant.state === 'gone') violate(`task ${id} was given a consent that was refused`)
  }
  const kept = writes.flatMap(({ kind, body }) => (kind === 'authorize' && body.granted ? [body.granted.token] : []))
  for (const { place: of, state, token } of callers.grants)
    if (of === place && state === 'done' && token !== undefined && !kept.includes(token))
      violate(`a consent to task ${id} was confirmed and is lost`)
  const done = callers.grants.filter((one) => one.state === 'done')
  if (new Set(done.map(({ question }) => question)).size !== done.length) violate('one question was closed by two consents')
}

/** A signal that was accepted is given to one wait of its name, or kept for the next one. */
export function judgeSignals({ violate, callers }: History, { id, place, writes }: Told): void {
  const used = new Map<string, string>()
  const kept = new Map<string, readonly string[]>()
  for (const { kind, key, turn, body } of writes) {
    if (kind === 'signal')
      kept.set(
        key,
        body.signals.map(({ value }: any) => value),
      )
    if (kind !== 'wait' || !body.signal) continue
    const { value } = body.signal
    const user = `${turn}/${key}`
    if ((used.get(value) ?? user) !== user) violate(`the signal ${value} of task ${id} was given to ${used.get(value)} and to ${user}`)
    used.set(value, user)
  }
  const left = [...kept.values()].flat()
  for (const value of [...used.keys(), ...left]) {
    const signal = callers.signals.find((one) => one.value === value)
    if (signal?.place !== place || signal.state === 'refused') violate(`task ${id} was given the signal ${value}, which nobody sent to it`)
  }
  for (const value of left) if (used.has(value)) violate(`the signal ${value} of task ${id} was given away and kept`)
  for (const { place: of, state, value } of callers.signals)
    if (of === place && state === 'accepted' && !used.has(value) && !left.includes(value))
      violate(`the signal ${value} to task ${id} was accepted and is lost`)
}
