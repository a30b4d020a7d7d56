/** Options of push delivery, with their defaults and checks. */

import { isWhole, type OptionRule } from '../support/options.js'

export interface PushOptions {
  /**
   * `'chunks'`: chunks that are appended to one artifact one after the other, and have not been posted yet, go out as one.
   * Each status still goes out by itself. Default: each event is a post.
   */
  readonly coalesce?: 'chunks'
  /** Attempts to post something, the first included, until it is dropped. Default 3. */
  readonly attempts?: number
  /** An attempt may take so long until it is answered. Default 15 s. */
  readonly timeoutMs?: number
  /** Pause after the first attempt; each further one is four times as long, a minute at most, and up to half of it is left to chance. Default 1 s. */
  readonly backoffMs?: number
}

export const defaultPush = Object.freeze({
  attempts: 3,
  timeoutMs: 15_000,
  backoffMs: 1_000,
}) satisfies PushSettings

/** Options with their defaults. */
export type PushSettings = Pick<PushOptions, 'coalesce'> & Required<Omit<PushOptions, 'coalesce'>>

export const pushRules: Readonly<Record<keyof PushOptions, OptionRule>> = {
  coalesce: { takes: '"chunks"', ok: (value) => value === 'chunks' },
  attempts: { takes: 'a whole number from 1 to 100', ok: isWhole(1, 100) },
  timeoutMs: { takes: 'a whole number from 1', ok: isWhole(1) },
  backoffMs: { takes: 'a whole number', ok: isWhole(0) },
}
