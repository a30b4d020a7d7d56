/** SendMessage: the task at its first rest after the message, or at once; or a direct Message. Spec §3.1.1. */

import { isAtRest } from '../protocol/states.js'
import type { SendMessageRequest } from '../protocol/wire.js'
import { viewTask } from '../task/view.js'
import { type Accepted, acceptMessage } from './accept-message.js'
import { answer, type Operation, type OperationContext } from './context.js'

export const sendMessage: Operation<SendMessageRequest> = async (context, request, call) => {
  const { returnImmediately = false, historyLength } = request.configuration ?? {}
  let rest: Promise<void> | undefined
  const accepted = await acceptMessage(context, request, call, (header) => {
    if (returnImmediately) return
    rest = context.feed.untilRest(header.ref, 1, call.signal)
    // The commit may fail, and then nobody awaits it.
    rest.catch(() => undefined)
  })
  if (accepted.kind === 'reply') return answer({ message: accepted.message })
  if (!returnImmediately) await (rest ?? untilRest(context, accepted, call.signal))
  const { text } = await context.store.read(accepted.header.ref)
  return { kind: 'one', body: `{"task":${viewTask(text, { historyLength })}}` }
}

/** For a task that was there before: it may have come to rest already. */
async function untilRest(
  { feed, store }: OperationContext,
  { header }: Accepted & { readonly kind: 'task' },
  signal: AbortSignal,
): Promise<void> {
  if (isAtRest(header.state)) return
  const listening = new AbortController()
  const stop = () => listening.abort(signal.reason)
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  try {
    const rest = feed.untilRest(header.ref, header.lastSeq, listening.signal)
    rest.catch(() => undefined)
    const now = await store.find(header.caller, header.id)
    if (now && isAtRest(now.state)) return
    await rest
  } finally {
    listening.abort()
    signal.removeEventListener('abort', stop)
  }
}
