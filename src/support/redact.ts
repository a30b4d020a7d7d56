/** Keeps what a run was entrusted with out of the log, whoever writes the line and however deep in an error it stands. */

import type { Log } from './log.js'

/** Deep enough for the causes of an error and the requests that hang on them. */
const deepest = 8

/** A log in whose lines each of `secrets`, as it is by then, is replaced. Without any, lines go out as they are. */
export function redactedLog(log: Log, secrets: ReadonlySet<string>): Log {
  const at =
    (level: keyof Log): Log[typeof level] =>
    (message, fields) => {
      if (secrets.size === 0) return log[level](message, fields)
      const redact = redactor(secrets)
      // A copy of an object with the same members.
      log[level](redact(message, 0) as string, fields && (redact(fields, 0) as typeof fields))
    }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

function redactor(secrets: ReadonlySet<string>): (value: unknown, depth: number) => unknown {
  const forms = [...secrets].flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])
  const copies = new Map<object, object>()

  function redact(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return forms.reduce((text, form) => text.replaceAll(form, '[redacted]'), value)
    if (typeof value !== 'object' || value === null) return value
    if (depth > deepest) return '[too deep]'
    const known = copies.get(value)
    if (known) return known
    const isList = Array.isArray(value)
    // Of the same kind, so that it is still written as an error where it is one.
    const copy: object = isList ? [] : Object.create(Object.getPrototypeOf(value))
    copies.set(value, copy)
    for (const name of Object.getOwnPropertyNames(value)) {
      if (isList && name === 'length') continue
      const enumerable = Object.prototype.propertyIsEnumerable.call(value, name)
      Object.defineProperty(copy, name, { value: redact(memberOf(value, name), depth + 1), enumerable, configurable: true, writable: true })
    }
    return copy
  }

  return redact
}

function memberOf(value: object, name: string): unknown {
  try {
    return Reflect.get(value, name)
  } catch {
    return '[unreadable]'
  }
}
