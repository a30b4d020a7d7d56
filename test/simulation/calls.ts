/** What callers send and what comes back to them. */

import type { Exchange, Life } from './life.js'
import type { Intent } from './push-law.js'

/** A message, under one id however often it is sent. */
export interface Sending {
  readonly id: string
  readonly text: string
  /** Place of the task among those of the history. */
  readonly place: number
  /** The question that its writer meant, if any. */
  readonly meant: string | undefined
  /** The question that it names. */
  readonly named: string | undefined
  readonly how: 'at once' | 'blocking' | 'stream'
  /** The push configuration that it brings. */
  readonly push: Intent | undefined
  state: 'ready' | 'sent' | 'accepted' | 'refused'
  exchange?: Exchange
  /** What was answered to it, each time: the whole task. */
  readonly answers: any[]
}

export interface Frame {
  readonly seq: number
  readonly data: any
}

export interface Reader {
  readonly place: number
  state: 'away' | 'opening' | 'reading' | 'done'
  exchange?: Exchange
  isPulling: boolean
  /** What opened its first stream, where that was no subscription. */
  readonly sending?: Sending
  /** All that it was given, over all its connections. */
  readonly frames: Frame[]
}

export interface Cancel {
  readonly place: number
  readonly exchange: Exchange
  readonly life: Life
  state: 'sent' | 'done'
}

export interface Signal {
  readonly place: number
  readonly name: string
  readonly value: string
  state: 'sent' | 'accepted' | 'refused' | 'unknown'
}

export interface Grant {
  readonly place: number
  readonly question: string
  readonly token: string | undefined
  state: 'sent' | 'done' | 'gone' | 'unknown'
}

export const finals = new Set(['TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED'])

export const isUnavailable = (error: any) => /UNAVAILABLE/.test(JSON.stringify(error))

export const isFinalFrame = ({ data }: Frame) => finals.has((data.task ?? data.statusUpdate)?.status.state)

export function* framesOf(text: string): Generator<{ readonly seq: number | undefined; readonly data: any }> {
  for (const block of text.split('\n\n')) {
    if (block === '') continue
    const fields = new Map(block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]))
    const id = fields.get('id')
    yield { seq: id === undefined ? undefined : Number(id), data: JSON.parse(fields.get('data') ?? '') }
  }
}
