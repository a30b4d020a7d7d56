/** The handle that an agent's function gets: what is known about the turn, and its doors to the runtime. */

import type { GuardedFetch } from '../net/guarded-fetch.js'
import type { Json, Message, Task } from '../protocol/wire.js'
import type { Claimed } from '../store/store.js'
import { guardedSignal } from '../support/abort.js'
import { durationMs } from '../support/duration.js'
import type { Log } from '../support/log.js'
import { show } from '../support/options.js'
import { sleep, type World } from '../support/world.js'
import type { TaskHandle, Turn } from './agent.js'
import type { Inbox } from './inbox.js'

interface HandleOptions {
  readonly claimed: Claimed
  readonly turn: Turn
  readonly history: readonly Message[]
  readonly signal: AbortSignal
  readonly inbox: Inbox
  readonly log: Log
  readonly world: World
  /** Absent where there are no sockets. */
  readonly fetch?: GuardedFetch | undefined
  readonly remember: (key: string, value: Json) => void
  /** Called before the run waits for something outside: the task is at work from then on. */
  readonly beforeWait: () => void
}

export function createTaskHandle(options: HandleOptions): TaskHandle {
  const { claimed, turn, history, signal, inbox, log, world, fetch, remember, beforeWait } = options
  const { header } = claimed
  const memory: Record<string, Json> = Object.assign(Object.create(null), claimed.memory)
  let guarded: AbortSignal | undefined
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
    inbox: {
      take: inbox.take,
      async next(options) {
        beforeWait()
        return inbox.next(options)
      },
    },
    context: {
      // The author names the type of what this key holds; nothing else in the process knows it.
      get: <T extends Json>(key: string) => memory[key] as T | undefined,
      set(key, value) {
        const copy = copyJson(key, value)
        memory[key] = copy
        remember(key, copy)
      },
    },
    async sleep(duration) {
      const ms = durationMs(duration, 'task.sleep')
      beforeWait()
      return sleep(world, ms, signal)
    },
    async fetch(input, init) {
      if (!fetch)
        throw new TypeError('task.fetch needs a server with sockets: serve() or createServer() of errand, not that of errand/edge')
      beforeWait()
      const own = init?.signal ?? (input instanceof Request ? input.signal : undefined)
      return fetch(input, { ...init, signal: own ? AbortSignal.any([signal, own]) : signal })
    },
    log,
  }
}

/** A copy, so that what the agent does to the value later changes nothing. */
function copyJson(key: string, value: Json): Json {
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch {
    // It refers to itself, or holds what JSON does not know.
  }
  if (text === undefined) throw new TypeError(`context.set(${JSON.stringify(key)}, …) takes a JSON value; it got ${show(value)}`)
  // Parsed from the text of a JSON value.
  return JSON.parse(text) as Json
}

/** The text parts of a message, joined by line breaks. */
export function textOf(message: Message): string {
  return message.parts.flatMap((part) => (part.text === undefined ? [] : [part.text])).join('\n')
}

/** The history in the text of a task, up to `message`: what came after it is in the inbox. */
export function historyUpTo({ messageId }: Message, taskText: string): readonly Message[] {
  // The store gives the canonical text of a Task.
  const { history = [] } = JSON.parse(taskText) as Task
  const place = history.findLastIndex((message) => message.messageId === messageId)
  return place < 0 ? history : history.slice(0, place + 1)
}
