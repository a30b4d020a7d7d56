/** SendStreamingMessage: the task, then its updates up to its end or the agent's next question. Spec §3.1.2, D13. */

import type { Frame, Reply } from '../protocol/call.js'
import { isFinal } from '../protocol/states.js'
import type { SendMessageRequest, TaskState } from '../protocol/wire.js'
import { viewTask } from '../task/view.js'
import { acceptMessage } from './accept-message.js'
import type { Operation } from './context.js'
import { taskStream } from './task-stream.js'

/** The caller must speak next after INPUT_REQUIRED; AUTH_REQUIRED goes on by itself (§7.6.1). */
const endsAt = (state: TaskState) => isFinal(state) || state === 'TASK_STATE_INPUT_REQUIRED'

export const sendStreamingMessage: Operation<SendMessageRequest> = async (context, request, call): Promise<Reply> => {
  const { store, feed } = context
  const historyLength = request.configuration?.historyLength
  const accepted = await acceptMessage(context, request, call)
  if (accepted.kind === 'reply') return single({ body: JSON.stringify({ message: accepted.message }) })
  const { ref } = accepted.header
  if (accepted.created !== undefined) {
    const first = {
      seq: 1,
      body: historyLength === undefined ? accepted.created : viewFrame(accepted.created.slice('{"task":'.length, -1), historyLength),
    }
    return { kind: 'stream', frames: taskStream({ feed, ref, first, after: 1, endsAt, signal: call.signal }) }
  }
  const { text, seq, state } = await store.read(ref)
  const first = { seq, body: viewFrame(text, historyLength) }
  if (endsAt(state)) return single(first)
  return { kind: 'stream', frames: taskStream({ feed, ref, first, after: seq, endsAt, signal: call.signal }) }
}

function viewFrame(text: string, historyLength: number | undefined): string {
  return `{"task":${viewTask(text, { historyLength })}}`
}

function single(frame: Frame): Reply {
  return { kind: 'stream', frames: only(frame) }
}

async function* only(frame: Frame): AsyncGenerator<readonly Frame[], void, void> {
  yield [frame]
}
