/** Defects of streams. */

import { at, put, textAt } from '../json.js'
import { type Defect, defect } from './defect.js'
import {
  errorReply,
  type Incoming,
  instead,
  isOf,
  type Layer,
  onFrames,
  onReply,
  type Reply,
  reasonOf,
  type SeamFrame,
  streams,
  withHeaders,
} from './seam.js'

const send = 'SendStreamingMessage'
const subscribe = 'SubscribeToTask'

const isFinal = (frame: SeamFrame) =>
  /COMPLETED|FAILED|CANCELED|REJECTED/.test(textAt(frame.body, 'statusUpdate.status.state') || textAt(frame.body, 'task.status.state'))
const isChunk = (frame: SeamFrame) => at(frame.body, 'artifactUpdate') !== undefined
const asks = ({ params }: Incoming, prefix: string) => textAt(params, 'message.parts.0.text').startsWith(prefix)

/** A plain answer as the one event of a stream. */
function asStream(reply: Reply): Reply {
  const { body } = reply
  if (typeof body !== 'string') return reply
  return { status: 200, headers: { 'content-type': 'text/event-stream' }, body: frames([body]) }
}

async function* frames(texts: readonly string[]): AsyncGenerator<string> {
  for (const text of texts) yield `data: ${text}\n\n`
}

const errorInStream = (operation: typeof send | typeof subscribe, reason: string) => (): Layer =>
  onReply((reply, incoming) => (isOf(incoming, operation) && reasonOf(reply) === reason ? asStream(reply) : undefined))

/** Holds a stream back until it is over. */
async function* gathered(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let whole = ''
  for await (const text of texts) whole += text
  yield whole
}

/** Goes on for ever after its end. */
async function* endless(texts: AsyncIterable<string>, gone: AbortSignal): AsyncGenerator<string> {
  yield* texts
  await new Promise<void>((resolve) => gone.addEventListener('abort', () => resolve(), { once: true }))
}

const never = new AbortController().signal

const dropsEnd =
  (operation: typeof send | typeof subscribe, only: (incoming: Incoming) => boolean = () => true) =>
  () =>
    onFrames(operation, (incoming) => (frame) => (only(incoming) && isFinal(frame) ? [] : [frame]))

