/** The handle that an agent's function gets: what is known about the turn, and its doors to the runtime. */

import type { GuardedFetch } from '../net/guarded-fetch.js'
import type { Json, Message } from '../protocol/wire.js'
import type { TaskHeader } from '../store/store.js'
import { guardedSignal } from '../support/abort.js'
import { jsonText } from '../support/json-text.js'
import type { Log } from '../support/log.js'
import { show } from '../support/options.js'
import { checkWhole } from '../support/whole-text.js'
import type { Door } from './door.js'
import type { Doors } from './doors.js'
import type { Inbox } from './inbox.js'
import type { TaskHandle, Turn } from './task.js'

interface HandleOptions {
  readonly header: TaskHeader
  readonly turn: Turn
  readonly history: readonly Message[]
  readonly signal: AbortSignal
  readonly inbox: Inbox
  readonly log: Log
  readonly door: Door
  readonly doors: Doors
  /** Absent where there are no sockets. */
  readonly fetch: GuardedFetch | undefined
  /** The memory of the context as this turn sees it. */
  readonly memory: () => Readonly<Record<string, Json>>
  readonly remember: (key: string, value: Json) => void
  /** Called before the run waits for something outside: the task is at work from then on. */
  readonly beforeWait: () => void
}

export function createTaskHandle(options: HandleOptions): TaskHandle {
  const { header, turn, history, signal, inbox, log, door, doors, fetch, memory, remember, beforeWait } = options
  let guarded: AbortSignal | undefined
  /** What this run has set, without a prototype, so that `__proto__` is a key like any other. */
  const own: Record<string, Json> = Object.create(null)
  return {
    ...turn,
    id: header.id,
    contextId: header.contextId,
    turn: header.turn,
    attempt: header.attempt + 1,
    history,
    get signal() {
      // Few runs look at it, and it costs more than the rest of the handle.
      guarded ??= guardedSignal(signal, (error) => log.error('a listener of the signal threw', { error }))
      return guarded
    },
    ...doors,
    inbox: {
      take: () => door.open(() => inbox.take()),
      next: (given) =>
        door.open(() => {
          beforeWait()
          return inbox.next(given)
        }),
    },
    context: {
      // The author names the type of what this key holds; nothing else in the process knows it.
      get<T extends Json>(key: string) {
        const from = Object.hasOwn(own, key) ? own : memory()
        return (Object.hasOwn(from, key) ? from[key] : undefined) as T | undefined
      },
      set(key, value) {
        const copy = copyJson(key, value)
        own[key] = copy
        remember(key, copy)
      },
    },
    fetch: (input, init) =>
      door.open(() => {
        if (!fetch)
          throw new TypeError('task.fetch needs a server with sockets: serve() or createServer() of errand, not that of errand/edge')
        beforeWait()
        const own = init?.signal ?? (input instanceof Request ? input.signal : undefined)
        return fetch(input, { ...init, signal: own ? AbortSignal.any([signal, own]) : signal }).catch(door.later)
      }),
    log,
  }
}

/** A copy, so that what the agent does to the value later changes nothing. */
function copyJson(key: string, value: Json): Json {
  const door = `context.set(${JSON.stringify(key)}, …)`
  checkWhole(`the key of ${door}`, key)
  const text = jsonText(value, door)
  if (text === undefined) throw new TypeError(`${door} takes a JSON value; it got ${show(value)}`)
  // Parsed from the text of a JSON value.
  return JSON.parse(text) as Json
}
