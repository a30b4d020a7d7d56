/** Steps: what is done once, recorded, and not done again by a rerun. */

import type { Json } from '../protocol/wire.js'
import type { TaskHeader } from '../store/store.js'
import { digestHex } from '../support/crypto.js'
import { durationMs } from '../support/duration.js'
import { jsonText } from '../support/json-text.js'
import { checkOptions, isFunction, isText, isWhole, type OptionRule, show } from '../support/options.js'
import { sleep, type World } from '../support/world.js'
import { type Door, never } from './door.js'
import { type Emission, streamChunk } from './output.js'
import type { StepBody, StreamBody } from './record-bodies.js'
import { reasonOf, StepFailedError } from './run-errors.js'
import type { StreamReading } from './steps-in-hand.js'
import type { StepContext, StepOptions, TaskHandle } from './task.js'

/** Pauses between tries. */
const pauseMs = { first: 1_000, most: 60_000 }

export const timeRule: OptionRule = {
  takes: "milliseconds or a text such as '20s'",
  ok: (value) => typeof value === 'string' || typeof value === 'number',
}
const stepRules = { retry: { takes: 'a whole number from 0', ok: isWhole(0) }, timeout: timeRule }
const streamRules = { key: { takes: 'a text', ok: isText } }

interface StepsOptions {
  readonly world: World
  readonly header: TaskHeader
  readonly signal: AbortSignal
  /**
   * What came of the step `key`, recorded by an earlier run or by this one. `work` is called only where nothing is
   * recorded, and what it makes is the body of the record.
   */
  readonly recorded: <T>(
    kind: 'step' | 'stream',
    key: string,
    work: () => Promise<StepBody | StreamBody>,
    read: (body: unknown) => T,
  ) => Promise<T>
  /** Whether a record of `key` is there and `work` would not be called. */
  readonly isRecorded: (key: string) => boolean
  /** Told of each try, which may go on after nobody waits for it any more. */
  readonly onTry: (made: Promise<unknown>) => void
  /** An error of the author that fails the task, whatever the function does about it. */
  readonly fail: (error: Error) => void
  readonly door: Door
  /** Settles, or never does where the server is about to stop: then no stream may begin. */
  readonly mayBegin: () => Promise<void>
  /** A stream that is read from now on: `leave` is called if the function returns before its end. */
  readonly onStream: (leave: () => void) => StreamReading
}

export type Steps = Pick<TaskHandle, 'step' | 'stream'>

