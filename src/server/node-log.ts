/** The log of a served agent: JSON lines on standard error, by pino. */

import { pino } from 'pino'
import type { Log, LogLevel } from '../support/log.js'

export function pinoLog(): Log {
  const logger = pino({ base: null, serializers: { error: pino.stdSerializers.errWithCause } }, pino.destination({ dest: 2, sync: true }))
  const at = (level: LogLevel) => (message: string, fields?: Readonly<Record<string, unknown>>) => logger[level](fields ?? {}, message)
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}