export const streamDefects: readonly Defect[] = [
  defect('stream_as_json', '9.4.2', 'R1', 'A stream says that it is JSON.', () =>
    onReply((reply, incoming) =>
      isOf(incoming, send) && typeof reply.body !== 'string'
        ? { ...reply, headers: { ...reply.headers, 'content-type': 'application/json' } }
        : undefined,
    ),
  ),
  defect('stream_begins_with_status', '3.1.2', 'R2', 'A stream begins with a status instead of the task.', () =>
    onFrames(send, () => (frame) => {
      const task = at(frame.body, 'task')
      return task === undefined
        ? [frame]
        : [
            {
              ...frame,
              body: { statusUpdate: { taskId: textAt(task, 'id'), contextId: textAt(task, 'contextId'), status: at(task, 'status') } },
            },
          ]
    }),
  ),
  defect('stream_without_end', '3.1.2', 'R3', 'A stream is left open after the final state.', () =>
    onReply((reply, incoming) =>
      isOf(incoming, send) && asks(incoming, 'tck-complete') && typeof reply.body !== 'string'
        ? { ...reply, body: endless(reply.body, never) }
        : undefined,
    ),
  ),
  defect('frame_of_two_kinds', '3.1.2', 'R4', 'A frame has the status and the task.', () =>
    onFrames(send, (incoming) => (frame) => {
      const update = at(frame.body, 'artifactUpdate')
      if (update === undefined || !asks(incoming, 'tck-artifact')) return [frame]
      return [
        {
          ...frame,
          body: put(frame.body, 'task', {
            id: textAt(update, 'taskId'),
            contextId: textAt(update, 'contextId'),
            status: { state: 'TASK_STATE_WORKING' },
          }),
        },
      ]
    }),
  ),
  defect('frames_without_id', '9.4.2', 'R5', 'Frames on JSON-RPC have the id null.', () =>
    onReply((reply, incoming) =>
      isOf(incoming, send) && incoming.binding === 'JSONRPC' && typeof reply.body !== 'string'
        ? { ...reply, body: renamed(reply.body) }
        : undefined,
    ),
  ),
  defect('artifact_after_end', '4.1.3', 'R6', 'An artifact is sent after the final state.', () =>
    onFrames(send, (incoming) => {
      let chunk: SeamFrame | undefined
      return (frame) => {
        if (!asks(incoming, 'tck-artifact')) return [frame]
        if (isChunk(frame)) {
          chunk = frame
          return []
        }
        return isFinal(frame) && chunk ? [frame, chunk] : [frame]
      }
    }),
  ),
  defect('direct_message_twice', '3.1.2', 'R7', 'The stream of a direct message has it twice.', () =>
    onFrames(send, () => (frame) => (at(frame.body, 'message') === undefined ? [frame] : [frame, frame])),
  ),
  defect('subscription_without_task', '3.1.6', 'R8', 'A subscription begins with the next update.', () =>
    onFrames(subscribe, () => (frame) => (at(frame.body, 'task') === undefined ? [frame] : [])),
  ),
  defect(
    'subscribes_to_the_past',
    '3.1.6',
    'R9',
    'A subscription to a task that is over opens a stream with the error in it.',
    errorInStream(subscribe, 'UNSUPPORTED_OPERATION'),
  ),
  defect(
    'subscribes_to_nothing',
    '3.1.6',
    'R10',
    'A subscription to a task that is not there opens a stream with the error in it.',
    errorInStream(subscribe, 'TASK_NOT_FOUND'),
  ),
  defect(
    'refusal_in_stream',
    '3.3.2',
    'R11',
    'A streaming send that is refused opens a stream with the error in it.',
    errorInStream(send, 'INVALID_PARAMS'),
  ),
  defect('one_event_for_one_reader', '3.5.2', 'R12', 'Of two readers each artifact goes to one.', () => {
    let readers = 0
    return onFrames(subscribe, () => {
      const number = ++readers
      return (frame) => (isChunk(frame) && number % 2 === 0 ? [] : [frame])
    })
  }),
  defect('one_leaves_all_end', '3.5.2', 'R13', 'When one reader leaves, the others hear no more.', () => {
    const open = new Map<string, { count: number; most: number }>()
    return async (incoming, next) => {
      const reply = await next(incoming)
      if (!isOf(incoming, subscribe) || typeof reply.body === 'string') return reply
      const id = textAt(incoming.params, 'id')
      const readers = open.get(id) ?? { count: 0, most: 0 }
      open.set(id, readers)
      readers.count++
      readers.most = Math.max(readers.most, readers.count)
      return { ...reply, body: together(reply.body, readers) }
    }
  }),
  defect('chunk_lost', '4.2.2', 'R14', 'The last chunk of an artifact is not streamed.', () =>
    onFrames(send, () => (frame) => (at(frame.body, 'artifactUpdate.append') === true ? [] : [frame])),
  ),
  defect('update_without_context', '4.2', 'R15', 'Updates of artifacts do not name the context.', () =>
    onFrames(
      send,
      () => (frame) => (isChunk(frame) ? [{ ...frame, body: put(frame.body, 'artifactUpdate.contextId', undefined) }] : [frame]),
    ),
  ),
  defect('stream_gathered', '3.1.2', 'R16', 'A stream is held back until the task is over.', () =>
    onReply((reply, incoming) =>
      isOf(incoming, send) && asks(incoming, 'tck-long') && typeof reply.body !== 'string'
        ? { ...reply, body: gathered(reply.body) }
        : undefined,
    ),
  ),
  defect('question_not_streamed', '3.1.2', 'R17', 'A stream ends without the question that it comes to.', () =>
    onFrames(send, () => (frame) => (textAt(frame.body, 'statusUpdate.status.state') === 'TASK_STATE_INPUT_REQUIRED' ? [] : [frame])),
  ),
  defect('stream_ends_at_authorization', '7.6.1', 'R18', 'A stream ends where an authorization is waited for.', () =>
    onReply((reply, incoming) =>
      isOf(incoming, send) && typeof reply.body !== 'string'
        ? { ...reply, body: until(reply.body, 'TASK_STATE_AUTH_REQUIRED') }
        : undefined,
    ),
  ),
  defect('submitted_again', '4.1.3', 'R19', 'A task is SUBMITTED again before it ends.', () =>
    onFrames(
      send,
      (incoming) => (frame) =>
        isFinal(frame) && asks(incoming, 'tck-stream-chunked') && at(frame.body, 'statusUpdate') !== undefined
          ? [{ body: put(frame.body, 'statusUpdate.status.state', 'TASK_STATE_SUBMITTED'), id: `${frame.id}-0` }, frame]
          : [frame],
    ),
  ),
  defect('subscription_survives_cancel', '3.1.6', 'R20', 'A subscription is not told of a cancel.', () =>
    onFrames(subscribe, () => (frame) => (textAt(frame.body, 'statusUpdate.status.state') === 'TASK_STATE_CANCELED' ? [] : [frame])),
  ),
  defect('resumes_from_the_start', '3.1.6', 'R21', 'Last-Event-ID is passed over, and a task that is over told from its start.', () => {
    const told = new Map<string, string>()
    return async (incoming, next) => {
      const id = textAt(incoming.params, 'id')
      const from = incoming.raw.header('last-event-id')
      if (isOf(incoming, subscribe) && from !== undefined && Number(from) > 1 && told.has(id)) {
        return next(withHeaders(incoming, { 'last-event-id': '1' }))
      }
      if (isOf(incoming, subscribe)) told.set(id, '')
      return next(incoming)
    }
  }),
  defect('ids_all_the_same', '9.4.2', 'R22', 'All frames have one id.', () => onFrames(send, () => (frame) => [{ ...frame, id: '1' }])),
  defect('subscribes_by_no_verb', '11.3', 'R23', 'A path with :subscribe is taken for a task of that name.', () =>
    instead((incoming) =>
      isOf(incoming, subscribe) && incoming.binding === 'HTTP+JSON' && hasWorkingId(incoming)
        ? errorReply(incoming, 'TaskNotFoundError')
        : undefined,
    ),
  ),
  defect('stream_ends_otherwise', '3.5.2', 'R24', 'The status at the end of a stream is another one than the task’s.', () =>
    onFrames(
      send,
      (incoming) => (frame) =>
        isFinal(frame) && asks(incoming, 'tck-artifact')
          ? [{ ...frame, body: put(frame.body, 'statusUpdate.status.timestamp', '2026-01-01T00:00:00.001Z') }]
          : [frame],
    ),
  ),
  defect('appends_to_nothing', '4.2.2', 'R25', 'The first chunk of an artifact says that it adds to one.', () =>
    onFrames(send, () => (frame) => (isChunk(frame) ? [{ ...frame, body: put(frame.body, 'artifactUpdate.append', true) }] : [frame])),
  ),
  defect('unknown_event_breaks', '3.1.6', 'R26', 'An event id that the task does not have is an internal error.', () =>
    instead((incoming) => (incoming.raw.header('last-event-id') === '999999999' ? errorReply(incoming, 'InternalError') : undefined)),
  ),
  defect('end_not_told', '3.5.2', 'R27', 'A subscription ends without the final state.', dropsEnd(subscribe)),
  defect('stream_for_caches', '3.5.2', 'R28', 'A stream may be kept by caches.', () =>
    onReply((reply, incoming) =>
      isOf(incoming, streams) && typeof reply.body !== 'string'
        ? { ...reply, headers: { 'content-type': 'text/event-stream', 'cache-control': 'public, max-age=60' } }
        : undefined,
    ),
  ),
]

function hasWorkingId(incoming: Incoming): boolean {
  return incoming.params['id'] !== undefined
}

async function* renamed(texts: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const text of texts) yield text.replace(/"jsonrpc":"2.0","id":\d+/g, '"jsonrpc":"2.0","id":null')
}

async function* until(texts: AsyncIterable<string>, state: string): AsyncGenerator<string> {
  for await (const text of texts) {
    yield text
    if (text.includes(state)) return
  }
}

async function* together(texts: AsyncIterable<string>, readers: { count: number; most: number }): AsyncGenerator<string> {
  try {
    for await (const text of texts) {
      if (readers.count < readers.most) return
      yield text
    }
  } finally {
    readers.count--
  }
}
