/** What the command line says. */

import { parseArgs } from 'node:util'
import type { ExperimentOptions } from './experiment.js'

export interface Arguments extends ExperimentOptions {
  /** Where the rows go, as JSON. */
  readonly json: string | undefined
  /** Where the page goes. */
  readonly html: string | undefined
}

export const usage = 'npm run lab:delivery -- [--job 20,100] [--every 1,7,30] [--json FILE] [--html FILE]'

/** With a poll each second of it, half a minute of computing. */
const longestSeconds = 3600

/** @throws {TypeError} with a sentence for whoever wrote them */
export function readArguments(args: readonly string[]): Arguments {
  const { values } = parseArgs({
    args: [...args],
    options: {
      job: { type: 'string', default: '20,100' },
      every: { type: 'string', default: '1,7,30' },
      json: { type: 'string' },
      html: { type: 'string' },
    },
  })
  const { json, html } = values
  if (json === '' || html === '') throw new TypeError('--json and --html take the name of a file')
  return { jobSeconds: readSeconds('--job', values.job), everySeconds: readSeconds('--every', values.every), json, html }
}

/** Each once, in the order given. */
function readSeconds(option: string, text: string): readonly number[] {
  const words = text.split(',').map((word) => word.trim())
  const isSeconds = (word: string) => /^\d+$/.test(word) && Number(word) >= 1 && Number(word) <= longestSeconds
  if (!words.every(isSeconds)) {
    throw new TypeError(`${option} takes whole seconds from 1 to ${longestSeconds}, with commas between, such as 20,100; it got "${text}"`)
  }
  return [...new Set(words.map(Number))]
}