export function createSteps(options: StepsOptions): Steps {
  const { world, header, signal, recorded, fail, door } = options
  const called = new Set<string>()
  const tries = new Set<AbortController>()
  signal.addEventListener('abort', () => tries.forEach((one) => void one.abort(signal.reason)), { once: true })
  const streams = new Map<string, number>()

  function idempotencyKey(key: string): string {
    return digestHex(header.id, String(header.turn), key).slice(0, 32)
  }

  function claimKey(key: string): string {
    if (called.has(key)) {
      const error = new TypeError(
        `the key ${JSON.stringify(key.slice(key.indexOf(':') + 1))} is used by two steps of this turn: each step needs a key of its own`,
      )
      fail(error)
      throw error
    }
    called.add(key)
    return key
  }

  function step<T>(key: string, fn: (step: StepContext) => T | Promise<T>, given: StepOptions = {}): Promise<T> {
    if (!isText(key)) throw new TypeError(`task.step takes the key of the step first, a text; it got ${show(key)}`)
    if (!isFunction(fn))
      throw new TypeError(`task.step(${JSON.stringify(key)}, …) takes the function that does the work; it got ${show(fn)}`)
    checkOptions(`task.step(${JSON.stringify(key)})`, given, stepRules)
    const timeoutMs = given.timeout === undefined ? undefined : durationMs(given.timeout, `task.step(${JSON.stringify(key)}): timeout`)
    const retry = given.retry ?? 0
    const name = claimKey(`step:${key}`)
    const work = async (): Promise<StepBody> => {
      for (let tries = 0, pause = pauseMs.first; ; tries++, pause = Math.min(pause * 2, pauseMs.most)) {
        try {
          return bodyOf(await attempt((context) => fn(context), { key: name, timeoutMs }))
        } catch (error) {
          signal.throwIfAborted()
          if (tries >= retry) return { error: reasonOf(error) }
        }
        await sleep(world, pause, signal)
      }
    }
    // Its own T: the value was made by this very function, now or in an earlier run, and went through JSON.
    return recorded('step', name, work, (body) => resultOf(key, body as StepBody) as T)
  }

  /** One try. A function that does not look at its signal is left behind, and what it makes later reaches nobody. */
  async function attempt<T>(
    fn: (context: StepContext) => T | Promise<T>,
    { key, timeoutMs }: { readonly key: string; readonly timeoutMs: number | undefined },
  ): Promise<T> {
    const own = new AbortController()
    tries.add(own)
    const clear =
      timeoutMs === undefined ? undefined : world.timer(timeoutMs, () => own.abort(new Error(`it took longer than ${timeoutMs} ms`)))
    const stopped = new Promise<never>((_, reject) => {
      own.signal.addEventListener('abort', () => reject(own.signal.reason), { once: true })
    })
    stopped.catch(() => undefined)
    try {
      signal.throwIfAborted()
      const made = (async () => fn({ signal: own.signal, idempotencyKey: idempotencyKey(key) }))()
      options.onTry(made)
      return await Promise.race([made, stopped])
    } finally {
      clear?.()
      tries.delete(own)
    }
  }

  function claimStream(artifactName: unknown, fn: unknown, given: { readonly key?: string }): string {
    if (!isText(artifactName)) throw new TypeError(`task.stream takes the name of the artifact first, a text; it got ${show(artifactName)}`)
    if (!isFunction(fn))
      throw new TypeError(`task.stream('${artifactName}', …) takes the function that gives the texts; it got ${show(fn)}`)
    checkOptions('task.stream', given, streamRules)
    const count = (streams.get(artifactName) ?? 0) + 1
    streams.set(artifactName, count)
    return claimKey(`stream:${given.key ?? `${artifactName}#${count}`}`)
  }

  async function* stream(
    artifactName: string,
    fn: (step: StepContext) => AsyncIterable<string> | Iterable<string>,
    given: { readonly key?: string } = {},
  ): AsyncGenerator<Emission, string, void> {
    if (door.isStopped()) return await never()
    let key: string
    try {
      key = claimStream(artifactName, fn, given)
    } catch (error) {
      return await door.refuse(error)
    }
    const read = (body: unknown): string => textIn(artifactName, body as StreamBody) // Only this function writes it.
    if (options.isRecorded(key)) {
      const text = await recorded('stream', key, never, read)
      // It went out when it was recorded; what the function adds to the artifact later is added to this.
      if (text !== '') yield streamChunk(artifactName, text, { begins: true, stream: 'recorded' })
      return text
    }
    await options.mayBegin()
    let settle: (body: StreamBody) => void = () => {}
    let leave: () => void = () => {}
    const done = new Promise<StreamBody>((resolve, reject) => {
      settle = resolve
      leave = reject
    })
    const reading = options.onStream(leave)
    let isSettled = false
    const text = recorded('stream', key, () => done, read)
    try {
      let whole = ''
      for await (const part of fn({ signal, idempotencyKey: idempotencyKey(key) })) {
        signal.throwIfAborted()
        reading.rest()
        yield streamChunk(artifactName, part, { begins: whole === '', stream: 'live' })
        reading.goOn()
        whole += part
      }
      isSettled = true
      settle({ text: whole })
    } catch (error) {
      signal.throwIfAborted()
      isSettled = true
      settle({ error: reasonOf(error) })
    } finally {
      // Where the function does not read on: what it did not read is not recorded.
      leave()
      reading.end()
      // It may leave one after the other.
      if (!isSettled) await door.turn()
    }
    return await text
  }

  return { step, stream }
}

function bodyOf(value: unknown): StepBody {
  if (value === undefined) return {}
  const text = jsonText(value)
  if (text === undefined) return { error: { name: 'TypeError', message: `it gave what is no JSON value: ${show(value)}` } }
  // What JSON makes of a value is a JSON value.
  return { value: JSON.parse(text) as Json }
}

function resultOf(key: string, body: StepBody): Json | undefined {
  if ('error' in body) throw new StepFailedError(key, body.error)
  return body.value
}

function textIn(name: string, body: StreamBody): string {
  if ('error' in body) throw new StepFailedError(name, body.error)
  return body.text
}
