/** What the runtime and agents tell the operator. A log never reaches a caller. */

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** `fields.error` is written with its stack and causes. */
export type Log = Readonly<Record<LogLevel, (message: string, fields?: Readonly<Record<string, unknown>>) => void>>

const nothing = () => {}

export const silentLog: Log = Object.freeze({ debug: nothing, info: nothing, warn: nothing, error: nothing })

/** A log that adds `bound` to the fields of each line. */
export function bindLog(log: Log, bound: Readonly<Record<string, unknown>>): Log {
  const at = (level: LogLevel) => (message: string, fields?: Readonly<Record<string, unknown>>) =>
    log[level](message, { ...bound, ...fields })
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}
