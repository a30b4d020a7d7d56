/**
 * From a send, or from a task that is there, to the point where the task rests: through cut streams and silent agents.
 *
 *   begin ──► reading ──► rest
 *               │ cut, or ended without a rest
 *               ▼
 *            pause ──► subscribe (after the last id, where the agent gives ids)
 *                          │ refused: the task has ended, or cannot be streamed
 *                          ▼
 *                        read it ──► rest, or again after `pollMs`
 */

import { A2AError } from '../protocol/errors.js'
import { isAtRest } from '../protocol/states.js'
import type { TaskStatus } from '../protocol/wire.js'
import { type Assembly, isSameStatus } from './assemble.js'
import { ConnectionError } from './errors.js'
import type { CallOptions } from './options.js'
import type { Peer, PeerFrame } from './peer.js'
import { backoffMs, mayRetry, pause } from './retry.js'
import type { TaskEvent } from './task-event.js'

export interface Journey {
  /** What begins it: a request to send, or the id of a task. */
  readonly start: { readonly send: object } | { readonly taskId: string }
  /** A status in which the task is no news. */
  readonly known?: TaskStatus | undefined
  /** False: a cut is the end. */
  readonly resume: boolean
}

/** A connection that stood so long has worked, also where nothing new came by it. */
const steadyMs = 30_000

/**
 * Events up to the first rest, a final or interrupted state, or a direct message. Anything else is an error.
 *
 * @throws {ConnectionError} when nothing new came in as many tries as the limits allow
 */
export async function* travel(
  peer: Peer,
  assembly: Assembly,
  { start, known, resume }: Journey,
  options: CallOptions,
): AsyncGenerator<TaskEvent, void, void> {
  const { world, limits } = peer.line
  let lastId: string | undefined
  let retryMs: number | undefined
  let polls = !peer.streams
  let attempt = 0

  const taskId = () => assembly.head()?.id ?? ('taskId' in start ? start.taskId : undefined)

  async function* next(): AsyncGenerator<PeerFrame> {
    const id = taskId()
    if (id === undefined && 'send' in start) {
      if (polls) yield { response: await peer.call('SendMessage', start.send, options) }
      else yield* peer.stream('SendStreamingMessage', start.send, options)
    } else if (polls) yield { response: { task: await peer.call('GetTask', { id }, options) } }
    else yield* peer.stream('SubscribeToTask', { id }, { ...options, lastEventId: lastId })
  }

  for (;;) {
    const before = lastId
    const since = world.now()
    let fault: unknown
    let isReplay = before !== undefined
    const isBlocking = polls && taskId() === undefined
    try {
      for await (const { id, retryMs: asked, response } of next()) {
        retryMs = asked ?? retryMs
        // A whole task says how things stand: what follows it is new, whatever its number.
        if (response.task) isReplay = false
        if (isReplay && isEarlier(id, before)) continue
        lastId = id ?? lastId
        for (const event of assembly.take(response)) {
          attempt = 0
          yield event
        }
        // A blocking send has waited for what it answers, be it the same as before.
        if (response.message || rests(assembly, isBlocking ? undefined : known)) return
      }
    } catch (error) {
      fault = error
    }
    options.signal?.throwIfAborted()
    const id = taskId()
    if (fault instanceof A2AError && id !== undefined && !polls && isRefusal(fault)) {
      if (lastId !== undefined && fault.name === 'InvalidParamsError') lastId = undefined
      else polls = true
      continue
    }
    if (fault === undefined && polls && id !== undefined) {
      await pause(world, limits.pollMs, options.signal)
      continue
    }
    fault ??= new ConnectionError('cut', peer.address, `ended the stream of ${id ? `task ${id}` : 'a send'} before the task came to rest`)
    // A wire that is cut now and then, as gateways do, is no agent that has nothing to say; one that stalls is.
    const wasTimeout = fault instanceof ConnectionError && fault.fault === 'timeout'
    if (!wasTimeout && world.now() - since >= steadyMs) attempt = 0
    // Readings of the task have been tried again already.
    const again = id === undefined ? mayRetry(fault, peer.resend) : resume && !polls && mayRetry(fault, true)
    if (!again || ++attempt > limits.retries) throw fault
    await pause(world, backoffMs(world, attempt, fault, retryMs), options.signal)
  }
}

function rests(assembly: Assembly, known: TaskStatus | undefined): boolean {
  const status = assembly.head()?.status
  return status !== undefined && isAtRest(status.state) && !(known && isSameStatus(known, status))
}

/** The agent will not let this task be subscribed to, or not from there. */
function isRefusal({ name }: A2AError): boolean {
  return /^(UnsupportedOperation|InvalidParams|MethodNotFound)Error$/.test(name)
}

/** Both are numbers, and `id` came with or before `last`: an agent that repeats itself. */
function isEarlier(id: string | undefined, last: string | undefined): boolean {
  return /^\d+ \d+$/.test(`${id} ${last}`) && Number(id) <= Number(last)
}
