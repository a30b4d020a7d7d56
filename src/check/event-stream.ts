/** An open stream of an operation, frame by frame, without the binding's envelope. Spec §9.4.2, §11.7. */

import type { Binding } from './check.js'
import type { Exchange } from './exchange.js'
import { at, isMembers, type Members, parsed, textAt } from './json.js'
import type { OpenExchange } from './probe.js'
import { createSseReader, type SseEvent } from './sse.js'
import { readEnvelope, readHttpError, type WireError } from './wire.js'

export interface Frame {
  /** As it came. */
  readonly event: SseEvent
  /** The JSON of its data; undefined where it is none. */
  readonly data: unknown
  /** The StreamResponse; undefined in an error frame. */
  readonly body: Members | undefined
  readonly error: WireError | undefined
}

export interface EventStream {
  readonly exchange: Exchange
  /** The next frame; undefined at the end. `'silent'` after `timeoutMs` without any. */
  next(timeoutMs?: number): Promise<Frame | 'silent' | undefined>
  /** What comes until the end, or until `last` says that this was enough, or nothing comes any more. */
  rest(last?: (frame: Frame) => boolean): Promise<readonly Frame[]>
  /** Whether the agent has ended it. */
  isEnded(): boolean
  close(): void
}

export function readStream(binding: Binding, opened: OpenExchange): EventStream {
  const reader = createSseReader()
  const waiting: SseEvent[] = []
  let isEnded = false

  function toFrame(event: SseEvent): Frame {
    const data = parsed(event.data)
    const answer =
      binding === 'JSONRPC' && isMembers(data)
        ? readEnvelope(data, opened.exchange)
        : isMembers(data) && isMembers(data['error'])
          ? readHttpError(data, opened.exchange)
          : undefined
    const body = answer === undefined ? data : answer.kind === 'result' ? answer.result : undefined
    return { event, data, body: isMembers(body) ? body : undefined, error: answer?.kind === 'error' ? answer : undefined }
  }

  async function next(timeoutMs?: number): Promise<Frame | 'silent' | undefined> {
    for (;;) {
      const event = waiting.shift()
      if (event) return toFrame(event)
      const piece = await opened.next(timeoutMs)
      if (piece === 'timeout') return 'silent'
      if (piece === undefined) {
        isEnded = true
        return undefined
      }
      waiting.push(...reader.push(piece))
    }
  }

  return {
    exchange: opened.exchange,
    next,
    async rest(last = () => false) {
      const frames: Frame[] = []
      for (;;) {
        const frame = await next()
        if (frame === undefined || frame === 'silent') return frames
        frames.push(frame)
        if (last(frame)) return frames
      }
    },
    isEnded: () => isEnded,
    close: opened.close,
  }
}

/** Which of its four kinds a StreamResponse is; undefined where it is not exactly one. */
export function kindOf(body: Members | undefined): 'task' | 'message' | 'statusUpdate' | 'artifactUpdate' | undefined {
  const given = (['task', 'message', 'statusUpdate', 'artifactUpdate'] as const).filter((kind) => isMembers(body?.[kind]))
  return given.length === 1 ? given[0] : undefined
}

/** The state that a frame tells; `''` for one that tells none. */
export function stateOf({ body }: Frame): string {
  return textAt(body, 'task.status.state') || textAt(body, 'statusUpdate.status.state')
}

/** The id of the task that a frame is about. */
export function taskIdOf({ body }: Frame): string {
  return textAt(body, 'task.id') || textAt(body, 'statusUpdate.taskId') || textAt(body, 'artifactUpdate.taskId')
}

/** The artifacts that a list of frames tells, by id: their parts in order. */
export function artifactsOf(frames: readonly Frame[]): ReadonlyMap<string, readonly unknown[]> {
  const made = new Map<string, readonly unknown[]>()
  for (const { body } of frames) {
    const snapshot = at(body, 'task.artifacts')
    if (Array.isArray(snapshot)) for (const one of snapshot) made.set(textAt(one, 'artifactId'), parts(one))
    const update = at(body, 'artifactUpdate')
    if (update === undefined) continue
    const id = textAt(update, 'artifact.artifactId')
    const before = at(update, 'append') === true ? (made.get(id) ?? []) : []
    made.set(id, [...before, ...parts(at(update, 'artifact'))])
  }
  return made
}

function parts(artifact: unknown): readonly unknown[] {
  const found = at(artifact, 'parts')
  return Array.isArray(found) ? found : []
}
