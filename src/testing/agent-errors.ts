/** What agents threw, as their runs tell the log: callers are told none of it. */

import type { Log } from '../support/log.js'

export interface AgentErrors {
  /** Passes on whatever it is told. */
  readonly log: Log
  /** The last error of a task; undefined where there was none. */
  of(taskId: string): unknown
  /** The last error of any task. */
  last(): unknown
}

export function watchAgentErrors(log: Log): AgentErrors {
  const errors = new Map<unknown, unknown>()
  let last: unknown
  return {
    log: {
      debug: (...line) => log.debug(...line),
      info: (...line) => log.info(...line),
      warn: (...line) => log.warn(...line),
      error(message, fields) {
        if (fields?.['taskId'] !== undefined && fields['error'] !== undefined) {
          last = fields['error']
          errors.set(fields['taskId'], last)
        }
        log.error(message, fields)
      },
    },
    of: (taskId) => errors.get(taskId),
    last: () => last,
  }
}
